#include "amqp10/codec/descriptors.h"

#include "amqp10/codec/performatives.gen.h"
#include "amqp10/codec/type_reader.h"
#include "amqp10/codec/type_writer.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace revenant::amqp10 {
namespace {

// In the order of the specification.
const std::vector<std::pair<std::string_view, std::uint64_t>>& specified() {
    static const std::vector<std::pair<std::string_view, std::uint64_t>> all = {
        {"amqp:open:list", Open::descriptor_code},
        {"amqp:begin:list", Begin::descriptor_code},
        {"amqp:attach:list", Attach::descriptor_code},
        {"amqp:flow:list", Flow::descriptor_code},
        {"amqp:transfer:list", Transfer::descriptor_code},
        {"amqp:disposition:list", Disposition::descriptor_code},
        {"amqp:detach:list", Detach::descriptor_code},
        {"amqp:end:list", End::descriptor_code},
        {"amqp:close:list", Close::descriptor_code},
        {"amqp:error:list", Error::descriptor_code},
        {"amqp:received:list", Received::descriptor_code},
        {"amqp:accepted:list", Accepted::descriptor_code},
        {"amqp:rejected:list", Rejected::descriptor_code},
        {"amqp:released:list", Released::descriptor_code},
        {"amqp:modified:list", Modified::descriptor_code},
        {"amqp:source:list", Source::descriptor_code},
        {"amqp:target:list", Target::descriptor_code},
        {"amqp:sasl-mechanisms:list", SaslMechanisms::descriptor_code},
        {"amqp:sasl-init:list", SaslInit::descriptor_code},
        {"amqp:sasl-challenge:list", SaslChallenge::descriptor_code},
        {"amqp:sasl-response:list", SaslResponse::descriptor_code},
        {"amqp:sasl-outcome:list", SaslOutcome::descriptor_code},
        {"amqp:header:list", Header::descriptor_code},
        {"amqp:properties:list", Properties::descriptor_code},
        {"amqp:coordinator:list", descriptor::coordinator},
        {"amqp:delete-on-close:list", descriptor::delete_on_close},
        {"amqp:delivery-annotations:map", descriptor::delivery_annotations},
        {"amqp:message-annotations:map", descriptor::message_annotations},
        {"amqp:application-properties:map", descriptor::application_properties},
        {"amqp:data:binary", descriptor::data},
        {"amqp:amqp-sequence:list", descriptor::sequence},
        {"amqp:amqp-value:*", descriptor::value},
        {"amqp:footer:map", descriptor::footer},
    };
    return all;
}

// amqp10 1.3
TEST(Descriptors, AreFoundByTheirNames) {
    std::set<std::uint64_t> codes;
    for (const auto& [name, code] : specified()) {
        EXPECT_EQ(descriptor_named(name), code) << name;
        EXPECT_TRUE(codes.insert(code).second) << name << " has a duplicate code";
    }
}

// amqp10 1.3
TEST(Descriptors, AreReadTheSameAsNumberAndAsName) {
    for (const auto& [name, code] : specified()) {
        const std::string symbolic =
            std::string("\x00\xa3", 2) + static_cast<char>(name.size()) + std::string(name);
        TypeReader named(symbolic);
        EXPECT_EQ(named.descriptor(), code) << name;
        std::string numeric;
        TypeWriter(numeric).descriptor(code);
        TypeReader numbered(numeric);
        EXPECT_EQ(numbered.descriptor(), code) << name;
    }
}

TEST(Descriptors, OtherNamesAreNone) {
    for (const std::string_view name :
         {"", "amqp", "amqp:open", "amqp:open:", "amqp:open:map", "AMQP:OPEN:LIST", "open",
          "amqp:open:list ", " amqp:open:list", "amqp:data:*", "amqp:amqp-value"}) {
        EXPECT_EQ(descriptor_named(name), std::nullopt) << name;
    }
}

}  // namespace
}  // namespace revenant::amqp10
