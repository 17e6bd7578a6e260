#include "journal/disk_posix.h"

#include "base/check.h"
#include "journal/disk_counters.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <sys/file.h>
#include <sys/random.h>
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

std::string at_offset(const std::string& path, std::uint64_t offset) {
    return path + " at offset " + std::to_string(offset);
}

struct SharedOperations {
    std::atomic<std::uint64_t> count{0};
    std::atomic<std::uint64_t> bytes{0};
    std::atomic<std::uint64_t> nanoseconds{0};

    DiskCounters::Operations seen() const { return {count, bytes, nanoseconds}; }
};
SharedOperations reads;
SharedOperations writes;
SharedOperations syncs;

// For counters only; no decision depends on it.
std::uint64_t monotonic_nanoseconds() {
    timespec now{};
    ::clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 +
           static_cast<std::uint64_t>(now.tv_nsec);
}

// Counts one operation until the end of the scope.
class Counted {
  public:
    explicit Counted(SharedOperations& operations) : operations_(operations) {}
    ~Counted() {
        const auto relaxed = std::memory_order_relaxed;
        operations_.count.fetch_add(1, relaxed);
        operations_.bytes.fetch_add(bytes, relaxed);
        operations_.nanoseconds.fetch_add(monotonic_nanoseconds() - begin_, relaxed);
    }
    Counted(const Counted&) = delete;
    Counted& operator=(const Counted&) = delete;

    std::uint64_t bytes = 0;

  private:
    SharedOperations& operations_;
    const std::uint64_t begin_ = monotonic_nanoseconds();
};

Result<std::size_t, IoError> read_from(int descriptor, const std::string& path,
                                       std::uint64_t offset, std::span<char> into) {
    Counted counted(reads);
    std::size_t done = 0;
    while (done < into.size()) {
        const ssize_t got = ::pread(descriptor, into.data() + done, into.size() - done,
                                    static_cast<off_t>(offset + done));
        if (got == 0) break;
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return failure("read", at_offset(path, offset + done), errno);
        done += static_cast<std::size_t>(got);
        counted.bytes = done;
    }
    return done;
}

Result<std::uint64_t, IoError> size_of(int descriptor, const std::string& path) {
    struct stat status {};
    if (::fstat(descriptor, &status) != 0) return failure("stat", path, errno);
    return static_cast<std::uint64_t>(status.st_size);
}

void advise_will_need(int descriptor, std::uint64_t offset, std::uint64_t size) {
    ::posix_fadvise(descriptor, static_cast<off_t>(offset), static_cast<off_t>(size),
                    POSIX_FADV_WILLNEED);
}

// A file that is open only while it is used.
class ReadFile final : public File {
  public:
    ReadFile(std::shared_ptr<OpenFiles> files, std::string path) : files_(std::move(files)) {
        slot_.path = std::move(path);
    }
    ~ReadFile() override { files_->forget(slot_); }
    ReadFile(const ReadFile&) = delete;
    ReadFile& operator=(const ReadFile&) = delete;

    Result<std::size_t, IoError> read(std::uint64_t offset, std::span<char> into) const override {
        REVENANT_TRY(const auto descriptor, files_->get(slot_));
        return read_from(descriptor->number(), slot_.path, offset, into);
    }
    Result<std::uint64_t, IoError> size() const override {
        REVENANT_TRY(const auto descriptor, files_->get(slot_));
        return size_of(descriptor->number(), slot_.path);
    }
    void will_need(std::uint64_t offset, std::uint64_t size) const override {
        const auto descriptor = files_->get(slot_);
        if (descriptor) advise_will_need((*descriptor)->number(), offset, size);
    }
    Result<std::shared_ptr<const void>, IoError> keep_open() const override {
        REVENANT_TRY(auto descriptor, files_->get(slot_));
        return std::shared_ptr<const void>(std::move(descriptor));
    }
    Result<void, IoError> write(std::uint64_t, std::string_view) override { return refuse(); }
    Result<void, IoError> allocate(std::uint64_t) override { return refuse(); }
    Result<void, IoError> sync() override { return refuse(); }

  private:
    Result<void, IoError> refuse() const { return failure("write", slot_.path, EBADF); }

    const std::shared_ptr<OpenFiles> files_;
    mutable OpenFiles::Slot slot_;
};

class PosixFile final : public File {
  public:
    PosixFile(int descriptor, std::string path) : descriptor_(descriptor), path_(std::move(path)) {}

    Result<std::size_t, IoError> read(std::uint64_t offset, std::span<char> into) const override {
        return read_from(descriptor_.number(), path_, offset, into);
    }

