// A data directory from a version without virtual host ids: it opens, its directories keep their
// names, and new virtual hosts have an id.

#include "amqp091/message/properties.h"
#include "amqp10/message/message_format.h"
#include "journal/disk_posix.h"
#include "runtime/broker.h"
#include "tests/support/folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <thread>

namespace revenant::golden {
namespace {

namespace fs = std::filesystem;

using ::testing::UnorderedElementsAre;

struct BeforeIds : ::testing::Test {
    BeforeIds() {
        fs::copy(fs::path(REVENANT_SOURCE_DIR) / "tests/golden/v1", folder / "data",
                 fs::copy_options::recursive);
        start();
    }
    void start() {
        broker.reset();
        runtime::BrokerSettings settings;
        settings.disk = &disk;
        settings.data_dir = folder / "data";
        settings.formats = {&amqp091::message_format(), &amqp10::message_format()};
        settings.fatal = [](const std::string& text) {
            ADD_FAILURE() << text;
            std::abort();
        };
        broker = std::make_unique<runtime::Broker>(std::move(settings));
        const auto opened = broker->open();
        ASSERT_TRUE(opened) << opened.error();
        EXPECT_TRUE(*opened);
        broker->start();
    }
    std::uint64_t messages(const std::string& vhost) {
        return broker->ask(broker->find_vhost(vhost), [](engine::Engine& engine) {
            std::uint64_t count = 0;
            for (engine::Queue* queue : engine.state().queues_by_name()) {
                count += queue->message_count();
            }
            return count;
        });
    }
    std::set<std::string> directories() { return names_in(folder / "data/vhosts"); }

    Folder folder;
    journal::PosixDisk disk;
    std::unique_ptr<runtime::Broker> broker;
};

TEST_F(BeforeIds, DirectoriesStayWhereTheyAre) {
    EXPECT_GT(messages("/"), 400U);
    const std::uint64_t before = messages("/");
    start();
    EXPECT_EQ(messages("/"), before);
    EXPECT_THAT(directories(), UnorderedElementsAre("%2F", "orders"));
    EXPECT_FALSE(fs::exists(folder / "data/vhosts/%2F/name"));
}

TEST_F(BeforeIds, WhatIsMadeAnewHasAnId) {
    ASSERT_TRUE(broker->change(PutVhost{.name = "new"}));
    EXPECT_THAT(directories(), UnorderedElementsAre("%2F", "orders", "4.vhost"));
    ASSERT_TRUE(broker->change(DeleteVhost{"/"}));
    ASSERT_TRUE(broker->change(PutVhost{.name = "/"}));
    EXPECT_EQ(messages("/"), 0U);
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (fs::exists(folder / "data/vhosts/%2F") && std::chrono::steady_clock::now() < end) {
        std::this_thread::yield();
    }
    start();
    EXPECT_THAT(directories(), UnorderedElementsAre("5.vhost", "orders", "4.vhost"));
    EXPECT_EQ(messages("/"), 0U);
}

}  // namespace
}  // namespace revenant::golden
