// FrameReader: decodes a server's output into methods with contents, and detects protocol
// violations.
#pragma once

#include "amqp091/codec/frame.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace revenant::amqp091 {

// A received method, with its content if it has one.
struct Arrival {
    std::uint16_t class_id = 0;
    std::uint16_t method_id = 0;
    std::string arguments;
    std::string properties;  // flags and list
    std::string body;
    std::size_t body_frames = 0;

    std::uint32_t key() const { return method_key(class_id, method_id); }
    // For failures and transcripts: the method's name and its arguments in hexadecimal.
    std::string describe() const;
};

class FrameReader {
  public:
    struct Read {
        std::uint16_t channel = 0;
        std::optional<Arrival> arrival;  // absent: a heartbeat
    };
    void add(std::string_view bytes) { bytes_.append(bytes); }
    // 0: no limit.
    void limit_frames(std::uint32_t frame_max) { frame_max_ = frame_max; }
    // The next heartbeat, or method with its complete content; absent when more bytes are needed.
    std::optional<Read> next();
    // Unread bytes: less than a frame, or not frames.
    std::string_view rest() const { return std::string_view(bytes_).substr(used_); }
    // The error in the bytes; empty if there is none.
    const std::string& fault() const { return fault_; }

  private:
    // A method whose content is not complete yet.
    struct Assembly {
        Arrival arrival;
        bool has_header = false;
        std::uint64_t body_bytes_left = 0;
    };
    std::optional<Read> accept(const Frame& frame);
    std::optional<Read> accept_method(const Frame& frame);
    std::optional<Read> accept_content(const Frame& frame);
    std::optional<Read> blame(std::string fault);

    std::string bytes_;
    std::size_t used_ = 0;
    std::uint32_t frame_max_ = 0;
    std::map<std::uint16_t, Assembly> assemblies_;
    std::map<std::uint16_t, bool> open_;
    std::string fault_;
};

// The server's output in a form that does not depend on how the bytes were split: by channel, with
// confirms one by one and separate from the rest, because they are sent at the end of a turn.
std::vector<std::string> transcript(std::string_view received);
// The first line in which the transcripts of two streams differ; empty if they are equal.
std::string difference(std::string_view received, std::string_view wanted);

}  // namespace revenant::amqp091
