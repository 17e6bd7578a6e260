#include "journal/segments.h"

#include "base/byte_writer.h"
#include "base/probe.h"
#include "journal/batch_format.h"
#include "tests/sim/sim_disk.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace revenant::journal {
namespace {

using sim::SimDisk;
using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// A writer in /d and the stream it writes.
struct Stream {
    explicit Stream(SegmentSettings with = {.segment_bytes = 1024,
                                            .fill_bytes = 512,
                                            .small_batch_bytes = 256,
                                            .spares_max = 1})
        : disk(1), settings(with), writer(std::make_unique<SegmentWriter>(disk, "/d", with)) {
        EXPECT_TRUE(disk.make_directory("/d").has_value());
    }

    // Writes a batch of `size` bytes in total.
    Result<void, IoError> write(std::size_t size, std::uint32_t epoch = 1, Lsn synced = {}) {
        return write(size, epoch, synced, secret);
    }
    Result<void, IoError> write(std::size_t size, std::uint32_t epoch, Lsn synced, Secret with) {
        std::string batch(batch_header_bytes, '\0');
        ByteWriter(batch).long_string(
            std::string(size - batch_header_bytes - record_header_bytes, 'r'));
        finish_batch(batch, end, synced, epoch, with);
        EXPECT_EQ(batch.size(), size);
        opened.reset();
        REVENANT_TRY_VOID(writer->write(end, batch, opened));
        if (opened) reader.add(*opened);
        end.value += size;
        return {};
    }
    std::vector<std::string> names() { return disk.list("/d").value(); }
    const Segment& segment(Lsn at) const { return *reader.find(at); }

    // The positions of the batches, or the error.
    std::vector<std::string> scan(Lsn in, Lsn to) {
        std::vector<std::string> found;
        const auto outcome = scan_segment(segment(in), in, to, [&](const ScannedBatch& batch) {
            found.push_back(std::to_string(batch.at.value));
            return Result<void, IoError>{};
        });
        if (!outcome) return {outcome.error().text};
        return found;
    }
    // The positions of the batches of the last segment, up to the end of the stream.
    std::vector<std::string> scan(Lsn in, KnownOfStream known = {}) {
        std::vector<std::string> found;
        const auto outcome = find_stream_end(segment(in), known, [&](const ScannedBatch& batch) {
            found.push_back(std::to_string(batch.at.value));
            return Result<void, IoError>{};
        });
        if (!outcome) return {outcome.error().text};
        last = *outcome;
        return found;
    }

