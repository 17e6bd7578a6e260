#include "runtime/vhost_directories.h"

#include "tests/sim/sim_disk.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace revenant::runtime {
namespace {

using sim::SimDisk;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Optional;
using ::testing::SizeIs;

using Rules = VhostDirectories::Rules;

Rules numbered(std::string name, std::uint64_t id) { return {.name = std::move(name), .id = id}; }
Rules named(std::string name) {
    return {.name = std::move(name), .id = 99, .has_named_directory = true};
}

VhostDirectories::Known known(const std::vector<Rules>& vhosts) {
    VhostDirectories::Known all;
    for (const Rules& vhost : vhosts) all.emplace(vhost.name, vhost);
    return all;
}

struct Place {
    SimDisk disk{1};
    VhostDirectories directories{disk, "/data/vhosts"};

    // Creates a directory with messages in it.
    void fill(const Rules& vhost) {
        const std::string directory = directories.path_of(vhost);
        ASSERT_TRUE(disk.make_directory(directory));
        ASSERT_TRUE(disk.create(directory + "/0.segment"));
    }
    void make(const Rules& vhost) {
        ASSERT_TRUE(directories.make(vhost));
        ASSERT_TRUE(directories.keep(vhost));
        fill(vhost);
    }
    std::vector<std::string> left() { return *disk.list("/data/vhosts"); }
    std::vector<std::string> strays(const std::vector<Rules>& vhosts) {
        const auto found = directories.remove_deleted(known(vhosts));
        if (!found) return {found.error()};
        std::vector<std::string> all;
        for (const auto& stray : found->strays) {
            all.push_back(stray.directory + " " + std::to_string(stray.id) + " " +
                          stray.vhost.value_or("?"));
        }
        return all;
    }
};

TEST(VhostDirectories, AnIdIsTheNameOfADirectory) {
    Place place;
    EXPECT_EQ(place.directories.path_of(numbered("a/b", 17)), "/data/vhosts/17.vhost");
    EXPECT_THAT(id_named_by("17.vhost"), Optional(17U));
    for (const char* const odd :
         {"17", "17.vhost.copy", "017.vhost", "0.vhost", ".vhost", "-1.vhost", "1a.vhost",
          "99999999999999999999999.vhost", "18446744073709551615.vhost"}) {
        EXPECT_EQ(id_named_by(odd), std::nullopt) << odd;
    }
}

TEST(VhostDirectories, AnOldOneIsNamedAfterItsVirtualHost) {
    const auto name = [](std::string_view vhost) { return directory_name(vhost); };
    EXPECT_EQ(name("/"), "%2F");
    EXPECT_EQ(name("a-b_C9"), "a-b_C9");
    EXPECT_EQ(name("../x"), "%2E%2E%2Fx");
    EXPECT_EQ(name("17.vhost"), "17%2Evhost") << "no virtual host has the directory of another";
    EXPECT_THAT(vhost_named_by("%2E%2E%2Fx"), Optional(std::string("../x")));
    const std::string long_name(500, 'x');
    EXPECT_LT(name(long_name).size(), 200U);
    EXPECT_NE(name(long_name), name(long_name + "y"));
    EXPECT_EQ(vhost_named_by(name(long_name)), std::nullopt);
    for (const char* const odd : {"%2", "%zz", "%2f", "a b", "%61"}) {
        EXPECT_EQ(vhost_named_by(odd), std::nullopt) << odd;
    }
}

TEST(VhostDirectories, TheNameOfTheVirtualHostIsInside) {
    Place place;
    place.make(numbered("a/b\n", 1));
    EXPECT_EQ(place.disk.contents("/data/vhosts/1.vhost/name"), "a/b\n\n");
    EXPECT_THAT(place.strays({}), ElementsAre("/data/vhosts/1.vhost 1 a/b\n"));
}

TEST(VhostDirectories, OneThatTheCatalogHasLostStays) {
    Place place;
    place.fill(named("/"));
    place.fill(named("lost"));
    place.make(numbered("/", 5));
    place.make(numbered("lost as well", 7));
    EXPECT_THAT(place.strays({named("/")}),
                ElementsAre("/data/vhosts/5.vhost 5 /", "/data/vhosts/7.vhost 7 lost as well",
                            "/data/vhosts/lost 0 lost"));
    EXPECT_THAT(place.left(), SizeIs(4));
    EXPECT_EQ(place.directories.remove_deleted(known({named("/")}))->last_id, 7U);
}

TEST(VhostDirectories, OneThatWasDeletedGoes) {
    Place place;
    place.fill(named("old"));
    place.make(numbered("new", 1));
    place.make(numbered("kept", 2));
    ASSERT_TRUE(place.directories.mark_deleted(named("old")));
    ASSERT_TRUE(place.directories.mark_deleted(numbered("new", 1)));
    const auto found = place.directories.remove_deleted(known({numbered("kept", 2)}));
    EXPECT_THAT(found->strays, IsEmpty());
    EXPECT_THAT(place.left(), ElementsAre("2.vhost"));
}

TEST(VhostDirectories, AnotherIncarnationHasAnotherDirectory) {
    Place place;
    place.make(numbered("v", 1));
    ASSERT_TRUE(place.directories.mark_deleted(numbered("v", 1)));
    place.make(numbered("v", 2));
    EXPECT_THAT(place.left(), ElementsAre("1.vhost", "2.vhost"));
    EXPECT_THAT(place.strays({numbered("v", 2)}), IsEmpty());
    EXPECT_THAT(place.left(), ElementsAre("2.vhost"));
    EXPECT_THAT(*place.disk.list("/data/vhosts/2.vhost"), ElementsAre("0.segment", "name"));
}

TEST(VhostDirectories, AMarkWithoutADeletionIsTakenBack) {
    Place place;
    place.fill(named("kept"));
    ASSERT_TRUE(place.directories.mark_deleted(named("kept")));
    EXPECT_THAT(place.strays({named("kept")}), IsEmpty());
    EXPECT_THAT(*place.disk.list("/data/vhosts/kept"), ElementsAre("0.segment"));
}

TEST(VhostDirectories, WhoseIsGoneBeginsWithoutMessages) {
    Place place;
    EXPECT_THAT(place.strays({named("old"), numbered("new", 3)}), IsEmpty());
    EXPECT_THAT(place.left(), ElementsAre("3.vhost", "old"));
    EXPECT_THAT(*place.disk.list("/data/vhosts/3.vhost"), ElementsAre("name"));
    EXPECT_THAT(*place.disk.list("/data/vhosts/old"), IsEmpty());
}

TEST(VhostDirectories, OneOfSomebodyElseIsRefused) {
    Place place;
    place.make(numbered("a", 1));
    EXPECT_THAT(
        place.strays({numbered("b", 1)}),
        ElementsAre(AllOf(HasSubstr("/data/vhosts/1.vhost"), HasSubstr("'a'"), HasSubstr("'b'"))));
    EXPECT_THAT(
        place.strays({numbered("a", 1), numbered("b", 1)}),
        ElementsAre(AllOf(HasSubstr("/data/vhosts/1.vhost"), HasSubstr("'a'"), HasSubstr("'b'"))));
}

TEST(VhostDirectories, WhatNoVirtualHostCouldHaveMadeIsNoneOfOurBusiness) {
    Place place;
    place.fill(named("/"));
    ASSERT_TRUE(place.disk.make_directory("/data/vhosts/%2F.copy"));
    ASSERT_TRUE(place.disk.make_directory("/data/vhosts/1.vhost.copy"));
    EXPECT_THAT(place.strays({named("/")}), IsEmpty());
    EXPECT_THAT(place.left(), SizeIs(3));
}

// At any moment of a crash, a directory that is not in the catalog yet is removed, and one that is
// in the catalog has its name and no mark.
TEST(VhostDirectories, PowerMayFailWhileOneIsMade) {
    const Rules vhost = numbered("v", 1);
    for (std::uint64_t step = 1;; ++step) {
        for (const bool is_known : {false, true}) {
            Place place;
            place.disk.crash_at_step(step);
            const bool made = place.directories.make(vhost).has_value();
            const bool kept = made && is_known && place.directories.keep(vhost).has_value();
            if (!made && is_known) continue;  // the catalog is updated afterwards
            place.disk.restart(SimDisk::Loss::power);
            EXPECT_THAT(place.strays(is_known ? std::vector{vhost} : std::vector<Rules>{}),
                        IsEmpty())
                << "step " << step;
            if (is_known) {
                EXPECT_THAT(*place.disk.list("/data/vhosts/1.vhost"), ElementsAre("name"));
            } else {
                EXPECT_THAT(place.left(), IsEmpty()) << "step " << step;
            }
            if (kept) {
                EXPECT_GT(step, 5U);
                return;
            }
            ASSERT_LT(step, 100U);
        }
    }
}

// The next startup removes the rest; it is never taken for a lost virtual host.
TEST(VhostDirectories, PowerMayFailWhileOneGoes) {
    const Rules vhost = numbered("v", 1);
    for (const auto loss : {SimDisk::Loss::power, SimDisk::Loss::process}) {
        bool gone = false;
        for (std::uint64_t step = 1; !gone; ++step) {
            Place place;
            place.make(vhost);
            ASSERT_TRUE(place.directories.mark_deleted(vhost));
            place.disk.crash_at_step(step);
            gone = remove_vhost_directory(place.disk, place.directories.path_of(vhost)).has_value();
            place.disk.restart(loss);
            EXPECT_THAT(place.strays({}), IsEmpty()) << "step " << step;
            EXPECT_THAT(place.left(), IsEmpty()) << "step " << step;
            ASSERT_LT(step, 100U);
        }
    }
}

}  // namespace
}  // namespace revenant::runtime
