/// Lines broken to a width. The expected texts are broken by hand.
#include "src/base/terminal.hpp"

#include <doctest/doctest.h>

#include <cstdlib>
#include <string>

namespace convfilt::test {

TEST_CASE("lines that fit stay as they are") {
  CHECK(wrapped("", 80).empty());
  CHECK(wrapped("one two\n\n  three   four\n", 14) == "one two\n\n  three   four\n");
  CHECK(wrapped("no newline", 80) == "no newline");
}

TEST_CASE("longer lines are broken at blanks") {
  CHECK(wrapped("one two three four\n", 10) == "one two\n  three\n  four\n");
  // What follows the last wide gap of the left two thirds is a column of its own.
  CHECK(wrapped("  name   first second third\n", 20) ==
        "  name   first\n         second\n         third\n");
  CHECK(wrapped("  indented first second\n", 16) == "  indented first\n  second\n");
  // A gap further right leaves too little room to be a column.
  CHECK(wrapped("one two three   four five\n", 20) == "one two three   four\n  five\n");
}

TEST_CASE("a word longer than a line stays whole, on a line of its own") {
  CHECK(wrapped("read /a/very/long/path/of/a/file now\n", 16) ==
        "read\n  /a/very/long/path/of/a/file\n  now\n");
}

TEST_CASE("characters are counted, not bytes") {
  CHECK(width_of("ü×") == 2);
  CHECK(wrapped("üüüü üüüü\n", 9) == "üüüü üüüü\n");
  CHECK(wrapped("üüüü üüüü\n", 8) == "üüüü\n  üüüü\n");
}

TEST_CASE("COLUMNS says the width, from 80 on; what is no terminal has 100") {
  const char* before = std::getenv("COLUMNS");
  const std::string kept = before ? before : "";
  const auto width = [](const char* columns) {
    ::setenv("COLUMNS", columns, 1);
    return terminal_width(-1);
  };
  CHECK(width("120") == 120);
  CHECK(width("40") == 80);
  CHECK(width("") == 100);
  CHECK(width("12x") == 100);
  CHECK(width("-5") == 100);
  CHECK(width("99999999999") == 100);
  if (before)
    ::setenv("COLUMNS", kept.c_str(), 1);
  else
    ::unsetenv("COLUMNS");
}

}  // namespace convfilt::test
