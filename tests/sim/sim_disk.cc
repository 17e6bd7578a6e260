#include "tests/sim/sim_disk.h"

#include "base/check.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <functional>
#include <utility>

namespace revenant::sim {
namespace {

IoError error_of(std::string_view what, const std::string& path, int code) {
    return {std::string(what) + ' ' + path + ": " + std::strerror(code), code == ENOSPC};
}

Unexpected<IoError> failure(std::string_view what, const std::string& path, int code) {
    return Unexpected{error_of(what, path, code)};
}

std::string at_offset(const std::string& path, std::uint64_t offset) {
    return path + " at offset " + std::to_string(offset);
}

void put(std::string& contents, std::uint64_t offset, std::string_view bytes) {
    if (contents.size() < offset + bytes.size()) contents.resize(offset + bytes.size(), '\0');
    std::memcpy(contents.data() + offset, bytes.data(), bytes.size());
}

}  // namespace

// ------------------------------------------------------------------------- files

class SimFile final : public File {
  public:
    SimFile(SimDisk& disk, std::shared_ptr<SimDisk::Node> node, std::string path)
        : disk_(disk), generation_(disk.generation_), node_(std::move(node)), path_(path) {}

    Result<std::size_t, IoError> read(std::uint64_t offset, std::span<char> into) const override {
        disk_.counts_.reads += 1;
        if (auto error = failure_of(disk_.step(), "read", at_offset(path_, offset))) {
            return Unexpected{*error};
        }
        if (disk_.fail_reads_) {
            disk_.counts_.failed_reads += 1;
            return failure("read", at_offset(path_, offset), EIO);
        }
        const std::string& live = node_->live;
        if (offset >= live.size()) return std::size_t{0};
        const std::size_t got = std::min<std::size_t>(into.size(), live.size() - offset);
        std::memcpy(into.data(), live.data() + offset, got);
        return got;
    }

    Result<void, IoError> write(std::uint64_t offset, std::string_view bytes) override {
        disk_.counts_.writes += 1;
        const SimDisk::Step step = disk_.step();
        const std::string place = at_offset(path_, offset);
        if (is_stale()) return failure("write", place, EIO);
        if (step == SimDisk::Step::happens_unanswered) {
            disk_.write_to(*node_, offset, disk_.part_of(bytes));
        }
        if (auto error = failure_of(step, "write", place)) return Unexpected{*error};
        if (std::exchange(disk_.fail_write_, false)) {
            disk_.write_to(*node_, offset, disk_.part_of(bytes));
            return failure("write", place, EIO);
        }
        return write_what_fits(offset, bytes);
    }

    Result<void, IoError> sync() override {
        disk_.counts_.syncs += 1;
        const SimDisk::Step step = disk_.step();
        if (is_stale()) return failure("sync", path_, EIO);
        if (step != SimDisk::Step::fails && !disk_.lying_ && !disk_.fail_sync_ &&
            !disk_.fail_sync_as_full_) {
            disk_.make_durable(*node_);
        }
        if (step != SimDisk::Step::happens && !disk_.crashed_) return forget_unsynced(EIO);
        if (auto error = failure_of(step, "sync", path_)) return Unexpected{*error};
        if (std::exchange(disk_.fail_sync_, false)) return forget_unsynced(EIO);
        if (std::exchange(disk_.fail_sync_as_full_, false)) return forget_unsynced(ENOSPC);
        return {};
    }

    Result<void, IoError> allocate(std::uint64_t bytes) override {
        const std::uint64_t size = node_->live.size();
        if (bytes <= size) return {};
        return write(size, std::string(bytes - size, '\0'));
    }

    Result<std::uint64_t, IoError> size() const override {
        if (is_stale() || disk_.crashed_) return failure("stat", path_, EIO);
        return std::uint64_t{node_->live.size()};
    }

    void will_need(std::uint64_t, std::uint64_t) const override {}

  private:
    bool is_stale() const { return generation_ != disk_.generation_; }

    std::optional<IoError> failure_of(SimDisk::Step step, std::string_view what,
                                      const std::string& place) const {
        if (is_stale()) return error_of(what, place, EIO);
        return disk_.failure_of(step, what, place);
    }

    // Data of a failed sync is never synced: later syncs do not include it, but it can be read
    // until the power fails.
    Result<void, IoError> forget_unsynced(int code) {
        node_->unsynced.clear();
        return failure("sync", path_, code);
    }

    Result<void, IoError> write_what_fits(std::uint64_t offset, std::string_view bytes) {
        const std::uint64_t end_max = node_->live.size() + disk_.room();
        const std::uint64_t fitting =
            end_max <= offset ? 0 : std::min<std::uint64_t>(bytes.size(), end_max - offset);
        disk_.write_to(*node_, offset, bytes.substr(0, fitting));
        if (fitting < bytes.size()) {
            return failure("write", at_offset(path_, offset + fitting), ENOSPC);
        }
        return {};
    }

