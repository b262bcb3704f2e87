/// The work of a block of tensor.cu on a tile. All of its warps load the samples and the mask's
/// banded matrices to shared memory. Then each warp adds up a few rows of sums, and ends them.
#pragma once

#include "kernels/backend/tensor_core.hpp"
#include "kernels/contract/bytes.hpp"
#include "kernels/contract/sum_ends.hpp"
#include "kernels/plan/device_plan.hpp"
#include "kernels/plan/ghost_cells.hpp"
#include "kernels/tensor/layout.hpp"

namespace convfilt::CONVFILT_BACKEND::tensor {

using namespace convfilt::tensor;

constexpr int kWarps = 4;      // in a block
constexpr int kTileRows = 32;  // rows of outputs
constexpr int kMaxSteps = steps_of(3, kMaxPartSide, 1);

/// Words of a row of the input tile.
constexpr int in_words_of(int steps) {
  return chunks_of(steps) * (kChunk / 4);
}

/// Bytes of shared memory that a block takes with that many input tiles.
constexpr std::size_t shared_bytes_of(int digits, int steps, int height, int tiles) {
  const int words = tiles * (kTileRows + height - 1) * in_words_of(steps) +
                    height * digits * matrix_words_of(steps) + height * kMaxPartSide;
  return words * sizeof(std::uint32_t);
}
constexpr std::size_t kMostShared = 48 * 1024;  // a block gets so much without asking

/// Input tiles that a block keeps. Where a second one fits, it is loaded while the first is
/// multiplied.
constexpr int tiles_kept(int digits, int steps, int height) {
  return shared_bytes_of(digits, steps, height, 2) <= kMostShared ? 2 : 1;
}

/// Loads rows of whole chunks to the tile's rows from first_row on; their first sample is
/// (first_x, first_y). A chunk between the picture's sides is copied as it lies, from the row that
/// the border gives. All other samples are loaded one by one.
template <int kWords, class Tile>
CONVFILT_DEVICE inline void load_chunks(Tile& in_tile, int first_row,
                                        const PlaneView<const std::uint8_t>& in, Border border,
                                        int channels, std::uint8_t ghost, int first_x, int first_y,
                                        int rows) {
  constexpr int kChunks = kWords / (kChunk / 4);
  static_assert(kChunks <= kLaneCount, "a lane copies one chunk of a row");
  const bool aligned =
      in.stride % kChunk == 0 && reinterpret_cast<std::uintptr_t>(in.data) % kChunk == 0;
  // Chunks begin..end-1 of a row lie between the picture's sides.
  const int begin = aligned ? min(kChunks, max(0, -first_x) / kChunk) : kChunks;
  const int end = aligned ? max(begin, min(kChunks, (in.width - first_x) / kChunk)) : kChunks;
  CONVFILT_UNROLL(4)
  for (int row = threadIdx.y; row < rows; row += kWarps) {
    const int chunk = threadIdx.x;
    const int y = border_index(border, first_y + row, in.height);
    if (chunk < begin || chunk >= end) continue;
    if (y >= 0) {
      copy16(in, first_x + chunk * kChunk, y, in_tile, first_row + row, chunk * 4);
      continue;
    }
    for (int word = 0; word < 4; ++word) {
      in_tile[first_row + row][chunk * 4 + word] = ghost_word(ghost);
    }
    count_ghost_cells(kChunk);
  }
  // The threads load the words beside those chunks sample by sample.
  const int before = begin * 4, beside = before + (kChunks - end) * 4;
  const int thread = threadIdx.y * kLaneCount + threadIdx.x;
  CONVFILT_UNROLL(1)
  for (int n = thread; n < rows * beside; n += kWarps * kLaneCount) {
    const int row = n / beside, k = n % beside;
    const int word = k < before ? k : k - before + end * 4;
    std::uint32_t samples = 0;
    CONVFILT_UNROLL(4)
    for (int byte = 0; byte < 4; ++byte) {
      const int x = border_sample(border, first_x + 4 * word + byte, in.width, channels);
      const int y = border_index(border, first_y + row, in.height);
      samples |= std::uint32_t(load_or_ghost(in, x, y, ghost)) << (8 * byte);
    }
    in_tile[first_row + row][word] = samples;
  }
}

/// Writes the mask's digits of base 256 as banded matrices. The matrix of row j and a digit goes to
/// matrices[j * kDigits + digit], where digit 0 is the lowest.
template <int kDigits, int kSteps, class Matrices, class Weights>
CONVFILT_DEVICE inline void load_matrices(Matrices& matrices, Weights& weights,
                                          const MaskPart<std::uint8_t>& mask, int channels) {
  const int thread = threadIdx.y * kLaneCount + threadIdx.x;
  // The weights go to shared memory first, because lanes that read different words of constant
  // memory wait for each other.
  for (int k = thread; k < mask.width * mask.height; k += kWarps * kLaneCount) {
    weights[0][k] = mask.weights[k];
  }
  __syncthreads();
  for (int j = threadIdx.y; j < mask.height; j += kWarps) {
    for (int at = threadIdx.x; at < matrix_words_of(kSteps); at += kLaneCount) {
      std::uint32_t words[kDigits] = {};
      for (int k = 0; k < 4; ++k) {
        const int i = mask_column(at, k, mask.dx * channels, mask.width, channels);
        const std::uint32_t weight = i >= 0 ? std::uint32_t(weights[0][j * mask.width + i]) : 0;
        for (int digit = 0; digit < kDigits; ++digit) {
          words[digit] |= (weight >> (8 * digit) & 255) << (8 * k);
        }
      }
      for (int digit = 0; digit < kDigits; ++digit)
        matrices[j * kDigits + digit][at] = words[digit];
    }
  }
}

/// Rows of outputs that a warp computes together: as many as registers hold the sums of.
constexpr int rows_together(int digits) {
  return digits < 3 ? 4 : 2;
}

/// Blocks whose registers an SM must hold, so that the loads of one hide behind the products of
/// others.
constexpr int blocks_an_sm(int digits) {
  return digits == 2 ? 4 : 6;
}

/// A lane's sums by digit, row, product, and place in its fragment.
template <int kDigits>
using Sums = std::int32_t[kDigits][rows_together(kDigits)][kProducts][4];

/// Begins the lowest digit's sums with the end's start, so that the end need not add it.
template <int kDigits>
CONVFILT_DEVICE inline void start(Sums<kDigits>& sums, std::int32_t begin) {
  constexpr int kRows = rows_together(kDigits);
  CONVFILT_UNROLL(kDigits)
  for (int digit = 0; digit < kDigits; ++digit) {
    CONVFILT_UNROLL(kRows * kProducts * 4)
    for (int k = 0; k < kRows * kProducts * 4; ++k) {
      sums[digit][k / (kProducts * 4)][k / 4 % kProducts][k % 4] = digit == 0 ? begin : 0;
    }
  }
}

/// Joins one sum from the sums of its digits.
template <int kDigits>
CONVFILT_DEVICE inline std::int32_t total(const Sums<kDigits>& sums, int rho, int product, int k) {
  std::int32_t sum = sums[kDigits - 1][rho][product][k];
  for (int digit = kDigits - 2; digit >= 0; --digit) {
    sum = sum * 256 + sums[digit][rho][product][k];
  }
  return sum;
}

/// A lane's words of a banded matrix, for one step or two.
template <int kWide, int kStep, class Matrices>
CONVFILT_DEVICE inline void matrix_words(Matrices& matrices, int matrix, int at,
                                         std::uint32_t (&b)[kWide]) {
  for (int k = 0; k < kWide; ++k) b[k] = matrices[matrix][at + (kStep + k) * kStepBytes];
}

/// Adds the products of all rows of the mask for kWide steps of 16 samples, from step kStep on.
template <int kDigits, int kStep, int kWide, class Tile, class Matrices>
CONVFILT_DEVICE inline void add_rows(Tile& in_tile, Matrices& matrices, int row, int word,
                                     int matrix_at, int height, Sums<kDigits>& sums) {
  constexpr int kRows = rows_together(kDigits);
  std::uint32_t a[kRows][kProducts][2 * kWide];  // rows of segments, in a ring
  const auto load_row = [&](int r, std::uint32_t(&to)[kProducts][2 * kWide]) {
    for (int product = 0; product < kProducts; ++product) {
      for (int k = 0; k < 2 * kWide; ++k) {
        to[product][k] = in_tile[r][word + product * 32 + k % 2 * 16 + (kStep + k / 2) * 4];
      }
    }
  };
  for (int k = 0; k < kRows - 1; ++k) load_row(row + k, a[k]);
  CONVFILT_UNROLL(1)
  for (int j0 = 0; j0 < height; j0 += kRows) {
    CONVFILT_UNROLL(kRows)
    for (int k = 0; k < kRows; ++k) {
      const int j = j0 + k;
      if (j >= height) break;
      load_row(row + j + kRows - 1, a[(k + kRows - 1) % kRows]);
      for (int digit = 0; digit < kDigits; ++digit) {
        std::uint32_t b[kWide];
        matrix_words<kWide, kStep>(matrices, j * kDigits + digit, matrix_at, b);
        for (int rho = 0; rho < kRows; ++rho) {
          for (int product = 0; product < kProducts; ++product) {
            auto& c = sums[digit][rho][product];
            const auto& segments = a[(k + rho) % kRows][product];
            if (digit == kDigits - 1) {
              mma<std::int8_t>(c, segments, b);
            } else {
              mma<std::uint8_t>(c, segments, b);
            }
          }
        }
      }
    }
  }
}

/// Two neighbouring outputs of a lane.
struct Pair {
  int x, y;
  int rho, product, half;  ///< the place of their sums in Sums
};

/// Calls f(Pair) for all of a lane's outputs, whose first is (x, y).
template <int kRows, class F>
CONVFILT_DEVICE inline void for_each_pair(int x, int y, F f) {
  CONVFILT_UNROLL(kRows)
  for (int rho = 0; rho < kRows; ++rho) {
    CONVFILT_UNROLL(kProducts)
    for (int product = 0; product < kProducts; ++product) {
      CONVFILT_UNROLL(2)
      for (int half = 0; half < 2; ++half) {
        f(Pair{x + (16 * product + 8 * half) * kSegment, y + rho, rho, product, half});
      }
    }
  }
}

/// Ends a lane's sums, whose first output is (x, y). `whole` says that all of the warp's outputs
/// exist, and that two may be stored at once.
template <int kDigits>
CONVFILT_DEVICE inline void end_sums(const MaskPart<std::uint8_t>& mask, const HalfToEven& end,
                                     const PlaneView<std::int32_t>& partial,
                                     const PlaneView<std::uint8_t>& out, int x, int y, bool whole,
                                     const Sums<kDigits>& sums) {
  constexpr int kRows = rows_together(kDigits);
  const auto sum_of = [&](const Pair& p, int k) {
    return total<kDigits>(sums, p.rho, p.product, 2 * p.half + k);
  };
  const auto store = [&](const Pair& p, std::uint16_t pair) {
    *reinterpret_cast<std::uint16_t*>(out.row(p.y) + p.x) = pair;
  };
  if (whole && end.usable) {
    for_each_pair<kRows>(x, y, [&](const Pair& p) {
      store(p, saturated_pair(end(sum_of(p, 0)), end(sum_of(p, 1))));
    });
  } else if (whole && mask.first && mask.last) {
    for_each_pair<kRows>(x, y, [&](const Pair& p) {
      store(p, std::uint16_t(mask.finish(sum_of(p, 0)) | mask.finish(sum_of(p, 1)) << 8));
    });
  } else {
    for_each_pair<kRows>(x, y, [&](const Pair& p) {
      if (p.y >= out.height) return;
      for (int k = 0; k < 2; ++k) {
        const int at = p.x + k;
        const std::int32_t sum = sum_of(p, k) - end.start;
        if (at >= out.width) continue;
        end_sum(mask, partial, out, at, p.y, sum + begin_sum(mask, partial, at, p.y));
      }
    });
  }
}

}  // namespace convfilt::CONVFILT_BACKEND::tensor
