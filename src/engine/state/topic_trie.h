// TopicTrie: maps binding keys of words, `*` and `#` to their destinations.
//
// A lookup follows at most two branches per word (the word and `*`). Each `#` is visited once, at
// the first word at which it can start: it also matches everything that a later start would. So
// patterns with many `#` cost a step per node, not one per node and word of the key. After a `#`
// the rest of a pattern may start at any word, but only those branches are tried again that can
// still reach a `#` not visited before, or end with the key.
#pragma once

#include "engine/state/string_map.h"

#include <boost/unordered/unordered_flat_map.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace revenant::engine {

// The words of a key. An empty key has none (amqp091 7.4).
inline void split_words(std::string_view key, std::vector<std::string_view>& words) {
    words.clear();
    if (key.empty()) return;
    for (std::size_t start = 0;;) {
        const std::size_t dot = key.find('.', start);
        words.push_back(key.substr(start, dot - start));
        if (dot == std::string_view::npos) return;
        start = dot + 1;
    }
}

template <typename Leaf>
class TopicTrie {
  public:
    void add(std::string_view pattern, Leaf leaf) {
        split_words(pattern, pattern_);
        std::vector<Node*> path{&root_};
        std::vector<bool> led{root_.leads_to_hash()};
        for (const std::string_view word : pattern_) {
            Node& next = child(*path.back(), word);
            path.push_back(&next);
            led.push_back(next.leads_to_hash());
        }
        path.back()->leaves.push_back(leaf);
        note_leaf(path);
        for (std::size_t depth = pattern_.size(); depth > 0; --depth) {
            if (pattern_[depth - 1] == "#") continue;
            if (!led[depth] && path[depth]->leads_to_hash()) path[depth - 1]->ways += 1;
        }
    }

    // Removes one occurrence and prunes branches that became empty.
    void remove(std::string_view pattern, const Leaf& leaf) {
        remove_leaves(pattern, [&](std::vector<Leaf>& leaves) {
            const auto place = std::find(leaves.begin(), leaves.end(), leaf);
            if (place != leaves.end()) leaves.erase(place);
        });
    }

    // Removes every leaf of the pattern.
    void remove_all(std::string_view pattern) {
        remove_leaves(pattern, [](std::vector<Leaf>& leaves) { leaves.clear(); });
    }

    // Calls visit(leaf) for every binding that matches; a leaf may be visited several times.
    // Returns the number of steps.
    template <typename Visit>
    std::size_t match(std::string_view key, Visit visit) const {
        split_words(key, key_);
        return Walk<Visit>(*this, visit).run();
    }

    bool is_empty() const { return root_.is_empty() && words_.empty(); }

  private:
    template <typename Remove>
    void remove_leaves(std::string_view pattern, Remove remove_from) {
        split_words(pattern, pattern_);
        std::vector<Node*> path{&root_};
        std::vector<bool> led{root_.leads_to_hash()};
        for (const std::string_view word : pattern_) {
            Node* const next = find_child(*path.back(), word);
            if (next == nullptr) return;
            path.push_back(next);
            led.push_back(next->leads_to_hash());
        }
        remove_from(path.back()->leaves);
        for (std::size_t depth = pattern_.size(); depth > 0; --depth) {
            Node& parent = *path[depth - 1];
            const std::string_view word = pattern_[depth - 1];
            if (word != "#" && led[depth] && !path[depth]->leads_to_hash()) parent.ways -= 1;
            if (path[depth]->is_empty()) remove_child(parent, word);
        }
    }

    // A literal word of a pattern.
    struct Word {
        std::size_t edges = 0;
        // Its occurrences in the current key: a range of TopicTrie::occurrences_.
        mutable std::uint64_t pass = 0;
        mutable std::uint32_t begin = 0;
        mutable std::uint32_t end = 0;
    };
    static constexpr std::uint32_t unplaced = UINT32_MAX;

    struct Node;

