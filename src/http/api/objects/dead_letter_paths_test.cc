#include "http/api/objects/dead_letter_paths.h"

#include "http/api_test.h"

namespace revenant::http {
namespace {

class DeadLetterPathsTest : public ApiTest {
  protected:
    void SetUp() override {
        ApiTest::SetUp();
        for (const char* name : {"dead", "late", "other"}) {
            ASSERT_EQ(put("/queues/%2F/" + std::string(name), "{}"), 201U);
        }
        bind("amq.direct", "q/dead", "k");
        bind("amq.direct", "q/other", "o");
        bind("amq.topic", "q/late", "a.#");
        bind("amq.direct", "e/amq.topic", "a.b");
    }
    void bind(const std::string& exchange, const std::string& destination, const std::string& key) {
        ASSERT_EQ(send("POST", "/bindings/%2F/e/" + exchange + "/" + destination,
                       R"({"routing_key":")" + key + "\"}")
                      .status,
                  201U);
    }
    void declare(const std::string& name, const std::string& exchange, const std::string& key) {
        std::string arguments = R"("x-dead-letter-exchange":")" + exchange + "\"";
        if (!key.empty()) arguments += R"(,"x-dead-letter-routing-key":")" + key + "\"";
        ASSERT_EQ(put("/queues/%2F/" + name, R"({"arguments":{)" + arguments + "}}"), 201U);
    }
    std::vector<DeadLetterPath> paths() {
        return dead_letter_paths_in(broker_, broker_.find_vhost("/"));
    }
    // "type: target target"
    std::string reach_of(const std::string& queue) {
        for (const DeadLetterPath& path : paths()) {
            if (path.source.queue != queue) continue;
            if (path.reach == nullptr) return "no exchange";
            std::string text = path.reach->exchange_type + ":";
            for (const std::string& target : path.reach->targets) text += " " + target;
            return path.reach->unknown ? text + " unknown" : text;
        }
        return "no path";
    }
};

TEST_F(DeadLetterPathsTest, LeadWhereTheKeyLeads) {
    declare("direct", "amq.direct", "k");
    declare("through", "amq.direct", "a.b");
    declare("named", "", "other");
    EXPECT_EQ(reach_of("direct"), "direct: dead");
    EXPECT_EQ(reach_of("through"), "direct: late");
    EXPECT_EQ(reach_of("named"), "direct: other");
    EXPECT_EQ(reach_of("dead"), "no path");
}

TEST_F(DeadLetterPathsTest, LeadEverywhereBehindTheExchangeWhenMessagesKeepTheirKeys) {
    declare("any", "amq.direct", "");
    declare("default", "", "");
    EXPECT_EQ(reach_of("any"), "direct: dead late other");
    EXPECT_EQ(reach_of("default"), "direct: unknown");
    // A cycle of bindings, and an alternate exchange.
    bind("amq.topic", "e/amq.direct", "#");
    ASSERT_EQ(put("/queues/%2F/spare", "{}"), 201U);
    bind("amq.fanout", "q/spare", "");
    ASSERT_EQ(put("/policies/%2F/p",
                  R"({"pattern":"^amq.topic$","definition":{"alternate-exchange":"amq.fanout"}})"),
              201U);
    EXPECT_EQ(reach_of("any"), "direct: dead late other spare");
}

TEST_F(DeadLetterPathsTest, EndWhereThereIsNoExchangeOrNoBinding) {
    declare("lost", "nosuch", "");
    declare("unbound", "amq.direct", "nothing");
    EXPECT_EQ(reach_of("lost"), ":");
    EXPECT_EQ(reach_of("unbound"), "direct:");
}

// More queues, addresses and targets than one turn visits.
TEST_F(DeadLetterPathsTest, AreWholeAndInOrderHoweverManyThereAre) {
    constexpr std::size_t count = 1'100;
    std::string queues;
    std::string bindings;
    for (std::size_t i = 0; i < count; ++i) {
        const std::string name = std::to_string(i);
        queues +=
            R"({"name":"t)" + name + R"(","durable":true,"auto_delete":false,"arguments":{}},)" +
            R"({"name":"w)" + name +
            R"(","durable":true,"auto_delete":false,"arguments":{"x-dead-letter-exchange":")" +
            (i % 2 == 0 ? "amq.fanout" : "amq.topic") + R"(","x-dead-letter-routing-key":"key)" +
            name + "\"}},";
        bindings += R"({"source":"amq.fanout","destination":"t)" + name +
                    R"(","destination_type":"queue","routing_key":"","arguments":{}},)" +
                    R"({"source":"amq.topic","destination":"t)" + name +
                    R"(","destination_type":"queue","routing_key":"key)" + name +
                    R"(","arguments":{}},)";
    }
    queues.pop_back();
    bindings.pop_back();
    ASSERT_EQ(send("POST", "/definitions/%2F",
                   R"({"queues":[)" + queues + R"(],"bindings":[)" + bindings + "]}")
                  .status,
              204U);
    declare("any", "amq.topic", "");
    const auto all = paths();
    ASSERT_EQ(all.size(), count + 1);
    EXPECT_TRUE(std::is_sorted(all.begin(), all.end(), [](const auto& a, const auto& b) {
        return a.source.queue < b.source.queue;
    }));
    EXPECT_EQ(reach_of("w7"), "topic: t7");
    for (const DeadLetterPath& path : all) {
        const bool any = path.source.queue == "any";
        const bool fanned_out = path.source.exchange == "amq.fanout";
        EXPECT_EQ(path.reach->targets.size(), any          ? count + 1
                                              : fanned_out ? count
                                                           : 1)
            << path.source.queue;
    }
    // Every target is listed once, with all its sources.
    const json::value list = get("/dead-letters/queues");
    ASSERT_EQ(list.get_array().size(), count + 1);
    const json::value t7 =
        get("/dead-letters/queues?name=%5Et7%24&use_regex=true&page=1").at("items").at(0);
    EXPECT_EQ(t7.at("source_count").to_number<std::size_t>(), count / 2 + 2);
    EXPECT_EQ(t7.at("sources").get_array().size(), 20U);
    EXPECT_EQ(t7.at("sources").at(0), "any");
    EXPECT_EQ(get("/queues/%2F/t7/deaths").at("fed_by_count").to_number<std::size_t>(),
              count / 2 + 2);
}

}  // namespace
}  // namespace revenant::http
