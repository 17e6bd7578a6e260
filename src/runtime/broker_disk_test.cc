// A broker on a disk: the directories of its vhosts, and reactors that never wait for the disk.
#include "engine/words/command.h"
#include "runtime/broker.h"
#include "tests/support/folder.h"
#include "tests/support/scenario.h"
#include "tests/support/slow_disk.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <future>
#include <set>
#include <string>
#include <sys/stat.h>
#include <thread>
#include <vector>

namespace revenant::runtime {
namespace {

namespace fs = std::filesystem;

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds patience{60};

// Whether the condition becomes true in time.
template <typename Condition>
bool eventually(Condition condition) {
    const auto end = Clock::now() + patience;
    while (!condition()) {
        if (Clock::now() > end) return false;
        std::this_thread::yield();
    }
    return true;
}

struct OnDisk : ::testing::Test {
    BrokerSettings settings() {
        BrokerSettings settings;
        settings.reactors = 2;
        settings.disk = &disk;
        settings.data_dir = folder / "data";
        settings.adopt_vhosts = adopts;
        settings.formats = {&engine::test_message_format()};
        settings.disk_full = [this](bool full) {
            full_disks += full ? 1 : -1;
            told_by = std::this_thread::get_id();
        };
        settings.fatal = [](const std::string& text) {
            ADD_FAILURE() << text;
            std::abort();
        };
        return settings;
    }
    // The error of the startup, or an empty string.
    std::string start() {
        broker = std::make_unique<Broker>(settings());
        if (const auto opened = broker->open(); !opened) {
            broker.reset();
            return opened.error();
        }
        broker->start();
        const auto adopted = broker->adopt_vhosts();
        return adopted ? "" : adopted.error();
    }
    std::string restart() {
        broker.reset();
        return start();
    }
    std::string change(const CatalogCommand& command) {
        const auto changed = broker->change(command);
        return changed ? "" : changed.error().text;
    }
    void declare_queue(const std::string& vhost, const std::string& name) {
        broker->ask(broker->find_vhost(vhost), [&](engine::Engine& engine) {
            engine.handle(engine::OpenConnection{{1}, "guest"}, {});
            engine.handle(engine::OpenChannel{{1}, {2}}, {});
            engine.handle(engine::DeclareQueue{.channel = {2}, .name = name, .durable = true}, {});
        });
    }
    std::vector<std::string> queues(const std::string& vhost) {
        return broker->ask(broker->find_vhost(vhost), [](engine::Engine& engine) {
            std::vector<std::string> names;
            for (const engine::Queue* queue : engine.state().queues_by_name()) {
                names.push_back(queue->name());
            }
            return names;
        });
    }
    bool is_written(const std::string& vhost) {
        return broker->ask(broker->find_vhost(vhost)->home(), [&](Reactor&) {
            return broker->find_vhost(vhost)->journal_view().counters.syncs.count() > 0;
        });
    }
    std::set<std::string> directories() { return names_in(folder / "data/vhosts"); }

