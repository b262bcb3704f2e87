/// How rows of 8-bit samples and rows of a mask lie in products of matrices.
///
/// A row of the mask is a banded matrix, and segments of samples are multiplied with it. Its column
/// n belongs to output n of a segment and holds weight i at place slack + n + i * channels. The
/// word of places k..k+3 depends on k - n alone and stands at k - n + 7. A lane with the number
/// 4 * g + t therefore reads it at 4 * t - g + 7, and 16 words further on in the next step.
#pragma once

#include <string>

#include "kernels/contract/ceil_div.hpp"
#include "kernels/contract/plane_view.hpp"
#include "kernels/problem.hpp"

namespace convfilt {

// separable_tensor lays out its rows by these constants, too.

constexpr int kLaneCount = 32;  // threads of a warp
constexpr int kChunk = 16;      // samples of a copy, which begins at a multiple of 16 bytes

/// Samples between the multiple of four from which lanes read words and a segment's first tap.
CONVFILT_HD constexpr int slack_of(int dx) {
  return dx & 3;
}

/// Why a strategy of tensor cores refuses the depth, with the advice to take `instead`. Empty for 8
/// bits. The samples that are filtered need not have the picture's depth: those of edges and of
/// pictures with alpha are floats.
inline std::string bytes_refuse(const Problem& problem, std::string_view instead) {
  if (problem.depth == Depth::u8) return "";
  const bool floats = problem.depth == Depth::f32;
  return "tensor cores multiply bytes, and the samples here are " +
         std::string(name_of(problem.depth)) +
         (floats ? ", as those of edges and of pictures with alpha are" : "") +
         "; use --strategy=" + std::string(instead) + ", or " +
         (floats ? "apply a mask to a picture of 8 bits without alpha" : "a picture of 8 bits");
}

namespace tensor {

constexpr int kSegment = 8;     // neighbouring outputs that one row of a product gives
constexpr int kStepBytes = 16;  // samples of a segment that a step multiplies
constexpr int kProducts = 2;    // products side by side, of 16 segments each
constexpr int kWarpColumns = kProducts * 16 * kSegment;  // outputs of a warp in one row

/// Steps that cover the taps of a segment's outputs, which are `channels` samples apart.
CONVFILT_HD constexpr int steps_of(int dx, int mask_width, int channels) {
  const int taps = (mask_width - 1) * channels + 1;
  return ceil_div(slack_of(dx * channels) + kSegment - 1 + taps, kStepBytes);
}

/// Chunks of a row that a warp reads. They end where the last segment's last step ends.
constexpr int chunks_of(int steps) {
  return ceil_div(kChunk - 4 + kWarpColumns - kSegment + steps * kStepBytes, kChunk);
}

/// Words of a banded matrix: one for each difference between a sample's place and its column.
constexpr int matrix_words_of(int steps) {
  return steps * kStepBytes + 4;
}

/// The mask's column whose weight is byte `byte` of word `at` of a banded matrix, or -1 where the
/// matrix has a zero. `dx` counts samples.
CONVFILT_HD constexpr int mask_column(int at, int byte, int dx, int mask_width, int channels) {
  const int place = at + byte - (slack_of(dx) + kSegment - 1), i = place / channels;
  return place >= 0 && place == i * channels && i < mask_width ? i : -1;
}

}  // namespace tensor
}  // namespace convfilt
