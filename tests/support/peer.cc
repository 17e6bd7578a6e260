#include "tests/support/peer.h"

#include "amqp091/codec/table.h"
#include "base/check.h"
#include "tests/support/frame_reader10.h"

#include <algorithm>
#include <random>

namespace revenant::amqp091 {
// ------------------------------------------------------------------------- raw bytes

std::string raw_frame(std::uint8_t type, std::uint16_t channel, std::string_view payload,
                      std::uint8_t end) {
    std::string frame;
    append_frame_header(frame, static_cast<FrameType>(type), channel,
                        static_cast<std::uint32_t>(payload.size()));
    frame.append(payload);
    frame.push_back(static_cast<char>(end));
    return frame;
}

std::string header_frame(std::uint16_t channel, std::uint64_t body_size,
                         std::string_view properties) {
    std::string frame;
    append_content_header(frame, channel, body_size, properties);
    return frame;
}

std::string body_frame(std::uint16_t channel, std::string_view body) {
    return raw_frame(static_cast<std::uint8_t>(FrameType::body), channel, body);
}

std::string table(const Table& fields) {
    std::string body;
    encode_table(fields, body);
    return body;
}

std::string table(std::initializer_list<Argument> fields) {
    return table(engine::arguments(fields));
}

Properties& Properties::raw_headers(std::string body) {
    headers_ = std::move(body);
    properties_.mark(Property::headers);
    return *this;
}

Properties& Properties::delivery_mode(std::uint8_t mode) {
    properties_.delivery_mode = mode;
    properties_.mark(Property::delivery_mode);
    return *this;
}

Properties& Properties::priority(std::uint8_t priority) {
    properties_.priority = priority;
    properties_.mark(Property::priority);
    return *this;
}

Properties& Properties::timestamp(std::uint64_t seconds) {
    properties_.timestamp = seconds;
    properties_.mark(Property::timestamp);
    return *this;
}

Properties& Properties::text(Property property, std::string value) {
    texts_[property] = std::move(value);
    properties_.mark(property);
    return *this;
}

std::string Properties::encode() const {
    BasicProperties whole = properties_;
    whole.headers = headers_;
    for (const auto& [property, value] : texts_) {
        switch (property) {
            case Property::content_type:
                whole.content_type = value;
                break;
            case Property::content_encoding:
                whole.content_encoding = value;
                break;
            case Property::correlation_id:
                whole.correlation_id = value;
                break;
            case Property::reply_to:
                whole.reply_to = value;
                break;
            case Property::expiration:
                whole.expiration = value;
                break;
            case Property::message_id:
                whole.message_id = value;
                break;
            case Property::type:
                whole.type = value;
                break;
            case Property::user_id:
                whole.user_id = value;
                break;
            case Property::app_id:
                whole.app_id = value;
                break;
            case Property::cluster_id:
                whole.cluster_id = value;
                break;
            default:
                UNREACHABLE();
        }
    }
    std::string encoded;
    encode_properties(whole, encoded);
    return encoded;
}

BasicProperties Received::decoded() const { return decode_properties(properties).value(); }

Table Received::headers() const {
    const BasicProperties read = decoded();
    if (!read.has(Property::headers)) return {};
    return decode_table(read.headers).value();
}

// ---------------------------------------------------------------------------------- peer

Peer::Peer(World& world, Connect options) : world_(world), index_(world.connect(options)) {}

Peer::~Peer() {
    if (ignoring_rest_) return;
    arrive();
    for (const auto& [channel, inbox] : inboxes_) {
        for (const Arrival& arrival : inbox) {
            ADD_FAILURE() << "unexpected on channel " << channel << ": " << arrival.describe();
        }
    }
}

void Peer::send(std::string_view bytes) {
    if (holding_) {
        held_.append(bytes);
    } else {
        world_.feed(index_, bytes);
    }
}

void Peer::release() {
    holding_ = false;
    send(std::exchange(held_, {}));
}

void Peer::arrive() {
    CHECK(!holding_);
    world_.carry();
    const std::string& received = wire().received();
    reader_.add(std::string_view(received).substr(read_));
    read_ = received.size();
    while (auto read = reader_.next()) {
        if (read->arrival) {
            inboxes_[read->channel].push_back(std::move(*read->arrival));
        } else {
            heartbeats_ += 1;
        }
    }
    EXPECT_EQ(reader_.fault(), "");
}

const Arrival* Peer::next(std::uint16_t channel) {
    arrive();
    auto& inbox = inboxes_[channel];
    if (inbox.empty()) return nullptr;
    taken_.push_back(std::move(inbox.front()));
    inbox.pop_front();
    return &taken_.back();
}

const Arrival* Peer::take(std::uint16_t channel, std::uint32_t key, Where where) {
    const std::string wanted(method_name(static_cast<std::uint16_t>(key >> 16),
                                         static_cast<std::uint16_t>(key & 0xFFFF)));
    const Arrival* const arrival = next(channel);
    if (arrival == nullptr) {
        ADD_FAILURE_AT(where.file, where.line)
            << "expected " << wanted << " on channel " << channel << ", got nothing"
            << (wire().closed() ? "; the socket is closed" : "");
        if (channel != 0 && !inboxes_[0].empty()) {
            ADD_FAILURE_AT(where.file, where.line) << "but " << inboxes_[0].front().describe();
        }
        return nullptr;
    }
    if (arrival->key() == key) return arrival;
    ADD_FAILURE_AT(where.file, where.line)
        << "expected " << wanted << " on channel " << channel << ", got " << arrival->describe();
    return nullptr;
}

namespace {

template <typename Close>
void check_close(const Close& close, std::uint16_t code, std::string_view text,
                 std::uint16_t class_id, std::uint16_t method_id, Where where) {
    const testing::ScopedTrace trace(where.file, where.line, "the close");
    EXPECT_EQ(close.reply_code, code);
    EXPECT_EQ(close.reply_text, text);
    EXPECT_EQ(close.failing_class_id, class_id);
    EXPECT_EQ(close.failing_method_id, method_id);
}

}  // namespace

void Peer::expect_connection_close(std::uint16_t code, std::string_view text,
                                   std::uint16_t class_id, std::uint16_t method_id, Where where) {
    check_close(expect<ConnectionClose>(0, where), code, text, class_id, method_id, where);
}

void Peer::expect_nothing(Where where) {
    arrive();
    for (auto& [channel, inbox] : inboxes_) {
        if (inbox.empty()) continue;
        ADD_FAILURE_AT(where.file, where.line)
            << "expected nothing, but on channel " << channel << ": " << inbox.front().describe();
        inbox.clear();
    }
}

void Peer::expect_end(Where where) {
    arrive();
    if (!wire().closed()) ADD_FAILURE_AT(where.file, where.line) << "the socket is still open";
    expect_nothing(where);
}

bool Peer::is_open() {
    arrive();
    return !wire().closed();
}

std::string Peer::take_raw() {
    arrive();
    return std::string(reader_.rest());
}

std::size_t Peer::take_heartbeats() {
    arrive();
    return std::exchange(heartbeats_, 0);
}

std::string Peer::client_properties(const Login& login) const {
    Table capabilities;
    for (const std::string& name : login.capabilities) {
        capabilities.push_back({name, Value::boolean(true)});
    }
    return table({{"product", "a test"}, {"capabilities", Value::table(std::move(capabilities))}});
}

void Peer::send_start_ok(const Login& login) {
    using namespace std::string_literals;
    const std::string properties = client_properties(login);
    const std::string response = "\0"s + login.user + "\0"s + login.password;
    send(0, ConnectionStartOk{.client_properties = properties,
                              .mechanism = "PLAIN",
                              .response = response,
                              .locale = "en_US"});
}

void Peer::log_in(const Login& login, Where where) {
    greet();
    expect<ConnectionStart>(0, where);
    send_start_ok(login);
    expect<ConnectionTune>(0, where);
}

void Peer::send_tune_ok_and_open(const Login& login) {
    send(method_frame(0, ConnectionTuneOk{login.channel_max, login.frame_max, login.heartbeat}) +
         method_frame(0, ConnectionOpen{.virtual_host = login.vhost}));
}

Peer& Peer::connect(const Login& login, Where where) {
    log_in(login, where);
    reader_.limit_frames(login.frame_max);
    send_tune_ok_and_open(login);
    expect<ConnectionOpenOk>(0, where);
    return *this;
}

PeerChannel Peer::open_channel(std::uint16_t number, Where where) {
    PeerChannel opened(*this, number);
    opened.open(where);
    return opened;
}

void Peer::close(Where where) {
    send(0, ConnectionClose{200, "goodbye", 0, 0});
    expect<ConnectionCloseOk>(0, where);
}

// ------------------------------------------------------------------------------- channel

void PeerChannel::open(Where where) {
    send(ChannelOpen{});
    expect<ChannelOpenOk>(where);
}

void PeerChannel::close(Where where) {
    send(ChannelClose{200, "goodbye", 0, 0});
    expect<ChannelCloseOk>(where);
}

void PeerChannel::reopen(Where where) {
    close_ok();
    open(where);
}

void PeerChannel::expect_nothing(Where where) {
    peer_->arrive();
    const auto& inbox = peer_->inboxes_[number_];
    if (inbox.empty()) return;
    ADD_FAILURE_AT(where.file, where.line)
        << "expected nothing on channel " << number_ << ", got " << inbox.front().describe();
}

void PeerChannel::expect_close(std::uint16_t code, std::string_view text, std::uint16_t class_id,
                               std::uint16_t method_id, Where where) {
    check_close(expect<ChannelClose>(where), code, text, class_id, method_id, where);
}

void PeerChannel::declare_exchange(std::string_view name, std::string_view type,
                                   std::initializer_list<Argument> arguments, Where where) {
    const std::string encoded = table(arguments);
    send(ExchangeDeclare{.exchange = name, .type = type, .arguments = encoded});
    expect<ExchangeDeclareOk>(where);
}

QueueDeclareOk PeerChannel::declare(std::string_view queue,
                                    std::initializer_list<Argument> arguments, Where where) {
    const std::string encoded = table(arguments);
    send(QueueDeclare{.queue = queue, .arguments = encoded});
    return expect<QueueDeclareOk>(where);
}

std::uint32_t PeerChannel::count(std::string_view queue, Where where) {
    send(QueueDeclare{.queue = queue, .passive = true});
    return expect<QueueDeclareOk>(where).message_count;
}

// On another channel, because a passive declare of a missing queue closes its channel.
bool PeerChannel::exists(std::string_view queue, Where where) {
    PeerChannel probe(*peer_, static_cast<std::uint16_t>(number_ + 1000));
    probe.open(where);
    probe.send(QueueDeclare{.queue = queue, .passive = true});
    const Arrival* const answer = peer_->next(probe.number());
    const bool found = answer != nullptr && answer->key() == QueueDeclareOk::key;
    if (found) {
        probe.close(where);
    } else {
        probe.close_ok();
    }
    return found;
}

void PeerChannel::bind(std::string_view queue, std::string_view exchange,
                       std::string_view routing_key, std::initializer_list<Argument> arguments,
                       Where where) {
    const std::string encoded = table(arguments);
    send(QueueBind{
        .queue = queue, .exchange = exchange, .routing_key = routing_key, .arguments = encoded});
    expect<QueueBindOk>(where);
}

void PeerChannel::publish(std::string_view exchange, std::string_view routing_key,
                          std::string_view body, const Properties& properties) {
    publish(BasicPublish{.exchange = exchange, .routing_key = routing_key}, body, properties);
}

void PeerChannel::publish(const BasicPublish& method, std::string_view body,
                          const Properties& properties) {
    std::string frames = method_frame(number_, method);
    append_content_header(frames, number_, body.size(), properties.encode());
    append_body_frames(frames, number_, body, 131072);
    peer_->send(frames);
}

std::string PeerChannel::consume(std::string_view queue, std::string_view tag, Where where) {
    return consume(BasicConsume{.queue = queue, .consumer_tag = tag}, where);
}

std::string PeerChannel::consume(const BasicConsume& method, Where where) {
    send(method);
    return std::string(expect<BasicConsumeOk>(where).consumer_tag);
}

void PeerChannel::qos(std::uint16_t prefetch_count, bool global, Where where) {
    send(BasicQos{0, prefetch_count, global});
    expect<BasicQosOk>(where);
}

namespace {

Received received_from(const Arrival& arrival) {
    Received received;
    received.properties = arrival.properties;
    received.body = arrival.body;
    received.body_frames = arrival.body_frames;
    return received;
}

}  // namespace

Received PeerChannel::expect_delivery(Where where) {
    const Arrival* const arrival = peer_->take(number_, BasicDeliver::key, where);
    if (arrival == nullptr) return {};
    const auto method = BasicDeliver::decode(arrival->arguments).value();
    Received received = received_from(*arrival);
    received.consumer_tag = std::string(method.consumer_tag);
    received.delivery_tag = method.delivery_tag;
    received.redelivered = method.redelivered;
    received.exchange = std::string(method.exchange);
    received.routing_key = std::string(method.routing_key);
    return received;
}

Received PeerChannel::expect_delivery(std::string_view body, Where where) {
    Received received = expect_delivery(where);
    const testing::ScopedTrace trace(where.file, where.line, "the delivery");
    EXPECT_EQ(received.body, body);
    return received;
}

Received PeerChannel::expect_return(Where where) {
    const Arrival* const arrival = peer_->take(number_, BasicReturn::key, where);
    if (arrival == nullptr) return {};
    const auto method = BasicReturn::decode(arrival->arguments).value();
    Received received = received_from(*arrival);
    received.reply_code = method.reply_code;
    received.reply_text = std::string(method.reply_text);
    received.exchange = std::string(method.exchange);
    received.routing_key = std::string(method.routing_key);
    return received;
}

Received PeerChannel::get(std::string_view queue, bool no_ack, Where where) {
    auto received = try_get(queue, no_ack, where);
    if (!received) ADD_FAILURE_AT(where.file, where.line) << "nothing in " << queue;
    return received ? std::move(*received) : Received{};
}

std::optional<Received> PeerChannel::try_get(std::string_view queue, bool no_ack, Where where) {
    send(BasicGet{.queue = queue, .no_ack = no_ack});
    const Arrival* const arrival = peer_->next(number_);
    if (arrival != nullptr && arrival->key() == BasicGetEmpty::key) return std::nullopt;
    if (arrival == nullptr || arrival->key() != BasicGetOk::key) {
        ADD_FAILURE_AT(where.file, where.line)
            << "expected a reply to basic.get, got "
            << (arrival == nullptr ? "nothing" : arrival->describe());
        return std::nullopt;
    }
    const auto method = BasicGetOk::decode(arrival->arguments).value();
    Received received = received_from(*arrival);
    received.delivery_tag = method.delivery_tag;
    received.redelivered = method.redelivered;
    received.exchange = std::string(method.exchange);
    received.routing_key = std::string(method.routing_key);
    received.message_count = method.message_count;
    return received;
}

std::vector<std::string> PeerChannel::drain(std::string_view queue, Where where) {
    std::vector<std::string> bodies;
    while (const auto received = try_get(queue, /*no_ack=*/true, where))
        bodies.push_back(received->body);
    return bodies;
}

void PeerChannel::select_confirms(Where where) {
    send(ConfirmSelect{});
    expect<ConfirmSelectOk>(where);
}

void PeerChannel::select_transaction(Where where) {
    send(TxSelect{});
    expect<TxSelectOk>(where);
}

void PeerChannel::commit(Where where) {
    send(TxCommit{});
    expect<TxCommitOk>(where);
}

void PeerChannel::rollback(Where where) {
    send(TxRollback{});
    expect<TxRollbackOk>(where);
}

// --------------------------------------------------------------------------------- tests

namespace {

void take_in_pieces(World& world, const Step& step, std::mt19937_64& random,
                    std::size_t piece_max) {
    const Feed* const feed = std::get_if<Feed>(&step);
    if (feed == nullptr) return world.take(step);
    std::string_view left = feed->bytes;
    while (!left.empty()) {
        const std::size_t size = 1 + random() % piece_max;
        world.feed(feed->wire, left.substr(0, size));
        left.remove_prefix(std::min(size, left.size()));
    }
}

std::string fault_when_all_are_gone(World& world) {
    for (std::size_t i = 0; i < world.wire_count(); ++i) world.disconnect(i);
    world.carry();
    return world.fault();
}

std::size_t bytes_fed(const World& world) {
    std::size_t total = 0;
    for (const Step& step : world.steps()) {
        if (const Feed* feed = std::get_if<Feed>(&step)) total += feed->bytes.size();
    }
    return total;
}

// Compares the data that two clients received, in their common protocol.
std::string difference(Wire& ours, Wire& theirs) {
    const bool is_10 = ours.protocol() == protocol::Protocol::amqp10;
    return is_10 ? amqp10::difference(ours.received(), theirs.received())
                 : amqp091::difference(ours.received(), theirs.received());
}

Distance other(Distance distance) {
    return distance == Distance::near ? Distance::far : Distance::near;
}

}  // namespace

void WireTest::TearDown() {
    if (!world_) return;
    peers_.clear();
    if (HasFailure()) return;
    EXPECT_EQ(world_->fault(), "");
    check_repeats();
    EXPECT_EQ(fault_when_all_are_gone(*world_), "");
}

void WireTest::check_repeats() {
    // Every test has its own seed, which is the same in every run.
    const auto* const info = testing::UnitTest::GetInstance()->current_test_info();
    std::uint64_t seed = 1469598103934665603U;
    for (const char* c = info->name(); *c != '\0'; ++c) {
        seed = (seed ^ static_cast<unsigned char>(*c)) * 1099511628211U;
    }
    std::mt19937_64 random(seed);
    const std::vector<Step> steps = world_->steps();
    constexpr std::size_t bytes_for_single_steps_max = 256 * 1024;
    const bool large = bytes_fed(*world_) > bytes_for_single_steps_max;
    {
        World again(settings_);
        for (const Step& step : steps) take_in_pieces(again, step, random, large ? 20000 : 1);
        check_repeat(again, "byte by byte");
    }
    {
        World again(settings_);
        for (const Step& step : steps) take_in_pieces(again, step, random, large ? 70000 : 100);
        check_repeat(again, "in pieces");
    }
    if (compares_distances_) {
        World again(settings_);
        again.be_impatient();
        for (Step step : steps) {
            if (Connect* connect = std::get_if<Connect>(&step)) {
                connect->distance = other(connect->distance);
            }
            again.take(step);
        }
        check_repeat(again, "over the other distance, frame by frame");
    }
    World cut_off(settings_);
    const std::size_t last = random() % steps.size();
    for (std::size_t i = 0; i < last; ++i) cut_off.take(steps[i]);
    if (const Feed* feed = std::get_if<Feed>(&steps[last])) {
        cut_off.feed(feed->wire, feed->bytes.substr(0, random() % (feed->bytes.size() + 1)));
    }
    EXPECT_EQ(fault_when_all_are_gone(cut_off), "") << "truncated in step " << last;
}

void WireTest::check_repeat(World& again, std::string_view how) {
    ASSERT_EQ(again.wire_count(), world_->wire_count());
    for (std::size_t i = 0; i < again.wire_count(); ++i) {
        EXPECT_EQ(difference(again.wire(i), world_->wire(i)), "") << "peer " << i << ' ' << how;
        EXPECT_EQ(again.wire(i).closed(), world_->wire(i).closed()) << "peer " << i << ' ' << how;
    }
    EXPECT_EQ(again.fault(), "") << how;
    EXPECT_EQ(fault_when_all_are_gone(again), "") << how;
}

World& WireTest::world() {
    if (!world_) world_ = std::make_unique<World>(settings_);
    return *world_;
}

Peer& WireTest::new_peer(PeerLocation place) {
    peers_.push_back(std::make_unique<Peer>(world(), Connect{GetParam(), place}));
    return *peers_.back();
}

Peer& WireTest::connect(const Login& login, Where where) {
    return new_peer().connect(login, where);
}

PeerChannel WireTest::open_channel(const Login& login, Where where) {
    return connect(login, where).open_channel(1, where);
}

Peer& WireTest::peer() {
    if (peer_ == nullptr) peer_ = &connect();
    return *peer_;
}

PeerChannel& WireTest::channel() {
    if (!channel_) channel_ = peer().open_channel();
    return *channel_;
}

void WireTest::add_user(std::string_view name, const Permissions& permissions,
                        std::vector<std::string> tags, std::string_view vhost) {
    world().change(AddUser{std::string(name), make_hash("secret", Salt{}), std::move(tags), {}});
    world().change(SetPermissions{std::string(name), std::string(vhost), permissions});
}

std::string distance_name(const testing::TestParamInfo<Distance>& distance) {
    return distance_text(distance.param);
}

}  // namespace revenant::amqp091
