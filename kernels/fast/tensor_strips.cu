// tensor, for small masks: each warp walks down a strip of 256 columns, alone.
//
//   The products are tensor.cu's: 16 segments, from which 8 outputs each are computed, times a
//   mask row as a band. Rows are copied to shared memory some pairs ahead, and each is read from
//   there once: a lane keeps its words of the mask's height of rows in registers, with all bands.
//
//       pairs of rows ahead     . . . . . . . .   being copied
//       rows y .. y + h         = = = = = = = =   in registers, a ring: times h bands
//       rows y, y + 1           o o o o o o o o   2 x 256 outputs
//
//   Reads per output: 1.125 * (rows + h) / rows, 16 columns more than outputs. Products per 256
//   outputs: 2 * h * digits, of 16 samples a segment or of 32, e.g. 12 at 3x3 with 16 bits.
//   Channels lie side by side: the band of a picture in colour has gaps, nothing else changes.
//   Sibling: tensor.cu keeps tiles in shared memory, for masks of any size.

#include "tensor_strips.hpp"

#include "bytes.hpp"
#include "float_end.hpp"
#include "half_to_even.hpp"
#include "strip_words.hpp"

namespace convfilt::CONVFILT_BACKEND {
namespace {

using std::uint32_t;
using std::uint8_t;

constexpr int kStripColumns = 256;   // outputs of a warp side by side
constexpr int kMostHeight = 9;       // whose rows and bands fit registers
constexpr int kMostBandWords = 768;  // so that the mask fits a kernel's arguments

/// Words of a band: of all places in a segment's samples less a column's place.
constexpr int band_words_of(int steps) {
  return steps * kStepSamples + 4;
}

/// A mask as the kernel takes it, in samples: channels lie side by side.
struct StripMask {
  int dx, dy;
  FloatEnd float_end;    ///< of one digit and two
  HalfToEven shift_end;  ///< of three, where it is usable
  IntegerFinish end;
  uint32_t bands[kMostBandWords];  ///< of row j and digit d: from (j * digits + d) * words on
};

/// Where the strips lie.
struct StripGrid {
  int rows;  ///< of outputs of a strip
  int down;  ///< strips one below the other
  int channels;
};

constexpr int kPairsAhead = 3;  // of rows being copied

/// So many warps shall fit an SM's registers.
constexpr int warps_an_sm(int digits, int steps, int height) {
  if (steps == 1) return height <= 5 ? 20 : height + digits > 10 ? 14 : 16;
  return height <= 3 ? 16 : height <= 5 ? 12 : 8;
}

/// Sums of a lane, by digit, product, and place in its fragment.
template <int kDigits>
using Sums = std::int32_t[kDigits][kProducts][4];

/// sums[kDigit] = rows of segments times that digit's bands, and its `start`.
template <int kDigit, int kDigits, int kSteps, int kHeight, int kPairs>
CONVFILT_DEVICE inline void multiply(const Words<kSteps> (&ring)[kPairs][2], int first,
                                     const uint32_t (&bands)[kHeight][kDigits][kSteps],
                                     const std::int32_t (&start)[kDigits][4], Sums<kDigits>& sums) {
  using Digit = std::conditional_t<kDigit == kDigits - 1, std::int8_t, uint8_t>;  // the top's sign
  CONVFILT_UNROLL(kProducts)
  for (int product = 0; product < kProducts; ++product) {
    mma<Digit>(sums[kDigit][product], ring[first / 2 % kPairs][first % 2][product],
               bands[0][kDigit], start[kDigit]);
  }
  CONVFILT_UNROLL(kHeight)
  for (int j = 1; j < kHeight; ++j) {
    CONVFILT_UNROLL(kProducts)
    for (int product = 0; product < kProducts; ++product) {
      mma<Digit>(sums[kDigit][product], ring[(first + j) / 2 % kPairs][(first + j) % 2][product],
                 bands[j][kDigit]);
    }
  }
}

/// A lane's sums number k of all digits: their total, and how they end.
template <int kDigits>
struct Sum {
  std::int32_t top, middle = 0, low = 0;

