// Folder: a temporary directory on the real disk, removed with the test.
#pragma once

#include "base/check.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <string>

namespace revenant {

class Folder {
  public:
    Folder() : path_(::testing::TempDir() + "revenant-test-XXXXXX") {
        CHECK(::mkdtemp(path_.data()) != nullptr);
    }
    ~Folder() { std::filesystem::remove_all(path_); }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;
    std::string operator/(const std::string& name) const { return path_ + "/" + name; }
    const std::string& path() const { return path_; }

  private:
    std::string path_;
};

inline std::string file_contents(const std::filesystem::path& path) {
    std::ifstream in(path, std::ios::binary);
    EXPECT_TRUE(in.good()) << path;
    return {std::istreambuf_iterator<char>(in), {}};
}

inline void write_file(const std::filesystem::path& path, const std::string& contents) {
    std::ofstream out(path, std::ios::binary);
    out << contents;
    out.close();
    EXPECT_TRUE(out.good()) << path;
}

inline std::set<std::string> names_in(const std::filesystem::path& directory) {
    std::set<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(directory)) {
        names.insert(entry.path().filename().string());
    }
    return names;
}

// Every file below the directory, by relative path; directories end with a slash.
inline std::map<std::string, std::string> all_files(const std::filesystem::path& directory) {
    std::map<std::string, std::string> files;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(directory)) {
        const std::string name = std::filesystem::relative(entry.path(), directory).string();
        if (entry.is_directory()) {
            files[name + "/"];
        } else {
            files[name] = file_contents(entry.path());
        }
    }
    return files;
}

}  // namespace revenant
