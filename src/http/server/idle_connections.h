// IdleConnections: connections that wait for their client, the longest first. When there is no
// place for another one, the first of the line gives way: whoever says nothing must not keep out
// those who have something to ask. May be used from any thread.
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
        virtual ~Member() = default;  // must have left
        Member(const Member&) = delete;
        Member& operator=(const Member&) = delete;
        // Nothing if it is about to be destroyed. Called while the line is locked.
        virtual std::shared_ptr<Member> hold() = 0;
        // The connection is to end soon. Called from any thread.
        virtual void evict() = 0;

      protected:
        Member() = default;

      private:
        friend class IdleConnections;
        enum class Place : std::uint8_t { outside, inside, evicted };
        Place place_ = Place::outside;
        std::list<Member*>::iterator at_;
    };

    // At its end, also for one that stands in it already.
    void enter(Member& member) {
        const std::lock_guard lock(mutex_);
        if (member.place_ == Member::Place::evicted) return;
        if (member.place_ == Member::Place::inside) members_.erase(member.at_);
        member.at_ = members_.insert(members_.end(), &member);
        member.place_ = Member::Place::inside;
    }
    // False: it has been told to give way and must not go on.
    bool leave(Member& member) {
        const std::lock_guard lock(mutex_);
        if (member.place_ == Member::Place::evicted) return false;
        if (member.place_ == Member::Place::inside) members_.erase(member.at_);
        member.place_ = Member::Place::outside;
        return true;
    }
    // False: nobody waits.
    bool evict_oldest() {
        std::shared_ptr<Member> evicted;  // released when the line is free again
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