  CONVFILT_DEVICE Sum(const Sums<kDigits>& sums, int k) : top(sums[kDigits - 1][k / 4][k % 4]) {
    if (kDigits > 1) low = sums[0][k / 4][k % 4];
    if (kDigits > 2) middle = sums[kDigits / 2][k / 4][k % 4];
  }
  CONVFILT_DEVICE std::int32_t total() const {
    if (kDigits == 1) return top;
    return kDigits == 2 ? top * 256 + low : (top * 256 + middle) * 256 + low;
  }
  CONVFILT_DEVICE std::int32_t ended(const FloatEnd& end) const {
    return kDigits == 1 ? end(top) : end(top, low);
  }
  CONVFILT_DEVICE std::int32_t ended(const HalfToEven& end) const { return end(total()); }
  CONVFILT_DEVICE std::int32_t ended(const IntegerFinish& end) const { return end(total()); }
};

/// The columns of a row that a warp writes.
struct Columns {
  int from, to;
  bool all;  ///< of its 256, and pairs of them may be stored at once
};

/// Ends a lane's sums of a row, whose first output is x.
template <bool kPlain, int kDigits>
CONVFILT_DEVICE inline void end_row(uint8_t* row, const StripMask& mask, int x,
                                    const Columns& columns, const Sums<kDigits>& sums) {
  std::uint16_t pairs[kProducts * 2];
  const auto end_with = [&](const auto& end) {
    for (int k = 0; k < kProducts * 2; ++k) {
      pairs[k] = saturated_pair(Sum<kDigits>(sums, 2 * k).ended(end),
                                Sum<kDigits>(sums, 2 * k + 1).ended(end));
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
      if (at >= columns.from && at < columns.to) row[at] = uint8_t(pairs[k]);
      if (at >= columns.from && at + 1 < columns.to) row[at + 1] = uint8_t(pairs[k] >> 8);
    }
  }
}

/// A block's strip.
struct Place {
  int across, down;
};

/// Those at the picture's sides come first, since they take longest.
CONVFILT_DEVICE inline Place place_of(int block, int across, int down) {
  if (across < 3) return {block % across, block / across};
  if (block < 2 * down) return {block % 2 * (across - 1), block / 2};
  block -= 2 * down;
  return {1 + block % (across - 2), block / (across - 2)};
}

/// What a lane of a strip begins with.
template <int kDigits, int kSteps, int kHeight>
struct Lane {
  int chunk_x, first_y;  ///< where its copies begin, and the strip's first row in the input
  int word;              ///< the lane's first in a copied row
  int rows;              ///< outputs
  Edge<kSteps> edge;
  uint8_t* out;  ///< row of the first output
  int out_x;
  Columns columns;
  uint32_t bands[kHeight][kDigits][kSteps];
};

/// Walks down a strip. kPlain: all that it reads and writes lies in the pictures.
template <bool kPlain, int kDigits, int kSteps, int kHeight, class Tile>
CONVFILT_DEVICE inline void walk(const PlaneView<const uint8_t>& in, std::ptrdiff_t out_stride,
                                 uint8_t ghost, Border border, const StripMask& mask,
                                 const Lane<kDigits, kSteps, kHeight>& lane, Tile& in_tile) {
  constexpr int kPairs = (kHeight + 1) / 2;  // in registers, as many as two outputs need
  constexpr int kSlots = kPairsAhead + 1;    // in shared memory
  constexpr int kAhead = kPairs - 1 + kPairsAhead;
  const int in_pairs = ceil_div(lane.rows, 2) + kPairs - 1;
  const auto line_of = [&](int row) -> Line {
    int y = lane.first_y + row;
    if (y < 0 || y >= in.height) y = edge_row(border, y, in.height);
    return y < 0 ? Line{} : in.rows(y, 1);
  };
  // What the end wants to have been added costs no addition so.
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
  uint8_t* out = lane.out;
  Words<kSteps> ring[kPairs][2];
  int slot = 0, copy_slot = 0;
  CONVFILT_UNROLL(1)
  for (int from = -ceil_div(kAhead, kPairs) * kPairs; 2 * from < lane.rows; from += kPairs) {
    CONVFILT_UNROLL(kPairs)
    for (int k = 0; k < kPairs; ++k) {
      // Read a pair of rows, whose copies have come.
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
              words[product][i] = ghost * 0x01010101u;
              for (int byte = 0; byte < 4; ++byte) count_ghost_cell();
            } else if (kPlain || !is_over(lane.edge, product, i)) {
              words[product][i] = in_tile[2 * slot + n][lane.word + word_at(product, i) / 4];
            }
          }
          if (!kPlain && lane.edge.any && line.data) load_edge(line, ghost, lane.edge, words);
        }
        slot = slot + 1 == kSlots ? 0 : slot + 1;
      }
      // Copy a pair ahead, over the one that all lanes read before this barrier.
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
        multiply<kDigits - 1>(ring, 2 * k + n, lane.bands, start, sums[n]);
        if constexpr (kDigits > 1) multiply<0>(ring, 2 * k + n, lane.bands, start, sums[n]);
        if constexpr (kDigits > 2) multiply<1>(ring, 2 * k + n, lane.bands, start, sums[n]);
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

template <int kDigits, int kSteps, int kHeight>
__global__ void __launch_bounds__(kLaneCount, warps_an_sm(kDigits, kSteps, kHeight))
    strip_kernel(PlaneView<const uint8_t> in, PlaneView<uint8_t> out, uint8_t ghost, Border border,
                 StripGrid grid, const StripMask __grid_constant__ mask) {
  constexpr int kWords = band_words_of(kSteps);
  static_assert(kHeight * kDigits * kWords <= kMostBandWords, "the bands exceed the arguments");
  __shared__ SharedTile<uint32_t, 2 * (kPairsAhead + 1), chunks_of(kSteps) * 4> in_tile alignas(
      kChunk);
  // The last strip across starts further left, so that it does not leave the picture.
  const int across = ceil_div(out.width, kStripColumns);
  const auto [column, group] = place_of(blockIdx.x, across, grid.down);
  const int own_x = column * kStripColumns;
  const int strip_x = min(own_x, (out.width - kStripColumns + 3) & ~3);
  const int strip_y = group * grid.rows;
  const int first_x = strip_x + (mask.dx & ~3);

  // Lane 4 * g + t multiplies segments g and g + 8, from a multiple of four samples on.
  const int g = threadIdx.x / 4, t = threadIdx.x % 4;
  Lane<kDigits, kSteps, kHeight> lane;
  lane.chunk_x = first_x & -kChunk;
  lane.word = (first_x - lane.chunk_x + kSegment * g + 4 * t) / 4;
  lane.first_y = strip_y + mask.dy;
  lane.rows = min(grid.rows, out.height - strip_y);
  lane.edge =
      find_edge<kSteps>(in, border, grid.channels, lane.chunk_x, first_x + kSegment * g + 4 * t);
  lane.out = out.row(strip_y);
  lane.out_x = strip_x + kSegment * g + 2 * t;
  lane.columns = {
      own_x, out.width,
      own_x == strip_x && strip_x + kStripColumns <= out.width && lies_at_multiples_of(2, out)};
  CONVFILT_UNROLL(kHeight * kDigits * kSteps)
  for (int k = 0; k < kHeight * kDigits * kSteps; ++k) {
    const int band = k / kSteps, step = k % kSteps;
    lane.bands[band / kDigits][band % kDigits][step] =
        mask.bands[band * kWords + step * kStepSamples + 4 * t - g + kSegment - 1];
  }
  const int end_y = lane.first_y + lane.rows + kHeight - 1;
  if (!lane.edge.any && lane.columns.all && lane.rows % 2 == 0 && lane.first_y >= 0 &&
      end_y <= in.height) {
    walk<true>(in, out.stride, ghost, border, mask, lane, in_tile);
  } else {
    walk<false>(in, out.stride, ghost, border, mask, lane, in_tile);
  }
}

static_assert(sizeof(StripMask) + kOtherArguments + sizeof(StripGrid) + sizeof(Border) <= 4096,
              "the kernel's arguments do not fit; make kMostBandWords smaller");

StripMask strip_mask(const MaskPart<uint8_t>& mask, const Strips& strips, int channels) {
  StripMask s{};
  s.dx = mask.dx * channels;
  s.dy = mask.dy;
  s.end = mask.finish;
  s.shift_end = half_to_even(mask.finish);
  s.float_end = float_end(mask.finish, mask.weights, mask.width * mask.height, strips.digits);
  // Place k of column n holds weight i where k = slack + n + i * channels; its word stands at
  // k - n + 7.
  const int words = band_words_of(strips.steps), before = (s.dx & 3) + kSegment - 1;
  for (int j = 0; j < mask.height; ++j) {
    for (int at = 0; at < words; ++at) {
      for (int byte = 0; byte < 4; ++byte) {
        const int place = at - before + byte;
        if (place < 0 || place % channels != 0 || place / channels >= mask.width) continue;
        const auto weight = uint32_t(mask.weight(place / channels, j));
        for (int digit = 0; digit < strips.digits; ++digit) {
          s.bands[(j * strips.digits + digit) * words + at] |= (weight >> (8 * digit) & 255)
                                                               << (8 * byte);
        }
      }
    }
  }
  return s;
}

template <int kDigits, int kSteps>
auto kernel_of(int height) {
  if (height == 3) return strip_kernel<kDigits, kSteps, 3>;
  if (height == 5) return strip_kernel<kDigits, kSteps, 5>;
  if constexpr (9 * kDigits * band_words_of(kSteps) <= kMostBandWords) {
    if (height == 9) return strip_kernel<kDigits, kSteps, 9>;
  }
  return strip_kernel<kDigits, kSteps, 7>;
}

template <int kDigits>
auto kernel_of(const Strips& s) {
  return s.steps == 1 ? kernel_of<kDigits, 1>(s.height) : kernel_of<kDigits, 2>(s.height);
}

auto kernel_of(const Strips& s) {
  if (s.digits == 1) return kernel_of<1>(s);
  return s.digits == 2 ? kernel_of<2>(s) : kernel_of<3>(s);
}

constexpr int kMostRows = 32;  // more: the last strips end late
constexpr int kLeastRows = 8;

}  // namespace

