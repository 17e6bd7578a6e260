// Ref<T>: a counted reference to an immutable object shared between entries, channels and threads.
//
// T provides retain() and release() const; the last release frees the object. The counter is
// atomic because a message may leave its home reactor with a delivery.
#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

namespace revenant {

template <typename T>
class Ref {
  public:
    Ref() = default;
    // Takes over the initial reference of a new object.
    static Ref adopt(T* object) {
        Ref ref;
        ref.object_ = object;
        return ref;
    }
    Ref(const Ref& other) : object_(other.object_) {
        if (object_ != nullptr) object_->retain();
    }
    Ref(Ref&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
    Ref& operator=(Ref other) noexcept {
        std::swap(object_, other.object_);
        return *this;
    }
    ~Ref() {
        if (object_ != nullptr) object_->release();
    }

    explicit operator bool() const { return object_ != nullptr; }
    T* get() const { return object_; }
    T& operator*() const { return *object_; }
    T* operator->() const { return object_; }
    friend bool operator==(const Ref& a, const Ref& b) { return a.object_ == b.object_; }

  private:
    T* object_ = nullptr;
};

// A reference counter for objects allocated with new.
template <typename T>
class RefCounted {
  public:
    void retain() const { refs_.fetch_add(1, std::memory_order_relaxed); }
    void release() const {
        if (refs_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete static_cast<const T*>(this);
    }

  protected:
    RefCounted() = default;
    RefCounted(const RefCounted&) {}
    RefCounted& operator=(const RefCounted&) = delete;
    ~RefCounted() = default;

  private:
    mutable std::atomic<std::uint32_t> refs_{1};
};

}  // namespace revenant
