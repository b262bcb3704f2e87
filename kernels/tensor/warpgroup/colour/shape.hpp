/// The shared memory of a strip of three colours, in words of four bytes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "kernels/tensor/warpgroup/grid.hpp"

namespace convfilt::tensor::warpgroup::colour {

constexpr int kColours = 3;
constexpr int kWarps = 4;  // in a block, which is one warpgroup
/// The most rows of outputs of a strip. Few blocks run at a time, so strips can be high.
constexpr int kMostPixelRows = 256;

/// Chunks of 16 pixels that a segment's taps cover. A product takes two.
constexpr int pixel_chunks(int mask_width) {
  return std::max(2, ceil_div(kSegment - 1 + mask_width, kChunk));
}

/// The places in shared memory. kHeight counts the mask's rows and the rows of zeros below it. It
/// is odd, so that rows come in twos.
template <int kDigits, int kChunks, int kHeight>
struct StripShape {
  static_assert(kDigits <= 2 && kChunks <= 3 && kHeight % 2 == 1);
  static constexpr bool kThirds = kChunks == 3;
  static constexpr int kRows = rows_together(kDigits);  ///< rows of outputs that a product computes
  static constexpr int kInRows = kHeight + kRows - 1;   ///< rows of the picture that they need
  static constexpr int kPitch = (kColumns + (kChunks - 1) * kChunk) / 4;  ///< in words
  /// Words of a plane, which also holds the rows that are written while others are multiplied.
  static constexpr int kPlane = (kInRows + kRows) * kPitch;

  /// A warp copies half of a row's first 1024 pixels, and every second warp copies the rest, too.
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

/// The number of colours whose sums are computed at a time. With two, the ends of one colour hide
/// behind the products of another, if registers suffice.
constexpr int colours_at_once(int digits, int chunks, int height) {
  return chunks == 3 || height > 15 || (digits == 1 && height <= 9) ? 2 : 1;
}

/// The number of blocks whose registers an SM must hold.
constexpr int blocks_an_sm(int digits, int chunks, int height) {
  if (height > 15) return 1;
  if (chunks == 3) return height > 9 ? 2 : 3;
  return digits == 2 && height <= 7 ? 4 : 3;
}

/// The mask's rows as banded matrices, in their order. Rows of zeros fill the mask up to `height`
/// rows, and matrices of zeros lie before and behind it, since some of the rows_together()
/// successive matrices of a product lie outside the mask. A matrix has 16 rows a digit, one for
/// each output of a segment, and two chunks of 16 samples. 8 rows of a chunk lie together. Third
/// chunks, if there are any, lie behind all matrices. With two digits, 8 outputs' rows of the low
/// digit come before those of the top digit. With one digit, the even outputs come before the odd
/// ones. So a thread has both sums of an output, or two neighbours.
std::vector<std::uint8_t> banded_matrices(const MaskPart<std::uint8_t>& mask, int height,
                                          int digits, int chunks);

}  // namespace convfilt::tensor::warpgroup::colour
