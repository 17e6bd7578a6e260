// VhostDirectories: where the virtual hosts lie on the disk. A directory goes only when its virtual
// host was deleted: a catalog that has forgotten it is no reason to throw messages away.
#pragma once

#include "base/result.h"
#include "journal/disk.h"

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace revenant::runtime {

class VhostDirectories {
  public:
    VhostDirectories(journal::Disk& disk, std::string parent)
        : disk_(disk), parent_(std::move(parent)) {}

    std::string path_of(std::string_view vhost) const;
    // Before the catalog forgets the virtual host: from then on the next start may remove it.
    Result<void, std::string> mark_deleted(std::string_view vhost);

    // At a start: removes what was deleted. The answer is the names of the directories that belong
    // to none of these virtual hosts.
    Result<std::vector<std::string>, std::string> tidy(const std::set<std::string>& vhosts);

  private:
    Result<bool, std::string> is_marked(const std::string& directory);

    journal::Disk& disk_;
    const std::string parent_;
};

// The name of the directory of a virtual host: what a file system might not like is written as %XX,
// and a long one is shortened to its beginning and a number that stands for the rest.
std::string directory_name(std::string_view vhost);
// The way back, which a shortened name does not have.
std::optional<std::string> vhost_named_by(std::string_view directory);

}  // namespace revenant::runtime
