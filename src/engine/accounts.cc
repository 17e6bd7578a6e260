#include "engine/accounts.h"

#include "base/check.h"

namespace revenant::engine {

std::string_view to_string(Ending ending) {
    switch (ending) {
        case Ending::acknowledged:
            return "acknowledged";
        case Ending::auto_acknowledged:
            return "auto_acknowledged";
        case Ending::dead_lettered:
            return "dead_lettered";
        case Ending::no_dlx:
            return "no_dlx";
        case Ending::dlx_missing:
            return "dlx_missing";
        case Ending::unroutable:
            return "unroutable";
        case Ending::cycle:
            return "cycle";
        case Ending::target_refused:
            return "target_refused";
        case Ending::purged:
            return "purged";
        case Ending::queue_deleted:
            return "queue_deleted";
    }
    UNREACHABLE();
}

}  // namespace revenant::engine
