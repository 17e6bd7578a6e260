// TemporaryDirectory: a directory of its own for one test, gone afterwards.
#pragma once

#include "base/check.h"

#include <cstdlib>
#include <filesystem>
#include <string>

namespace revenant {

class TemporaryDirectory {
  public:
    TemporaryDirectory()
        : path_((std::filesystem::temp_directory_path() / "revenant-XXXXXX").string()) {
        CHECK(::mkdtemp(path_.data()) != nullptr);
    }
    ~TemporaryDirectory() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    TemporaryDirectory(const TemporaryDirectory&) = delete;
    TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

    const std::string& path() const { return path_; }

  private:
    std::string path_;
};

}  // namespace revenant