    SimDisk& disk_;
    const std::uint64_t generation_;
    const std::shared_ptr<SimDisk::Node> node_;
    const std::string path_;
};

// Opens the file for each use, to detect users that hold it while its name is given to another
// file.
class SimReadFile final : public File {
  public:
    SimReadFile(SimDisk& disk, std::string path)
        : disk_(disk), generation_(disk.generation_), path_(std::move(path)) {}

    Result<std::size_t, IoError> read(std::uint64_t offset, std::span<char> into) const override {
        REVENANT_TRY(const auto node, opened());
        return SimFile(disk_, node, path_).read(offset, into);
    }
    Result<std::uint64_t, IoError> size() const override {
        REVENANT_TRY(const auto node, opened());
        return SimFile(disk_, node, path_).size();
    }
    void will_need(std::uint64_t, std::uint64_t) const override {}
    Result<std::shared_ptr<const void>, IoError> keep_open() const override {
        REVENANT_TRY(const auto node, opened());
        auto held = std::make_shared<std::shared_ptr<SimDisk::Node>>(node);
        held_ = held;
        return std::shared_ptr<const void>(std::move(held));
    }
    Result<void, IoError> write(std::uint64_t, std::string_view) override { UNREACHABLE(); }
    Result<void, IoError> allocate(std::uint64_t) override { UNREACHABLE(); }
    Result<void, IoError> sync() override { UNREACHABLE(); }

  private:
    Result<std::shared_ptr<SimDisk::Node>, IoError> opened() const {
        if (generation_ != disk_.generation_) return failure("open", path_, EIO);
        if (const auto held = held_.lock()) return *held;
        auto node = disk_.find(path_);
        if (!node) return failure("open", path_, ENOENT);
        if (!seen_) seen_ = node;
        CHECK(seen_ == node);  // its name was given to another file
        return node;
    }

