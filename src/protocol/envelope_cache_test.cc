#include "protocol/envelope_cache.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

namespace revenant::protocol {
namespace {

struct Shown {
    std::string text;
    std::size_t memory_bytes() const { return text.capacity(); }
};
using ShownRef = std::shared_ptr<const Shown>;

EnvelopeRef envelope_to(std::string exchange) {
    auto* const envelope = new Envelope;
    envelope->exchange = std::move(exchange);
    return EnvelopeRef::adopt(envelope);
}

class EnvelopeCacheTest : public testing::Test {
  protected:
    const ShownRef& show(const EnvelopeRef& envelope) {
        return cache_.of(*envelope, scratch_, [this](const Envelope& rendered, Shown& shown) {
            renderings_ += 1;
            shown.text = rendered.exchange;
        });
    }

    EnvelopeCache<Shown> cache_;
    ShownRef scratch_;
    int renderings_ = 0;
};

TEST_F(EnvelopeCacheTest, AnEnvelopeIsRenderedOnceInARow) {
    const EnvelopeRef envelope = envelope_to("a");
    for (int i = 0; i < 3; ++i) EXPECT_EQ(show(envelope)->text, "a");
    EXPECT_EQ(renderings_, 1);
}

TEST_F(EnvelopeCacheTest, EveryEnvelopeIsShownAsItself) {
    std::vector<EnvelopeRef> all;
    for (int i = 0; i < 100; ++i) all.push_back(envelope_to(std::to_string(i)));
    for (int round = 0; round < 3; ++round) {
        for (int i = 0; i < 100; ++i) EXPECT_EQ(show(all[i])->text, std::to_string(i));
    }
}

// A new envelope must not be mistaken for a freed one with the same address.
TEST_F(EnvelopeCacheTest, AnEnvelopeThatIsShownKeepsItsAddress) {
    for (int i = 0; i < 1000; ++i) {
        EXPECT_EQ(show(envelope_to(std::to_string(i)))->text, std::to_string(i));
    }
    EXPECT_EQ(renderings_, 1000);
}

TEST_F(EnvelopeCacheTest, WhatAnOutputRefersToIsNotOverwritten) {
    std::vector<ShownRef> held;
    for (int i = 0; i < 100; ++i) held.push_back(show(envelope_to(std::to_string(i))));
    for (int i = 0; i < 100; ++i) EXPECT_EQ(held[i]->text, std::to_string(i));
}

TEST_F(EnvelopeCacheTest, ALargeOneIsNotKept) {
    const EnvelopeRef large = envelope_to(std::string(100'000, 'x'));
    EXPECT_EQ(show(large)->text, large->exchange);
    const std::weak_ptr<const Shown> rendered = scratch_;
    scratch_.reset();
    EXPECT_TRUE(rendered.expired());
    EXPECT_EQ(show(large)->text, large->exchange);
    EXPECT_EQ(renderings_, 2);
    EXPECT_EQ(show(envelope_to("small"))->text, "small");
}

}  // namespace
}  // namespace revenant::protocol
