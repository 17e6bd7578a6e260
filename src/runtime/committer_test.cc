#include "runtime/committer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <memory>
#include <numeric>
#include <thread>
#include <vector>

namespace revenant::runtime {
namespace {

// Reactors with running threads.
class Reactors {
  public:
    explicit Reactors(std::uint8_t count) {
        std::vector<Reactor*> all;
        for (std::uint8_t i = 0; i < count; ++i) {
            reactors_.push_back(std::make_unique<Reactor>(i));
            all.push_back(reactors_.back().get());
        }
        for (const auto& reactor : reactors_) reactor->set_peers(all);
        for (const auto& reactor : reactors_) reactor->start();
    }
    ~Reactors() {
        for (const auto& reactor : reactors_) reactor->stop();
        for (const auto& reactor : reactors_) reactor->join();
    }
    Reactor& operator[](std::size_t index) { return *reactors_[index]; }

  private:
    std::vector<std::unique_ptr<Reactor>> reactors_;
};

TEST(Committer, WorksOnAThreadOfItsOwnAndTellsAtHome) {
    std::promise<void> told;  // outlives the threads that use it
    std::thread::id worked_on;
    bool at_home = false;
    Reactors reactors(2);
    Committer committer;
    committer.run(
        reactors[1], [&] { worked_on = std::this_thread::get_id(); },
        [&] {
            at_home = reactors[1].on_this_thread() && worked_on != std::this_thread::get_id();
            told.set_value();
        });
    told.get_future().wait();
    EXPECT_TRUE(at_home);
    EXPECT_NE(worked_on, std::this_thread::get_id());
}

TEST(Committer, WorksInTheOrderItWasAskedAndTellsInIt) {
    constexpr int jobs = 500;
    std::vector<int> worked;
    std::vector<int> told;
    std::promise<void> all_told;
    Reactors reactors(1);
    Committer committer;
    for (int i = 0; i < jobs; ++i) {
        committer.run(
            reactors[0], [&worked, i] { worked.push_back(i); },
            [&, i] {
                told.push_back(i);
                if (i == jobs - 1) all_told.set_value();
            });
    }
    all_told.get_future().wait();
    std::vector<int> in_order(jobs);
    std::iota(in_order.begin(), in_order.end(), 0);
    EXPECT_EQ(worked, in_order);
    EXPECT_EQ(told, in_order);
}

// Every reactor submits work from its own thread, as journals do, and more when it is done.
TEST(Committer, ServesSeveralReactorsAtOnce) {
    constexpr int rounds = 300;
    constexpr std::uint8_t count = 3;
    std::uint64_t worked = 0;  // written by the committer only
    std::promise<void> finished[count];
    struct Asker {
        void ask() {
            worker.run([this] { *worked += 1; },
                       [this] {
                           if (++told == rounds) return finished->set_value();
                           ask();
                       });
        }
        ReactorWorker worker;
        std::uint64_t* worked;
        std::promise<void>* finished;
        int told = 0;
    };
    std::vector<std::unique_ptr<Asker>> askers;
    Reactors reactors(count);
    Committer committer;
    for (std::uint8_t i = 0; i < count; ++i) {
        askers.emplace_back(
            new Asker{ReactorWorker(committer, reactors[i]), &worked, &finished[i]});
        reactors[i].post([asker = askers.back().get()](Reactor&) { asker->ask(); });
    }
    for (auto& one : finished) one.get_future().wait();
    committer.stop();
    EXPECT_EQ(worked, static_cast<std::uint64_t>(rounds) * count);
}

TEST(Committer, DoesWhatWasAskedForBeforeItStops) {
    std::atomic<int> worked = 0;
    std::promise<void> begun;
    std::promise<void> go_on;
    Reactors reactors(1);
    Committer committer;
    committer.run(
        reactors[0],
        [&] {
            begun.set_value();
            go_on.get_future().wait();
        },
        [] {});
    for (int i = 0; i < 20; ++i) {
        committer.run(
            reactors[0], [&] { worked += 1; }, [] {});
    }
    begun.get_future().wait();
    std::thread stopping([&] { committer.stop(); });
    EXPECT_EQ(worked, 0);
    go_on.set_value();
    stopping.join();
    EXPECT_EQ(worked, 20);
}

TEST(Committer, MayBeStoppedTwiceAndWithoutWork) {
    Committer committer;
    committer.stop();
    committer.stop();
}

}  // namespace
}  // namespace revenant::runtime
