/// libFuzzer target: whatever bytes a mask file holds, parse_masks gives sound masks or an IoError
/// that points into the file, and what it gives survives being printed and read again.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "src/base/errors.hpp"
#include "src/mask/text.hpp"
#include "tests/fuzz/require.hpp"

namespace {

using convfilt::testing::require;

bool is_whole(double value) {
  return value == std::trunc(value);
}

void check_mask(const convfilt::Mask& mask) {
  require(mask.width >= 1 && mask.width <= convfilt::kMaxMaskSide, "width");
  require(mask.height >= 1 && mask.height <= convfilt::kMaxMaskSide, "height");
  require(mask.anchor_x >= 0 && mask.anchor_x < mask.width, "anchor_x");
  require(mask.anchor_y >= 0 && mask.anchor_y < mask.height, "anchor_y");
  require(mask.weights.size() == std::size_t(mask.width) * mask.height, "number of weights");
  require(std::isfinite(mask.divisor) && mask.divisor > 0, "divisor");
  require(std::isfinite(mask.offset), "offset");
  require(std::all_of(mask.weights.begin(), mask.weights.end(),
                      [](double w) { return std::isfinite(w); }),
          "finite weights");
  if (mask.divisor == 1) return;
  require(is_whole(mask.divisor) && mask.divisor < 0x1p31, "whole divisor");
  require(std::all_of(mask.weights.begin(), mask.weights.end(),
                      [](double w) { return is_whole(w) && std::abs(w) < 0x1p31; }),
          "whole weights over a divisor");
}

void check_message(const std::string& message) {
  const std::size_t first = message.find('\n'), second = message.find('\n', first + 1);
  require(message.starts_with("fuzz."), "a message starts with the file");
  require(second != std::string::npos && message.find('\n', second + 1) == std::string::npos,
          "a message has three lines");
  require(message.ends_with('^') && message.size() - second <= 100, "a caret within reach");
  require(std::all_of(message.begin(), message.end(),
                      [](char c) { return c == '\n' || (c >= 0x20 && c < 0x7f); }),
          "a message is printable");
}

void check(std::string_view text, const std::string& file_name) {
  convfilt::MaskSet set;
  try {
    set = convfilt::parse_masks(text, file_name);
  } catch (const convfilt::IoError& error) {
    return check_message(error.what());
  }
  require(!set.masks.empty(), "a mask");
  for (const convfilt::Mask& mask : set.masks) check_mask(mask);
  if (set.masks.size() > 1) return;
  const convfilt::Mask& mask = set.masks[0];
  const convfilt::Mask again = convfilt::parse_mask(convfilt::print_mask(mask), "fuzz.txt");
  require(again.name == mask.name, "name printed and read");
  require(again.width == mask.width && again.height == mask.height, "size printed and read");
  require(again.anchor_x == mask.anchor_x && again.anchor_y == mask.anchor_y,
          "anchor printed and read");
  require(again.weights == mask.weights, "weights printed and read");
  require(again.divisor == mask.divisor && again.offset == mask.offset,
          "divisor and offset printed and read");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  check(text, "fuzz.txt");
  check(text, "fuzz.mat");
  return 0;
}
