// Result<T, E>: a value or an error. The interface is that of std::expected, which g++ 12 does not
// have in C++20 mode.
#pragma once

#include "base/check.h"

#include <utility>
#include <variant>

namespace revenant {

template <typename E>
struct Unexpected {
    E error;
};
template <typename E>
Unexpected(E) -> Unexpected<E>;

template <typename T, typename E>
class [[nodiscard]] Result {
  public:
    Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
    template <typename F>
    Result(Unexpected<F> failure) : state_(std::in_place_index<1>, std::move(failure.error)) {}

    bool has_value() const { return state_.index() == 0; }
    explicit operator bool() const { return has_value(); }
    T& value() & {
        CHECK(has_value());
        return *std::get_if<0>(&state_);
    }
    const T& value() const& {
        CHECK(has_value());
        return *std::get_if<0>(&state_);
    }
    T&& value() && {
        CHECK(has_value());
        return std::move(*std::get_if<0>(&state_));
    }
    const E& error() const& {
        CHECK(!has_value());
        return *std::get_if<1>(&state_);
    }
    E&& error() && {
        CHECK(!has_value());
        return std::move(*std::get_if<1>(&state_));
    }
    T& operator*() & { return value(); }
    const T& operator*() const& { return value(); }
    T* operator->() { return &value(); }
    const T* operator->() const { return &value(); }

  private:
    std::variant<T, E> state_;
};

template <typename E>
class [[nodiscard]] Result<void, E> {
  public:
    Result() = default;
    template <typename F>
    Result(Unexpected<F> failure) : state_(std::in_place_index<1>, std::move(failure.error)) {}

    bool has_value() const { return state_.index() == 0; }
    explicit operator bool() const { return has_value(); }
    const E& error() const& {
        CHECK(!has_value());
        return *std::get_if<1>(&state_);
    }
    E&& error() && {
        CHECK(!has_value());
        return std::move(*std::get_if<1>(&state_));
    }

  private:
    std::variant<std::monostate, E> state_;
};

}  // namespace revenant

#define REVENANT_TRY_JOIN_(a, b) a##b
#define REVENANT_TRY_NAME_(a, b) REVENANT_TRY_JOIN_(a, b)
#define REVENANT_TRY_IMPL_(temporary, declaration, expression)                               \
    auto temporary = (expression);                                                           \
    if (!temporary.has_value()) return ::revenant::Unexpected{std::move(temporary).error()}; \
    declaration = std::move(temporary).value()

// REVENANT_TRY(const auto frame, read_frame(in)); returns from the function if the expression has
// an error.
#define REVENANT_TRY(declaration, expression) \
    REVENANT_TRY_IMPL_(REVENANT_TRY_NAME_(revenant_try_, __LINE__), declaration, expression)

// REVENANT_TRY for a Result<void, E>.
#define REVENANT_TRY_VOID(expression)                                              \
    do {                                                                           \
        if (auto revenant_try_void = (expression); !revenant_try_void.has_value()) \
            return ::revenant::Unexpected{std::move(revenant_try_void).error()};   \
    } while (false)
