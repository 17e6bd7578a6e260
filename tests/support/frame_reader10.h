// FrameReader for AMQP 1.0: decodes a server's output into frames, and detects protocol violations.
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

// A received frame or protocol header.
struct Arrival {
    FrameType type = FrameType::amqp;
    std::uint16_t channel = 0;
    std::string body;  // the performative and its payload; or the eight bytes of a header
    bool is_header = false;

    bool is_heartbeat() const { return body.empty(); }
    std::uint64_t code() const;
    // The fields of the performative; views into the body.
    TypeReader::Items items() const;
    std::string_view payload() const;
    // For failures and transcripts: the performative's name and its fields.
    std::string describe() const;
};

class FrameReader {
  public:
    void add(std::string_view bytes) { bytes_.append(bytes); }
    void limit_frames(std::uint32_t frame_max) { frame_max_ = frame_max; }
    // Absent when more bytes are needed.
    std::optional<Arrival> next();
    std::string_view rest() const { return std::string_view(bytes_).substr(used_); }
    // The error in the bytes; empty if there is none.
    const std::string& fault() const { return fault_; }

  private:
    std::optional<Arrival> blame(std::string fault);
    std::optional<Arrival> accept(Arrival arrival);

    std::string bytes_;
    std::size_t used_ = 0;
    std::uint32_t frame_max_ = 0xffffffff;
    std::optional<Arrival> accept_of_link(Arrival arrival, std::uint64_t code);

    std::map<std::uint16_t, bool> begun_;  // sessions by channel
    std::map<std::uint16_t, std::set<std::uint32_t>> attached_;
    std::string fault_;
};

std::string text_of(const Datum& datum);
std::string text_in(Raw field);

// The server's output in a form that does not depend on how the bytes were split: by channel, with
// dispositions one by one and separate from the rest, like session flows, because they are sent at
// the end of a turn.
std::vector<std::string> transcript(std::string_view received);
// The first line in which the transcripts of two streams differ; empty if they are equal.
std::string difference(std::string_view received, std::string_view wanted);

}  // namespace revenant::amqp10
