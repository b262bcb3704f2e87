/// Whole numbers among the bytes of a file.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "src/picture/bytes.hpp"

namespace convfilt {

inline constexpr bool kHostIsLittle = std::endian::native == std::endian::little;

/// The number in all of the bytes.
inline std::uint64_t number_in(ByteView bytes, bool least_first) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i)
    value = value << 8 | bytes[least_first ? bytes.size() - 1 - i : i];
  return value;
}

/// The number in `count` bytes from `at` on, most significant first. The bytes must be there.
inline std::uint64_t big_endian(ByteView bytes, std::size_t at, std::size_t count = 4) {
  return number_in(bytes.subspan(at, count), false);
}

/// The same, least significant first.
inline std::uint64_t little_endian(ByteView bytes, std::size_t at, std::size_t count = 4) {
  return number_in(bytes.subspan(at, count), true);
}

/// Stores a number in `count` bytes from `at` on, which must be there.
inline void put_number(std::span<unsigned char> to, std::uint64_t at, std::uint64_t number,
                       std::size_t count, bool least_first) {
  for (std::size_t i = 0; i < count; ++i)
    to[std::size_t(at) + (least_first ? i : count - 1 - i)] =
        static_cast<unsigned char>(number >> 8 * i);
}

inline void append_number(Bytes& to, std::uint64_t number, std::size_t count, bool least_first) {
  to.resize(to.size() + count);
  put_number(to, to.size() - count, number, count, least_first);
}

inline void append_big_endian(Bytes& to, std::uint64_t number, std::size_t count = 4) {
  append_number(to, number, count, false);
}

inline std::string_view text_of(ByteView bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

inline ByteView bytes_of(std::string_view text) {
  return {reinterpret_cast<const unsigned char*>(text.data()), text.size()};
}

inline bool starts_with(ByteView bytes, std::string_view text) {
  return text_of(bytes).starts_with(text);
}

/// Whether there is nothing but the zeros that some writers and disks fill up with.
inline bool has_only_zeros(ByteView bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](unsigned char byte) { return byte == 0; });
}

/// The letters before an EXIF block, which a JPEG must have and other formats may.
inline constexpr std::string_view kExifMark("Exif\0\0", 6);

}  // namespace convfilt
