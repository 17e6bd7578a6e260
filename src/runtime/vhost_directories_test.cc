#include "runtime/vhost_directories.h"

#include "tests/sim/sim_disk.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace revenant::runtime {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Optional;
using ::testing::SizeIs;

struct Place {
    sim::SimDisk disk{1};
    VhostDirectories directories{disk, "/data/vhosts"};

    void make(std::string_view vhost) {
        const std::string directory = directories.path_of(vhost);
        ASSERT_TRUE(disk.make_directory(directory));
        ASSERT_TRUE(disk.create(directory + "/0.segment"));
    }
    std::vector<std::string> left() { return *disk.list("/data/vhosts"); }
};

TEST(VhostDirectories, AnyNameHasADirectory) {
    EXPECT_EQ(directory_name("/"), "%2F");
    EXPECT_EQ(directory_name("a-b_C9"), "a-b_C9");
    EXPECT_EQ(directory_name("../x"), "%2E%2E%2Fx");
    EXPECT_THAT(vhost_named_by("%2E%2E%2Fx"), Optional(std::string("../x")));
    const std::string long_name(500, 'x');
    EXPECT_LT(directory_name(long_name).size(), 200U);
    EXPECT_NE(directory_name(long_name), directory_name(long_name + "y"));
    EXPECT_EQ(vhost_named_by(directory_name(long_name)), std::nullopt);
    for (const char* const odd : {"%2", "%zz", "%2f", "a b", "%61"}) {
        EXPECT_EQ(vhost_named_by(odd), std::nullopt) << odd;
    }
}

TEST(VhostDirectories, OneThatTheCatalogHasLostStays) {
    Place place;
    place.make("/");
    place.make("lost");
    EXPECT_THAT(*place.directories.tidy({"/"}), ElementsAre("lost"));
    EXPECT_THAT(place.left(), SizeIs(2));
}

TEST(VhostDirectories, OneThatWasDeletedGoes) {
    Place place;
    place.make("/");
    place.make("deleted");
    ASSERT_TRUE(place.directories.mark_deleted("deleted"));
    EXPECT_THAT(*place.directories.tidy({"/"}), IsEmpty());
    EXPECT_THAT(place.left(), ElementsAre("%2F"));
}

TEST(VhostDirectories, AMarkWithoutADeletionIsTakenBack) {
    Place place;
    place.make("kept");
    ASSERT_TRUE(place.directories.mark_deleted("kept"));
    EXPECT_THAT(*place.directories.tidy({"kept"}), IsEmpty());
    EXPECT_THAT(*place.disk.list("/data/vhosts/kept"), ElementsAre("0.segment"));
}

TEST(VhostDirectories, WhatNoVirtualHostCouldHaveMadeIsNoneOfOurBusiness) {
    Place place;
    place.make("/");
    ASSERT_TRUE(place.disk.make_directory("/data/vhosts/%2F.copy"));
    EXPECT_THAT(*place.directories.tidy({"/"}), IsEmpty());
    EXPECT_THAT(place.left(), SizeIs(2));
}

}  // namespace
}  // namespace revenant::runtime
