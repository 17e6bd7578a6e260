// ColdStore: storage for the parts of long queues that are not needed soon. The engine gets data
// back unchanged and synchronously, as if it had stayed in memory, so access is not an effect. If a
// read fails, the store returns the error and the caller parks the message.
#pragma once

#include "base/ids.h"
#include "base/result.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace revenant::engine {

// Whether a restart must find the page again.
enum class Durability : std::uint8_t { durable, transient };

struct ColdPage {
    Lsn at;
    std::uint32_t size = 0;  // 0: no page
    explicit operator bool() const { return size != 0; }
    friend bool operator==(const ColdPage&, const ColdPage&) = default;
};

struct ColdBlock;

class ColdStore {
  public:
    virtual ~ColdStore() = default;
    // Returns no page if the store cannot write now; the block then stays in memory.
    virtual ColdPage write_page(std::string_view page, Durability durability) = 0;
    // The error names the position and the cause.
    virtual Result<std::string, std::string> read_page(ColdPage page, Durability durability) = 0;
    // The page is not needed any more. Durable pages are freed when nothing refers to them.
    virtual void drop_transient(ColdPage page) = 0;
    // Reads any bytes of the journal, such as those of a message.
    virtual Result<void, std::string> read(Lsn at, std::span<char> into) = 0;
    // The error for bytes that were read but are not the ones that were written.
    virtual std::string fail_damaged(Lsn at) = 0;
    // The end of the range that one read can cover from here.
    virtual Lsn contiguous_end(Lsn at) = 0;
    // The pages and messages of this block will be read soon.
    virtual void will_need(const ColdBlock& block) = 0;
};

}  // namespace revenant::engine
