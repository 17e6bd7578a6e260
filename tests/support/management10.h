// A test client of /management: requests, and their responses as text.
#pragma once

#include "amqp10/codec/raw_fields.h"
#include "tests/support/peer10.h"

#include <optional>
#include <string>
#include <string_view>

namespace revenant::amqp10 {

struct Answer {
    std::string status;
    std::string body;  // as text
    std::string correlation;
    std::string http;
};

// The body of a request that binds a queue.
inline Datum binding(std::string_view source, std::string_view queue, std::string_view key,
                     DataMap arguments = {}) {
    return Datum::map({{Datum::string("source"), Datum::string(source)},
                       {Datum::string("binding_key"), Datum::string(key)},
                       {Datum::string("arguments"), Datum::map(std::move(arguments))},
                       {Datum::string("destination_queue"), Datum::string(queue)}});
}

// A test that sends requests to /management.
class ManagementTest : public Wire10Test {
  protected:
    static constexpr std::uint32_t requests = 0;
    static constexpr std::uint32_t responses = 1;

    void send_attach(PeerSession& on, bool receives, std::string_view client_address = "$me",
                     std::optional<Datum> paired = Datum::boolean(true)) {
        const std::string here = receives ? target_of(std::string(client_address))
                                          : source_of(std::string(client_address));
        const std::string there = receives ? source_of("/management") : target_of("/management");
        const std::string properties =
            paired ? encoded(Datum::map({{Datum::symbol("paired"), *paired}})) : std::string();
        Attach attach{.name = "management-link-pair",
                      .handle = receives ? responses : requests,
                      .role = receives,
                      .snd_settle_mode = settled_mode,
                      .properties = properties};
        attach.source = receives ? there : here;
        attach.target = receives ? here : there;
        if (!receives) attach.initial_delivery_count = 0;
        on.send(attach);
    }
    void attach_pair(PeerSession& on, std::uint32_t credit = 100) {
        send_attach(on, false);
        const auto sender = on.expect<Attach>();
        EXPECT_FALSE(is_absent(sender.target));
        const auto flow = on.expect<Flow>();
        EXPECT_EQ(flow.link_credit, 8U);
        send_attach(on, true);
        EXPECT_FALSE(is_absent(on.expect<Attach>().source));
        if (credit > 0) on.credit(responses, credit);
    }
    static std::string request(std::string_view verb, std::string_view to,
                               const Datum& body = Datum::null()) {
        Properties properties;
        const std::string id = encoded(Datum::string("id of it"));
        properties.message_id = id;
        properties.to = to;
        properties.subject = verb;
        properties.reply_to = "$me";
        return encoded(properties) + section(descriptor::value, body);
    }
    // The link pair of this test, created on first use.
    PeerSession& pair() {
        if (!pair_) {
            pair_ = peer10().begin(5);
            attach_pair(*pair_);
        }
        return *pair_;
    }
    void send_request(std::string_view verb, std::string_view to,
                      const Datum& body = Datum::null()) {
        pair().transfer(requests, next_id_++, request(verb, to, body), true);
    }
    Answer expect_answer(Where where = Where::here()) {
        // The server renews the credit for requests from time to time.
        pair();
        Answer answer;
        std::string bytes;
        while (true) {
            const Arrival* const arrival = peer10().next(5);
            if (arrival == nullptr) {
                ADD_FAILURE_AT(where.file, where.line) << "no answer";
                return answer;
            }
            if (arrival->code() == Flow::descriptor_code) continue;
            if (arrival->code() != Transfer::descriptor_code) {
                ADD_FAILURE_AT(where.file, where.line) << "instead: " << arrival->describe();
                return answer;
            }
            const auto transfer = Transfer::decode(arrival->items()).value();
            EXPECT_EQ(transfer.settled, true);
            EXPECT_EQ(transfer.delivery_tag, "");
            bytes = std::string(arrival->payload());
            break;
        }
        peer10().note_deliveries(5, responses, 1);
        const auto sections = split_message(bytes).value();
        const auto properties = composite_in<Properties>(sections.properties).value();
        answer.status = std::string(properties.subject.value_or(""));
        answer.correlation = string_of(properties.correlation_id).value_or("none");
        answer.http = text_of(content_in(sections.application_properties));
        answer.body = text_of(content_in(sections.body));
        return answer;
    }
    Answer ask(std::string_view verb, std::string_view to, const Datum& body = Datum::null(),
               Where where = Where::here()) {
        send_request(verb, to, body);
        return expect_answer(where);
    }
    void expect_status(std::string_view status, std::string_view verb, std::string_view to,
                       const Datum& body = Datum::null(), Where where = Where::here()) {
        const testing::ScopedTrace trace(where.file, where.line, "the answer");
        const Answer answer = ask(verb, to, body, where);
        EXPECT_EQ(answer.status, status) << answer.body;
    }
    void expect_refusal(std::string_view status, std::string_view text, std::string_view verb,
                        std::string_view to, const Datum& body = Datum::null(),
                        Where where = Where::here()) {
        const testing::ScopedTrace trace(where.file, where.line, "the refusal");
        const Answer answer = ask(verb, to, body, where);
        EXPECT_EQ(answer.status, status);
        EXPECT_EQ(answer.body, "'" + std::string(text) + "'");
    }
    static Datum with_arguments(DataMap arguments) {
        return Datum::map({{Datum::string("arguments"), Datum::map(std::move(arguments))}});
    }

  private:
    std::optional<PeerSession> pair_;
    std::uint32_t next_id_ = 0;
};

}  // namespace revenant::amqp10