    SimDisk disk;
    const SegmentSettings settings;
    std::unique_ptr<SegmentWriter> writer;
    SegmentReader reader;
    std::optional<Segment> opened;
    Lsn end;
    StreamEnd last;
    Secret secret = 7;
};

TEST(Segments, AreNamedAfterThePositionTheyBeginWith) {
    EXPECT_EQ(segment_name({0}), "0000000000000000.segment");
    EXPECT_EQ(segment_name({0xfedcba9876543210}), "fedcba9876543210.segment");
    EXPECT_EQ(parse_segment_name("fedcba9876543210.segment"), Lsn{0xfedcba9876543210});
    for (const char* name : {"0000000000000000.segment.spare", "0000000000000000.snapshot",
                             "0.segment", "-000000000000001.segment", "lock", ""}) {
        EXPECT_FALSE(parse_segment_name(name)) << name;
    }
}

// ------------------------------------------------------------------------- writing

TEST(SegmentWriter, BeginsASegmentWhenABatchDoesNotFit) {
    Stream s;
    ASSERT_TRUE(s.write(512).has_value());
    EXPECT_TRUE(s.opened);
    ASSERT_TRUE(s.write(512).has_value());
    EXPECT_FALSE(s.opened) << "it fits exactly";
    ASSERT_TRUE(s.write(48).has_value());
    EXPECT_TRUE(s.opened);
    EXPECT_THAT(s.names(), ElementsAre(segment_name({0}), segment_name({1024})));
}

TEST(SegmentWriter, ABatchLargerThanASegmentHasOneForItself) {
    Stream s;
    ASSERT_TRUE(s.write(48).has_value());
    ASSERT_TRUE(s.write(4000).has_value());
    ASSERT_TRUE(s.write(48).has_value());
    EXPECT_THAT(s.names(),
                ElementsAre(segment_name({0}), segment_name({48}), segment_name({4048})));
}

TEST(SegmentWriter, TheEndOfASegmentIsCertainBeforeTheNextBegins) {
    Stream s;
    ASSERT_TRUE(s.write(800).has_value());
    ASSERT_TRUE(s.write(800).has_value());
    const auto certain = s.disk.certain_files();
    EXPECT_EQ(certain.at("/d/" + segment_name({0})).size(), 800U);
    EXPECT_EQ(certain.at("/d/" + segment_name({800})).size(), 0U) << "its name is, its bytes not";
    ASSERT_TRUE(s.writer->sync().has_value());
    EXPECT_EQ(s.disk.certain_files().at("/d/" + segment_name({800})).size(), 800U);
}

TEST(SegmentWriter, SyncsOnlyWhatWasWritten) {
    Stream s;
    ASSERT_TRUE(s.writer->sync().has_value());
    ASSERT_TRUE(s.write(48).has_value());
    ASSERT_TRUE(s.writer->sync().has_value());
    ASSERT_TRUE(s.writer->sync().has_value());
    EXPECT_EQ(s.disk.counts().syncs, 1U);
}

TEST(SegmentWriter, FillsThePlaceOfSmallBatchesAheadOfThem) {
    Stream s;
    ASSERT_TRUE(s.write(48).has_value());
    EXPECT_EQ(s.disk.contents("/d/" + segment_name({0})).size(), 512U);
    const std::uint64_t writes = s.disk.counts().writes;
    ASSERT_TRUE(s.write(48).has_value());
    EXPECT_EQ(s.disk.counts().writes, writes + 1) << "the batch alone";
    ASSERT_TRUE(s.write(496).has_value());
    EXPECT_EQ(s.disk.contents("/d/" + segment_name({0})).size(), 592U)
        << "a large one is not small";
}

TEST(SegmentWriter, AfterAFullDiskTheSameBatchIsWrittenAgain) {
    for (const std::size_t size : {std::size_t{48}, std::size_t{600}}) {
        for (const std::uint64_t room : {0U, 1U, 100U, 500U}) {
            Stream s;
            ASSERT_TRUE(s.write(800).has_value());
            s.disk.set_capacity(s.disk.used_bytes() + room);
            const auto refused = s.write(size);
            EXPECT_TRUE(room > 0 || !refused);
            if (!refused) {
                EXPECT_TRUE(refused.error().disk_full);
                if (s.opened) s.reader.add(*s.opened);
                s.disk.set_capacity(std::nullopt);
                ASSERT_TRUE(s.write(size).has_value());
            }
            const auto found = s.scan(s.segment({800}).start, s.end);
            EXPECT_EQ(found.back(), "800");
            EXPECT_EQ(found.size(), size == 48 ? 2U : 1U) << "48 more fit into the first segment";
        }
    }
}

TEST(SegmentWriter, GoesOnWhereAnEarlierOneEnded) {
    Stream s;
    ASSERT_TRUE(s.write(48).has_value());
    s.writer = std::make_unique<SegmentWriter>(s.disk, "/d", s.settings);
    s.writer->resume(s.segment({0}), s.disk.open(s.segment({0}).path).value(), s.end);
    ASSERT_TRUE(s.write(48).has_value());
    EXPECT_FALSE(s.opened);
    EXPECT_THAT(s.scan({0}), ElementsAre("0", "48"));
}

// ------------------------------------------------------------------------- spares

TEST(SegmentWriter, KeepsTheFilesOfDeadSegmentsUpToANumber) {
    Stream s;
    for (int i = 0; i < 3; ++i) ASSERT_TRUE(s.write(800).has_value());
    ASSERT_TRUE(s.writer->retire("/d/" + segment_name({0})).has_value());
    ASSERT_TRUE(s.writer->retire("/d/" + segment_name({800})).has_value());
    EXPECT_THAT(s.names(), ElementsAre(segment_name({0}) + ".spare", segment_name({1600})));
}

TEST(SegmentWriter, ASpareIsWrittenAgainWithoutGrowing) {
    Stream s;
    for (int i = 0; i < 2; ++i) ASSERT_TRUE(s.write(800).has_value());
    ASSERT_TRUE(s.writer->retire("/d/" + segment_name({0})).has_value());
    s.disk.set_capacity(s.disk.used_bytes());
    const std::uint64_t used = Probe::hits("segments.spare_used");
    ASSERT_TRUE(s.write(296).has_value()) << "a full disk has room in its spares";
    EXPECT_EQ(Probe::hits("segments.spare_used"), used + 1);
    EXPECT_THAT(s.names(), ElementsAre(segment_name({800}), segment_name({1600})));
    ASSERT_TRUE(s.write(48).has_value());
    EXPECT_THAT(s.scan({1600}), ElementsAre("1600", "1896"));
}

TEST(SegmentWriter, AFullDiskGetsItsSparesBack) {
    Stream s;
    for (int i = 0; i < 2; ++i) ASSERT_TRUE(s.write(800).has_value());
    ASSERT_TRUE(s.writer->retire("/d/" + segment_name({0})).has_value());
    s.disk.set_capacity(s.disk.used_bytes());
    const std::uint64_t dropped = Probe::hits("segments.spare_dropped");
    ASSERT_TRUE(s.write(96).has_value());
    EXPECT_EQ(Probe::hits("segments.spare_dropped"), dropped + 1);
    EXPECT_THAT(s.names(), ElementsAre(segment_name({800})));
}

TEST(SegmentWriter, WhereRoomIsShortNothingIsKeptForLater) {
    Stream s;
    for (int i = 0; i < 2; ++i) ASSERT_TRUE(s.write(800).has_value());
    s.disk.set_capacity(s.disk.used_bytes() + 2000);
    ASSERT_TRUE(s.writer->retire("/d/" + segment_name({0})).has_value());
    EXPECT_THAT(s.names(), ElementsAre(segment_name({800})));
}

TEST(SegmentWriter, GivesSparesBackWhenRoomBecomesShort) {
    Stream s;
    for (int i = 0; i < 2; ++i) ASSERT_TRUE(s.write(800).has_value());
    ASSERT_TRUE(s.writer->retire("/d/" + segment_name({0})).has_value());
    s.writer->trim_spares();
    EXPECT_THAT(s.names(), ElementsAre(segment_name({0}) + ".spare", segment_name({800})));
    s.disk.set_capacity(s.disk.used_bytes() + 2000);
    s.writer->trim_spares();
    EXPECT_THAT(s.names(), ElementsAre(segment_name({800})));
    s.writer->trim_spares();
}

// ------------------------------------------------------------------------- reading

TEST(SegmentReader, ReadsAPositionFromTheSegmentThatHoldsIt) {
    Stream s;
    ASSERT_TRUE(s.write(800).has_value());
    ASSERT_TRUE(s.write(800).has_value());
    char letter = 0;
    ASSERT_TRUE(s.reader.read({799 - 7}, {&letter, 1}).has_value());
    EXPECT_EQ(letter, 'r');
    ASSERT_TRUE(
        s.reader.read({800 + batch_header_bytes + record_header_bytes}, {&letter, 1}).has_value());
    EXPECT_EQ(letter, 'r');
    EXPECT_EQ(s.reader.find({799})->start, Lsn{0});
    EXPECT_EQ(s.reader.find({800})->start, Lsn{800});
    s.reader.will_need({0}, 100);
}

TEST(SegmentReader, WhatNoSegmentHoldsIsAnError) {
    Stream s;
    s.end = {4096};
    ASSERT_TRUE(s.write(800).has_value());
    std::string bytes(20, '\0');
    EXPECT_EQ(s.reader.find({4095}), nullptr);
    s.reader.will_need({4095}, 20);
    EXPECT_THAT(s.reader.read({4095}, bytes).error().text, HasSubstr("position 4095"));
    EXPECT_THAT(s.reader.read({4096 + 790}, bytes).error().text,
                AllOf(HasSubstr("/d/" + segment_name({4096})), HasSubstr("offset 790")));
}

// ------------------------------------------------------------------------- scanning

TEST(ScanSegment, FindsTheBatchesAndTheirEnd) {
    Stream s;
    ASSERT_TRUE(s.write(48, 1).has_value());
    ASSERT_TRUE(s.write(56, 2).has_value());
    ASSERT_TRUE(s.write(64, 2).has_value());
    EXPECT_THAT(s.scan({0}), ElementsAre("0", "48", "104"));
    EXPECT_EQ(s.last.end, s.end);
    EXPECT_EQ(s.last.epoch, 2U);
    EXPECT_THAT(s.scan({48}, Lsn{104}), ElementsAre("48"));
    EXPECT_THAT(s.scan({168}, Lsn{168}), IsEmpty());
}

TEST(ScanSegment, OfAnEmptyFileIsAtItsEnd) {
    Stream s;
    ASSERT_TRUE(s.write(48).has_value());
    ASSERT_TRUE(s.disk.create("/d/" + segment_name({0})).has_value());
    EXPECT_THAT(s.scan({0}), IsEmpty());
    EXPECT_EQ(s.last.end, Lsn{0});
}

TEST(ScanSegment, AnEndThatIsKnownMustBeReached) {
    Stream s;
    ASSERT_TRUE(s.write(48).has_value());
    EXPECT_THAT(s.scan({0}, Lsn{96}),
                ElementsAre(AllOf(HasSubstr("/d/" + segment_name({0})), HasSubstr("offset 48"))));
    EXPECT_THAT(s.scan({4096}, Lsn{5000}), ElementsAre(HasSubstr("offset 4096")))
        << "beyond the file";
}

TEST(ScanSegment, StopsWhereTheEpochFalls) {
    Stream s;
    ASSERT_TRUE(s.write(48, 3).has_value());
    ASSERT_TRUE(s.write(48, 2).has_value());
    EXPECT_THAT(s.scan({0}), ElementsAre("0"));
    EXPECT_EQ(s.last.end, Lsn{48});
}

TEST(ScanSegment, CountsTheEpochsOfWhatItCutsOff) {
    Stream s;
    ASSERT_TRUE(s.write(48, 1).has_value());
    ASSERT_TRUE(s.write(48, 2).has_value());
    ASSERT_TRUE(s.write(48, 7).has_value());
    s.disk.flip_bit("/d/" + segment_name({0}), 48 + 42, 0);
    EXPECT_THAT(s.scan({0}), ElementsAre("0"));
    EXPECT_EQ(s.last.epoch, 7U);
}

TEST(ScanSegment, TellsATornTailFromDamage) {
    for (const std::uint64_t synced : {0, 48, 49, 96}) {
        Stream s;
        ASSERT_TRUE(s.write(48).has_value());
        ASSERT_TRUE(s.write(48).has_value());
        ASSERT_TRUE(s.write(48, 1, {synced}).has_value());
        s.disk.flip_bit("/d/" + segment_name({0}), 48 + 42, 0);
        if (synced <= 48) {
            EXPECT_THAT(s.scan({0}), ElementsAre("0"));
        } else {
            EXPECT_THAT(s.scan({0}), ElementsAre(HasSubstr("offset 48")));
        }
    }
}

// ------------------------------------------------------------------------- forged batches

// A batch as a client could write it in a message body: valid for its position except for the
// secret.
std::string forged_batch(Lsn at, Lsn synced, std::uint32_t epoch, Secret secret) {
    std::string batch(batch_header_bytes, '\0');
    ByteWriter(batch).long_string("forged");
    finish_batch(batch, at, synced, epoch, secret);
    return batch;
}

// Three batches, the last of them torn, with forged ones in its body.
struct Forgery {
    explicit Forgery(Secret genuine, Secret guessed, std::uint32_t epoch = 1) {
        s.secret = genuine;
        EXPECT_TRUE(s.write(96).has_value());
        EXPECT_TRUE(s.write(96).has_value());
        broken = s.end;
        EXPECT_TRUE(s.write(400).has_value());
        for (const std::uint64_t at : {broken.value + 64, broken.value + 200}) {
            overwrite(at, forged_batch({at}, {at}, epoch, guessed));
        }
    }
    void overwrite(std::uint64_t at, std::string_view bytes) {
        EXPECT_TRUE(s.disk.open(path).value()->write(at, bytes).has_value());
    }

