// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "iris/rt/Status.h"

#include "iris/iris.h"

#include <gtest/gtest.h>

#include <cerrno>

using namespace iris::rt;

/// The name that tools print before messages; the codes are those of the C API.
TEST(Status, CodesHaveNames) {
  EXPECT_EQ(Status(StatusCode::deviceError, "why").toString(),
            "device error: why");
  EXPECT_STREQ(irisrtStatusName(IRISRT_DEVICE_ERROR), "device error");
  EXPECT_STREQ(irisrtStatusName(IRISRT_INTERNAL), "internal error");
  EXPECT_STREQ(irisrtStatusName(static_cast<IrisRtStatusCode>(99)), "unknown");
}

TEST(Status, PrintableTextStays) {
  for (const char *text :
       {"", "plain", "two\nlines\twith tabs", "backslash \\x1b",
        "gr\xc3\xbc\xc3\x9f"
        "e",
        "\xe4\xb8\xad\xe6\x96\x87", "\xf0\x9f\x91\x81", "\xc2\xa0",
        "\xed\x9f\xbf", "\xf4\x8f\xbf\xbf"})
    EXPECT_EQ(escapeControls(text), text);
}

TEST(Status, ControlCharactersAreEscaped) {
  EXPECT_EQ(escapeControls("\x1b[31mred"), "\\x1b[31mred");
  EXPECT_EQ(escapeControls("bell\a, delete\x7f, return\r"),
            "bell\\x07, delete\\x7f, return\\x0d");
  EXPECT_EQ(escapeControls(std::string("a\0b", 3)), "a\\x00b");
  // U+009B is CSI, as one character of UTF-8 and as a byte of Latin-1.
  EXPECT_EQ(escapeControls("\xc2\x9b"
                           "2J"),
            "\\xc2\\x9b2J");
  EXPECT_EQ(escapeControls("\x9b"
                           "2J"),
            "\\x9b2J");
  // Not UTF-8: truncated, overlong, a surrogate, beyond the last character.
  EXPECT_EQ(escapeControls("\xc3"), "\\xc3");
  EXPECT_EQ(escapeControls("\xe4\xb8"), "\\xe4\\xb8");
  EXPECT_EQ(escapeControls("\xc0\xaf"), "\\xc0\\xaf");
  EXPECT_EQ(escapeControls("\xe0\x9f\xbf"), "\\xe0\\x9f\\xbf");
  EXPECT_EQ(escapeControls("\xed\xa0\x80"), "\\xed\\xa0\\x80");
  EXPECT_EQ(escapeControls("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");
}

TEST(Status, MessagesCannotSteerATerminal) {
  EXPECT_EQ(makeStatus(StatusCode::internal, "'%s'", "\x1b[2J").message(),
            "'\\x1b[2J'");
  EXPECT_EQ(Status(StatusCode::internal, "\x1b[2J").message(), "\\x1b[2J");
  EXPECT_EQ(Status(StatusCode::internal, "a").withContext("\x1b").message(),
            "\\x1b: a");
}

TEST(Status, LimitsSayWhatToDo) {
  EXPECT_NE(makeErrnoStatus(StatusCode::internal, EMFILE, "cannot")
                .message()
                .find("Too many open files (this process may open "),
            std::string::npos);
  EXPECT_NE(makeErrnoStatus(StatusCode::internal, EFBIG, "cannot")
                .message()
                .find("ulimit -f"),
            std::string::npos);
}
