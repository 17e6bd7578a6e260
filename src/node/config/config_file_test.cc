#include "node/config/config_file.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace revenant::node {
namespace {

TEST(ConfigFile, IsReadAsRabbitmqReadsIt) {  // management 7.1
    const ConfigLines lines = parse_config(
        "\xEF\xBB\xBF# comment\n"
        "a.b = 1 # trailing\r\n"
        " c.d=two words   \n"
        "\n"
        "default_pass = 'pass#word ' # in quotes\n"
        "log.x-y = a'b\n"
        "empty = ''",
        "r.conf");
    ASSERT_TRUE(lines.errors.empty());
    ASSERT_EQ(lines.settings.size(), 5U);
    EXPECT_EQ(lines.settings[0].key, "a.b");
    EXPECT_EQ(lines.settings[0].value, "1");
    EXPECT_EQ(lines.settings[0].origin, "r.conf:2");
    EXPECT_EQ(lines.settings[1].value, "two words");
    EXPECT_EQ(lines.settings[1].origin, "r.conf:3");
    EXPECT_EQ(lines.settings[2].value, "pass#word ");
    EXPECT_EQ(lines.settings[3].value, "a'b");
    EXPECT_EQ(lines.settings[4].value, "");
}

TEST(ConfigFile, EveryBadLineIsNamed) {
    const ConfigLines lines = parse_config(
        "no equals sign\n= 5\na..b = 1\nk = 'open\nk = 'x' y\nk =\nk = # nothing\n[{rabbit, "
        "[]}].\n",
        "r.conf");
    EXPECT_TRUE(lines.settings.empty());
    ASSERT_EQ(lines.errors.size(), 8U);
    for (std::size_t i = 0; i < lines.errors.size(); ++i) {
        EXPECT_EQ(lines.errors[i].origin, "r.conf:" + std::to_string(i + 1));
    }
    EXPECT_EQ(lines.errors[0].text, "expected key = value");
    EXPECT_EQ(lines.errors[3].text, "k: missing closing quote");
}

TEST(ConfigFile, EveryPieceOfAFileIsAnswered) {
    const std::string text =
        "a.b = 'x#y' # c\r\n\n# d\n e=f \n= g\n'h = i\nj = '\n\x80\xff = \x01\n";
    for (std::size_t begin = 0; begin < text.size(); ++begin) {
        for (std::size_t size = 0; begin + size <= text.size(); ++size) {
            const ConfigLines lines = parse_config(text.substr(begin, size), "f");
            for (const Setting& setting : lines.settings) EXPECT_FALSE(setting.key.empty());
            for (const ConfigError& fault : lines.errors) EXPECT_FALSE(fault.text.empty());
        }
    }
}

TEST(ConfigFile, TheDirectoryBesideItFollowsInTheOrderOfNames) {
    const std::filesystem::path folder =
        std::filesystem::path(testing::TempDir()) / ("config_file_test" + std::to_string(getpid()));
    std::filesystem::create_directories(folder / "conf.d");
    const auto write = [&](const char* name, const char* text) {
        std::ofstream(folder / name) << text;
    };
    write("r.conf", "k = file\n");
    write("conf.d/20.conf", "k = second\n");
    write("conf.d/10.conf", "k = first\n");
    write("conf.d/README", "not = read\n");
    const std::string file = (folder / "r").string();  // the suffix may be omitted
    const ConfigLines lines = read_config_files(file, conf_d_beside(file));
    std::string values;
    for (const Setting& setting : lines.settings) values += setting.value + " ";
    EXPECT_EQ(values, "file first second ");
    EXPECT_TRUE(lines.errors.empty());
    std::filesystem::remove_all(folder);
    EXPECT_EQ(read_config_files(file, "").errors.at(0).text,
              "cannot read file: No such file or directory");
}

}  // namespace
}  // namespace revenant::node
