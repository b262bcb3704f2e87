/// Numbers as users and files write them.
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

#include "kernels/problem.hpp"

namespace convfilt {

/// The number that the whole word is; nothing for other words, and if T does not hold it.
template <class T>
std::optional<T> number_of_word(std::string_view word) {
  T number{};
  const char* const end = word.data() + word.size();
  const auto [stop, error] = std::from_chars(word.data(), end, number);
  return error == std::errc() && stop == end ? std::optional(number) : std::nullopt;
}

struct Extent {
  std::int64_t width = 0, height = 0;
};

/// Two whole numbers with an x between them, as "2048x1024"; nothing for other words. The caller
/// checks their range; a number beyond int64 becomes the largest int64.
std::optional<Extent> parse_sides(std::string_view word);

/// Empty if a border value is a sample of this depth; else the samples it has, such as "u8, whole
/// numbers from 0 to 255".
std::string border_value_refuses(double value, Depth depth);

}  // namespace convfilt
