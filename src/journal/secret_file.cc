#include "journal/secret_file.h"

#include <charconv>
#include <cstdio>

namespace revenant::journal {
namespace {

constexpr std::size_t secret_digits = 8;

std::string path_in(const std::string& directory) { return directory + "/secret"; }

}  // namespace

Secret read_secret(Disk& disk, const std::string& directory) {
    const auto file = disk.open_when_read(path_in(directory));
    std::string text(secret_digits + 1, '\0');
    const auto got = file->read(0, text);
    if (!got || *got != text.size() || text.back() != '\n') return 0;
    Secret secret = 0;
    const char* const end = text.data() + secret_digits;
    const auto [stop, error] = std::from_chars(text.data(), end, secret, 16);
    return error == std::errc{} && stop == end ? secret : 0;
}

Result<void, IoError> keep_secret(Disk& disk, const std::string& directory, Secret secret) {
    const std::string aside = path_in(directory) + ".new";
    char text[secret_digits + 2];
    std::snprintf(text, sizeof text, "%08x\n", secret);
    REVENANT_TRY(const auto file, disk.create(aside));
    REVENANT_TRY_VOID(file->write(0, text));
    REVENANT_TRY_VOID(file->sync());
    REVENANT_TRY_VOID(disk.rename(aside, path_in(directory)));
    return disk.sync_directory(directory);
}

}  // namespace revenant::journal
