// Session: windows, handles, delivery numbers and the order of transfers. Its links do the rest.
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

// The outcome of a publish for the client.
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
    // An alarm closes the window for publishers (amqp10 3.2).
    void set_blocked(bool blocked);
    void orphaned();
    bool is_gone() const { return state_ == State::gone; }
    // Whether too many bytes are waiting for the client's window.
    bool is_backlogged() const;
    // Pauses the links of this session only.
    void pause_links_if_backlogged();
    void resume_links_if_cleared();

    // The engine channels of its links.
    std::vector<ChannelId> link_channels() const;
    protocol::SessionInfo info() const;

    Connection& connection() { return connection_; }
    std::uint16_t channel() const { return channel_; }

    // --- for its links ---
    void fail(Fault fault);
    // Detaches the link with an error and releases it.
    void detach(Link& link, Fault fault);
    // Links to a queue do not end while a request of the client to delete it is unanswered. Returns
    // true if the link must wait for that.
    bool ends_later(const Link& link);
    void end_deleted_links();
    // Ends the session if the user lacks a permission for one of its links.
    void check_permissions_again();
    // Without a link: the flow of the session.
    void write_link_flow(const Link* link, Flow flow);
    // Sent after those messages of the link that wait for the client's window.
    void send_link_state(const Link& link, const LinkState& state);
    // A message for the client: filled in first, then sent. Returns false if deliveries should
    // pause.
    OutgoingTransfer& next_transfer();
    bool send_next_transfer();
    // Reports deliveries of the link that have timed out: engine numbers, ascending.
    void send_timed_out(const OutgoingLink& link, const std::vector<DeliveryId>& deliveries);
    // Messages published by the client, by the client's delivery ids.
    void settle_published(std::uint32_t delivery, PublishOutcome outcome);
    void reject_published(std::uint32_t delivery, const Fault& fault);
    Link* link_named(std::string_view name, bool client_receives, const Link* other_than = nullptr);

  private:
    enum class State : std::uint8_t {
        running,
        ending,  // end was sent; waits for the client's
        gone,
    };
    // A delivery that the client has not settled.
    struct Unsettled {
        OutgoingLink* link = nullptr;
        std::uint64_t delivery = 0;
        bool is_free() const { return link == nullptr; }
    };
    // Consecutive deliveries with the same state.
    struct Run {
        std::uint32_t first = 0;
        std::uint32_t last = 0;
        bool role = false;  // the broker's role in the disposition
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
    // Sends as many as the client's window allows.
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
    // Handles of links that the broker has detached. Frames for them are ignored until the client
    // detaches too.
    std::vector<std::uint32_t> detached_handles_;
    std::uint32_t handle_max_ = 0;
    std::vector<std::uint32_t> ending_later_;  // handles of links whose queue was deleted

    // Transfers from the client.
    std::uint32_t remote_outgoing_window_ = 0;  // as last announced
    std::uint32_t next_incoming_id_ = 0;
    std::uint32_t incoming_window_ = 0;
    std::uint32_t incoming_margin_ = 0;  // transfers tolerated while the window is closed
    bool blocked_ = false;

    // Transfers to the client.
    std::uint32_t next_outgoing_id_ = 0;
    std::uint32_t remote_window_ = 0;
    OutgoingTransfer fresh_;  // reuses its memory for each message
    std::deque<OutgoingTransfer> transfers_;
    std::size_t transfer_bytes_ = 0;
    bool links_paused_ = false;
    NumberedRing<Unsettled> unsettled_;  // numbered by delivery-id + 1

    std::vector<Run> runs_;
    bool flush_wanted_ = false;
};

}  // namespace revenant::amqp10
