// Methods: decoded arguments survive encoding and decoding, and no prefix of them decodes.
#include "amqp091/codec/frame.h"
#include "amqp091/codec/spec.gen.h"
#include "base/check.h"

#include <cstdint>
#include <string>
#include <string_view>

using namespace revenant;
using namespace revenant::amqp091;

namespace {

template <typename Method>
void check_method(std::string_view arguments) {
    const auto method = Method::decode(arguments);
    if (!method.has_value()) return;

    std::string frame;
    append_method(frame, 1, *method);
    const FrameResult cut = read_frame(frame, 0);
    CHECK(cut.outcome == FrameResult::Outcome::frame && cut.size == frame.size());
    const MethodPayload payload = split_method(cut.frame);
    CHECK(payload.key() == Method::key);
    // Reserved arguments are written empty, so the encoding can only get shorter.
    CHECK(payload.arguments.size() <= arguments.size());
    const auto again = Method::decode(payload.arguments);
    CHECK(again.has_value());
    CHECK(*again == *method);

    std::string encoded_again;
    append_method(encoded_again, 1, *again);
    CHECK(encoded_again == frame);

    if (arguments.empty()) return;
    const auto prefix = Method::decode(arguments.substr(0, arguments.size() - 1));
    CHECK(!prefix.has_value() && prefix.error() == DecodeFailure::truncated);
    const std::string longer = std::string(arguments) + 'x';
    const auto trailing = Method::decode(longer);
    CHECK(!trailing.has_value() && trailing.error() == DecodeFailure::trailing_bytes);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view bytes(reinterpret_cast<const char*>(data), size);
    if (bytes.empty()) return 0;
    // The first octet selects the method, the rest are its arguments.
    const std::uint32_t key = all_method_keys[data[0] % all_method_keys.size()];
    CHECK(!method_name(key >> 16, key & 0xffff).empty());
    const bool known =
        with_method_type(key, [&]<typename Method>() { check_method<Method>(bytes.substr(1)); });
    CHECK(known);
    return 0;
}
