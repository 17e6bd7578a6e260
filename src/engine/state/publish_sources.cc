#include "engine/state/publish_sources.h"

#include <algorithm>

namespace revenant::engine {

void PublishSources::change(std::uint64_t number, std::string_view exchange,
                            std::uint64_t published) {
    if (!book_) book_ = std::make_unique<Book>();
    Book& book = *book_;
    if (book.latest < book.sources.size()) {
        book.sources[book.latest].published += published - before_;
    }
    latest_ = number;
    before_ = published;
    if (const auto found = book.by_number.find(number); found != book.by_number.end()) {
        book.latest = found->second;
        return;
    }
    const auto same = std::find_if(book.sources.begin(), book.sources.end(),
                                   [&](const Source& one) { return one.exchange == exchange; });
    book.latest = static_cast<std::size_t>(same - book.sources.begin());
    if (same == book.sources.end()) {
        if (book.sources.size() < exchanges_max) {
            book.sources.push_back({std::string(exchange), 0});
        } else {
            book.latest = exchanges_max;
        }
    }
    // Numbers of deleted exchanges accumulate.
    if (book.by_number.size() >= 2 * exchanges_max) book.by_number.clear();
    book.by_number.emplace(number, book.latest);
}

std::vector<PublishSources::Source> PublishSources::all(std::uint64_t published) const {
    if (!book_) return {};
    std::vector<Source> sources = book_->sources;
    if (book_->latest < sources.size()) sources[book_->latest].published += published - before_;
    return sources;
}

}  // namespace revenant::engine
