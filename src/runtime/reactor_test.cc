#include "runtime/reactor.h"

#include "runtime/system_clock.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <functional>
#include <future>
#include <memory>
#include <string>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <vector>

namespace revenant::runtime {
namespace {

using ::testing::ElementsAre;

// Longer than any slice of a turn.
void take_long() {
    const Timestamp began = system_now();
    while (system_now() - began < milliseconds(5)) continue;
}

// A source that is always ready, flushes, and records when it is served.
class Busy final : public Source, public Flushable {
  public:
    Busy(Reactor& reactor, std::string name, std::vector<std::string>& served)
        : reactor_(reactor), name_(std::move(name)), served_(served) {
        reactor_.watch(descriptor_, EPOLLIN, *this);
    }
    ~Busy() override {
        reactor_.unwatch(descriptor_, *this);
        reactor_.forget(*this);
        ::close(descriptor_);
    }
    Busy(const Busy&) = delete;
    Busy& operator=(const Busy&) = delete;

    void ready(std::uint32_t /*events*/) override {
        served_.push_back(name_);
        if (is_slow) take_long();
        reactor_.refresh_now();
    }
    void flush() override {
        served_.push_back("flush " + name_);
        if (is_slow) take_long();
        if (flushed) flushed();
    }
    bool is_slow = false;
    std::function<void()> flushed;

  private:
    Reactor& reactor_;
    const std::string name_;
    std::vector<std::string>& served_;
    const int descriptor_ = eventfd(1, EFD_NONBLOCK);
};

struct Turning : ::testing::Test {
    Turning() {
        reactor.set_peers({&reactor});
        reactor.start();
    }
    ~Turning() override {
        reactor.stop();
        reactor.join();
    }
    // Runs the work on the reactor's thread, as one mailbox item.
    template <typename Work>
    void run(Work work) {
        std::promise<void> done;
        reactor.post([&](Reactor&) {
            work();
            done.set_value();
        });
        done.get_future().get();
    }
    Reactor reactor{0};
    std::vector<std::string> served;
};

TEST_F(Turning, LettersThatTakeLongLetSocketsBeServedBetweenThem) {
    std::unique_ptr<Busy> socket;
    std::promise<void> over;
    run([&] {
        // Posted from here, all items are in the mailbox before the next turn begins.
        for (int i = 1; i <= 3; ++i) {
            reactor.post([&, i](Reactor&) {
                served.push_back("letter " + std::to_string(i));
                take_long();
                if (i < 3) return;
                socket.reset();
                over.set_value();
            });
        }
        socket = std::make_unique<Busy>(reactor, "socket", served);
    });
    over.get_future().get();
    EXPECT_THAT(served, ElementsAre("letter 1", "socket", "letter 2", "socket", "letter 3"));
}

TEST_F(Turning, SocketsThatTakeLongLetLettersBeReadBetweenThemAndEachHasItsTurn) {
    std::vector<std::unique_ptr<Busy>> sockets;
    std::promise<void> over;
    run([&] {
        for (const char* const name : {"a", "b", "c"}) {
            sockets.push_back(std::make_unique<Busy>(reactor, name, served));
            sockets.back()->is_slow = true;
        }
        // One item per turn, because each posts the next.
        const auto count = std::make_shared<int>(0);
        const auto next = std::make_shared<Task>();
        *next = [&, count, next](Reactor&) {
            served.emplace_back("letter");
            if (++*count < 4) return reactor.post(*next);
            sockets.clear();
            *next = nullptr;
            over.set_value();
        };
        reactor.post(*next);
    });
    over.get_future().get();
    EXPECT_THAT(served, ElementsAre("letter", "a", "letter", "b", "letter", "c", "letter"));
}

TEST_F(Turning, FlushesThatTakeLongGoOnInTheNextTurnInTheirOrder) {
    std::vector<std::unique_ptr<Busy>> sockets;
    std::vector<std::string> expected;
    std::promise<void> over;
    run([&] {
        for (int i = 0; i < 20; ++i) {
            sockets.push_back(std::make_unique<Busy>(reactor, std::to_string(i), served));
            reactor.flush_later(*sockets.back());
            expected.push_back("flush " + std::to_string(i));
        }
        sockets.front()->is_slow = true;
        sockets.back()->flushed = [&] { over.set_value(); };
        reactor.post([&](Reactor&) { served.emplace_back("letter"); });
    });
    over.get_future().get();
    run([&] { sockets.clear(); });
    std::erase_if(served, [](const std::string& what) {
        return !what.starts_with("flush ") && what != "letter";
    });
    EXPECT_NE(served.back(), "letter") << "all were flushed in one turn";
    std::erase(served, "letter");
    EXPECT_EQ(served, expected);
}

}  // namespace
}  // namespace revenant::runtime