    // The children of a node by word. Most nodes have one, and a hash table for it would use more
    // memory than the rest of the trie.
    class Branches {
      public:
        std::size_t size() const { return few_.size() + (many_ ? many_->size() : 0); }
        bool empty() const { return size() == 0; }
        Node* find(const Word* word) const {
            for (const auto& [own, node] : few_) {
                if (own == word) return node.get();
            }
            if (!many_) return nullptr;
            const auto found = many_->find(word);
            return found == many_->end() ? nullptr : found->second.get();
        }
        Node& add(const Word* word) {
            auto node = std::make_unique<Node>();
            Node& added = *node;
            if (!many_ && few_.size() < few_max) {
                few_.emplace_back(word, std::move(node));
                return added;
            }
            if (!many_) many_ = std::make_unique<Many>();
            for (auto& [own, old] : few_) many_->emplace(own, std::move(old));
            few_.clear();
            many_->emplace(word, std::move(node));
            return added;
        }
        void remove(const Word* word) {
            std::erase_if(few_, [&](const auto& one) { return one.first == word; });
            if (!many_) return;
            many_->erase(word);
            if (many_->empty()) many_.reset();
        }
        template <typename Visit>  // visit(word, node), unordered
        void for_each(Visit visit) const {
            for (const auto& [word, node] : few_) visit(*word, *node);
            if (!many_) return;
            for (const auto& [word, node] : *many_) visit(*word, *node);
        }

      private:
        using Many = boost::unordered_flat_map<const Word*, std::unique_ptr<Node>>;
        static constexpr std::size_t few_max = 8;
        std::vector<std::pair<const Word*, std::unique_ptr<Node>>> few_;
        std::unique_ptr<Many> many_;
    };

    struct Node {
        Branches children;
        std::unique_ptr<Node> star;
        std::unique_ptr<Node> hash;
        std::vector<Leaf> leaves;
        // For descendants without a # in between: the largest number of words to a leaf (-1: none;
        // it is never decreased), and the number of children that lead to a #.
        std::int32_t leaf_distance = -1;
        std::uint32_t ways = 0;
        mutable std::uint32_t ways_done = 0;  // in this lookup: children whose # are all reached
        mutable std::uint64_t pass = 0;       // the lookup that ways_done belongs to
        mutable std::uint64_t reached = 0;    // of a #: the last lookup that reached it

        bool leads_to_hash() const { return hash != nullptr || ways > 0; }
        bool is_empty() const { return children.empty() && !star && !hash && leaves.empty(); }
    };

    // ---------------------------------------------------------------- building

    Node& child(Node& parent, std::string_view name) {
        if (name == "#" || name == "*") {
            auto& wildcard = name == "#" ? parent.hash : parent.star;
            if (!wildcard) wildcard = std::make_unique<Node>();
            return *wildcard;
        }
        auto& word = words_[std::string(name)];
        if (!word) word = std::make_unique<Word>();
        if (Node* const found = parent.children.find(word.get())) return *found;
        word->edges += 1;
        return parent.children.add(word.get());
    }

    const Word* find_word(std::string_view name) const {
        const auto found = words_.find(name);
        return found == words_.end() ? nullptr : found->second.get();
    }

    Node* find_child(const Node& parent, std::string_view name) const {
        if (name == "#") return parent.hash.get();
        if (name == "*") return parent.star.get();
        return parent.children.find(find_word(name));
    }

    void remove_child(Node& parent, std::string_view name) {
        if (name == "#") {
            parent.hash.reset();
        } else if (name == "*") {
            parent.star.reset();
        } else {
            const auto word = words_.find(name);
            parent.children.remove(word->second.get());
            word->second->edges -= 1;
            if (word->second->edges == 0) words_.erase(word);
        }
    }

    // The path ends with a new leaf; pattern_ contains its words.
    void note_leaf(const std::vector<Node*>& path) {
        std::int32_t distance = 0;
        for (std::size_t depth = path.size(); depth-- > 0; ++distance) {
            path[depth]->leaf_distance = std::max(path[depth]->leaf_distance, distance);
            if (depth > 0 && pattern_[depth - 1] == "#") return;
        }
    }

    // ---------------------------------------------------------------- lookup

    // A # and the number of words of the key before it.
    struct Reached {
        const Node* node;
        std::size_t at;
    };

    template <typename Visit>
    class Walk {
      public:
        Walk(const TopicTrie& trie, Visit& visit)
            : trie_(trie), visit_(visit), length_(trie.key_.size()), pass_(++trie.pass_) {
            trie_.reached_.clear();
            trie_.key_words_.clear();
            for (const std::string_view word : trie_.key_) {
                trie_.key_words_.push_back(trie_.find_word(word));
            }
        }

        std::size_t run() {
            step(trie_.root_, 0);
            // Nodes reached in the loop are appended.
            for (std::size_t i = 0; i < trie_.reached_.size(); ++i) {
                const Reached reached = trie_.reached_[i];
                go_on_from(*reached.node, reached.at);
            }
            return steps_;
        }

      private:
        void begin(const Node& node) {
            ++steps_;
            if (node.pass == pass_) return;
            node.pass = pass_;
            node.ways_done = 0;
        }

        void visit_leaves(const Node& node) {
            for (const Leaf& leaf : node.leaves) visit_(leaf);
        }

