#include "http/api/engine_call.h"

#include "engine/words/command.h"
#include "runtime/broker.h"
#include "tests/support/folder.h"
#include "tests/support/scenario.h"
#include "tests/support/slow_disk.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <string>

namespace revenant::http {
namespace {

using ::testing::HasSubstr;

struct ErrandOnDisk : ::testing::Test {
    ErrandOnDisk() {
        runtime::BrokerSettings settings;
        settings.disk = &disk;
        settings.data_dir = folder / "data";
        settings.formats = {&engine::test_message_format()};
        settings.fatal = [](const std::string& text) {
            ADD_FAILURE() << text;
            std::abort();
        };
        broker = std::make_unique<runtime::Broker>(settings);
        EXPECT_TRUE(broker->open());
        broker->start();
        EXPECT_TRUE(broker->change(PutVhost{.name = "v"}));
    }
    Result<engine::Done, engine::Refusal> declare(const std::string& queue) {
        return execute(broker->find_vhost("v"), "guest",
                       engine::DeclareQueue{.name = queue, .durable = true});
    }

    Folder folder;
    SlowDisk disk;
    std::unique_ptr<runtime::Broker> broker;
};

TEST_F(ErrandOnDisk, DoesNotWaitForADiskThatBecomesFull) {
    EXPECT_TRUE(declare("before"));
    // The virtual host notices the full disk only when it writes the queue, after it has accepted
    // the command.
    disk.set_full(true);
    const auto refused = declare("q");
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().text, HasSubstr("the change completes when there is space"));
    const auto next = declare("another");
    ASSERT_FALSE(next);
    EXPECT_THAT(next.error().text, HasSubstr("nothing is changed until there is space"));
    disk.set_full(false);
    // Once the disk has space, the pending changes are written in order.
    bool has_room = false;
    for (int i = 0; i < 10'000'000 && !has_room; ++i) has_room = declare("last").has_value();
    EXPECT_TRUE(has_room);
    EXPECT_TRUE(broker->ask(broker->find_vhost("v"), [](engine::Engine& engine) {
        return engine.state().find_queue("q") != nullptr;
    }));
}

}  // namespace
}  // namespace revenant::http
