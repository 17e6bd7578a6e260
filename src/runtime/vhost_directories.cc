#include "runtime/vhost_directories.h"

#include <xxhash.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdio>
#include <set>
#include <utility>

namespace revenant::runtime {
namespace {

constexpr std::size_t name_bytes_max = 120;
// In a directory that is not in the catalog, this file permits the next startup to remove it.
constexpr std::string_view deletion_mark = "deleted";
constexpr std::string_view name_file = "name";
constexpr std::string_view id_ending = ".vhost";
constexpr std::uint64_t name_file_bytes_max = 1024;

int digit_of(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

// Whether this can be the name of a virtual host's directory. Other names are ignored.
bool is_ours(std::string_view name) {
    return id_named_by(name) || std::all_of(name.begin(), name.end(), [](char c) {
               return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_' ||
                      c == '%';
           });
}

std::string file_in(const std::string& directory, std::string_view name) {
    return directory + "/" + std::string(name);
}

bool contains(const std::vector<std::string>& names, std::string_view name) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

std::string directory_name(std::uint64_t id) { return std::to_string(id) + std::string(id_ending); }

std::optional<std::uint64_t> id_named_by(std::string_view directory) {
    if (!directory.ends_with(id_ending)) return std::nullopt;
    const std::string_view digits = directory.substr(0, directory.size() - id_ending.size());
    std::uint64_t id = 0;
    std::from_chars(digits.data(), digits.data() + digits.size(), id);
    // Not an id that the catalog could have assigned.
    if (id == 0 || id > UINT64_MAX / 2 || directory_name(id) != directory) return std::nullopt;
    return id;
}

std::string directory_name(std::string_view vhost) {
    std::string name;
    for (const char c : vhost) {
        if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_') {
            name.push_back(c);
        } else {
            char escaped[4];
            std::snprintf(escaped, sizeof escaped, "%%%02X", static_cast<unsigned char>(c));
            name += escaped;
        }
    }
    if (name.size() > name_bytes_max) {
        name.resize(name_bytes_max);
        name += '-' + std::to_string(XXH3_64bits(vhost.data(), vhost.size()));
    }
    return name;
}

std::optional<std::string> vhost_named_by(std::string_view directory) {
    std::string vhost;
    for (std::size_t i = 0; i < directory.size(); ++i) {
        if (directory[i] != '%') {
            vhost.push_back(directory[i]);
            continue;
        }
        if (i + 2 >= directory.size()) return std::nullopt;
        const int high = digit_of(directory[i + 1]);
        const int low = digit_of(directory[i + 2]);
        if (high < 0 || low < 0) return std::nullopt;
        vhost.push_back(static_cast<char>(high * 16 + low));
        i += 2;
    }
    if (directory_name(vhost) != directory) return std::nullopt;
    return vhost;
}

std::string VhostDirectories::path_of(const Rules& vhost) const {
    return parent_ + "/" +
           (vhost.has_named_directory ? directory_name(std::string_view(vhost.name))
                                      : directory_name(vhost.id));
}

// The mark is created first, so that the remains of a crash are never taken for messages.
Result<void, journal::IoError> VhostDirectories::make(const Rules& vhost) {
    const std::string directory = path_of(vhost);
    REVENANT_TRY_VOID(disk_.make_directory(directory));
    REVENANT_TRY_VOID(mark_deleted(vhost));
    return write_name(directory, vhost.name);
}

Result<void, journal::IoError> VhostDirectories::keep(const Rules& vhost) {
    return remove_mark(path_of(vhost));
}

Result<void, journal::IoError> VhostDirectories::mark_deleted(const Rules& vhost) {
    const std::string directory = path_of(vhost);
    REVENANT_TRY_VOID(disk_.create(file_in(directory, deletion_mark)));
    return disk_.sync_directory(directory);
}

Result<void, journal::IoError> VhostDirectories::remove_mark(const std::string& directory) {
    REVENANT_TRY_VOID(disk_.remove(file_in(directory, deletion_mark)));
    return disk_.sync_directory(directory);
}

Result<void, journal::IoError> remove_vhost_directory(journal::Disk& disk,
                                                      const std::string& path) {
    return disk.remove_directory(path, deletion_mark);
}

Result<void, journal::IoError> VhostDirectories::write_name(const std::string& directory,
                                                            const std::string& vhost) {
    const std::string path = file_in(directory, name_file);
    const std::string unfinished = path + ".new";
    REVENANT_TRY(const auto file, disk_.create(unfinished));
    REVENANT_TRY_VOID(file->write(0, vhost + "\n"));
    REVENANT_TRY_VOID(file->sync());
    REVENANT_TRY_VOID(disk_.rename(unfinished, path));
    return disk_.sync_directory(directory);
}

Result<std::string, journal::IoError> VhostDirectories::read_name(const std::string& directory) {
    REVENANT_TRY(const auto file, disk_.open(file_in(directory, name_file)));
    REVENANT_TRY(const std::uint64_t size, file->size());
    std::string name(std::min(size, name_file_bytes_max), '\0');
    REVENANT_TRY(const std::size_t got, file->read(0, name));
    name.resize(got);
    if (name.ends_with('\n')) name.pop_back();
    return name;
}

// Opens the directory of a virtual host in the catalog. If it was moved away, an empty one is
// created.
Result<void, journal::IoError> VhostDirectories::open(const Rules& vhost) {
    const std::string directory = path_of(vhost);
    REVENANT_TRY_VOID(disk_.make_directory(directory));
    if (vhost.has_named_directory) return {};
    REVENANT_TRY(const auto names, disk_.list(directory));
    if (!contains(names, name_file)) return write_name(directory, vhost.name);
    REVENANT_TRY(const std::string name, read_name(directory));
    if (name == vhost.name) return {};
    return Unexpected{journal::IoError{"directory " + directory + " belongs to the virtual host '" +
                                       name + "', but the catalog assigns it to '" + vhost.name +
                                       "'"}};
}

Result<void, journal::IoError> VhostDirectories::look_at(const std::string& name, bool known,
                                                         Found& found) {
    const std::string directory = parent_ + "/" + name;
    REVENANT_TRY(const auto names, disk_.list(directory));
    const bool marked = contains(names, deletion_mark);
    // The crash happened before the catalog removed it.
    if (known) return marked ? remove_mark(directory) : Result<void, journal::IoError>{};
    const auto id = id_named_by(name);
    found.last_id = std::max(found.last_id, id.value_or(0));
    // The crash happened before the catalog contained it.
    if (marked || names.empty()) return remove_vhost_directory(disk_, directory);
    VhostDirectories::Stray stray{directory, id.value_or(0), std::nullopt};
    if (!id) {
        stray.vhost = vhost_named_by(name);
    } else if (contains(names, name_file)) {
        REVENANT_TRY(stray.vhost, read_name(directory));
    }
    found.strays.push_back(std::move(stray));
    return {};
}

Result<VhostDirectories::Found, std::string> VhostDirectories::remove_deleted(const Known& vhosts) {
    const auto failed = [](journal::IoError error) { return Unexpected{std::move(error.text)}; };
    std::map<std::string, const Rules*> known;
    for (const auto& [name, vhost] : vhosts) {
        const auto [other, is_new] = known.emplace(path_of(vhost), &vhost);
        if (is_new) continue;
        return Unexpected{"directory " + other->first + ": the catalog assigns it to '" +
                          other->second->name + "' and to '" + name + "'"};
    }
    auto names = disk_.list(parent_);
    if (!names) return failed(std::move(names).error());
    Found found;
    for (const std::string& name : *names) {
        if (!is_ours(name)) continue;
        auto looked = look_at(name, known.contains(parent_ + "/" + name), found);
        if (!looked) return failed(std::move(looked).error());
    }
    for (const auto& [name, vhost] : vhosts) {
        if (auto opened = open(vhost); !opened) return failed(std::move(opened).error());
    }
    return found;
}

}  // namespace revenant::runtime
