// TopicTrie: binding keys of words, `*` and `#`, to the destinations behind them.
//
// A lookup walks the words of the routing key through at most three branches per level (the word,
// `*`, `#`), so its cost depends on the key and the matching patterns, not on the number of
// bindings.
#pragma once

#include "engine/string_map.h"

#include <algorithm>
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
        split_words(pattern, scratch_);
        Node* node = &root_;
        for (const std::string_view word : scratch_) node = &node->child(word);
        node->leaves.push_back(leaf);
    }

    // Removes one occurrence and prunes the branch that became empty.
    void remove(std::string_view pattern, const Leaf& leaf) {
        split_words(pattern, scratch_);
        std::vector<Node*> path{&root_};
        for (const std::string_view word : scratch_) {
            Node* const next = path.back()->find(word);
            if (next == nullptr) return;
            path.push_back(next);
        }
        auto& leaves = path.back()->leaves;
        const auto place = std::find(leaves.begin(), leaves.end(), leaf);
        if (place == leaves.end()) return;
        leaves.erase(place);
        for (std::size_t depth = scratch_.size(); depth > 0 && path[depth]->empty(); --depth) {
            path[depth - 1]->children.erase(std::string(scratch_[depth - 1]));
        }
    }

    // visit(leaf) for every binding that matches; a leaf may be visited several times.
    template <typename Visit>
    void match(std::string_view key, Visit visit) const {
        split_words(key, scratch_);
        // Breadth first over (node, words consumed), each pair once. Patterns with several # would
        // otherwise be walked exponentially often. State per word: the set of nodes reached.
        std::vector<const Node*>& current = current_;
        std::vector<const Node*>& following = following_;
        current.clear();
        ++pass_;
        reach(root_, current);
        for (const std::string_view word : scratch_) {
            following.clear();
            ++pass_;
            for (const Node* node : current) {
                if (node->is_hash) reach(*node, following);  // # swallows the word and stays
                if (const Node* next = node->find(word);
                    next != nullptr && word != "*" && word != "#") {
                    reach(*next, following);
                }
                if (const Node* next = node->find("*")) reach(*next, following);
            }
            std::swap(current, following);
            if (current.empty()) return;
        }
        for (const Node* node : current) {
            for (const Leaf& leaf : node->leaves) visit(leaf);
        }
    }

  private:
    struct Node {
        StringMap<std::unique_ptr<Node>> children;
        std::vector<Leaf> leaves;
        bool is_hash = false;
        mutable std::uint64_t pass = 0;  // the step that reached this node already

        Node& child(std::string_view word) {
            auto& slot = children[std::string(word)];
            if (!slot) {
                slot = std::make_unique<Node>();
                slot->is_hash = word == "#";
            }
            return *slot;
        }
        Node* find(std::string_view word) const {
            if (children.empty()) return nullptr;
            const auto found = children.find(word);
            return found == children.end() ? nullptr : found->second.get();
        }
        bool empty() const { return children.empty() && leaves.empty(); }
    };

    // Adds the node and what it reaches without consuming a word: a # child matches zero words.
    void reach(const Node& node, std::vector<const Node*>& nodes) const {
        if (node.pass == pass_) return;
        node.pass = pass_;
        nodes.push_back(&node);
        if (const Node* hash = node.find("#")) reach(*hash, nodes);
    }

    Node root_;
    mutable std::vector<std::string_view> scratch_;
    mutable std::vector<const Node*> current_;
    mutable std::vector<const Node*> following_;
    mutable std::uint64_t pass_ = 0;
};

}  // namespace revenant::engine
