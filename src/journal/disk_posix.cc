#include "journal/disk_posix.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

namespace revenant::journal {
namespace {

Unexpected<IoError> failure(std::string_view what, const std::string& path, int code) {
    std::string text(what);
    text += ' ';
    text += path;
    text += ": ";
    text += std::strerror(code);
    return Unexpected{IoError{std::move(text), code == ENOSPC || code == EDQUOT}};
}

class Descriptor {
  public:
    explicit Descriptor(int number) : number_(number) {}
    ~Descriptor() {
        if (number_ >= 0) ::close(number_);
    }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    int number() const { return number_; }

  private:
    int number_;
};

class PosixFile final : public File {
  public:
    PosixFile(int descriptor, std::string path) : descriptor_(descriptor), path_(std::move(path)) {}

    Result<std::size_t, IoError> read(std::uint64_t offset, std::span<char> into) const override {
        std::size_t done = 0;
        while (done < into.size()) {
            const ssize_t got = ::pread(descriptor_.number(), into.data() + done,
                                        into.size() - done, static_cast<off_t>(offset + done));
            if (got == 0) break;
            if (got < 0 && errno == EINTR) continue;
            if (got < 0) return failure("read", at(offset + done), errno);
            done += static_cast<std::size_t>(got);
        }
        return done;
    }

    Result<void, IoError> write(std::uint64_t offset, std::string_view bytes) override {
        std::size_t done = 0;
        while (done < bytes.size()) {
            const ssize_t put = ::pwrite(descriptor_.number(), bytes.data() + done,
                                         bytes.size() - done, static_cast<off_t>(offset + done));
            if (put < 0 && errno == EINTR) continue;
            if (put < 0) return failure("write", at(offset + done), errno);
            done += static_cast<std::size_t>(put);
        }
        return {};
    }

    Result<void, IoError> sync() override {
        if (::fdatasync(descriptor_.number()) != 0) return failure("sync", path_, errno);
        return {};
    }

    Result<void, IoError> allocate(std::uint64_t bytes) override {
        const int failed = ::posix_fallocate(descriptor_.number(), 0, static_cast<off_t>(bytes));
        if (failed != 0) return failure("allocate", path_, failed);
        return {};
    }

    Result<std::uint64_t, IoError> size() const override {
        struct stat status {};
        if (::fstat(descriptor_.number(), &status) != 0) return failure("stat", path_, errno);
        return static_cast<std::uint64_t>(status.st_size);
    }

    void expect_read(std::uint64_t offset, std::uint64_t size) const override {
        ::posix_fadvise(descriptor_.number(), static_cast<off_t>(offset), static_cast<off_t>(size),
                        POSIX_FADV_WILLNEED);
    }

  private:
    std::string at(std::uint64_t offset) const {
        return path_ + " at offset " + std::to_string(offset);
    }

    Descriptor descriptor_;
    const std::string path_;
};

class PosixLock final : public DirectoryLock {
  public:
    explicit PosixLock(int descriptor) : descriptor_(descriptor) {}

  private:
    Descriptor descriptor_;
};

Result<std::shared_ptr<File>, IoError> open_file(const std::string& path, int flags,
                                                 std::string_view what) {
    const int descriptor = ::open(path.c_str(), flags | O_CLOEXEC, 0640);
    if (descriptor < 0) return failure(what, path, errno);
    return std::shared_ptr<File>(std::make_shared<PosixFile>(descriptor, path));
}

std::string first_line_of(int descriptor) {
    char text[32] = {};
    const ssize_t got = ::pread(descriptor, text, sizeof text - 1, 0);
    const std::string_view read(text, got > 0 ? static_cast<std::size_t>(got) : 0);
    return std::string(read.substr(0, read.find('\n')));
}

}  // namespace

Result<std::shared_ptr<File>, IoError> PosixDisk::open(const std::string& path) {
    return open_file(path, O_RDWR, "open");
}

Result<std::shared_ptr<File>, IoError> PosixDisk::create(const std::string& path) {
    return open_file(path, O_RDWR | O_CREAT | O_TRUNC, "create");
}

Result<void, IoError> PosixDisk::rename(const std::string& from, const std::string& to) {
    if (::rename(from.c_str(), to.c_str()) != 0)
        return failure("rename " + from + " to", to, errno);
    return {};
}

Result<void, IoError> PosixDisk::remove(const std::string& path) {
    if (::unlink(path.c_str()) != 0 && errno != ENOENT) return failure("remove", path, errno);
    return {};
}

Result<void, IoError> PosixDisk::make_directory(const std::string& path) {
    std::error_code error;
    std::vector<std::filesystem::path> parents_of_new;
    for (std::filesystem::path at = path; !at.empty() && !std::filesystem::exists(at, error);
         at = at.parent_path()) {
        parents_of_new.push_back(at.has_parent_path() ? at.parent_path() : ".");
    }
    std::filesystem::create_directories(path, error);
    if (error) return failure("create directory", path, error.value());
    for (const auto& parent : parents_of_new) REVENANT_TRY_VOID(sync_directory(parent.string()));
    return {};
}

Result<void, IoError> PosixDisk::remove_directory(const std::string& path) {
    std::error_code error;
    std::filesystem::remove_all(path, error);
    if (error) return failure("remove directory", path, error.value());
    return {};
}

Result<std::vector<std::string>, IoError> PosixDisk::list(const std::string& path) {
    std::vector<std::string> names;
    std::error_code error;
    for (auto at = std::filesystem::directory_iterator(path, error);
         !error && at != std::filesystem::directory_iterator(); at.increment(error)) {
        names.push_back(at->path().filename().string());
    }
    if (error && error != std::errc::no_such_file_or_directory) {
        return failure("list directory", path, error.value());
    }
    std::sort(names.begin(), names.end());
    return names;
}

Result<void, IoError> PosixDisk::sync_directory(const std::string& path) {
    const Descriptor directory(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (directory.number() < 0) return failure("open directory", path, errno);
    if (::fsync(directory.number()) != 0) return failure("sync directory", path, errno);
    return {};
}

Result<std::unique_ptr<DirectoryLock>, IoError> PosixDisk::lock(const std::string& path) {
    const std::string name = path + "/lock";
    const int descriptor = ::open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0640);
    if (descriptor < 0) return failure("open", name, errno);
    auto held = std::make_unique<PosixLock>(descriptor);
    if (::flock(descriptor, LOCK_EX | LOCK_NB) != 0) {
        const std::string holder = first_line_of(descriptor);
        return Unexpected{IoError{"directory " + path + " is in use by another process" +
                                  (holder.empty() ? "" : " (" + holder + ")")}};
    }
    const std::string holder = "process " + std::to_string(::getpid()) + "\n";
    if (::ftruncate(descriptor, 0) != 0 ||
        ::pwrite(descriptor, holder.data(), holder.size(), 0) < 0) {
        return failure("write", name, errno);
    }
    return std::unique_ptr<DirectoryLock>(std::move(held));
}

Result<std::uint64_t, IoError> PosixDisk::free_bytes(const std::string& path) {
    struct statvfs status {};
    if (::statvfs(path.c_str(), &status) != 0) return failure("stat", path, errno);
    return static_cast<std::uint64_t>(status.f_bavail) * status.f_frsize;
}

}  // namespace revenant::journal