    Folder folder;
    SlowDisk disk;
    bool adopts = false;
    std::atomic<int> full_disks{0};
    std::atomic<std::thread::id> told_by;
    std::unique_ptr<Broker> broker;
};

// ------------------------------------------------------------------------- directories

TEST_F(OnDisk, EachIncarnationOfAVhostHasADirectoryOfItsOwn) {
    ASSERT_EQ(start(), "");
    ASSERT_EQ(change(PutVhost{.name = "v"}), "");
    EXPECT_THAT(directories(), UnorderedElementsAre("1.vhost"));
    EXPECT_EQ(file_contents(folder / "data/vhosts/1.vhost/name"), "v\n");
    declare_queue("v", "of the first");
    // A reference keeps the directory; the next vhost does not wait for it.
    auto held = broker->find_vhost("v");
    ASSERT_EQ(change(DeleteVhost{"v"}), "");
    ASSERT_EQ(change(PutVhost{.name = "v"}), "");
    EXPECT_THAT(directories(), UnorderedElementsAre("1.vhost", "2.vhost"));
    EXPECT_TRUE(held->is_deleted());
    EXPECT_THAT(queues("v"), ElementsAre());
    held.reset();
    EXPECT_TRUE(eventually([&] { return directories() == std::set<std::string>{"2.vhost"}; }));
    declare_queue("v", "of the second");
    ASSERT_EQ(restart(), "");
    EXPECT_THAT(queues("v"), ElementsAre("of the second"));
    EXPECT_THAT(directories(), UnorderedElementsAre("2.vhost"));
    ASSERT_EQ(change(PutVhost{.name = "w"}), "");
    EXPECT_THAT(directories(), UnorderedElementsAre("2.vhost", "3.vhost"));
}

// A connection that still publishes after its vhost was deleted writes nothing.
TEST_F(OnDisk, ADeletedVhostWritesNothing) {
    ASSERT_EQ(start(), "");
    ASSERT_EQ(change(PutVhost{.name = "v"}), "");
    const auto held = broker->find_vhost("v");
    ASSERT_EQ(change(DeleteVhost{"v"}), "");
    const auto written = [&] {
        return broker->ask(held->home(),
                           [&](Reactor&) { return held->journal_view().counters.batches; });
    };
    const std::uint64_t before = written();
    broker->ask(held, [](engine::Engine& engine) {
        engine.handle(engine::OpenConnection{{1}, "guest"}, {});
        engine.handle(engine::OpenChannel{{1}, {2}}, {});
        engine.handle(engine::DeclareQueue{.channel = {2}, .name = "late", .durable = true}, {});
    });
    broker->ask(held->home(), [&](Reactor&) {
        held->flush();
        held->tick();
    });
    EXPECT_GT(
        broker->ask(held->home(), [&](Reactor&) { return held->journal_view().waiting_bytes; }),
        50U);
    EXPECT_EQ(written(), before);
}

// Replies to a channel.
struct Told final : engine::EffectSink {
    bool deliver(engine::Deliver&&) override { return true; }
    void confirm(const engine::Confirm& effect) override { confirms.push_back(effect.accepted); }
    void request(engine::Effect&& effect) override {
        if (std::holds_alternative<engine::Done>(effect)) answers += 1;
    }
    std::vector<bool> confirms;
    int answers = 0;
};

// The disk is not used any more, so a reply that waits for it would never be sent.
TEST_F(OnDisk, WhoWaitsForTheDiskIsAnsweredWhenTheVhostGoes) {
    ASSERT_EQ(start(), "");
    ASSERT_EQ(change(PutVhost{.name = "v"}), "");
    const auto vhost = broker->find_vhost("v");
    Told told;
    broker->ask(vhost->home(), [&](Reactor& home) {
        const ConnectionId connection{home.register_sink(told)};
        const ChannelId channel{home.register_sink(told)};
        engine::Engine& engine = vhost->engine();
        engine.handle(engine::OpenConnection{connection, "guest"}, home.now());
        engine.handle(engine::OpenChannel{connection, channel}, home.now());
        const int before = told.answers;
        engine.handle(engine::DeclareQueue{.channel = channel, .name = "q", .durable = true},
                      home.now());
        engine::Publish publish;
        publish.channel = channel;
        publish.message = engine::make_test_message("q", "body");
        publish.confirm_sequence = 1;
        engine.handle(std::move(publish), home.now());
        EXPECT_EQ(told.answers, before);
        EXPECT_THAT(told.confirms, ElementsAre());
        vhost->retire();
        EXPECT_EQ(told.answers, before + 1);
        EXPECT_THAT(told.confirms, ElementsAre(false)) << "it is not safe";
        home.release_sink(channel.value);
        home.release_sink(connection.value);
    });
    // Otherwise the broker would wait a minute for its last snapshot.
    ASSERT_EQ(change(DeleteVhost{"v"}), "");
}

TEST_F(OnDisk, ADeletionThatWasNotFinishedGoesOnWithTheNextStart) {
    ASSERT_EQ(start(), "");
    ASSERT_EQ(change(PutVhost{.name = "v"}), "");
    const auto held = broker->find_vhost("v");
    ASSERT_EQ(change(DeleteVhost{"v"}), "");
    fs::copy(folder / "data", folder / "killed", fs::copy_options::recursive);
    broker.reset();
    fs::remove_all(folder / "data");
    fs::rename(folder / "killed", folder / "data");
    EXPECT_THAT(directories(), UnorderedElementsAre("1.vhost"));
    ASSERT_EQ(start(), "");
    EXPECT_TRUE(directories().empty());
}

TEST_F(OnDisk, AVhostThatTheCatalogHasLostIsAdoptedOnlyIfThatIsSaid) {
    ASSERT_EQ(start(), "");
    ASSERT_EQ(change(PutVhost{.name = "gone"}), "");
    ASSERT_EQ(change(PutVhost{.name = "a/b"}), "");
    ASSERT_EQ(change(DeleteVhost{"gone"}), "");
    declare_queue("a/b", "q");
    broker.reset();
    fs::remove_all(folder / "data/catalog");
    EXPECT_THAT(start(), AllOf(HasSubstr(folder / "data/vhosts/2.vhost"),
                               HasSubstr("docs/formats/journal.md")));
    adopts = true;
    ASSERT_EQ(start(), "");
    EXPECT_THAT(queues("a/b"), ElementsAre("q"));
    EXPECT_EQ(broker->access()->find_vhost("a/b")->id, 2U);
    ASSERT_EQ(change(PutVhost{.name = "new"}), "");
    EXPECT_GT(broker->access()->find_vhost("new")->id, 2U);
    adopts = false;
    ASSERT_EQ(restart(), "");
    EXPECT_THAT(queues("a/b"), ElementsAre("q"));
}

// The first startup of a node creates the default vhost before it adopts the others.
TEST_F(OnDisk, WhoMakesALostVhostAnewGetsItsMessages) {
    ASSERT_EQ(start(), "");
    ASSERT_EQ(change(PutVhost{.name = "/"}), "");
    declare_queue("/", "q");
    broker.reset();
    fs::remove_all(folder / "data/catalog");
    adopts = true;
    broker = std::make_unique<Broker>(settings());
    ASSERT_TRUE(broker->open());
    broker->start();
    ASSERT_EQ(change(PutVhost{.name = "first"}), "");
    ASSERT_EQ(change(PutVhost{.name = "/"}), "");
    EXPECT_THAT(queues("/"), ElementsAre("q"));
    EXPECT_THAT(directories(), UnorderedElementsAre("1.vhost", "2.vhost"));
    EXPECT_TRUE(broker->adopt_vhosts());
}

// Due expirations would write continuously while the last snapshot waits.
TEST_F(OnDisk, AVhostThatIsBeingClosedLetsNothingExpire) {
    ASSERT_EQ(start(), "");
    ASSERT_EQ(change(PutVhost{.name = "v"}), "");
    declare_queue("v", "q");
    const auto vhost = broker->find_vhost("v");
    std::promise<void> closed;
    const Timestamp expires = broker->ask(vhost->home(), [&](Reactor& home) {
        engine::Publish publish;
        publish.channel = {2};
        publish.message = engine::make_test_message("q", "body", {.ttl_ms = 20});
        vhost->engine().handle(std::move(publish), home.now());
        vhost->close([&] { closed.set_value(); });
        return home.now() + revenant::milliseconds(20);
    });
    closed.get_future().wait();
    EXPECT_TRUE(eventually([&] {
        return broker->ask(vhost->home(), [&](Reactor& home) { return home.now() > expires; });
    }));
    EXPECT_EQ(broker->ask(vhost->home(),
                          [&](Reactor&) {
                              return vhost->engine().state().find_queue("q")->message_count();
                          }),
              1U);
}

TEST_F(OnDisk, TwoDirectoriesOfOneVhostAreRefused) {
    adopts = true;
    ASSERT_EQ(start(), "");
    ASSERT_EQ(change(PutVhost{.name = "v"}), "");
    broker.reset();
    fs::copy(folder / "data/vhosts/1.vhost", folder / "data/vhosts/2.vhost");
    EXPECT_THAT(start(), AllOf(HasSubstr("2.vhost"), HasSubstr("'v'")));
}

TEST_F(OnDisk, DirectoriesAreNotForEverybody) {
    const mode_t before = ::umask(0);
    ASSERT_EQ(start(), "");
    ASSERT_EQ(change(PutVhost{.name = "v"}), "");
    ::umask(before);
    for (const char* const name : {"data", "data/catalog", "data/vhosts", "data/vhosts/1.vhost",
                                   "data/vhosts/1.vhost/scratch"}) {
        EXPECT_EQ(fs::status(folder / name).permissions(), fs::perms{0750}) << name;
    }
}

// ------------------------------------------------------------------------- slow disk

struct OnASlowDisk : OnDisk {
    OnASlowDisk() {
        EXPECT_EQ(start(), "");
        for (const CatalogCommand& command : initial_commands({}, Salt{})) change(command);
    }
    // The longest time that reactors took to open and close a connection while the work runs.
    template <typename Work>
    std::chrono::milliseconds longest_turn_during(Work work) {
        disk.set_delay(std::chrono::seconds(1));
        std::atomic<bool> over{false};
        auto working = std::async(std::launch::async, [&] {
            work();
            over.store(true);
        });
        Clock::duration longest{};
        const auto vhost = broker->find_vhost("/");
        while (!over.load()) {
            for (std::size_t i = 0; i < broker->reactor_count(); ++i) {
                const auto began = Clock::now();
                broker->ask(broker->reactor(i), [&](Reactor&) {
                    EXPECT_NE(broker->find_vhost("/"), nullptr);
                    EXPECT_EQ(broker->admit("/", "guest"), std::nullopt);
                    EXPECT_NE(broker->access(), nullptr);
                    broker->place(*vhost);
                    broker->release_connection("/", "guest");
                });
                longest = std::max(longest, Clock::now() - began);
            }
        }
        working.get();
        disk.set_delay(std::chrono::seconds(0));
        return std::chrono::duration_cast<std::chrono::milliseconds>(longest);
    }
};

// A sync takes a second; a turn must take much less.
constexpr std::chrono::milliseconds turn_max{500};

TEST_F(OnASlowDisk, NoReactorWaitsForAChangeOfTheCatalog) {
    EXPECT_LT(longest_turn_during([&] { change(AddUser{"ann", {}, {}, {}}); }), turn_max);
    EXPECT_GE(disk.slow_calls(), 2U) << "the disk was not asked";
}

TEST_F(OnASlowDisk, NoReactorWaitsForAVhostToBeMade) {
    EXPECT_LT(longest_turn_during([&] { change(PutVhost{.name = "v"}); }), turn_max);
    EXPECT_GE(disk.slow_calls(), 3U);
    EXPECT_NE(broker->find_vhost("v"), nullptr);
}

TEST_F(OnASlowDisk, NoReactorWaitsForAVhostToGo) {
    change(PutVhost{.name = "v"});
    EXPECT_LT(longest_turn_during([&] { change(DeleteVhost{"v"}); }), turn_max);
    EXPECT_GE(disk.slow_calls(), 2U);
}

TEST_F(OnASlowDisk, NoReactorWaitsForAJournal) {
    EXPECT_LT(longest_turn_during([&] {
                  declare_queue("/", "q");
                  EXPECT_TRUE(eventually([&] { return is_written("/"); }));
              }),
              turn_max);
    EXPECT_GE(disk.slow_calls(), 1U);
}

// ------------------------------------------------------------------------- full disk

struct OnAFullDisk : OnDisk {
    OnAFullDisk() {
        EXPECT_EQ(start(), "");
        change(PutVhost{.name = "v"});
        disk.set_full(true);
        declare_queue("v", "q");
        EXPECT_TRUE(eventually([&] { return full_disks.load() == 1; }));
    }
    ~OnAFullDisk() override {
        disk.set_full(false);
        broker.reset();
    }
};

// The sink may access the disk.
TEST_F(OnAFullDisk, NoReactorTellsOfIt) {
    for (std::size_t i = 0; i < broker->reactor_count(); ++i) {
        EXPECT_FALSE(broker->ask(broker->reactor(i), [&](Reactor&) {
            return std::this_thread::get_id() == told_by.load();
        }));
    }
}

TEST_F(OnAFullDisk, AVhostThatIsDeletedWaitsForNoRoom) {
    disk.set_full(false);
    ASSERT_EQ(change(DeleteVhost{"v"}), "");
    EXPECT_TRUE(eventually([&] { return full_disks.load() == 0; }));
}

// A full disk buffers as much per client as a slow disk does, and timers stop.
TEST_F(OnAFullDisk, ItsVhostIsBehindWhenMuchWaits) {
    const auto vhost = broker->find_vhost("v");
    EXPECT_TRUE(eventually([&] { return vhost->is_disk_full(); }));
    EXPECT_FALSE(vhost->is_behind());
    const std::string body(1'000'000, 'b');
    for (int i = 0; i < 100 && !vhost->is_behind(); ++i) {
        broker->ask(vhost, [&](engine::Engine& engine) {
            engine.publish({.channel = {2},
                            .message = engine::make_test_message("q", body, {.persistent = true})},
                           {});
        });
    }
    EXPECT_TRUE(vhost->is_behind());
    disk.set_full(false);
    EXPECT_TRUE(eventually([&] { return !vhost->is_behind() && !vhost->is_disk_full(); }));
}

// Deliveries after a reply that waits for the disk must not build up in memory.
TEST_F(OnAFullDisk, DeliveriesBehindAnAnswerStop) {
    struct Taker final : engine::EffectSink {
        bool deliver(engine::Deliver&& /*effect*/) override {
            deliveries += 1;
            return true;
        }
        void confirm(const engine::Confirm& /*effect*/) override {}
        void request(engine::Effect&& effect) override {
            if (std::holds_alternative<engine::DeliveriesPaused>(effect)) paused += 1;
        }
        std::atomic<int> deliveries{0};
        std::atomic<int> paused{0};
    } taker;
    constexpr int count = 100;
    const auto vhost = broker->find_vhost("v");
    broker->ask(vhost->home(), [&](Reactor& home) {
        const ConnectionId connection{home.register_sink(taker)};
        const ChannelId channel{home.register_sink(taker)};
        engine::Engine& engine = vhost->engine();
        engine.handle(engine::OpenConnection{connection, "guest"}, {});
        engine.handle(engine::OpenChannel{connection, channel}, {});
        engine.handle(engine::DeclareQueue{.channel = channel, .name = "t"}, {});
        for (int i = 0; i < count; ++i) {
            engine.publish({.channel = channel,
                            .message = engine::make_test_message("t", std::string(10'000, 'b'))},
                           {});
        }
        engine.handle(engine::DeclareQueue{.channel = channel, .name = "d", .durable = true}, {});
        engine.handle(engine::Consume{.channel = channel, .queue = "t"}, {});
        const engine::Queue& queue = *engine.state().find_queue("t");
        EXPECT_GT(queue.ready_count(), count / 2U) << "as many are held as it has taken";
    });
    EXPECT_EQ(taker.deliveries.load(), 0);
    disk.set_full(false);
    EXPECT_TRUE(eventually([&] { return taker.paused.load() == 1; }));
    EXPECT_GT(taker.deliveries.load(), 0);
}

TEST_F(OnAFullDisk, NothingIsMadeOrDeletedAndNothingIsHarmed) {
    EXPECT_EQ(change(DeleteVhost{"v"}), "the disk is full");
    EXPECT_EQ(change(PutVhost{.name = "w"}), "the disk is full");
    EXPECT_EQ(broker->find_vhost("w"), nullptr);
    EXPECT_EQ(broker->access()->find_vhost("w"), nullptr);
    disk.set_full(false);
    ASSERT_EQ(change(PutVhost{.name = "w"}), "");
    EXPECT_TRUE(eventually([&] { return full_disks.load() == 0; }));
    ASSERT_EQ(restart(), "");
    EXPECT_THAT(queues("v"), ElementsAre("q"));
    EXPECT_THAT(queues("w"), ElementsAre());
}

}  // namespace
}  // namespace revenant::runtime
