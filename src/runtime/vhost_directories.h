// VhostDirectories: the directories of virtual hosts on disk. A directory belongs to one
// incarnation of a virtual host. It is named by an id that is never reused, and a file in it
// contains the name of the virtual host. Directories from before ids existed are named after their
// virtual hosts and keep their names.
//
// A directory is removed only if its virtual host was deleted, never because the catalog does not
// contain it.
#pragma once

#include "auth/access.h"
#include "base/result.h"
#include "journal/disk.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace revenant::runtime {

class VhostDirectories {
  public:
    using Rules = revenant::Vhost;
    using Known = std::map<std::string, Rules, std::less<>>;

    VhostDirectories(journal::Disk& disk, std::string parent)
        : disk_(disk), parent_(std::move(parent)) {}

    std::string path_of(const Rules& vhost) const;

    // Creates the directory of a new virtual host before it is in the catalog. Until keep() is
    // called, the next startup removes it.
    Result<void, journal::IoError> make(const Rules& vhost);
    // Called when the virtual host is in the catalog.
    Result<void, journal::IoError> keep(const Rules& vhost);
    // Called before the virtual host is removed from the catalog. From then on, the next startup
    // may remove the directory.
    Result<void, journal::IoError> mark_deleted(const Rules& vhost);

    // A directory that belongs to no virtual host in the catalog.
    struct Stray {
        std::string directory;
        std::uint64_t id = 0;              // 0: named after its virtual host
        std::optional<std::string> vhost;  // absent if unknown
    };
    struct Found {
        std::vector<Stray> strays;
        std::uint64_t last_id = 0;  // highest id among all directory names
    };
    // Called at startup. Removes directories of deleted virtual hosts and creates missing ones.
    // Fails if a directory belongs to a virtual host other than the one in the catalog.
    Result<Found, std::string> remove_deleted(const Known& vhosts);

  private:
    Result<void, journal::IoError> remove_mark(const std::string& directory);
    Result<void, journal::IoError> write_name(const std::string& directory,
                                              const std::string& vhost);
    Result<std::string, journal::IoError> read_name(const std::string& directory);
    Result<void, journal::IoError> open(const Rules& vhost);
    Result<void, journal::IoError> look_at(const std::string& name, bool known, Found& found);

    journal::Disk& disk_;
    const std::string parent_;
};

// Removes the directory of a virtual host that is marked as deleted. If interrupted, the next
// startup continues.
Result<void, journal::IoError> remove_vhost_directory(journal::Disk& disk, const std::string& path);

// Converts an id to the name of its directory and back.
std::string directory_name(std::uint64_t id);
std::optional<std::uint64_t> id_named_by(std::string_view directory);

// Name of the directory of a virtual host from before ids existed. Characters that a file system
// might not accept are written as %XX. A long name is truncated and ends with a hash of the full
// name.
std::string directory_name(std::string_view vhost);
// The inverse of directory_name(); nothing if the name was truncated.
std::optional<std::string> vhost_named_by(std::string_view directory);

}  // namespace revenant::runtime