Strips strips_for(const MaskPart<uint8_t>& mask, int digits, int channels, int out_width,
                  int out_height) {
  const int samples = ((mask.dx * channels) & 3) + kSegment + (mask.width - 1) * channels;
  Strips s{digits, ceil_div(samples, kStepSamples), std::max(3, mask.height | 1)};
  // Kernels of one digit and two know one end only; three digits hold all masks.
  if (!float_end(mask.finish, mask.weights, mask.width * mask.height, digits).usable) s.digits = 3;
  if (!mask.first || !mask.last || s.steps > kMaxSteps || s.height > kMostHeight ||
      s.height * s.digits * band_words_of(s.steps) > kMostBandWords) {
    return {};
  }
  // As many rows as let all multiprocessors end together.
  const int across = ceil_div(out_width, kStripColumns);
  const std::int64_t at_once = blocks_at_once(kernel_of(s), dim3(kLaneCount));
  const auto blocks = std::int64_t(across) * ceil_div(out_height, kMostRows);
  const auto down = std::max<std::int64_t>(1, ceil_div(blocks, at_once) * at_once / across);
  const auto rows = ceil_div(out_height, int(down));
  s.rows = std::clamp(ceil_div(rows, 2) * 2, kLeastRows, kMostRows);
  return s;
}

