// SlowDisk: a real disk whose syncs take as long as a test requires, or that is full. Thread-safe.
#pragma once

#include "journal/disk_posix.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace revenant {

class SlowDisk final : public journal::Disk {
  public:
    using IoError = journal::IoError;
    using Delay = std::chrono::milliseconds;

    // For each sync of a file or directory, and each query of the free space.
    void set_delay(Delay delay) { trouble_->delay_ms.store(delay.count()); }
    void set_full(bool full) { trouble_->full.store(full); }
    std::uint64_t slow_calls() const { return trouble_->slow_calls.load(); }

    Result<std::shared_ptr<journal::File>, IoError> open(const std::string& path) override {
        return wrapped(disk_.open(path));
    }
    std::shared_ptr<const journal::File> open_when_read(const std::string& path) override {
        return disk_.open_when_read(path);
    }
    Result<std::shared_ptr<journal::File>, IoError> create(const std::string& path) override {
        if (trouble_->full.load()) return no_room(path);
        return wrapped(disk_.create(path));
    }
    Result<void, IoError> rename(const std::string& from, const std::string& to) override {
        return disk_.rename(from, to);
    }
    Result<void, IoError> remove(const std::string& path) override { return disk_.remove(path); }
    Result<void, IoError> make_directory(const std::string& path) override {
        return disk_.make_directory(path);
    }
    Result<void, IoError> remove_directory(const std::string& path,
                                           std::string_view last) override {
        return disk_.remove_directory(path, last);
    }
    Result<std::vector<std::string>, IoError> list(const std::string& path) override {
        return disk_.list(path);
    }
    Result<void, IoError> sync_directory(const std::string& path) override {
        trouble_->take_time();
        return disk_.sync_directory(path);
    }
    Result<std::unique_ptr<journal::DirectoryLock>, IoError> lock(
        const std::string& path) override {
        return disk_.lock(path);
    }
    Result<std::uint64_t, IoError> free_bytes(const std::string& path) override {
        trouble_->take_time();
        return disk_.free_bytes(path);
    }

    std::uint32_t draw_secret() override { return disk_.draw_secret(); }

  private:
    struct Trouble {
        std::atomic<std::int64_t> delay_ms{0};
        std::atomic<bool> full{false};
        std::atomic<std::uint64_t> slow_calls{0};

        void take_time() {
            if (delay_ms.load() == 0) return;
            slow_calls.fetch_add(1);
            std::mutex mutex;
            std::condition_variable nobody;
            std::unique_lock lock(mutex);
            nobody.wait_for(lock, Delay(delay_ms.load()), [] { return false; });
        }
    };

    class SlowFile final : public journal::File {
      public:
        SlowFile(std::shared_ptr<journal::File> file, std::shared_ptr<Trouble> trouble)
            : file_(std::move(file)), trouble_(std::move(trouble)) {}

        Result<std::size_t, IoError> read(std::uint64_t offset,
                                          std::span<char> into) const override {
            return file_->read(offset, into);
        }
        Result<void, IoError> write(std::uint64_t offset, std::string_view bytes) override {
            if (trouble_->full.load()) return no_room("a file");
            return file_->write(offset, bytes);
        }
        Result<void, IoError> allocate(std::uint64_t bytes) override {
            if (trouble_->full.load()) return no_room("a file");
            return file_->allocate(bytes);
        }
        Result<void, IoError> sync() override {
            trouble_->take_time();
            return file_->sync();
        }
        Result<std::uint64_t, IoError> size() const override { return file_->size(); }
        void will_need(std::uint64_t offset, std::uint64_t size) const override {
            file_->will_need(offset, size);
        }

      private:
        const std::shared_ptr<journal::File> file_;
        const std::shared_ptr<Trouble> trouble_;
    };

    static Unexpected<IoError> no_room(const std::string& path) {
        return Unexpected{IoError{"write " + path + ": no room", /*disk_full=*/true}};
    }
    Result<std::shared_ptr<journal::File>, IoError> wrapped(
        Result<std::shared_ptr<journal::File>, IoError> file) {
        if (!file) return file;
        return std::shared_ptr<journal::File>(
            std::make_shared<SlowFile>(std::move(file).value(), trouble_));
    }

    journal::PosixDisk disk_;
    const std::shared_ptr<Trouble> trouble_ = std::make_shared<Trouble>();
};

}  // namespace revenant
