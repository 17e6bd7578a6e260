#include "http/server/multipart.h"

#include <gtest/gtest.h>

namespace revenant::http {
namespace {

constexpr std::string_view form_type = "multipart/form-data; boundary=\"b 1\"";
constexpr std::string_view form =
    "--b 1\r\ncontent-disposition: form-data; name=one\r\n\r\nfirst\r\n"
    "--b 1\r\nContent-Type: text/plain\r\nContent-Disposition: form-data; filename=\"x;name=no\"; "
    "name=\"file\"\r\n\r\nline\r\n--b\r\n\r\n--b 1--\r\n";

TEST(Multipart, KnowsTheMediaType) {
    EXPECT_TRUE(is_multipart_form("multipart/form-data; boundary=x"));
    EXPECT_TRUE(is_multipart_form("Multipart/Form-Data"));
    EXPECT_FALSE(is_multipart_form("multipart/form-database"));
    EXPECT_FALSE(is_multipart_form("application/json"));
    EXPECT_FALSE(is_multipart_form(""));
}

TEST(Multipart, FindsAFieldByItsName) {
    EXPECT_EQ(form_field(form_type, form, "one"), "first");
    EXPECT_EQ(form_field(form_type, form, "file"), "line\r\n--b\r\n");
    EXPECT_EQ(form_field(form_type, form, "no"), std::nullopt);
}

TEST(Multipart, EveryPrefixIsReadWithoutHarm) {
    for (std::size_t size = 0; size < form.size(); ++size) {
        const auto field = form_field(form_type, form.substr(0, size), "file");
        if (field) {
            EXPECT_EQ(*field, "line\r\n--b\r\n") << size;
        }
    }
}

TEST(Multipart, NeedsABoundary) {
    EXPECT_EQ(form_field("multipart/form-data", form, "one"), std::nullopt);
    EXPECT_EQ(form_field("multipart/form-data; boundary=", form, "one"), std::nullopt);
    EXPECT_EQ(form_field("multipart/form-data; boundary=\"b", form, "one"), std::nullopt);
    EXPECT_EQ(form_field("multipart/form-data; boundary=" + std::string(71, 'b'), form, "one"),
              std::nullopt);
}

}  // namespace
}  // namespace revenant::http
