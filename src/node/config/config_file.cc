#include "node/config/config_file.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <utility>

namespace revenant::node {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view blanks = " \t\r";

std::string_view trim(std::string_view text) {
    const std::size_t begin = text.find_first_not_of(blanks);
    if (begin == std::string_view::npos) return {};
    return text.substr(begin, text.find_last_not_of(blanks) - begin + 1);
}

bool is_key(std::string_view key) {
    if (key.empty() || key.front() == '.' || key.back() == '.') return false;
    if (key.find("..") != std::string_view::npos) return false;
    return std::all_of(key.begin(), key.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '.' || c == '_' || c == '-' || static_cast<unsigned char>(c) >= 0x80;
    });
}

// The text after the equals sign, without comment and quotes.
Result<std::string, std::string> read_value(std::string_view text) {
    text = trim(text);
    if (!text.starts_with('\'')) return std::string(trim(text.substr(0, text.find('#'))));
    const std::size_t end = text.find('\'', 1);
    if (end == std::string_view::npos) {
        return Unexpected{std::string("missing closing quote")};
    }
    const std::string_view rest = trim(text.substr(end + 1));
    if (!rest.empty() && !rest.starts_with('#')) {
        return Unexpected{std::string("unexpected text after the closing quote")};
    }
    return std::string(text.substr(1, end - 1));
}

void parse_line(std::string_view line, std::string origin, ConfigLines& into) {
    line = trim(line);
    if (line.empty() || line.starts_with('#')) return;
    const std::size_t equals = line.find('=');
    const std::string_view key = trim(line.substr(0, equals));
    if (equals == std::string_view::npos || !is_key(key)) {
        into.errors.push_back({std::move(origin), "expected key = value"});
        return;
    }
    auto value = read_value(line.substr(equals + 1));
    if (!value) {
        into.errors.push_back({std::move(origin), std::string(key) + ": " + value.error()});
    } else if (value->empty() && trim(line.substr(equals + 1)).substr(0, 2) != "''") {
        into.errors.push_back(
            {std::move(origin), std::string(key) + ": missing value (write '' for an empty one)"});
    } else {
        into.settings.push_back(
            {Source::file, std::move(origin), std::string(key), std::move(value).value()});
    }
}

void append(ConfigLines& into, ConfigLines&& more) {
    std::move(more.settings.begin(), more.settings.end(), std::back_inserter(into.settings));
    std::move(more.errors.begin(), more.errors.end(), std::back_inserter(into.errors));
}

void read_one(const std::string& path, ConfigLines& into) {
    const auto text = read_text_file(path, config_file_bytes_max);
    if (!text) {
        into.errors.push_back({path, text.error()});
    } else {
        append(into, parse_config(*text, path));
        into.files.push_back(path);
    }
}

void read_directory(const std::string& directory, ConfigLines& into) {
    std::error_code error;
    std::vector<std::string> paths;
    for (fs::directory_iterator entry(directory, error), end; !error && entry != end;
         entry.increment(error)) {
        if (entry->path().extension() == ".conf") paths.push_back(entry->path().string());
    }
    if (error) {
        into.errors.push_back({directory, "cannot read directory: " + error.message()});
        return;
    }
    std::sort(paths.begin(), paths.end());
    for (const std::string& path : paths) read_one(path, into);
}

}  // namespace

Result<std::string, std::string> read_text_file(const std::string& path, std::size_t bytes_max) {
    const auto failure = [] {
        return Unexpected{std::string("cannot read file: ") + std::strerror(errno)};
    };
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "re"),
                                                               std::fclose);
    if (!file) return failure();
    std::string text;
    char buffer[64 * 1024];
    while (const std::size_t count = std::fread(buffer, 1, sizeof buffer, file.get())) {
        text.append(buffer, count);
        if (text.size() > bytes_max) {
            return Unexpected{"file is larger than " + std::to_string(bytes_max) + " bytes"};
        }
    }
    if (std::ferror(file.get()) != 0) return failure();
    return text;
}

ConfigLines parse_config(std::string_view text, std::string_view file_name) {
    constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
    ConfigLines lines;
    if (text.starts_with(byte_order_mark)) text.remove_prefix(byte_order_mark.size());
    for (std::size_t number = 1; !text.empty(); ++number) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        parse_line(text.substr(0, end), std::string(file_name) + ":" + std::to_string(number),
                   lines);
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return lines;
}

ConfigLines read_config_files(const std::string& file, const std::string& directory) {
    ConfigLines lines;
    std::error_code error;
    if (!file.empty()) {
        const std::string with_ending = file + ".conf";
        const bool left_out = !fs::exists(file, error) && fs::exists(with_ending, error);
        read_one(left_out ? with_ending : file, lines);
    }
    constexpr std::string_view wildcard = "/*.conf";
    const bool spelled_out = directory.ends_with(wildcard);
    const std::string plain =
        spelled_out ? directory.substr(0, directory.size() - wildcard.size()) : directory;
    if (!plain.empty()) read_directory(plain, lines);
    return lines;
}

std::string conf_d_beside(const std::string& file) {
    if (file.empty()) return {};
    std::error_code error;
    const fs::path beside = fs::path(file).parent_path() / "conf.d";
    return fs::is_directory(beside, error) ? beside.string() : std::string();
}

std::string rabbitmq_file_in(const std::string& directory) {
    std::error_code error;
    const fs::path file = fs::path(directory) / "rabbitmq.conf";
    return fs::exists(file, error) ? file.string() : std::string();
}

std::string advanced_file_in(const std::string& directory) {
    const std::string path = (fs::path(directory) / "advanced.config").string();
    const auto text = read_text_file(path, config_file_bytes_max);
    if (!text) return {};
    std::string said;
    bool comment = false;
    for (const char c : *text) {
        if (c == '%') comment = true;
        if (c == '\n') comment = false;
        if (!comment && blanks.find(c) == std::string_view::npos && c != '\n') said += c;
    }
    return said.empty() || said == "[]." ? std::string() : path;
}

}  // namespace revenant::node
