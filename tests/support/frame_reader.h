// FrameReader: what a server sends, as methods with their contents, and what no server may send.
#pragma once

#include "amqp091/codec/frame.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace revenant::amqp091 {

// A method that came, with its content if it has one.
struct Arrival {
    std::uint16_t class_id = 0;
    std::uint16_t method_id = 0;
    std::string arguments;
    std::string properties;  // flags and list
    std::string body;
    std::size_t body_frames = 0;

    std::uint32_t key() const { return method_key(class_id, method_id); }
    // For failures and transcripts: queue.declare-ok and its arguments in hexadecimal.
    std::string describe() const;
};

class FrameReader {
  public:
    struct Read {
        std::uint16_t channel = 0;
        std::optional<Arrival> arrival;  // without: a heartbeat
    };
    void add(std::string_view bytes) { bytes_.append(bytes); }
    // 0: any frame is small enough.
    void limit_frames(std::uint32_t frame_max) { frame_max_ = frame_max; }
    // The next heartbeat, or method with its whole content; none when more bytes are needed.
    std::optional<Read> next();
    // Bytes not read: less than a frame, or no frames at all.
    std::string_view rest() const { return std::string_view(bytes_).substr(used_); }
    // What is wrong with the bytes; empty if nothing is.
    const std::string& fault() const { return fault_; }

  private:
    // A method that waits for its content.
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

// Everything a server sent, told so that the way the bytes were cut makes no difference: by
// channel, each confirm on its own, and apart from the rest, as they are sent when a turn ends.
std::vector<std::string> transcript(std::string_view received);
// The first line in which the transcripts of two streams differ; empty if they are the same.
std::string difference(std::string_view received, std::string_view wanted);

}  // namespace revenant::amqp091
