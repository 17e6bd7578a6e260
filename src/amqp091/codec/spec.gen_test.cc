#include "amqp091/codec/spec.gen.h"
#include "tests/support/hex.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>
#include <string>

namespace revenant::amqp091 {
namespace {

template <typename Method>
std::string encoded(const Method& method) {
    std::string out;
    ByteWriter writer(out);
    method.encode(writer);
    return out;
}

// The bytes are what the method encodes to and what decodes to the method.
template <typename Method>
void expect_wire(const Method& method, const std::string& bytes) {
    EXPECT_EQ(encoded(method), bytes);
    const auto decoded = Method::decode(bytes);
    ASSERT_TRUE(decoded.has_value());
    EXPECT_EQ(*decoded, method);
}

TEST(Methods, ArgumentsStandInTheOrderOfTheSpecification) {
    // amqp091 appendix A
    expect_wire(ConnectionStart{.version_major = 0,
                                .version_minor = 9,
                                .server_properties = "table",
                                .mechanisms = "PLAIN",
                                .locales = "en"},
                from_hex("00 09") + from_hex("00000005") + "table" + from_hex("00000005") +
                    "PLAIN" + from_hex("00000002") + "en");
    expect_wire(ConnectionStartOk{.client_properties = "t",
                                  .mechanism = "PLAIN",
                                  .response = "secret",
                                  .locale = "en_US"},
                from_hex("00000001") + "t" + from_hex("05") + "PLAIN" + from_hex("00000006") +
                    "secret" + from_hex("05") + "en_US");
    expect_wire(ConnectionTune{.channel_max = 2047, .frame_max = 131072, .heartbeat = 60},
                from_hex("07ff 00020000 003c"));
    expect_wire(ConnectionClose{.reply_code = 320,
                                .reply_text = "bye",
                                .failing_class_id = 60,
                                .failing_method_id = 40},
                from_hex("0140 03") + "bye" + from_hex("003c 0028"));
    expect_wire(ConnectionUpdateSecret{.new_secret = "new", .reason = "old"},
                from_hex("00000003") + "new" + from_hex("03") + "old");
    expect_wire(QueueDeclareOk{.queue = "q", .message_count = 1, .consumer_count = 2},
                from_hex("01") + "q" + from_hex("00000001 00000002"));
    expect_wire(BasicQos{.prefetch_size = 1, .prefetch_count = 2, .global = true},
                from_hex("00000001 0002 01"));
    expect_wire(
        BasicReturn{
            .reply_code = 312, .reply_text = "NO_ROUTE", .exchange = "x", .routing_key = "key"},
        from_hex("0138 08") + "NO_ROUTE" + from_hex("01") + "x" + from_hex("03") + "key");
    expect_wire(
        BasicDeliver{.consumer_tag = "tag",
                     .delivery_tag = 0x0102030405060708,
                     .redelivered = true,
                     .exchange = "x",
                     .routing_key = "key"},
        from_hex("03") + "tag" + from_hex("0102030405060708 01 01") + "x" + from_hex("03") + "key");
    expect_wire(
        BasicGetOk{.delivery_tag = 7,
                   .redelivered = false,
                   .exchange = "x",
                   .routing_key = "key",
                   .message_count = 9},
        from_hex("0000000000000007 00 01") + "x" + from_hex("03") + "key" + from_hex("00000009"));
    expect_wire(TxSelect{}, "");
}

TEST(Methods, TicketsAndReservedArgumentsAreZeroWhenWritten) {
    expect_wire(BasicPublish{.exchange = "x", .routing_key = "key", .immediate = true},
                from_hex("0000 01") + "x" + from_hex("03") + "key" + from_hex("02"));
    expect_wire(ConnectionOpen{.virtual_host = "/"}, from_hex("01") + "/" + from_hex("00 00"));
    expect_wire(ConnectionOpenOk{}, from_hex("00"));
    expect_wire(ChannelOpen{}, from_hex("00"));
    expect_wire(ChannelOpenOk{}, from_hex("00000000"));
    expect_wire(BasicGetEmpty{}, from_hex("00"));
}

TEST(Methods, TicketsAndReservedArgumentsAreSkippedWhenRead) {
    const std::string publish = from_hex("ffff 01") + "x" + from_hex("00 01");
    EXPECT_EQ(*BasicPublish::decode(publish), (BasicPublish{.exchange = "x", .mandatory = true}));
    const std::string open = from_hex("01") + "/" + from_hex("03") + "abc" + from_hex("ff");
    EXPECT_EQ(*ConnectionOpen::decode(open), ConnectionOpen{.virtual_host = "/"});
    EXPECT_TRUE(ChannelOpen::decode(from_hex("02") + "xy").has_value());
}

TEST(Methods, ConsecutiveBitsShareOneOctetFromTheLowestBitUp) {
    // amqp091 1.2
    const std::string front = from_hex("0000 01") + "q";
    const std::string back = from_hex("00000000");
    expect_wire(QueueDeclare{.queue = "q", .passive = true}, front + from_hex("01") + back);
    expect_wire(QueueDeclare{.queue = "q", .durable = true}, front + from_hex("02") + back);
    expect_wire(QueueDeclare{.queue = "q", .exclusive = true}, front + from_hex("04") + back);
    expect_wire(QueueDeclare{.queue = "q", .auto_delete = true}, front + from_hex("08") + back);
    expect_wire(QueueDeclare{.queue = "q", .no_wait = true}, front + from_hex("10") + back);
    expect_wire(BasicNack{.delivery_tag = 1, .requeue = true}, from_hex("0000000000000001 02"));
    expect_wire(BasicConsume{.no_ack = true, .no_wait = true, .arguments = "body"},
                from_hex("0000 00 00 0a 00000004") + "body");
    // Bits that belong to no argument are ignored.
    const auto ack = BasicAck::decode(from_hex("0000000000000001 fe"));
    ASSERT_TRUE(ack.has_value());
    EXPECT_FALSE(ack->multiple);
}

TEST(Methods, StringsAreViewsIntoTheFrame) {
    const std::string bytes = from_hex("0000 01") + "x" + from_hex("03") + "key" + from_hex("00");
    const auto publish = BasicPublish::decode(bytes);
    ASSERT_TRUE(publish.has_value());
    EXPECT_EQ(publish->exchange.data(), bytes.data() + 3);
    EXPECT_EQ(publish->routing_key.data(), bytes.data() + 5);
}

TEST(Methods, MalformedUtf8InAShortStringIsFound) {
    // amqp091 1.12
    const std::string bad = from_hex("0000 02 c328 00");
    const auto get = BasicGet::decode(bad);
    ASSERT_FALSE(get.has_value());
    EXPECT_EQ(get.error(), DecodeFailure::malformed_utf8);
    const std::string good = from_hex("0000 02 c3a8 00");
    EXPECT_EQ(BasicGet::decode(good)->queue, "\xc3\xa8");
}

TEST(Methods, RoutingKeysOfPublishedMessagesMayBeAnyBytes) {
    const std::string bytes = from_hex("0000 00 02 c328 00");
    const auto publish = BasicPublish::decode(bytes);
    ASSERT_TRUE(publish.has_value());
    EXPECT_EQ(publish->routing_key, "\xc3\x28");
}

TEST(Methods, TruncationIsReportedBeforeMalformedUtf8) {
    const auto bind = QueueBind::decode(from_hex("0000 02 c328 00"));
    ASSERT_FALSE(bind.has_value());
    EXPECT_EQ(bind.error(), DecodeFailure::truncated);
}

TEST(Methods, ALengthBeyondTheArgumentsIsTruncation) {
    const auto start = ConnectionSecureOk::decode(from_hex("ffffffff 00"));
    ASSERT_FALSE(start.has_value());
    EXPECT_EQ(start.error(), DecodeFailure::truncated);
}

TEST(Methods, NamesAreThoseOfTheSpecification) {
    EXPECT_EQ(method_name(60, 40), "basic.publish");
    EXPECT_EQ(method_name(10, 71), "connection.update-secret-ok");
    EXPECT_EQ(method_name(40, 51), "exchange.unbind-ok");
    EXPECT_EQ(method_name(60, 41), "");
    EXPECT_EQ(method_name(0, 0), "");
}

// Appendix A once more, written down independently of the generator: o octet, h uint16, w uint32,
// q uint64, s shortstr, L longstr, T table, a digit for so many bits in one octet; upper case R and
// S for a reserved uint16 or shortstr, r and X for a reserved bit or longstr.
const std::map<std::string, std::string>& signatures() {
    static const std::map<std::string, std::string> all{
        {"connection.start", "ooTLL"},
        {"connection.start-ok", "TsLs"},
        {"connection.secure", "L"},
        {"connection.secure-ok", "L"},
        {"connection.tune", "hwh"},
        {"connection.tune-ok", "hwh"},
        {"connection.open", "sSr"},
        {"connection.open-ok", "S"},
        {"connection.close", "hshh"},
        {"connection.close-ok", ""},
        {"connection.blocked", "s"},
        {"connection.unblocked", ""},
        {"connection.update-secret", "Ls"},
        {"connection.update-secret-ok", ""},
        {"channel.open", "S"},
        {"channel.open-ok", "X"},
        {"channel.flow", "1"},
        {"channel.flow-ok", "1"},
        {"channel.close", "hshh"},
        {"channel.close-ok", ""},
        {"access.request", "s5"},
        {"access.request-ok", "h"},
        {"exchange.declare", "Rss5T"},
        {"exchange.declare-ok", ""},
        {"exchange.delete", "Rs2"},
        {"exchange.delete-ok", ""},
        {"exchange.bind", "Rsss1T"},
        {"exchange.bind-ok", ""},
        {"exchange.unbind", "Rsss1T"},
        {"exchange.unbind-ok", ""},
        {"queue.declare", "Rs5T"},
        {"queue.declare-ok", "sww"},
        {"queue.bind", "Rsss1T"},
        {"queue.bind-ok", ""},
        {"queue.purge", "Rs1"},
        {"queue.purge-ok", "w"},
        {"queue.delete", "Rs3"},
        {"queue.delete-ok", "w"},
        {"queue.unbind", "RsssT"},
        {"queue.unbind-ok", ""},
        {"basic.qos", "wh1"},
        {"basic.qos-ok", ""},
        {"basic.consume", "Rss4T"},
        {"basic.consume-ok", "s"},
        {"basic.cancel", "s1"},
        {"basic.cancel-ok", "s"},
        {"basic.publish", "Rss2"},
        {"basic.return", "hsss"},
        {"basic.deliver", "sq1ss"},
        {"basic.get", "Rs1"},
        {"basic.get-ok", "q1ssw"},
        {"basic.get-empty", "S"},
        {"basic.ack", "q1"},
        {"basic.reject", "q1"},
        {"basic.recover-async", "1"},
        {"basic.recover", "1"},
        {"basic.recover-ok", ""},
        {"basic.nack", "q2"},
        {"confirm.select", "1"},
        {"confirm.select-ok", ""},
        {"tx.select", ""},
        {"tx.select-ok", ""},
        {"tx.commit", ""},
        {"tx.commit-ok", ""},
        {"tx.rollback", ""},
        {"tx.rollback-ok", ""},
    };
    return all;
}

using Random = std::mt19937_64;

std::string random_text(Random& random, std::size_t size_max) {
    static const std::string parts[] = {
        "a", "Z", ".", "#", " ", "\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x90\x87"};
    std::string text;
    const std::size_t size = random() % (size_max + 1);
    while (text.size() + 4 <= size) text += parts[random() % std::size(parts)];
    return text;
}

// Canonical arguments: reserved ones zero, unused bits zero.
std::string random_arguments(const std::string& signature, Random& random) {
    std::string out;
    ByteWriter writer(out);
    for (const char type : signature) {
        switch (type) {
            case 'o':
                writer.u8(static_cast<std::uint8_t>(random()));
                break;
            case 'h':
                writer.u16(static_cast<std::uint16_t>(random()));
                break;
            case 'w':
                writer.u32(static_cast<std::uint32_t>(random()));
                break;
            case 'q':
                writer.u64(random());
                break;
            case 's':
                writer.short_string(random_text(random, 255));
                break;
            case 'L':
            case 'T':
                writer.long_string(random_text(random, 2000));
                break;
            case 'R':
                writer.u16(0);
                break;
            case 'S':
            case 'r':
                writer.u8(0);
                break;
            case 'X':
                writer.u32(0);
                break;
            default:
                writer.u8(static_cast<std::uint8_t>(random() % (1U << (type - '0'))));
        }
    }
    return out;
}

// Calls check.operator()<Method>(arguments) for every method with random arguments.
template <typename Check>
void for_every_method(int rounds, Check check) {
    Random random(20110907);
    for (int round = 0; round < rounds; ++round) {
        for (const std::uint32_t key : all_method_keys) {
            const auto known = with_method_type(key, [&]<typename Method>() {
                const auto name = method_name(Method::class_id, Method::method_id);
                SCOPED_TRACE(name);
                const auto signature = signatures().find(std::string(name));
                ASSERT_NE(signature, signatures().end());
                check.template operator()<Method>(random_arguments(signature->second, random));
            });
            ASSERT_TRUE(known);
        }
    }
}

TEST(Methods, EveryMethodOfTheSpecificationIsThereOnce) {
    std::set<std::string> names;
    for (const std::uint32_t key : all_method_keys) {
        names.emplace(method_name(static_cast<std::uint16_t>(key >> 16),
                                  static_cast<std::uint16_t>(key & 0xffff)));
    }
    EXPECT_EQ(names.size(), all_method_keys.size());
    std::set<std::string> expected;
    for (const auto& [name, signature] : signatures()) expected.insert(name);
    EXPECT_EQ(names, expected);
    EXPECT_FALSE(with_method_type(method_key(60, 41), []<typename Method>() {}));
}

TEST(Methods, RandomArgumentsSurviveDecodingAndEncoding) {
    for_every_method(50, []<typename Method>(const std::string& arguments) {
        const auto decoded = Method::decode(arguments);
        ASSERT_TRUE(decoded.has_value());
        EXPECT_EQ(encoded(*decoded), arguments);
    });
}

TEST(Methods, EveryProperPrefixOfArgumentsIsTruncated) {
    // amqp091 12.4
    for_every_method(2, []<typename Method>(const std::string& arguments) {
        for (std::size_t size = 0; size < arguments.size(); ++size) {
            // A copy of its own, so that a sanitizer sees a read beyond the prefix.
            const std::string prefix = arguments.substr(0, size);
            const auto decoded = Method::decode(prefix);
            ASSERT_FALSE(decoded.has_value()) << size;
            EXPECT_EQ(decoded.error(), DecodeFailure::truncated) << size;
        }
    });
}

TEST(Methods, BytesBehindTheArgumentsAreAFailure) {
    for_every_method(1, []<typename Method>(const std::string& arguments) {
        const std::string longer = arguments + '\0';
        const auto decoded = Method::decode(longer);
        ASSERT_FALSE(decoded.has_value());
        EXPECT_EQ(decoded.error(), DecodeFailure::trailing_bytes);
    });
}

TEST(Methods, OnlyTheFourThatCarryAMessageHaveContent) {
    std::set<std::string> names;
    for (const std::uint32_t key : all_method_keys) {
        const auto class_id = static_cast<std::uint16_t>(key >> 16);
        const auto method_id = static_cast<std::uint16_t>(key & 0xffff);
        if (has_content(class_id, method_id)) names.emplace(method_name(class_id, method_id));
    }
    EXPECT_EQ(names, (std::set<std::string>{"basic.publish", "basic.return", "basic.deliver",
                                            "basic.get-ok"}));
}

TEST(ReplyCodes, TheirNamesStandInReplyTexts) {
    // amqp091 4.3
    EXPECT_EQ(reply_name(ReplyCode::not_found), "NOT_FOUND");
    EXPECT_EQ(reply_name(ReplyCode::precondition_failed), "PRECONDITION_FAILED");
    EXPECT_EQ(reply_name(static_cast<ReplyCode>(499)), "");
}

TEST(ReplyCodes, SoftOnesCloseTheChannelAndHardOnesTheConnection) {
    // amqp091 4.1, 4.2
    for (const int code : {311, 312, 313, 403, 404, 405, 406}) {
        EXPECT_FALSE(is_hard(static_cast<ReplyCode>(code))) << code;
    }
    for (const int code : {320, 402, 501, 502, 503, 504, 505, 506, 530, 540, 541}) {
        EXPECT_TRUE(is_hard(static_cast<ReplyCode>(code))) << code;
    }
}

}  // namespace
}  // namespace revenant::amqp091
