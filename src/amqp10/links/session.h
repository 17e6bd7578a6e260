// Session: windows, handles, delivery numbers and the order of transfers; its links do the rest.
#pragma once

#include "amqp10/codec/fault.h"
#include "amqp10/codec/performatives.gen.h"
#include "amqp10/links/link.h"
#include "amqp10/links/transfer_frame.h"
#include "base/numbered_ring.h"
#include "engine/words/command.h"
#include "message/message.h"
#include "protocol/session_info.h"

#include <boost/unordered/unordered_flat_map.hpp>

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace revenant::amqp10 {

class Connection;
class Link;
class OutgoingLink;
struct ClientOutcome;

// How a publish ended, as the client is told.
enum class PublishOutcome : std::uint8_t { accepted, released };

class Session {
  public:
    Session(Connection& connection, std::uint16_t channel);
    ~Session();
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;

    void begin(const Begin& begin);
    void receive(std::uint64_t code, const TypeReader::Items& items, std::string_view payload);
    void before_flush();
    // Resources are short: its window closes for publishers (amqp10 3.2).
    void set_blocked(bool blocked);
    void orphaned();
    bool is_gone() const { return state_ == State::gone; }
    // Deliveries wait here for the client to open its window.
    bool is_backlogged() const;
    // Those who fill it have to wait, and none of the other sessions.
    void pause_links_if_backlogged();
    void resume_links_if_cleared();

    // The engine's channels of its links.
    std::vector<ChannelId> link_channels() const;
    protocol::SessionInfo info() const;

    Connection& connection() { return connection_; }
    std::uint16_t channel() const { return channel_; }

    // --- for its links ---
    void fail(Fault fault);
    // Tells the client that the link ends, and lets it go.
    void detach(Link& link, Fault fault);
    // While a request of the client to delete a queue is not answered, its links to the queue do
    // not end. True if the link is to wait for that.
    bool ends_later(const Link& link);
    void end_deleted_links();
    // Ends the session if the user lacks a permission for one of its links.
    void check_permissions_again();
    // Without a link: of the session alone.
    void write_link_flow(const Link* link, Flow flow);
    // Behind those of its messages that wait for the client's window.
    void send_link_state(const Link& link, const LinkState& state);
    // A message for the client: filled in, then sent; false when no more should come for now.
    OutgoingTransfer& next_transfer();
    bool send_next_transfer();
    // The client has kept these of the link too long, in the engine's numbers, ascending.
    void send_timed_out(const OutgoingLink& link, const std::vector<DeliveryId>& deliveries);
    // Messages of the client, by the numbers it gave them.
    void settle_published(std::uint32_t delivery, PublishOutcome outcome);
    void reject_published(std::uint32_t delivery, const Fault& fault);
    Link* link_named(std::string_view name, bool client_receives, const Link* other_than = nullptr);

  private:
    enum class State : std::uint8_t {
        running,
        ending,  // our end is sent; the client's is awaited
        gone,
    };
    // A delivery the client has not settled.
    struct Unsettled {
        OutgoingLink* link = nullptr;
        std::uint64_t delivery = 0;
        bool is_free() const { return link == nullptr; }
    };
    // Neighbours that are told the same.
    struct Run {
        std::uint32_t first = 0;
        std::uint32_t last = 0;
        bool role = false;  // ours in the disposition
        std::string state;  // encoded
        bool settled = true;
    };

    template <typename Performative, typename Work>
    void with(const TypeReader::Items& items, Work work);
    void on_attach(const Attach& attach);
    void on_flow(const Flow& flow);
    void on_transfer(const Transfer& transfer, std::string_view payload);
    void on_disposition(const Disposition& disposition);
    void settle_deliveries(const Disposition& disposition, const ClientOutcome& outcome);
    void settle_delivery(std::uint64_t number, const Disposition& disposition,
                         const ClientOutcome& outcome);
    void on_detach(const Detach& detach);
    void on_end();

    std::unique_ptr<Link> make_link(const Attach& attach);
    Link* find_link(std::uint32_t handle);
    std::unique_ptr<Link> take_link(const Link& link);
    void close_links();
    void write_flow();
    void write_end(const Fault* fault);
    void open_incoming_window();
    bool count_incoming_transfer();
    // As far as the client's window allows.
    void send_transfers();
    void write_link_state(std::uint32_t handle, const LinkState& state);
    bool send_frames(OutgoingTransfer& outgoing);
    void forget_deliveries_of(const Link& link);
    void queue_disposition(bool role, std::uint32_t delivery, std::string_view state,
                           bool settled = true);

    Connection& connection_;
    std::uint16_t channel_;
    State state_ = State::running;
    boost::unordered_flat_map<std::uint32_t, std::unique_ptr<Link>> links_;
    // Handles of links we have detached: what arrives for them means nothing until the client
    // detaches as well.
    std::vector<std::uint32_t> detached_handles_;
    std::uint32_t handle_max_ = 0;
    std::vector<std::uint32_t> ending_later_;  // handles of links whose queue was deleted

    // The client's transfers.
    std::uint32_t remote_outgoing_window_ = 0;  // as it said last
    std::uint32_t next_incoming_id_ = 0;
    std::uint32_t incoming_window_ = 0;
    std::uint32_t incoming_margin_ = 0;  // how many more are borne while the window is closed
    bool blocked_ = false;

    // Ours.
    std::uint32_t next_outgoing_id_ = 0;
    std::uint32_t remote_window_ = 0;
    OutgoingTransfer fresh_;  // keeps its memory from one message to the next
    std::deque<OutgoingTransfer> transfers_;
    std::size_t transfer_bytes_ = 0;
    bool links_paused_ = false;
    NumberedRing<Unsettled> unsettled_;  // its number is the delivery's and one more

    std::vector<Run> runs_;
    bool flush_wanted_ = false;
};

}  // namespace revenant::amqp10
