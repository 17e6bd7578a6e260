// IdleConnections: connections that are waiting for their clients, longest idle first. At the
// connection limit, the first is evicted in favour of a new connection. Thread-safe.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <mutex>

namespace revenant::http {

class IdleConnections {
  public:
    class Member {
      public:
        virtual ~Member() = default;  // must have called leave()
        Member(const Member&) = delete;
        Member& operator=(const Member&) = delete;
        // Null if the member is being destroyed. Called with the lock held.
        virtual std::shared_ptr<Member> hold() = 0;
        // Closes the connection. Called from any thread.
        virtual void evict() = 0;

      protected:
        Member() = default;

      private:
        friend class IdleConnections;
        enum class Place : std::uint8_t { outside, inside, evicted };
        Place place_ = Place::outside;
        std::list<Member*>::iterator at_;
    };

    // Adds the member at the end, or moves it there.
    void enter(Member& member) {
        const std::lock_guard lock(mutex_);
        if (member.place_ == Member::Place::evicted) return;
        if (member.place_ == Member::Place::inside) members_.erase(member.at_);
        member.at_ = members_.insert(members_.end(), &member);
        member.place_ = Member::Place::inside;
    }
    // False if the member was evicted; it must then not continue.
    bool leave(Member& member) {
        const std::lock_guard lock(mutex_);
        if (member.place_ == Member::Place::evicted) return false;
        if (member.place_ == Member::Place::inside) members_.erase(member.at_);
        member.place_ = Member::Place::outside;
        return true;
    }
    // False if no connection is idle.
    bool evict_oldest() {
        std::shared_ptr<Member> evicted;  // released after the lock
        {
            const std::lock_guard lock(mutex_);
            if (members_.empty()) return false;
            Member& first = *members_.front();
            members_.pop_front();
            first.place_ = Member::Place::evicted;
            evicted = first.hold();
        }
        if (evicted) evicted->evict();
        return true;
    }

  private:
    std::mutex mutex_;
    std::list<Member*> members_;
};

}  // namespace revenant::http