Geometry strip_geometry(const Strips& strips) {
  Geometry g;
  g.block_columns = g.computing_threads = kLaneCount;
  g.block_rows = 1;
  g.out_columns = kStripColumns;
  g.out_rows = strips.rows;
  const int columns = chunks_of(strips.steps) * kChunk;
  g.shared_bytes = std::size_t(columns) * 2 * (kPairsAhead + 1);
  g.loads = double(columns) * (strips.rows + strips.height - 1);
  g.loads_per_output = std::to_string(columns) + " * (rows + h - 1) / (256 * rows)";
  g.note =
      "A block is one warp, which walks down its rows, a pair at a time, and keeps a few in "
      "shared memory: " +
      std::to_string(strips.rows) +
      " rows here, up to 32 where all multiprocessors of a GPU then end together. A weight has " +
      std::to_string(strips.digits) + (strips.digits == 1 ? " digit" : " digits") + " of base 256.";
  return g;
}

bool wide_enough_for_strips(int in_width, int out_width) {
  // So that only the first and the last words of a row of strips reach over the picture's sides.
  return in_width >= kStripColumns + 2 * kMaxSteps * kStepSamples && out_width >= kStripColumns;
}

bool takes_strips(const Pass& pass) {
  const auto in = pass.input<uint8_t>();
  return wide_enough_for_strips(in.width, pass.out.width) && lies_at_multiples_of(kChunk, in);
}

void filter_strips(const Problem& p, const Pass& pass, const Strips& strips, const Stream& stream) {
  const auto& out = pass.output<uint8_t>();
  const StripGrid grid{strips.rows, ceil_div(out.height, strips.rows), pass.channels};
  launch(dim3(ceil_div(out.width, kStripColumns) * grid.down), dim3(kLaneCount), stream,
         kernel_of(strips), pass.input<uint8_t>(), out, pass.ghost_cell<uint8_t>(), p.border, grid,
         strip_mask(pass.mask_part<uint8_t>(), strips, pass.channels));
}

}  // namespace convfilt::CONVFILT_BACKEND