    SimDisk& disk_;
    const std::uint64_t generation_;
    const std::string path_;
    mutable std::shared_ptr<SimDisk::Node> seen_;
    mutable std::weak_ptr<std::shared_ptr<SimDisk::Node>> held_;
};

// ------------------------------------------------------------------------- steps

SimDisk::Step SimDisk::step() {
    if (crashed_) return Step::fails;
    steps_ += 1;
    if (steps_ == crash_at_) crashed_ = true;
    if (!crashed_ && steps_ != fail_at_) return Step::happens;
    return dice_.one_in(2) ? Step::fails : Step::happens_unanswered;
}

std::optional<IoError> SimDisk::failure_of(Step step, std::string_view what,
                                           const std::string& path) {
    if (step == Step::happens) return std::nullopt;
    return error_of(what, path, EIO);
}

std::string_view SimDisk::part_of(std::string_view bytes) {
    return bytes.substr(0, dice_.below(bytes.size() + 1));
}

void SimDisk::write_to(Node& node, std::uint64_t offset, std::string_view bytes) {
    if (bytes.empty()) return;
    counts_.bytes_written += bytes.size();
    put(node.live, offset, bytes);
    node.unsynced.push_back({offset, std::string(bytes), false});
}

void SimDisk::make_durable(Node& node) {
    for (const Change& change : node.unsynced) {
        if (change.truncates) node.certain.clear();
        put(node.certain, change.offset, change.bytes);
    }
    node.unsynced.clear();
}

std::uint64_t SimDisk::room() const {
    if (!capacity_) return std::uint64_t{1} << 50;
    const std::uint64_t used = used_bytes();
    return *capacity_ > used ? *capacity_ - used : 0;
}

std::uint64_t SimDisk::used_bytes() const {
    std::uint64_t used = 0;
    for (const auto& [path, directory] : directories_) {
        for (const auto& [name, node] : directory.live) used += node->live.size();
    }
    return used;
}

// ------------------------------------------------------------------------- names

SimDisk::Place SimDisk::split_path(const std::string& path) {
    const std::size_t slash = path.rfind('/');
    CHECK(slash != std::string::npos);
    return {path.substr(0, slash), path.substr(slash + 1)};
}

std::shared_ptr<SimDisk::Node> SimDisk::find(const std::string& path) const {
    const Place place = split_path(path);
    const auto directory = directories_.find(place.directory);
    if (directory == directories_.end()) return nullptr;
    const auto found = directory->second.live.find(place.name);
    return found == directory->second.live.end() ? nullptr : found->second;
}

void SimDisk::apply(Names& names, const NameChange& change) {
    switch (change.what) {
        case NameChange::What::create:
            names[change.name] = change.node;
            return;
        case NameChange::What::rename:
            names.erase(change.name);
            names[change.to] = change.node;
            return;
        case NameChange::What::remove:
            names.erase(change.name);
            return;
    }
}

void SimDisk::change_names(Directory& directory, NameChange change) {
    apply(directory.live, change);
    directory.unsynced.push_back(std::move(change));
}

Result<std::shared_ptr<File>, IoError> SimDisk::open(const std::string& path) {
    counts_.opens += 1;
    if (auto error = failure_of(step(), "open", path)) return Unexpected{*error};
    auto node = find(path);
    if (!node) return failure("open", path, ENOENT);
    return std::shared_ptr<File>(std::make_shared<SimFile>(*this, std::move(node), path));
}

std::shared_ptr<const File> SimDisk::open_when_read(const std::string& path) {
    return std::make_shared<const SimReadFile>(*this, path);
}

Result<std::shared_ptr<File>, IoError> SimDisk::create(const std::string& path) {
    counts_.creates += 1;
    const Step step = this->step();
    const Place place = split_path(path);
    const auto directory = directories_.find(place.directory);
    if (directory == directories_.end()) return failure("create", path, ENOENT);
    auto node = find(path);
    if (!node && room() == 0) return failure("create", path, ENOSPC);
    if (step == Step::fails) return failure("create", path, EIO);
    if (node) {
        node->live.clear();
        node->unsynced.push_back({0, {}, true});
    } else {
        node = std::make_shared<Node>();
        change_names(directory->second, {NameChange::What::create, place.name, {}, node});
    }
    if (auto error = failure_of(step, "create", path)) return Unexpected{*error};
    return std::shared_ptr<File>(std::make_shared<SimFile>(*this, std::move(node), path));
}

Result<void, IoError> SimDisk::rename(const std::string& from, const std::string& to) {
    counts_.renames += 1;
    const Step step = this->step();
    const std::string what = "rename " + from + " to";
    const Place old_place = split_path(from);
    const Place new_place = split_path(to);
    CHECK(old_place.directory == new_place.directory);
    auto node = find(from);
    if (!node) return failure(what, to, ENOENT);
    if (step != Step::fails && from != to) {
        change_names(directories_[old_place.directory],
                     {NameChange::What::rename, old_place.name, new_place.name, std::move(node)});
    }
    if (auto error = failure_of(step, what, to)) return Unexpected{*error};
    return {};
}

Result<void, IoError> SimDisk::remove(const std::string& path) {
    counts_.removes += 1;
    const Step step = this->step();
    const Place place = split_path(path);
    if (step != Step::fails && find(path)) {
        change_names(directories_[place.directory],
                     {NameChange::What::remove, place.name, {}, nullptr});
    }
    if (auto error = failure_of(step, "remove", path)) return Unexpected{*error};
    return {};
}

Result<void, IoError> SimDisk::make_directory(const std::string& path) {
    const Step step = this->step();
    for (std::size_t end = path.find('/', 1); step != Step::fails; end = path.find('/', end + 1)) {
        directories_.try_emplace(path.substr(0, end));
        if (end == std::string::npos) break;
    }
    if (auto error = failure_of(step, "create directory", path)) return Unexpected{*error};
    return {};
}

Result<void, IoError> SimDisk::remove_directory(const std::string& path, std::string_view last) {
    REVENANT_TRY(const auto names, list(path));
    for (const std::string& name : names) {
        if (name != last) REVENANT_TRY_VOID(remove(path + "/" + name));
    }
    if (!last.empty() && !names.empty()) REVENANT_TRY_VOID(sync_directory(path));
    const Step step = this->step();
    for (auto at = directories_.begin(); at != directories_.end();) {
        const bool inside = at->first == path || at->first.starts_with(path + "/");
        at = inside && step != Step::fails ? directories_.erase(at) : std::next(at);
    }
    if (auto error = failure_of(step, "remove directory", path)) return Unexpected{*error};
    return {};
}

Result<std::vector<std::string>, IoError> SimDisk::list(const std::string& path) {
    counts_.lists += 1;
    if (auto error = failure_of(step(), "list directory", path)) return Unexpected{*error};
    std::vector<std::string> names;
    const auto found = directories_.find(path);
    if (found == directories_.end()) return names;
    for (const auto& [name, node] : found->second.live) names.push_back(name);
    const std::string prefix = path + "/";
    for (const auto& [other, directory] : directories_) {
        if (other.starts_with(prefix) && other.find('/', prefix.size()) == std::string::npos) {
            names.push_back(other.substr(prefix.size()));
        }
    }
    std::sort(names.begin(), names.end());
    return names;
}

Result<void, IoError> SimDisk::sync_directory(const std::string& path) {
    counts_.directory_syncs += 1;
    const Step step = this->step();
    const auto found = directories_.find(path);
    if (found == directories_.end()) return failure("open directory", path, ENOENT);
    if (step != Step::fails && !lying_) {
        found->second.certain = found->second.live;
        found->second.unsynced.clear();
    }
    if (auto error = failure_of(step, "sync directory", path)) return Unexpected{*error};
    return {};
}

// ------------------------------------------------------------------------- locks and free space

namespace {

class SimLock final : public DirectoryLock {
  public:
    explicit SimLock(std::function<void()> release) : release_(std::move(release)) {}
    ~SimLock() override { release_(); }
    SimLock(const SimLock&) = delete;
    SimLock& operator=(const SimLock&) = delete;