        void reach(const Node* hash, std::size_t at) {
            if (hash == nullptr || hash->reached == pass_) return;
            hash->reached = pass_;
            trie_.reached_.push_back({hash, at});
        }

        // Whether every # below, with no other # in between, has been reached.
        bool is_done(const Node& node) const {
            if (node.hash && node.hash->reached != pass_) return false;
            return node.ways == (node.pass == pass_ ? node.ways_done : 0);
        }

        // Whether a pattern below may end with the last word of the key.
        bool may_end(const Node& node, std::size_t at) const {
            return static_cast<std::int64_t>(length_ - at) <= node.leaf_distance;
        }

        // Visits a node after `at` words of the key.
        void step(const Node& node, std::size_t at) {
            begin(node);
            reach(node.hash.get(), at);
            if (at == length_) return visit_leaves(node);
            if (node.star) try_child(node, *node.star, at + 1);
            const Node* const child = node.children.find(trie_.key_words_[at]);
            if (child != nullptr) try_child(node, *child, at + 1);
        }

        void try_child(const Node& parent, const Node& child, std::size_t at) {
            const bool was_done = is_done(child);
            if (was_done && !may_end(child, at)) return;
            step(child, at);
            if (!was_done && is_done(child)) parent.ways_done += 1;
        }

        // A # matches any number of words, so each of its children may start at any word from `at`
        // on. They are tried in order, so that every # is reached at the first possible word.
        void go_on_from(const Node& hash, std::size_t at) {
            begin(hash);
            visit_leaves(hash);
            reach(hash.hash.get(), at);
            if (hash.star) {
                for (std::size_t i = at; i < length_; ++i) {
                    i = next_of_use(*hash.star, i);
                    if (i < length_) try_child(hash, *hash.star, i + 1);
                }
            }
            if (hash.children.size() <= length_ - at) {
                hash.children.for_each(
                    [&](const Word& word, const Node& child) { try_word(hash, word, child, at); });
                return;
            }
            for (std::size_t i = at; i < length_; ++i) {
                const Node* const child = hash.children.find(trie_.key_words_[i]);
                if (child != nullptr) try_child(hash, *child, i + 1);
            }
        }

        void try_word(const Node& hash, const Word& word, const Node& child, std::size_t at) {
            trie_.index_key(pass_);
            if (word.pass != pass_) return;
            const auto begin = trie_.occurrences_.begin() + word.begin;
            const auto end = trie_.occurrences_.begin() + word.end;
            for (auto place = std::lower_bound(begin, end, at); place != end; ++place) {
                place = std::lower_bound(place, end, next_of_use(child, *place));
                if (place == end) return;
                try_child(hash, child, *place + 1);
            }
        }

        // The first word from `at` on at which the child of a # has to be tried again.
        std::size_t next_of_use(const Node& child, std::size_t at) const {
            if (!is_done(child)) return at;
            if (child.leaf_distance < 0) return length_;
            const auto words = static_cast<std::size_t>(child.leaf_distance) + 1;
            return std::max(at, words > length_ ? 0 : length_ - words);
        }

        const TopicTrie& trie_;
        Visit& visit_;
        const std::size_t length_;
        const std::uint64_t pass_;
        std::size_t steps_ = 0;
    };

    // Records where the words of the patterns occur in the key.
    void index_key(std::uint64_t pass) const {
        if (indexed_ == pass) return;
        indexed_ = pass;
        for (const Word* word : key_words_) {
            if (word == nullptr) continue;
            if (word->pass != pass) {
                word->pass = pass;
                word->begin = unplaced;
                word->end = 0;
            }
            word->end += 1;
        }
        std::uint32_t begin = 0;
        for (const Word* word : key_words_) {
            if (word == nullptr || word->begin != unplaced) continue;
            const std::uint32_t count = word->end;
            word->begin = begin;
            word->end = begin;
            begin += count;
        }
        occurrences_.resize(begin);
        for (std::size_t i = 0; i < key_words_.size(); ++i) {
            if (key_words_[i] != nullptr) occurrences_[key_words_[i]->end++] = i;
        }
    }

    Node root_;
    StringMap<std::unique_ptr<Word>> words_;
    std::vector<std::string_view> pattern_;
    // State of the current lookup.
    mutable std::vector<std::string_view> key_;
    mutable std::vector<const Word*> key_words_;  // nullptr: no pattern has the word
    mutable std::vector<std::size_t> occurrences_;
    mutable std::vector<Reached> reached_;
    mutable std::uint64_t pass_ = 0;
    mutable std::uint64_t indexed_ = 0;
};

}  // namespace revenant::engine
