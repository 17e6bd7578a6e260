// add_fields: adds the named fields of one struct of counters to those of another.
#pragma once

namespace revenant::engine {

template <typename Struct>
void add_fields(Struct& to, const Struct& from, auto... fields) {
    ((to.*fields += from.*fields), ...);
}

}  // namespace revenant::engine
