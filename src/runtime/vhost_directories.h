// VhostDirectories: where the virtual hosts lie on the disk. A directory belongs to one incarnation
// of a virtual host: it is named by the id, which is never used again, and the name of the virtual
// host is in a file inside. Those that were made before there were ids are named after their
// virtual hosts, and stay so.
//
// A directory goes only when its virtual host was deleted: a catalog that has forgotten it is no
// reason to throw messages away.
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

    // For a new virtual host, before the catalog knows it: until keep() the next start removes it.
    Result<void, journal::IoError> make(const Rules& vhost);
    // The catalog knows it.
    Result<void, journal::IoError> keep(const Rules& vhost);
    // Before the catalog forgets the virtual host: from then on the next start may remove it.
    Result<void, journal::IoError> mark_deleted(const Rules& vhost);

    // A directory that belongs to none of the virtual hosts the catalog knows.
    struct Stray {
        std::string directory;             // its path
        std::uint64_t id = 0;              // 0: it is named after its virtual host
        std::optional<std::string> vhost;  // absent if it does not say
    };
    struct Found {
        std::vector<Stray> strays;
        std::uint64_t last_id = 0;  // the highest among the names of all directories
    };
    // At a start: removes what was deleted, and gives a directory to whom has none. An error names
    // a directory that belongs to somebody else than the catalog says.
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

// Of a virtual host that is marked as deleted. If this ends halfway, the next start goes on.
Result<void, journal::IoError> remove_vhost_directory(journal::Disk& disk, const std::string& path);

// The name of a directory by its id, and the way back.
std::string directory_name(std::uint64_t id);
std::optional<std::uint64_t> id_named_by(std::string_view directory);

// The name of the directory of a virtual host from before there were ids: what a file system might
// not like is written as %XX, and a long one is shortened to its beginning and a number that stands
// for the rest.
std::string directory_name(std::string_view vhost);
// The way back, which a shortened name does not have.
std::optional<std::string> vhost_named_by(std::string_view directory);

}  // namespace revenant::runtime
