#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <vector>

#include "src/base/errors.hpp"
#include "src/mask/text.hpp"

using convfilt::parse_mask;

namespace {

/// The message of the IoError that parse_mask throws.
std::string complaint(std::string_view text, const std::string& file = "t.txt") {
  try {
    parse_mask(text, file);
  } catch (const convfilt::IoError& error) {
    return error.what();
  }
  return "(no error)";
}

}  // namespace

TEST_CASE("every error says where, and the caret stands there") {
  struct Case {
    std::string text;
    int line, column;
    char under_caret;  // '\0': the caret stands after the line
    std::string says;
    std::string file = "t.txt";
  };
  const std::vector<Case> cases = {
      {"1 2\n3 x2\n", 2, 3, 'x', "'x2' is not a number; write an integer, a decimal or a fraction"},
      {"\t1\tx2\n", 1, 4, 'x', "'x2' is not a number"},
      {"1 nan", 1, 3, 'n', "'nan' is not a finite number"},
      {"-inf", 1, 1, '-', "'-inf' is not a finite number"},
      {"0x10", 1, 1, '0', "'0x10' is hexadecimal"},
      {"1 --1", 1, 3, '-', "is not a number"},
      {"1 1e", 1, 3, '1', "is not a number"},
      {"1 .", 1, 3, '.', "is not a number"},
      {"1 1/", 1, 3, '1', "is not a number"},
      {"1 1/.5", 1, 3, '1', "is not a number"},
      {"1 1/9.5", 1, 3, '1', "is not a number"},
      {"1 1/-9", 1, 3, '1', "is not a number"},
      {"1 1/0", 1, 3, '1', "'1/0' divides by zero"},
      {"1 1e999", 1, 3, '1', "outside the range of a double"},
      {"1 1e-999", 1, 3, '1', "outside the range of a double"},
      {"1 \xe2\x88\x92"
       "1 2",
       1, 3, '\\', "'\\xE2\\x88\\x921' is not a number"},
      {"\xc3\xa4 1", 1, 1, '\\', "is not a number"},
      {"scale 9\n1", 1, 1, 's', "'scale' is a key and needs a colon"},
      {"1 2 3\n4 5\n", 2, 4, '\0', "this row has 2 numbers, the first row 3"},
      {"1 2\n4 5 6\n", 2, 5, '6', "this row has 3 numbers, the first row 2"},
      {"1 2\r\n3\r\n", 2, 2, '\0', "this row has 1 number,"},
      {"", 1, 1, '\0', "there are no weights"},
      {"# only\nscale: 3\n", 1, 1, '#', "there are no weights"},
      {"1,,2", 1, 3, ',', "no number before this comma"},
      {",1", 1, 1, ',', "no number before this comma"},
      {"1,2,\n", 1, 4, ',', "no number after this comma"},
      {"scale: 0\n1", 1, 8, '0', "the scale is 0"},
      {"scale: 0/5\n1", 1, 8, '0', "the scale is 0"},
      {"scale: 1e-300\n1 1e300", 2, 3, '1', "divided by the scale"},
      {"scale:\n1", 1, 7, '\0', "a value is missing; write 'scale: 9'"},
      {"offset: 1 2\n1", 1, 11, '2', "one value too many"},
      {"offset: nan\n1", 1, 9, 'n', "not a finite number"},
      {"name: # none\n1", 1, 6, ' ', "a value is missing"},
      {"scale: 1\nscale: 2\n1", 2, 1, 's', "'scale' is given twice"},
      {"name: a\n1\nname: b", 3, 1, 'n', "'name' is given twice"},
      {"anchor: 0 0\nanchor: 0 0\n1", 2, 1, 'a', "'anchor' is given twice"},
      {"scael: 1\n1", 1, 1, 's', "unknown key 'scael'; did you mean 'scale'?"},
      {"Offset: 1\n1", 1, 1, 'O', "unknown key 'Offset'; did you mean 'offset'?"},
      {"divisor: 1\n1", 1, 1, 'd', "unknown key 'divisor'; the keys are"},
      {": 1\n1", 1, 1, ':', "unknown key ''"},
      {"anchor: 3 0\n1 2 3", 1, 9, '3', "whose columns are 0 to 2"},
      {"anchor: 0 1\n1 2 3", 1, 11, '1', "whose rows are 0 to 0"},
      {"anchor: -1 0\n1 2 3", 1, 9, '-', "'-1' is no column or row"},
      {"anchor: 1.0 0\n1 2 3", 1, 9, '1', "'1.0' is no column or row"},
      {"anchor: 1\n1 2 3", 1, 10, '\0', "a value is missing; write 'anchor: 1 1'"},
      {"3x3: 1 2 3", 1, 11, '\0', "3x3 needs 9 numbers, but there are 3"},
      {"2x1: 1 2\n 3", 2, 2, '3', "one number too many"},
      {"2x1:", 1, 4, ':', "2x1 needs 2 numbers, but there are 0"},
      {"2x1: 1;2x1: 1 2", 1, 7, ';', "2x1 needs 2 numbers, but there is 1"},
      {"; 2x1: 1 2", 1, 1, ';', "';"},
      {"---\n1", 1, 1, '-', "no weights before this"},
      {"1\n---\n", 2, 1, '-', "no weights behind this"},
      {"1\n---\n2 3\n4", 4, 2, '\0', "this row has 1 number"},
      {"combine: min\n1", 1, 10, 'm', "write sum, max, length or first-strongest"},
      {"combine: sum\n1\n---\n2\ncombine: sum", 5, 1, 'c', "is given twice"},
      {"combine: length\n1 2", 1, 10, 'l', "there is one mask"},
      {"1x1: 1;\nname: x", 1, 7, ';', "no weights behind this"},
      {"rotate: 3\n1", 1, 9, '3', "write 4 or 8"},
      {"rotate: 8\n1 2 3", 1, 9, '8', "eighths of a turn need a square mask"},
      {"rotate: 4\n3x1>: 1 2 3", 2, 4, '>', "turns are given twice"},
      {"3x1^: 1 2 3", 1, 4, '^', "write @, < or >"},
      {"2x1: 1 nan", 1, 8, 'n', "leaves a place out of the neighbourhood"},
      {"2x1: 1 -", 1, 8, '-', "leaves a place out of the neighbourhood"},
      {"2x: 1 1", 1, 1, '2', "is not WxH or WxH+X+Y"},
      {"2x1+1: 1 1", 1, 1, '2', "is not WxH or WxH+X+Y"},
      {"2x1+2+0: 1 1", 1, 5, '2', "the anchor lies outside the mask"},
      {"anchor: 0 0\n2x1+1+0: 1 1", 2, 5, '1', "the origin is given twice"},
      {"0x1: 1", 1, 1, '0', "each side is 1 to 1025"},
      {"1x1026: 1", 1, 1, '1', "each side is 1 to 1025"},
      {"99999999999x1: 1", 1, 1, '9', "is not WxH"},
      {"1x1: 1\n1x1: 1", 2, 1, '1', "a second kernel"},
      {"1\n1x1: 1", 2, 1, '1', "a second kernel or a stray ':'"},
      {"1 2 3 4 5\n1", 1, 1, '1', "starts with WIDTH HEIGHT", "t.mat"},
      {"1026 1\n1", 1, 1, '1', "'1026' is no side of a mask", "t.mat"},
      {"1 0\n1", 1, 3, '0', "'0' is no side of a mask", "t.mat"},
      {"1.5 1\n1", 1, 1, '1', "'1.5' is no side of a mask", "t.mat"},
      {"1 1 0\n1", 1, 5, '0', "the scale is 0", "t.mat"},
      {"scale: 2\n1 1 3\n1", 2, 5, '3', "the scale is given twice", "t.mat"},
      {"2 2\n1 1\n1", 3, 2, '\0', "this row has 1 number, the vips header says 2", "t.mat"},
      {"2 2\n1 1\n1 1 1", 3, 5, '1', "this row has 3 numbers", "t.mat"},
      {"2 2\n1 1", 2, 4, '\0', "says 2 rows, but there is 1", "t.mat"},
      {"2 2", 1, 4, '\0', "says 2 rows, but there are 0", "t.mat"},
      {"2 1\n1 1\n1 1", 3, 1, '1', "one row too many", "t.mat"},
      {std::string("1 \0 2", 5), 1, 3, '\\', "byte \\x00 does not belong in a text file"},
      {"1\r2", 1, 2, '\\', "byte \\x0D does not belong"},
      {"1 \f 2", 1, 3, '\\', "byte \\x0C does not belong"},
      {"# \x1b[31m", 1, 3, '\\', "byte \\x1B does not belong"},
      {"\xff\xfe"
       "1",
       1, 1, '\\', "UTF-16"},
  };
  for (const Case& c : cases) {
    CAPTURE(c.text);
    const std::string message = complaint(c.text, c.file);
    CAPTURE(message);
    const std::string place =
        c.file + ':' + std::to_string(c.line) + ':' + std::to_string(c.column) + ": ";
    CHECK(message.substr(0, place.size()) == place);
    CHECK(message.find(c.says) != std::string::npos);
    const std::size_t first = message.find('\n'), second = message.find('\n', first + 1);
    REQUIRE(second != std::string::npos);
    const std::string shown = message.substr(first + 1, second - first - 1);
    const std::string caret = message.substr(second + 1);
    CHECK(caret == std::string(caret.size() - 1, ' ') + '^');
    if (c.under_caret == '\0') {
      CHECK(caret.size() == shown.size() + 1);
    } else {
      REQUIRE(caret.size() <= shown.size());
      CHECK(shown[caret.size() - 1] == c.under_caret);
    }
  }
}

