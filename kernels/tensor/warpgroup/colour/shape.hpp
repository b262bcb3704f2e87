/// What a strip of tensor_colour.cu keeps in shared memory, in words of four bytes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "kernels/tensor/warpgroup/grid.hpp"

namespace convfilt {

constexpr int kColours = 3;
constexpr int kColourWarps = 4;  // of a block: one warpgroup
// Of outputs of a strip: few blocks run at a time.
constexpr int kMostColourRows = 256;

/// Chunks of 16 pixels that a segment's taps cover. A product takes two.
constexpr int colour_chunks(int mask_width) {
  return std::max(2, ceil_div(kGroupSegment - 1 + mask_width, kChunk));
}

/// kHeight: the mask's rows, zeros below it included: an odd number, so that rows come by two.
template <int kDigits, int kChunks, int kHeight>
struct ColourShape {
  static_assert(kDigits <= 2 && kChunks <= 3 && kHeight % 2 == 1);
  static constexpr bool kThirds = kChunks == 3;
  static constexpr int kRows = group_rows(kDigits);    ///< of outputs together
  static constexpr int kInRows = kHeight + kRows - 1;  ///< that they need
  static constexpr int kPitch = (kGroupColumns + (kChunks - 1) * kChunk) / 4;  ///< of a plane's row
  /// With those that are taken apart meanwhile.
  static constexpr int kPlane = (kInRows + kRows) * kPitch;

  /// A warp copies half of a row's first 1024 pixels, every second one the rest, too.
  static constexpr int kHalf = kGroupColumns / 2;
  static constexpr int kRest = kPitch * 4 - kGroupColumns;
  static constexpr int kPiece = (kHalf + kRest) * kColours / 4;
  static constexpr int kAhead = 2;  ///< pieces of a warp that are being copied

  /// Bands in registers leave shared memory's bandwidth to the pixels.
  static constexpr bool kInRegisters = kChunks == 2 && kHeight <= 15;
  static constexpr int kBandBytes = group_band_bytes(kDigits);  ///< of two chunks
  static constexpr int kBands = kHeight + 2 * (kRows - 1);
  static constexpr int kAllBandBytes = kBands * kBandBytes / 2 * kChunks;

  /// A warp's outputs before they are joined to pixels.
  static constexpr int kStage = kGroupColumns * kRows * kColours / 4 / kColourWarps;
  static constexpr int kLanding = kColours * kPlane;
  static constexpr int kStages = kLanding + kColourWarps * kAhead * kPiece;
  static constexpr int kBandsAt = kStages + kColourWarps * kStage;
  static constexpr int kSources = kBandsAt + (kInRegisters ? 0 : kAllBandBytes / 4);
  static constexpr int kWords = kSources + kMostColourRows + kInRows;
};

/// Sums of colours that are computed at a time: with two, one colour's ends hide behind another's
/// products, where registers suffice.
constexpr int colours_at_once(int digits, int chunks, int height) {
  return chunks == 3 || height > 15 || (digits == 1 && height <= 9) ? 2 : 1;
}

/// So many blocks shall fit an SM's registers.
constexpr int colour_blocks_an_sm(int digits, int chunks, int height) {
  if (height > 15) return 1;
  if (chunks == 3) return height > 9 ? 2 : 3;
  return digits == 2 && height <= 7 ? 4 : 3;
}

/// The mask's rows as bands, the first one first, and as many zeros before and behind that
/// group_rows() neighbouring bands may begin and end beside the mask, of `height` rows with zeros
/// below it. A band is a matrix of 16 rows a digit, one an output of a segment, and two chunks of
/// 16 samples, by 8 rows of a chunk each; behind all of them the same of a third chunk. Of two
/// digits the low ones come before the top ones, 8 outputs each; of one the even outputs come
/// before the odd ones: a thread of a product has both sums of an output, or two neighbours.
std::vector<std::uint8_t> colour_bands_of(const MaskPart<std::uint8_t>& mask, int height,
                                          int digits, int chunks);

}  // namespace convfilt
