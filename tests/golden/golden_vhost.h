// GoldenVhost: a virtual host with a fixed history, on a given disk. The history contains
// everything that the format supports: every kind of event, value and death; pages, and a snapshot
// with events after it.
#pragma once

#include "engine/words/effect.h"
#include "journal/disk.h"
#include "runtime/reactor.h"
#include "runtime/vhost.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace revenant::golden {

class GoldenVhost final : private engine::EffectSink {
  public:
    GoldenVhost(journal::Disk& disk, std::string directory);
    ~GoldenVhost() override;

    // Restores the state from the directory; an error text if that is refused.
    std::optional<std::string> start();
    // The state as text, with every byte of every message.
    std::string description();
    // From an empty directory to the golden one: a first process with a clean shutdown, and a
    // second one without.
    void live();
    // A clean shutdown, with a snapshot.
    void stop();
    // Ends without a shutdown, like a crash.
    void end();

  private:
    bool deliver(engine::Deliver&& effect) override;
    void confirm(const engine::Confirm&) override {}
    void request(engine::Effect&& effect) override;

    void do_now(engine::Command&& command);
    void wait(std::int64_t milliseconds);
    void declare_exchange(std::string name, std::string type, Table arguments = {});
    void declare_queue(std::string name, Table arguments, bool durable = true);
    void bind(std::string source, std::string destination, std::string key, Table arguments = {},
              engine::DestinationKind kind = engine::DestinationKind::queue);
    void publish(std::string exchange, std::string key, std::string_view body,
                 std::string_view properties);
    void get_and_settle(const std::string& queue, engine::Outcome outcome,
                        Ref<const engine::OutcomeDetails> details = {});
    void publish_of_amqp10(std::string exchange, std::string key);
    void settle_with_details();
    void reject_in_a_passing_queue();
    void set_policy(engine::PolicyScope scope, engine::Policy policy);

    void open_channel();
    void declare_exchanges();
    void declare_queues();
    void bind_everything();
    void set_policies();
    void publish_every_kind();
    void let_messages_die();
    void return_to_quorum_queues();
    void fill_a_deep_queue();
    void change_definitions();
    void move_messages();

    journal::Disk& disk_;
    const std::string directory_;
    Timestamp now_{1'700'000'000'000'000};
    runtime::Reactor reactor_{0};
    runtime::VhostStore* store_ = nullptr;
    std::unique_ptr<runtime::Vhost> vhost_;
    std::uint64_t connection_ = 0;
    std::uint64_t channel_ = 0;
    std::uint64_t last_delivery_ = 0;
};

}  // namespace revenant::golden
