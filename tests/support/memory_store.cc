#include "tests/support/memory_store.h"

#include "base/check.h"
#include "engine/codec/message_codec.h"
#include "engine/recovery/event_check.h"

#include <cstring>
#include <string_view>

namespace revenant::engine {

ColdPage MemoryStore::write_page(std::string_view page, Durability durability) {
    const auto size = static_cast<std::uint32_t>(page.size());
    if (durability == Durability::transient) {
        transient_.emplace(++last_passing_, page);
        return {{last_passing_}, size};
    }
    begin_record().push_back(static_cast<char>(RecordKind::page));
    const Lsn at = position();
    stream_.append(page);
    end_record();
    return {at, size};
}

Result<std::string, std::string> MemoryStore::read_page(ColdPage page, Durability durability) {
    if (durability == Durability::transient) return transient_.at(page.at.value);
    return stream_.substr(page.at.value, page.size);
}

void MemoryStore::drop_transient(ColdPage page) { CHECK(transient_.erase(page.at.value) == 1); }

Result<void, std::string> MemoryStore::read(Lsn at, std::span<char> into) {
    CHECK(at.value + into.size() <= stream_.size());
    message_reads_ += 1;
    if (unreadable_ && *unreadable_ >= at && unreadable_->value < at.value + into.size()) {
        return Unexpected{"cannot read at " + std::to_string(unreadable_->value)};
    }
    std::memcpy(into.data(), stream_.data() + at.value, into.size());
    return {};
}

std::string& MemoryStore::begin_record() {
    record_at_ = stream_.size();
    return stream_;
}

void MemoryStore::end_record() {
    CHECK(stream_.size() > record_at_);
    records_.push_back({record_at_, stream_.size(), batch_at_});
    if (stream_[record_at_] == static_cast<char>(RecordKind::events)) {
        largest_record_ = std::max(largest_record_, stream_.size() - record_at_);
    }
}

bool MemoryStore::replay(State& state, const MessageFormats& formats) {
    EventReader reader(formats, [&](Lsn at) {
        const std::string_view rest = std::string_view(stream_).substr(at.value);
        return decode_stub(rest.substr(0, stored_size(rest)), formats, at);
    });
    for (const Record& record : records_) {
        const std::string_view bytes =
            std::string_view(stream_).substr(record.at, record.end - record.at);
        if (bytes.front() == static_cast<char>(RecordKind::page)) continue;
        std::vector<Event> facts;
        if (!reader.read(bytes.substr(1), {record.at + 1}, {record.batch}, facts)) return false;
        for (const Event& fact : facts) {
            if (!can_apply(state, fact)) return false;
            state.apply(fact);
        }
    }
    state.configure_rest();
    return true;
}

}  // namespace revenant::engine
