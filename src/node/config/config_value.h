// Parsers for configuration values: numbers, sizes with units, addresses. An error names the
// expected form.
#pragma once

#include "base/result.h"
#include "node/config/config.h"
#include "pattern/pattern.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace revenant::node {

using Problem = std::string;

Result<std::uint64_t, Problem> parse_number(std::string_view text, std::uint64_t min,
                                            std::uint64_t max);
// Returns nothing for "infinity".
Result<std::optional<std::uint64_t>, Problem> parse_limit(std::string_view text, std::uint64_t max);
// At most 8 PiB. k, M, G, T and kiB, MiB, GiB, TiB are powers of 1024; kB, MB, GB, TB of 1000.
Result<std::uint64_t, Problem> parse_bytes(std::string_view text);
Result<bool, Problem> parse_flag(std::string_view text);
Result<double, Problem> parse_share(std::string_view text, double max);
// Milliseconds, or numbers with the units w, d, h, m, s and ms: "1h30m".
Result<std::uint64_t, Problem> parse_duration_ms(std::string_view text);
Result<std::shared_ptr<const Pattern>, Problem> parse_pattern(std::string_view text);
// "5672", "127.0.0.1:5672" or "[::1]:5672".
Result<Endpoint, Problem> parse_endpoint(std::string_view text, Endpoint::BindScope reach);
Result<std::uint16_t, Problem> parse_port(std::string_view text);
// An IPv4 or IPv6 address. Host names are not accepted for listeners.
Result<std::string, Problem> parse_address(std::string_view text);
Result<LogLevel, Problem> parse_log_level(std::string_view text);
std::string_view name_of(LogLevel level);

}  // namespace revenant::node
