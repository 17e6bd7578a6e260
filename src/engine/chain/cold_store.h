// ColdStore: where the parts of long queues lie that nobody needs soon. What the engine takes out
// of memory it gets back from here unchanged, at once, as if it had stayed: a slower memory, not an
// effect. A store that cannot give something back says why; whoever wanted it parks the message.
#pragma once

#include "base/ids.h"
#include "base/result.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace revenant::engine {

// Whether a restart must find it again.
enum class Durability : std::uint8_t { durable, transient };

struct ColdPage {
    Lsn at;
    std::uint32_t size = 0;  // 0: there is none
    explicit operator bool() const { return size != 0; }
    friend bool operator==(const ColdPage&, const ColdPage&) = default;
};

struct ColdBlock;

class ColdStore {
  public:
    virtual ~ColdStore() = default;
    // None if it cannot take it now; then it stays in memory.
    virtual ColdPage write_page(std::string_view page, Durability durability) = 0;
    // The error says where it should be and what is wrong.
    virtual Result<std::string, std::string> read_page(ColdPage page, Durability durability) = 0;
    // It will not be asked for again. Durable pages need no word: what refers to them decides.
    virtual void drop_transient(ColdPage page) = 0;
    // The bytes of a message, or whatever else the journal holds there.
    virtual Result<void, std::string> read(Lsn at, std::span<char> into) = 0;
    // The same error for bytes that could be read, but are not what was written there.
    virtual std::string fail_damaged(Lsn at) = 0;
    // How far one read goes from here.
    virtual Lsn contiguous_end(Lsn at) = 0;
    // Its page and its messages will be read soon.
    virtual void will_need(const ColdBlock& block) = 0;
};

}  // namespace revenant::engine