    Stream s;
    Lsn broken;
    const std::string path = "/d/" + segment_name({0});
};

TEST(ForgedBatch, WithinATornBatchIsNobodysWord) {
    for (const Secret guessed : {0U, 1U, 8U, UINT32_MAX}) {
        Forgery f(7, guessed);
        EXPECT_THAT(f.s.scan({0}), ElementsAre("0", "96")) << guessed;
        EXPECT_EQ(f.s.last.end, f.broken);
        EXPECT_EQ(f.s.last.secret, 7U);
    }
}

TEST(ForgedBatch, DoesNotUseUpTheEpochs) {
    Forgery f(7, 0, UINT32_MAX);
    EXPECT_THAT(f.s.scan({0}), ElementsAre("0", "96"));
    EXPECT_EQ(f.s.last.epoch, 1U);
}

TEST(ForgedBatch, OfAnotherVersionIsNobodysWord) {
    Forgery f(7, 0);
    f.overwrite(f.broken.value + 64 + 11, "9");
    EXPECT_THAT(f.s.scan({0}), ElementsAre("0", "96"));
}

// The power failure lost the sector with the header but not those of the body.
TEST(ForgedBatch, IsNotBelievedWhereTheHeaderOfTheTornBatchIsLost) {
    Forgery f(7, 0);
    f.overwrite(f.broken.value, std::string(48, '\0'));
    EXPECT_THAT(f.s.scan({0}), ElementsAre("0", "96"));
}

TEST(ForgedBatch, AtTheBeginningOfASegmentItIsKnownToo) {
    for (const bool header_is_lost : {false, true}) {
        Stream s;
        ASSERT_TRUE(s.write(800).has_value());
        const Lsn at = s.end;
        ASSERT_TRUE(s.write(400).has_value());
        const auto file = s.disk.open("/d/" + segment_name(at)).value();
        const Lsn inside{at.value + 64};
        ASSERT_TRUE(file->write(64, forged_batch(inside, inside, 1, 0)).has_value());
        if (header_is_lost) {
            ASSERT_TRUE(file->write(0, std::string(40, '\0')).has_value());
        }
        EXPECT_THAT(s.scan(at, KnownOfStream{header_is_lost ? s.secret : 0, {}}), IsEmpty());
        EXPECT_EQ(s.last.end, at);
    }
}

// Left by a batch that was cut off, or by an earlier segment in the same file.
TEST(ForgedBatch, BehindTheLastBatchIsNotTheNext) {
    Stream s;
    ASSERT_TRUE(s.write(96).has_value());
    const auto file = s.disk.open("/d/" + segment_name({0})).value();
    ASSERT_TRUE(file->write(96, forged_batch({96}, {96}, 5, 8)).has_value());
    EXPECT_THAT(s.scan({0}), ElementsAre("0"));
    EXPECT_EQ(s.last.epoch, 1U);
}

TEST(ForgedBatch, DamageIsStillTold) {
    Forgery f(7, 0);
    ASSERT_TRUE(f.s.write(96, 1, f.s.end).has_value());
    EXPECT_THAT(f.s.scan({0}), ElementsAre(HasSubstr("offset 192")));
}

TEST(ForgedBatch, DamageOfAnyBitOfABatchIsTold) {
    for (const Secret secret : {0U, 7U}) {
        for (std::size_t bit = 0; bit < 96 * 8; ++bit) {
            Stream s;
            s.secret = secret;
            ASSERT_TRUE(s.write(96).has_value());
            ASSERT_TRUE(s.write(96).has_value());
            ASSERT_TRUE(s.write(96, 1, s.end).has_value());
            s.disk.flip_bit("/d/" + segment_name({0}), 96 + bit / 8, bit % 8);
            const auto found = s.scan({0});
            // If no secret was known before, the flipped one is accepted.
            ASSERT_THAT(found, ElementsAre(AnyOf(HasSubstr("offset 96"), HasSubstr("version"))))
                << "bit " << bit;
        }
    }
}

// Batches written by versions without a secret.
TEST(ForgedBatch, WithinATornBatchOfAnEarlierVersionIsNobodysWord) {
    for (const std::uint32_t epoch : {1U, UINT32_MAX}) {
        Forgery f(0, 0, epoch);
        EXPECT_THAT(f.s.scan({0}), ElementsAre("0", "96"));
        EXPECT_EQ(f.s.last.epoch, 1U);
    }
}

TEST(Secret, IsTakenOverFromTheFirstBatchThatHasOne) {
    Stream s;
    ASSERT_TRUE(s.write(96, 1, {}, 0).has_value());
    ASSERT_TRUE(s.write(96, 2, {}, 9).has_value());
    ASSERT_TRUE(s.write(96, 2, {}, 9).has_value());
    EXPECT_THAT(s.scan({0}), ElementsAre("0", "96", "192"));
    EXPECT_EQ(s.last.secret, 9U);
}

TEST(Secret, AnEarlierVersionThatDidNotStopInGoodOrderMustBeStartedOnceMore) {
    Stream s;
    ASSERT_TRUE(s.write(96, 1).has_value());
    ASSERT_TRUE(s.write(96, 2, {}, 0).has_value());
    ASSERT_TRUE(s.write(96, 2, {}, 0).has_value());
    EXPECT_THAT(s.scan({0}), ElementsAre(AllOf(HasSubstr("offset 96"), HasSubstr("earlier version"),
                                               HasSubstr(segment_name({0})))));
    EXPECT_THAT(s.scan({0}, KnownOfStream{0, s.end}), ElementsAre("0", "96", "192"))
        << "a snapshot says that they are there";
    EXPECT_EQ(s.last.secret, 0U);
}

TEST(SegmentWriter, LeavesNothingBehindABatchThatCouldPassForTheNext) {
    Stream s({.segment_bytes = 1024, .fill_bytes = 0, .small_batch_bytes = 0, .spares_max = 1});
    ASSERT_TRUE(s.write(800).has_value());
    ASSERT_TRUE(s.write(800).has_value());
    ASSERT_TRUE(s.writer->retire("/d/" + segment_name({0})).has_value());
    const Lsn start = s.end;
    ASSERT_TRUE(s.write(296).has_value());
    const std::string path = "/d/" + segment_name(start);
    std::string contents = s.disk.contents(path);
    EXPECT_EQ(contents.size(), 800U);
    EXPECT_EQ(contents.substr(296, 40), std::string(40, '\0'));
    EXPECT_EQ(contents.substr(336, 8), "rrrrrrrr");
    ASSERT_TRUE(s.write(480).has_value());
    EXPECT_EQ(s.disk.contents(path).size(), 800U) << "there is nothing behind it to be hidden";
    // Continues after a restart.
    s.writer = std::make_unique<SegmentWriter>(s.disk, "/d", s.settings);
    s.writer->resume(s.segment(start), s.disk.open(path).value(), {start.value + 296});
    s.end = {start.value + 296};
    ASSERT_TRUE(s.write(96).has_value());
    EXPECT_EQ(s.disk.contents(path).substr(392, 40), std::string(40, '\0'));
    EXPECT_THAT(s.scan(start),
                ElementsAre(std::to_string(start.value), std::to_string(start.value + 296)));
}

// Larger than the window.
TEST(ScanSegment, ReadsFilesOfAnySize) {
    Stream s({.segment_bytes = 8'000'000, .fill_bytes = 100, .small_batch_bytes = 64});
    std::vector<std::string> expected;
    for (const std::size_t size : {700'000U, 48U, 700'000U, 2'500'000U, 48U, 1'048'576U}) {
        expected.push_back(std::to_string(s.end.value));
        ASSERT_TRUE(s.write(size).has_value());
    }
    EXPECT_EQ(s.scan({0}), expected);
    EXPECT_EQ(s.last.end, s.end);
}

TEST(ScanSegment, FindsDamageFarBehindTheBrokenBatch) {
    Stream s({.segment_bytes = 8'000'000, .fill_bytes = 100, .small_batch_bytes = 64});
    ASSERT_TRUE(s.write(2'500'000).has_value());
    ASSERT_TRUE(s.write(48, 1, s.end).has_value());
    s.disk.flip_bit("/d/" + segment_name({0}), 12, 0);
    EXPECT_THAT(s.scan({0}), ElementsAre(HasSubstr("offset 0:")));
}

TEST(ScanSegment, EndsWithTheErrorOfItsVisitor) {
    Stream s;
    ASSERT_TRUE(s.write(48).has_value());
    const auto refuse = [](const ScannedBatch&) -> Result<void, IoError> {
        return Unexpected{IoError{"no"}};
    };
    EXPECT_EQ(find_stream_end(s.segment({0}), {}, refuse).error().text, "no");
    EXPECT_EQ(scan_segment(s.segment({0}), {0}, {48}, refuse).error().text, "no");
}

TEST(ScanSegment, AReadThatFailsIsAnError) {
    Stream s;
    ASSERT_TRUE(s.write(48).has_value());
    s.disk.fail_reads(true);
    EXPECT_THAT(s.scan({0}), ElementsAre(HasSubstr("read /d/" + segment_name({0}))));
}

}  // namespace
}  // namespace revenant::journal
