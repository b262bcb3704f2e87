/// How a warp walks down its strip: it copies rows ahead, reads each row's words into registers,
/// multiplies them with the mask's rows, and ends the sums.
///
/// The walk of warpgroups is another one, because its operands lie in shared memory and the border
/// is written beside the picture beforehand. Here a lane holds its samples and the mask in
/// registers, and words beside the picture are replaced as they are read.
#pragma once

#include <type_traits>

#include "kernels/backend/tensor_core.hpp"
#include "kernels/contract/bytes.hpp"
#include "kernels/contract/sum_ends.hpp"
#include "kernels/plan/ghost_cells.hpp"
#include "kernels/tensor/layout.hpp"

namespace convfilt::CONVFILT_BACKEND::tensor::strips {

using namespace convfilt::tensor;

constexpr int kMostSteps = 2, kMostHeight = 9;  // registers have room for no more
constexpr int kMostMatrixWords = 768;           // a kernel's arguments have room for no more

/// The mask as the kernel takes it, by value. Columns count samples of all channels.
struct MaskArgument {
  int dx, dy;
  FloatEnd float_end;    ///< the end of one digit or two
  HalfToEven shift_end;  ///< the end of three digits, where it is usable
  IntegerFinish end;
  std::uint32_t
      matrices[kMostMatrixWords];  ///< digit d of row j begins at word (j * digits + d) * words
};

/// A lane's words of one row of segments.
template <int kSteps>
using Words = std::uint32_t[kProducts][2 * kSteps];

/// Where a lane's word lies in its row, in samples from the lane's first.
CONVFILT_HD constexpr int word_at(int product, int k) {
  return product * 16 * kSegment + k % 2 * 8 * kSegment + k / 2 * kStepBytes;
}

/// The words of a lane that may reach over the picture's side. In the first strip they belong to
/// the first half of the segments, and in the last strip to the last half.
template <int kSteps>
struct Edge {
  bool any = false;             ///< whether a lane of the warp has such words
  bool first = false;           ///< whether they belong to the first half
  bool over[kSteps] = {};       ///< whether this lane's word of a step reaches over
  int columns[kSteps][4] = {};  ///< where its samples come from; -1 means the border value
};

/// Finds the words that reach over a side. A word counts as inside only where its chunk is inside.
template <int kSteps>
CONVFILT_DEVICE inline Edge<kSteps> find_edge(const PlaneView<const std::uint8_t>& in,
                                              Border border, int channels, int chunk_x, int x) {
  Edge<kSteps> edge;
  edge.any = chunk_x < 0 || chunk_x + chunks_of(kSteps) * kChunk > in.width;
  edge.first = chunk_x < 0;
  if (!edge.any) return edge;
  CONVFILT_UNROLL(kSteps)
  for (int step = 0; step < kSteps; ++step) {
    const int at = x + (edge.first ? word_at(0, 2 * step) : word_at(1, 2 * step + 1));
    edge.over[step] = at < 0 || (at & -kChunk) + kChunk > in.width;
    CONVFILT_UNROLL(4)
    for (int byte = 0; byte < 4; ++byte) {
      edge.columns[step][byte] = edge_column(border, at + byte, in.width, channels);
    }
  }
  return edge;
}

/// Whether load_edge() reads the word.
template <int kSteps>
CONVFILT_DEVICE inline bool is_over(const Edge<kSteps>& edge, int product, int k) {
  return product == k % 2 && edge.first == (product == 0) && edge.over[k / 2];
}

/// One row of a picture, as a plane of its own.
using Line = PlaneView<const std::uint8_t>;

/// Reads the words of a row that reach over the picture's side, sample by sample. The samples are
/// mostly in the cache, since the chunks beside them were copied before.
template <int kSteps>
CONVFILT_DEVICE inline void load_edge(const Line& line, std::uint8_t ghost,
                                      const Edge<kSteps>& edge, Words<kSteps>& words) {
  CONVFILT_UNROLL(kSteps)
  for (int step = 0; step < kSteps; ++step) {
    if (!edge.over[step]) continue;
    std::uint32_t word = 0;
    CONVFILT_UNROLL(4)
    for (int byte = 0; byte < 4; ++byte) {
      word |= std::uint32_t(load_or_ghost(line, edge.columns[step][byte], 0, ghost)) << (8 * byte);
    }
    if (edge.first) {
      words[0][2 * step] = word;
    } else {
      words[1][2 * step + 1] = word;
    }
  }
}

/// A lane's sums by digit, product, and place in its fragment.
template <int kDigits>
using Sums = std::int32_t[kDigits][kProducts][4];

/// sums[kDigit] = start + rows of segments times the banded matrices of that digit.
template <int kDigit, int kDigits, int kSteps, int kHeight, int kPairs>
CONVFILT_DEVICE inline void multiply_rows(const Words<kSteps> (&ring)[kPairs][2], int first,
                                          const std::uint32_t (&matrices)[kHeight][kDigits][kSteps],
                                          const std::int32_t (&start)[kDigits][4],
                                          Sums<kDigits>& sums) {
  using Digit =
      std::conditional_t<kDigit == kDigits - 1, std::int8_t, std::uint8_t>;  // the top's sign
  CONVFILT_UNROLL(kProducts)
  for (int product = 0; product < kProducts; ++product) {
    mma<Digit>(sums[kDigit][product], ring[first / 2 % kPairs][first % 2][product],
               matrices[0][kDigit], start[kDigit]);
  }
  CONVFILT_UNROLL(kHeight)
  for (int j = 1; j < kHeight; ++j) {
    CONVFILT_UNROLL(kProducts)
    for (int product = 0; product < kProducts; ++product) {
      mma<Digit>(sums[kDigit][product], ring[(first + j) / 2 % kPairs][(first + j) % 2][product],
                 matrices[j][kDigit]);
    }
  }
}

/// The digits' sums of a lane's output number k.
template <int kDigits>
CONVFILT_DEVICE inline DigitSums<kDigits> digit_sums(const Sums<kDigits>& sums, int k) {
  return {sums[kDigits - 1][k / 4][k % 4], sums[kDigits / 2][k / 4][k % 4], sums[0][k / 4][k % 4]};
}

/// The columns of a row that a warp writes.
struct Columns {
  int from, to;
  bool all;  ///< whether all 256 are among them, and two may be stored at once
};

/// Ends a lane's sums of a row, whose first output is x.
template <bool kPlain, int kDigits>
CONVFILT_DEVICE inline void end_row(std::uint8_t* row, const MaskArgument& mask, int x,
                                    const Columns& columns, const Sums<kDigits>& sums) {
  std::uint16_t pairs[kProducts * 2];
  const auto end_with = [&](const auto& end) {
    for (int k = 0; k < kProducts * 2; ++k) {
      pairs[k] = saturated_pair(digit_sums<kDigits>(sums, 2 * k).ended(end),
                                digit_sums<kDigits>(sums, 2 * k + 1).ended(end));
    }
  };
  if constexpr (kDigits < 3) {
    end_with(mask.float_end);
  } else if (mask.shift_end.usable) {
    end_with(mask.shift_end);
  } else {
    end_with(mask.end);
  }
  CONVFILT_UNROLL(kProducts * 2)
  for (int k = 0; k < kProducts * 2; ++k) {
    const int at = x + k * 8 * kSegment;
    if (kPlain || columns.all) {
      *reinterpret_cast<std::uint16_t*>(row + at) = pairs[k];
    } else {
      if (at >= columns.from && at < columns.to) row[at] = std::uint8_t(pairs[k]);
      if (at >= columns.from && at + 1 < columns.to) row[at + 1] = std::uint8_t(pairs[k] >> 8);
    }
  }
}

constexpr int kPairsAhead = 3;  // pairs of rows that are being copied

/// State that a lane keeps for its strip.
template <int kDigits, int kSteps, int kHeight>
struct LaneState {
  int chunk_x, first_y;  ///< where its copies begin, and the strip's first row in the input
  int word;              ///< the lane's first word in a copied row
  int rows;              ///< rows of outputs
  Edge<kSteps> edge;
  std::uint8_t* out;  ///< the row of the first output
  int out_x;
  Columns columns;
  std::uint32_t matrices[kHeight][kDigits][kSteps];
};

/// Walks down a strip. kPlain says that all that the strip reads and writes lies in the pictures.
template <bool kPlain, int kDigits, int kSteps, int kHeight, class Tile>
CONVFILT_DEVICE inline void walk_strip(const PlaneView<const std::uint8_t>& in,
                                       std::ptrdiff_t out_stride, std::uint8_t ghost, Border border,
                                       const MaskArgument& mask,
                                       const LaneState<kDigits, kSteps, kHeight>& lane,
                                       Tile& in_tile) {
  constexpr int kPairs = (kHeight + 1) / 2;  // pairs in registers: what two outputs need
  constexpr int kSlots = kPairsAhead + 1;    // pairs in shared memory
  constexpr int kAhead = kPairs - 1 + kPairsAhead;
  const int in_pairs = ceil_div(lane.rows, 2) + kPairs - 1;
  const auto line_of = [&](int row) -> Line {
    int y = lane.first_y + row;
    if (y < 0 || y >= in.height) y = edge_row(border, y, in.height);
    return y < 0 ? Line{} : in.rows(y, 1);
  };
  // Sums begin with the end's start, so that the end need not add it.
  std::int32_t start[kDigits][4] = {};
  for (int k = 0; k < 4; ++k) {
    if constexpr (kDigits < 3) {
      start[kDigits - 1][k] = kept(mask.float_end.start, k);
    } else {
      start[0][k] = kept(mask.shift_end.start, k);
    }
  }
  Line next = kPlain ? in.rows(lane.first_y, 1) : Line{};
  const int copy_x = lane.chunk_x + int(threadIdx.x) * kChunk;
  const bool copies = int(threadIdx.x) < chunks_of(kSteps) &&
                      (kPlain || (copy_x >= 0 && copy_x + kChunk <= in.width));
  std::uint8_t* out = lane.out;
  Words<kSteps> ring[kPairs][2];
  int slot = 0, copy_slot = 0;
  CONVFILT_UNROLL(1)
  for (int from = -ceil_div(kAhead, kPairs) * kPairs; 2 * from < lane.rows; from += kPairs) {
    CONVFILT_UNROLL(kPairs)
    for (int k = 0; k < kPairs; ++k) {
      // Read a pair of rows whose copies have arrived.
      const int pair = from + k, newest = pair + kPairs - 1, ahead = pair + kAhead;
      finish_copies<kPairsAhead - 1>();
      __syncthreads();
      if (newest >= 0 && newest < in_pairs) {
        CONVFILT_UNROLL(2)
        for (int n = 0; n < 2; ++n) {
          auto& words = ring[(k + kPairs - 1) % kPairs][n];
          const Line line = kPlain ? Line{} : line_of(2 * newest + n);
          CONVFILT_UNROLL(kProducts * 2 * kSteps)
          for (int w = 0; w < kProducts * 2 * kSteps; ++w) {
            const int product = w / (2 * kSteps), i = w % (2 * kSteps);
            if (!kPlain && !line.data) {
              words[product][i] = ghost_word(ghost);
              count_ghost_cells(4);
            } else if (kPlain || !is_over(lane.edge, product, i)) {
              words[product][i] = in_tile[2 * slot + n][lane.word + word_at(product, i) / 4];
            }
          }
          if (!kPlain && lane.edge.any && line.data) load_edge(line, ghost, lane.edge, words);
        }
        slot = slot + 1 == kSlots ? 0 : slot + 1;
      }
      // Copy a pair ahead, over the pair that all lanes had read before this barrier.
      if (ahead >= 0 && ahead < in_pairs) {
        CONVFILT_UNROLL(2)
        for (int n = 0; n < 2; ++n) {
          if (!kPlain) next = line_of(2 * ahead + n);
          if (copies && (kPlain || next.data)) {
            copy16(next, copy_x, 0, in_tile, 2 * copy_slot + n, int(threadIdx.x) * 4);
          }
          if (kPlain) next.data += in.stride;
        }
        copy_slot = copy_slot + 1 == kSlots ? 0 : copy_slot + 1;
      }
      commit_copies();
      // Compute two rows.
      if (pair < 0) continue;
      if (2 * pair >= lane.rows) break;
      Sums<kDigits> sums[2];
      CONVFILT_UNROLL(2)
      for (int n = 0; n < 2; ++n) {
        multiply_rows<kDigits - 1>(ring, 2 * k + n, lane.matrices, start, sums[n]);
        if constexpr (kDigits > 1) multiply_rows<0>(ring, 2 * k + n, lane.matrices, start, sums[n]);
        if constexpr (kDigits > 2) multiply_rows<1>(ring, 2 * k + n, lane.matrices, start, sums[n]);
      }
      CONVFILT_UNROLL(2)
      for (int n = 0; n < 2; ++n) {
        if (!kPlain && 2 * pair + n >= lane.rows) break;
        end_row<kPlain, kDigits>(out, mask, lane.out_x, lane.columns, sums[n]);
        out += out_stride;
      }
    }
  }
}

}  // namespace convfilt::CONVFILT_BACKEND::tensor::strips
