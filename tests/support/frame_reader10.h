// FrameReader of AMQP 1.0: what a server sends, frame by frame, and what no server may send.
#pragma once

#include "amqp10/codec/frame.h"
#include "amqp10/codec/type_reader.h"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace revenant::amqp10 {

// One frame that came, or a header of the protocol.
struct Arrival {
    FrameType type = FrameType::amqp;
    std::uint16_t channel = 0;
    std::string body;  // the performative and what stands behind it; a header's eight bytes
    bool is_header = false;

    bool is_heartbeat() const { return body.empty(); }
    std::uint64_t code() const;
    // Of the performative; the views are into the body.
    TypeReader::Items items() const;
    std::string_view payload() const;
    // For failures and transcripts: the performative's name and its fields.
    std::string describe() const;
};

class FrameReader {
  public:
    void add(std::string_view bytes) { bytes_.append(bytes); }
    void limit_frames(std::uint32_t frame_max) { frame_max_ = frame_max; }
    // None when more bytes are needed.
    std::optional<Arrival> next();
    std::string_view rest() const { return std::string_view(bytes_).substr(used_); }
    // What is wrong with the bytes; empty if nothing is.
    const std::string& fault() const { return fault_; }

  private:
    std::optional<Arrival> blame(std::string fault);
    std::optional<Arrival> accept(Arrival arrival);

    std::string bytes_;
    std::size_t used_ = 0;
    std::uint32_t frame_max_ = 0xffffffff;
    std::optional<Arrival> accept_of_link(Arrival arrival, std::uint64_t code);

    std::map<std::uint16_t, bool> begun_;  // sessions, by their channels
    std::map<std::uint16_t, std::set<std::uint32_t>> attached_;
    std::string fault_;
};

std::string text_of(const Datum& datum);
std::string text_in(Raw field);

// Everything a server sent, told so that the way the bytes were cut makes no difference: by
// channel, each disposition on its own and apart from the rest, and so the flow of sessions, as
// they are sent when a turn ends.
std::vector<std::string> transcript(std::string_view received);
// The first line in which the transcripts of two streams differ; empty if they are the same.
std::string difference(std::string_view received, std::string_view wanted);

}  // namespace revenant::amqp10