    Result<void, IoError> write(std::uint64_t offset, std::string_view bytes) override {
        Counted counted(writes);
        std::size_t done = 0;
        while (done < bytes.size()) {
            const ssize_t put = ::pwrite(descriptor_.number(), bytes.data() + done,
                                         bytes.size() - done, static_cast<off_t>(offset + done));
            if (put < 0 && errno == EINTR) continue;
            if (put < 0) return failure("write", at_offset(path_, offset + done), errno);
            done += static_cast<std::size_t>(put);
            counted.bytes = done;
        }
        return {};
    }

    Result<void, IoError> sync() override {
        const Counted counted(syncs);
        if (::fdatasync(descriptor_.number()) != 0) return failure("sync", path_, errno);
        return {};
    }

    Result<void, IoError> allocate(std::uint64_t bytes) override {
        const int failed = ::posix_fallocate(descriptor_.number(), 0, static_cast<off_t>(bytes));
        if (failed != 0) return failure("allocate", path_, failed);
        return {};
    }

    Result<std::uint64_t, IoError> size() const override {
        return size_of(descriptor_.number(), path_);
    }

    void will_need(std::uint64_t offset, std::uint64_t size) const override {
        advise_will_need(descriptor_.number(), offset, size);
    }

  private:
    Descriptor descriptor_;
    const std::string path_;
};

class PosixLock final : public DirectoryLock {
  public:
    explicit PosixLock(int descriptor) : descriptor_(descriptor) {}

  private:
    Descriptor descriptor_;
};

std::string first_line_of(int descriptor) {
    char text[32] = {};
    const ssize_t got = ::pread(descriptor, text, sizeof text - 1, 0);
    const std::string_view read(text, got > 0 ? static_cast<std::size_t>(got) : 0);
    return std::string(read.substr(0, read.find('\n')));
}

constexpr mode_t directory_mode = 0750;

// Sets the mode regardless of the umask, because only the owner and the group may read messages.
// Returns errno or 0.
int make_one_directory(const std::string& path) {
    if (::mkdir(path.c_str(), directory_mode) != 0) return errno == EEXIST ? 0 : errno;
    struct stat status {};
    if (::stat(path.c_str(), &status) != 0) return errno;
    const mode_t inherited = status.st_mode & (S_ISUID | S_ISGID | S_ISVTX);
    return ::chmod(path.c_str(), inherited | directory_mode) == 0 ? 0 : errno;
}

}  // namespace

DiskCounters disk_counters() { return {reads.seen(), writes.seen(), syncs.seen()}; }

Result<std::shared_ptr<File>, IoError> PosixDisk::open_file(const std::string& path, int flags,
                                                            std::string_view what) {
    const int descriptor = read_files_->open_descriptor(path, flags);
    if (descriptor < 0) return failure(what, path, errno);
    return std::shared_ptr<File>(std::make_shared<PosixFile>(descriptor, path));
}

Result<std::shared_ptr<File>, IoError> PosixDisk::open(const std::string& path) {
    return open_file(path, O_RDWR, "open");
}

std::shared_ptr<const File> PosixDisk::open_when_read(const std::string& path) {
    return std::make_shared<const ReadFile>(read_files_, path);
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
    std::vector<std::filesystem::path> missing;  // innermost first
    for (std::filesystem::path at = path; !at.empty(); at = at.parent_path()) {
        std::error_code error;
        const std::filesystem::file_status status = std::filesystem::status(at, error);
        if (!std::filesystem::status_known(status)) {
            return failure("create directory", path, error.value());
        }
        if (std::filesystem::exists(status)) break;
        if (at.has_filename()) missing.push_back(at);
    }
    for (auto at = missing.rbegin(); at != missing.rend(); ++at) {
        if (const int failed = make_one_directory(at->string()); failed != 0) {
            return failure("create directory", path, failed);
        }
        REVENANT_TRY_VOID(sync_directory(at->has_parent_path() ? at->parent_path().string() : "."));
    }
    return {};
}

Result<void, IoError> PosixDisk::remove_directory(const std::string& path, std::string_view last) {
    REVENANT_TRY(const auto names, list(path));
    std::error_code error;
    for (const std::string& name : names) {
        if (name == last) continue;
        std::filesystem::remove_all(path + "/" + name, error);
        if (error) return failure("remove", path + "/" + name, error.value());
    }
    if (!last.empty() && !names.empty()) REVENANT_TRY_VOID(sync_directory(path));
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
    const Descriptor directory(read_files_->open_descriptor(path, O_RDONLY | O_DIRECTORY));
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

std::uint32_t PosixDisk::draw_secret() {
    std::uint32_t secret = 0;
    CHECK(::getrandom(&secret, sizeof secret, 0) == static_cast<ssize_t>(sizeof secret));
    return secret;
}

}  // namespace revenant::journal