TEST_CASE("the whole message of an error") {
  CHECK(complaint("1 2 1\n2 4 2\n1 2 \tx2 # c", "my.txt") ==
        "my.txt:3:6: 'x2' is not a number; write an integer, a decimal or a fraction such as 1/9\n"
        "  1 2  x2 # c\n"
        "       ^");
}

TEST_CASE("long lines are clipped around the place") {
  std::string text;
  for (int i = 0; i < 500; ++i) text += "11 ";
  const std::string message = complaint(text + "oops " + text);
  CHECK(message.find("t.txt:1:1501: 'oops' is not") == 0);
  const std::string tail = message.substr(message.find('\n'));
  CHECK(tail.find("\n  ...") == 0);
  CHECK(tail.find("oops 11") - 1 == tail.size() - tail.rfind('\n') - 2);
  CHECK(tail.size() < 170);
  const std::string word(5000, 'q');
  CHECK(complaint(word).size() < 300);
}

TEST_CASE("1025 x 1025 weights are the most") {
  std::string row;
  for (int i = 0; i < 1025; ++i) row += "1 ";
  std::string rows;
  for (int j = 0; j < 1025; ++j) rows += row + '\n';
  CHECK(parse_mask(rows, "t.txt").weights.size() == 1025u * 1025u);
  CHECK(complaint(row + "1").find("t.txt:1:2051: a row has at most 1025 weights") == 0);
  CHECK(complaint(rows + row).find("t.txt:1026:1: a mask has at most 1025 rows") == 0);
  CHECK(complaint(rows + row + "\n" + row).find("t.txt:1027:1: a mask has at most 1025") == 0);
  CHECK(parse_mask("1025 1025\n" + rows, "t.mat").height == 1025);
}
