/// What a strip of three colours keeps in shared memory, in words of four bytes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "kernels/tensor/warpgroup/grid.hpp"

namespace convfilt::tensor::warpgroup::colour {

constexpr int kColours = 3;
constexpr int kWarps = 4;  // of a block: a warpgroup
/// Rows of outputs of a strip. Few blocks run at a time, so that strips can be high.
constexpr int kMostPixelRows = 256;

/// Chunks of 16 pixels that a segment's taps cover. A product takes two.
constexpr int pixel_chunks(int mask_width) {
  return std::max(2, ceil_div(kSegment - 1 + mask_width, kChunk));
}

/// kHeight is the number of the mask's rows and the zeros below it: odd, so that rows come by two.
template <int kDigits, int kChunks, int kHeight>
struct StripShape {
  static_assert(kDigits <= 2 && kChunks <= 3 && kHeight % 2 == 1);
  static constexpr bool kThirds = kChunks == 3;
  static constexpr int kRows = rows_together(kDigits);  ///< of outputs that a product computes
  static constexpr int kInRows = kHeight + kRows - 1;   ///< of the picture, that these need
  static constexpr int kPitch = (kColumns + (kChunks - 1) * kChunk) / 4;  ///< of a plane's row
  /// Words of a plane, with the rows that are written while others are multiplied.
  static constexpr int kPlane = (kInRows + kRows) * kPitch;

  /// A warp copies half of a row's first 1024 pixels. Every second warp copies the rest, too.
  static constexpr int kHalf = kColumns / 2;
  static constexpr int kRest = kPitch * 4 - kColumns;
  static constexpr int kPiece = (kHalf + kRest) * kColours / 4;
  static constexpr int kAhead = 2;  ///< pieces that a warp is copying

  /// Matrices in registers leave shared memory's bandwidth to the pixels.
  static constexpr bool kInRegisters = kChunks == 2 && kHeight <= 15;
  static constexpr int kMatrixBytes = matrix_bytes_of(kDigits);  ///< for two chunks
  static constexpr int kMatrices = kHeight + 2 * (kRows - 1);
  static constexpr int kAllMatrixBytes = kMatrices * kMatrixBytes / 2 * kChunks;

  /// A warp's outputs before they are joined to pixels.
  static constexpr int kStage = kColumns * kRows * kColours / 4 / kWarps;
  static constexpr int kLanding = kColours * kPlane;
  static constexpr int kStages = kLanding + kWarps * kAhead * kPiece;
  static constexpr int kMatricesAt = kStages + kWarps * kStage;
  static constexpr int kSources = kMatricesAt + (kInRegisters ? 0 : kAllMatrixBytes / 4);
  static constexpr int kWords = kSources + kMostPixelRows + kInRows;
};

/// Colours whose sums are computed at a time. With two, one colour's ends hide behind another's
/// products; registers must suffice.
constexpr int colours_at_once(int digits, int chunks, int height) {
  return chunks == 3 || height > 15 || (digits == 1 && height <= 9) ? 2 : 1;
}

/// Blocks whose registers an SM must hold.
constexpr int blocks_an_sm(int digits, int chunks, int height) {
  if (height > 15) return 1;
  if (chunks == 3) return height > 9 ? 2 : 3;
  return digits == 2 && height <= 7 ? 4 : 3;
}

/// The mask's rows as banded matrices, the first one first, with zeros before, behind, and below it
/// to `height` rows: the rows_together() neighbouring matrices of a product may lie outside the
/// mask. A matrix has 16 rows a digit, one for each output of a segment, and two chunks of 16
/// samples; 8 rows of a chunk lie together. Behind all matrices are their third chunks, if there
/// are three. With two digits, the low one's rows come before the top one's, 8 outputs each; with
/// one, the even outputs come before the odd ones. So a thread has both sums of an output, or two
/// neighbours.
std::vector<std::uint8_t> banded_matrices(const MaskPart<std::uint8_t>& mask, int height,
                                          int digits, int chunks);

}  // namespace convfilt::tensor::warpgroup::colour
