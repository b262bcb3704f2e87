/// Numbers in picture files that tell which colours are meant.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "kernels/problem.hpp"

namespace convfilt {

/// The colours of a file without an ICC profile. Numbers are those of the formats, so that a label
/// comes back as it was.
struct ColourLabel {
  static constexpr std::uint8_t kUnsaid = 2;

  /// Code points of ITU-T H.273 (CICP), for colours in red, green and blue.
  struct Codes {
    std::uint8_t primaries = kUnsaid, transfer = kUnsaid;
    bool full_range = true;
    bool operator==(const Codes&) const = default;

    /// Whether samples without a label mean the same: sRGB, and in floats its light.
    bool say_nothing(Depth depth) const {
      const std::uint8_t usual = (depth == Depth::f32 ? kLinear : kSrgb).transfer;
      return full_range && (primaries == kSrgb.primaries || primaries == kUnsaid) &&
             (transfer == usual || transfer == kUnsaid);
    }
  };
  static const Codes kSrgb, kLinear;

  std::optional<Codes> codes{};
  // A PNG's chunks. Where there are codes, or a profile, they do not count.
  std::optional<std::uint32_t> gamma{};                          ///< gAMA
  std::optional<std::array<std::uint32_t, 8>> chromaticities{};  ///< cHRM
  std::optional<std::uint8_t> srgb_intent{};                     ///< sRGB
  std::vector<unsigned char> mastering{}, light_levels{};        ///< mDCV, cLLI
  bool in_exif = false;                                          ///< the EXIF block says the same

  bool operator==(const ColourLabel&) const = default;
  bool empty() const { return *this == ColourLabel(); }
};

inline constexpr ColourLabel::Codes ColourLabel::kSrgb{1, 13}, ColourLabel::kLinear{1, 8};

}  // namespace convfilt
