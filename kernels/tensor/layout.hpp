/// How rows of 8-bit samples and of a mask lie in the products of tensor.cu and tensor_strips.cu;
/// its slack and chunks are tensor_groups.cu's, too.
///
/// A row of the mask is a band of the matrix that segments are multiplied with: column n, output n
/// of a segment, holds weight i at place slack + n + i * channels. The word of places k..k+3
/// depends on k - n alone, and stands at k - n + 7: a lane with 4 * g + t reads it at
/// 4 * t - g + 7, and a step later 16 further on.
#pragma once

#include <string>

#include "kernels/contract/ceil_div.hpp"
#include "kernels/contract/plane_view.hpp"
#include "kernels/problem.hpp"

namespace convfilt {

constexpr int kLaneCount = 32;  // threads of a warp
constexpr int kSegment = 8;     // neighbouring outputs that one row of a product gives
constexpr int kStepBytes = 16;  // samples of a segment that one k step multiplies
constexpr int kChunk = 16;      // samples that are copied at once, at addresses of whole chunks
constexpr int kProducts = 2;    // of 16 segments each, side by side
constexpr int kWarpColumns = kProducts * 16 * kSegment;  // outputs

/// A segment's samples lie from a multiple of four on, so that lanes read words: this many before
/// the first one that counts.
CONVFILT_HD constexpr int slack_of(int dx) {
  return dx & 3;
}

/// Steps that cover the taps of a segment's outputs, which are `channels` samples apart.
CONVFILT_HD constexpr int steps_of(int dx, int mask_width, int channels) {
  const int taps = (mask_width - 1) * channels + 1;
  return ceil_div(slack_of(dx * channels) + kSegment - 1 + taps, kStepBytes);
}

/// Chunks of a row that a warp reads: from a whole one on, to the last segment's last step.
constexpr int chunks_of(int steps) {
  return ceil_div(kChunk - 4 + kWarpColumns - kSegment + steps * kStepBytes, kChunk);
}

/// Words of a band: of all places in a segment's samples less a column's place.
constexpr int band_words_of(int steps) {
  return steps * kStepBytes + 4;
}

/// The mask's column whose weight is byte `byte` of word `at` of a band; -1: a zero is there.
/// dx: in samples.
CONVFILT_HD constexpr int band_column(int at, int byte, int dx, int mask_width, int channels) {
  const int place = at + byte - (slack_of(dx) + kSegment - 1), i = place / channels;
  return place >= 0 && place == i * channels && i < mask_width ? i : -1;
}

/// Why a strategy of tensor cores refuses a depth, naming one that does not; empty for 8 bits.
inline std::string bytes_refuse(const Problem& problem, std::string_view instead) {
  if (problem.depth == Depth::u8) return "";
  return "tensor cores multiply bytes, and the picture is " + std::string(name_of(problem.depth)) +
         "; use --strategy=" + std::string(instead) + ", or a picture of 8 bits";
}

}  // namespace convfilt