  private:
    std::function<void()> release_;
};

}  // namespace

Result<std::unique_ptr<DirectoryLock>, IoError> SimDisk::lock(const std::string& path) {
    if (auto error = failure_of(step(), "open", path + "/lock")) return Unexpected{*error};
    const auto directory = directories_.find(path);
    if (directory == directories_.end()) return failure("open", path + "/lock", ENOENT);
    if (!locked_.insert(path).second) {
        return Unexpected{IoError{"directory " + path + " is in use by another process"}};
    }
    if (!exists(path + "/lock")) {
        change_names(directory->second,
                     {NameChange::What::create, "lock", {}, std::make_shared<Node>()});
    }
    return std::unique_ptr<DirectoryLock>(
        std::make_unique<SimLock>([this, path, generation = generation_] {
            if (generation == generation_) locked_.erase(path);
        }));
}

Result<std::uint64_t, IoError> SimDisk::free_bytes(const std::string& path) {
    if (auto error = failure_of(step(), "stat", path)) return Unexpected{*error};
    if (!directories_.contains(path)) return failure("stat", path, ENOENT);
    return room();
}

// ------------------------------------------------------------------------- power loss

void SimDisk::lose_power(Node& node) {
    std::string survived = std::move(node.certain);
    std::uint64_t size = survived.size();
    const std::size_t grown = dice_.below(node.unsynced.size() + 1);
    for (std::size_t i = 0; i < node.unsynced.size(); ++i) {
        const Change& change = node.unsynced[i];
        if (change.truncates && i < grown) {
            survived.clear();
            size = 0;
        }
        for (std::uint64_t done = 0; done < change.bytes.size();) {
            const std::uint64_t at = change.offset + done;
            const std::uint64_t piece = std::min<std::uint64_t>(sector_bytes - at % sector_bytes,
                                                                change.bytes.size() - done);
            if (dice_.percent(survival_percent_)) {
                put(survived, at, std::string_view(change.bytes).substr(done, piece));
            }
            done += piece;
        }
        if (i < grown) size = std::max<std::uint64_t>(size, change.offset + change.bytes.size());
    }
    survived.resize(size, '\0');
    node.live = survived;
    node.certain = std::move(survived);
    node.unsynced.clear();
}

void SimDisk::lose_power(Directory& directory) {
    const std::size_t happened = dice_.below(directory.unsynced.size() + 1);
    for (std::size_t i = 0; i < happened; ++i) apply(directory.certain, directory.unsynced[i]);
    directory.unsynced.clear();
    directory.live = directory.certain;
    for (const auto& [name, node] : directory.live) lose_power(*node);
}

void SimDisk::restart(Loss loss) {
    generation_ += 1;
    crashed_ = false;
    crash_at_ = 0;
    fail_at_ = 0;
    locked_.clear();
    if (loss == Loss::process) return;
    // Sometimes nearly everything survives, sometimes nearly nothing.
    constexpr std::uint64_t chances[] = {5, 50, 50, 90, 100};
    survival_percent_ = chances[dice_.below(std::size(chances))];
    for (auto& [path, directory] : directories_) lose_power(directory);
}

// ------------------------------------------------------------------------- inspection

void SimDisk::flip_bit(const std::string& path, std::uint64_t offset, unsigned bit) {
    const auto node = find(path);
    CHECK(node && offset < node->live.size());
    node->live[offset] = static_cast<char>(node->live[offset] ^ (1U << bit));
    if (offset < node->certain.size()) node->certain[offset] = node->live[offset];
}

bool SimDisk::exists(const std::string& path) const { return find(path) != nullptr; }

std::string SimDisk::contents(const std::string& path) const {
    const auto node = find(path);
    CHECK(node);
    return node->live;
}

std::map<std::string, std::string> SimDisk::certain_files() const {
    std::map<std::string, std::string> files;
    for (const auto& [path, directory] : directories_) {
        for (const auto& [name, node] : directory.certain) {
            files.emplace(path + "/" + name, node->certain);
        }
    }
    return files;
}

}  // namespace revenant::sim
