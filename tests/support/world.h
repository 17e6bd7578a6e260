// World: a broker without sockets, in one thread: engines, users, the clock, and wires that carry
// bytes to real connections of either protocol. Tests and fuzzers act as the clients. The steps
// determine everything, so that a run can be recorded and repeated, split into other pieces.
//
// A near wire calls its engine directly. A far one uses mailbox items: commands and effects are
// pending until a step carries them, as between two reactors.
#pragma once

#include "amqp091/connection.h"
#include "catalog/catalog.h"
#include "engine/engine.h"
#include "protocol/connection.h"
#include "protocol/host.h"

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace revenant::protocol {

enum class Distance : std::uint8_t { near, far };
inline const char* distance_text(Distance distance) {
    return distance == Distance::near ? "near" : "far";
}
inline void PrintTo(Distance distance, std::ostream* out) { *out << distance_text(distance); }

// The protocol of a wire's client.
enum class Protocol : std::uint8_t { amqp091, amqp10 };

class World;

// --- steps ---

struct Connect {
    Distance distance = Distance::near;
    PeerLocation place = PeerLocation::loopback;
    Protocol protocol = Protocol::amqp091;
    // The user that the client's certificate names.
    std::optional<std::string> certificate_user = std::nullopt;
};
struct Feed {
    std::size_t wire = 0;
    std::string bytes;
};
struct Carry {
    enum class What : std::uint8_t { all, commands, effects };
    What what = What::all;
};
struct Advance {
    Duration by;
};
struct Change {
    CatalogCommand command;
};
struct RaiseAlarm {
    std::string reason;  // empty: cleared
};
struct CloseForced {
    std::size_t wire = 0;
    std::string reason;
};
// The node stops: every connection is closed.
struct ShutDown {
    std::string reason;
};
struct Disconnect {
    std::size_t wire = 0;
};
// The client stops or resumes reading from its socket.
struct Read {
    std::size_t wire = 0;
    bool on = true;
};
// The node refuses all further access to its virtual hosts.
struct RefuseEntry {
    std::string text;
};
using Step = std::variant<Connect, Feed, Carry, Advance, Change, RaiseAlarm, CloseForced, ShutDown,
                          Disconnect, Read, RefuseEntry>;

// A connection and the state of its socket.
class Wire final : public Host {
  public:
    Wire(World& world, const Connect& options);
    ~Wire() override;
    Wire(const Wire&) = delete;
    Wire& operator=(const Wire&) = delete;

    Protocol protocol() const { return protocol_; }
    Connection& connection() { return *connection_; }
    // Requires an AMQP 0-9-1 client.
    amqp091::Connection& connection091();
    // Everything that the client has received.
    const std::string& received() const { return received_; }
    const std::vector<std::string>& notes() const { return notes_; }
    // The socket is closed: nothing more is received, and nothing sent is read.
    bool closed() const { return gone_; }

    // --- Host ---
    const std::shared_ptr<const AccessTable>& access() override;
    PeerLocation peer_location() const override { return place_; }
    std::optional<std::string> certificate_user() const override { return certificate_user_; }
    VhostAnswer open_vhost(std::string_view vhost, std::string_view user) override;
    ChannelId register_channel(engine::EffectSink& sink) override;
    void release_channel(ChannelId channel) override;
    std::string random_name(std::string_view prefix) override;
    void request_flush() override { flush_wanted_ = true; }
    bool others_wait() override { return true; }
    void log_line(std::string_view text) override { notes_.emplace_back(text); }

  private:
    friend class World;
    class LocalEngineProxy;
    class RemoteEngineProxy;

    // Closes the socket and destroys the connection.
    void close();
    // Passes input to the connection as far as it accepts it. True if anything was processed.
    bool work();
    bool flush();
    VhostAnswer enter();

    World& world_;
    Distance distance_;
    PeerLocation place_;
    Protocol protocol_;
    std::optional<std::string> certificate_user_;
    std::string vhost_;
    std::unique_ptr<EngineProxy> port_;
    std::uint64_t sink_ = 0;
    std::string unread_;
    std::string received_;
    std::vector<std::string> notes_;
    bool moving_ = false;
    bool flush_wanted_ = false;
    bool reads_ = true;
    bool gone_ = false;
    std::uint64_t writes_ = 0;
    std::unique_ptr<Connection> connection_;  // last: its destructor uses the other members
};

class World {
  public:
    explicit World(ConnectionSettings settings = {}, bool keeps_record = true);
    ~World();
    World(const World&) = delete;
    World& operator=(const World&) = delete;

    // --- steps; each is recorded ---
    std::size_t connect(const Connect& options);
    void feed(std::size_t wire, std::string_view bytes);
    void carry(Carry::What what = Carry::What::all);
    void advance(Duration by);
    void change(const CatalogCommand& command);
    void raise_alarm(std::string_view reason);
    void close_forced(std::size_t wire, std::string_view reason);
    void shut_down(std::string_view reason);
    void disconnect(std::size_t wire);
    void read(std::size_t wire, bool on);
    void refuse_entry(std::string_view text);
    void take(const Step& step);
    const std::vector<Step>& steps() const { return steps_; }

    // Interrupts connections after every frame.
    void be_impatient() { impatient_ = true; }

    // --- views ---
    Wire& wire(std::size_t index) { return *wires_[index]; }
    std::size_t wire_count() const { return wires_.size(); }
    Timestamp now() const { return now_; }
    const ConnectionSettings& settings() const { return settings_; }
    engine::Engine& engine(std::string_view vhost = "/");
    // The violated invariant of the engines; empty if there is none. Entries balance, counters
    // agree, replaying the record results in the same state, and no closed connection is attached.
    std::string fault();

  private:
    friend class Wire;

    struct VhostCommand {
        engine::Engine* engine = nullptr;
        engine::Command command;
    };
    // The engine of a virtual host and the route of its effects.
    struct Home final : engine::EffectSink, engine::Recorder {
        Home(World& owner, std::string name);
        bool deliver(engine::Deliver&& effect) override;
        void confirm(const engine::Confirm& effect) override;
        void request(engine::Effect&& effect) override;
        void record(const engine::Event& event) override { events.push_back(event); }

        World& world;
        std::vector<engine::Event> events;
        std::map<ChannelId, std::uint64_t> far_bytes;
        engine::Engine engine;
    };

    static constexpr std::uint64_t far_bit = std::uint64_t{1} << 56;
    static bool is_far(std::uint64_t id) { return (id & far_bit) != 0; }
    std::uint64_t register_sink(engine::EffectSink& sink, Distance distance);
    engine::EffectSink* find_sink(std::uint64_t id);
    void dispatch(engine::Effect&& effect);
    bool carry_commands();
    bool carry_effects();
    bool work_wires();
    void run_until_quiet();
    void tick_due_engines();
    std::string fault_of(Home& home);

    ConnectionSettings settings_;
    bool keeps_record_;
    Timestamp now_{1'700'000'000'000'000};
    Catalog catalog_;
    std::shared_ptr<const AccessTable> access_;
    std::map<std::string, std::unique_ptr<Home>, std::less<>> homes_;
    std::map<std::uint64_t, engine::EffectSink*> sinks_;
    std::uint64_t last_id_ = 0;
    std::uint64_t names_given_ = 0;
    bool impatient_ = false;
    std::deque<VhostCommand> commands_;
    std::deque<engine::Effect> effects_;
    std::string alarm_;
    std::string entry_refusal_;
    std::vector<Step> steps_;
    std::vector<std::unique_ptr<Wire>> wires_;
};

}  // namespace revenant::protocol
