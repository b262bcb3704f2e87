/// Numbers that users and files write.
#pragma once

#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>

namespace convfilt {

/// The number that the whole word is; nothing for other words, and if T does not hold it.
template <class T>
std::optional<T> number_of_word(std::string_view word) {
  T number{};
  const char* const end = word.data() + word.size();
  const auto [stop, error] = std::from_chars(word.data(), end, number);
  return error == std::errc() && stop == end ? std::optional(number) : std::nullopt;
}

}  // namespace convfilt
