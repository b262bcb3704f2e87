// tensor, for small masks: each warp walks down a strip of 256 columns, alone.
//
//   The products are those of tensor.cu: 16 segments, each of which gives 8 outputs, times a mask
//   row as a banded matrix. Pairs of rows are copied to shared memory ahead of their use, and each
//   row is read from there once: a lane keeps its words of h rows in registers, beside its words of
//   all banded matrices.
//
//       pairs of rows ahead     . . . . . . . .   being copied
//       rows y .. y + h         = = = = = = = =   in registers, a ring: times h banded matrices
//       rows y, y + 1           o o o o o o o o   2 x 256 outputs
//
//   Reads per output: 1.125 * (rows + h - 1) / rows, since a row has 32 columns more than outputs,
//   or 48 where a segment's taps take two steps of 16 samples. Products per 256 outputs:
//   2 * h * digits, each of one step or two, e.g. 12 at 3x3 with 16 bits.
//   Channels lie side by side. In colour a banded matrix has gaps, and nothing else changes.
//   Sibling: tensor.cu keeps tiles in shared memory, for masks of any size. walk.hpp has the walk.

#include "kernels/tensor/strips/strips.hpp"

#include "kernels/backend/shared_words.hpp"
#include "kernels/contract/dispatch.hpp"
#include "kernels/plan/even_rows.hpp"
#include "kernels/tensor/strips/walk.hpp"
#include "kernels/tensor/warpgroup/warpgroup.hpp"

namespace convfilt::CONVFILT_BACKEND::tensor::strips {
namespace {

using std::uint32_t;
using std::uint8_t;

/// How strips cover a plane.
struct Grid {
  int rows;  ///< rows of outputs of a strip
  int down;  ///< strips one below the other
  int channels;
};

/// The number of warps whose registers an SM must hold.
constexpr int warps_an_sm(int digits, int steps, int height) {
  if (steps == 1) return height <= 5 ? 20 : height + digits > 10 ? 14 : 16;
  return height <= 3 ? 16 : height <= 5 ? 12 : 8;
}

/// A block's strip.
struct StripPosition {
  int across, down;
};

/// Strips at the picture's sides come first, since they take longest.
CONVFILT_DEVICE inline StripPosition position_of(int block, int across, int down) {
  if (across < 3) return {block % across, block / across};
  if (block < 2 * down) return {block % 2 * (across - 1), block / 2};
  block -= 2 * down;
  return {1 + block % (across - 2), block / (across - 2)};
}

template <int kDigits, int kSteps, int kHeight>
__global__ void __launch_bounds__(kLaneCount, warps_an_sm(kDigits, kSteps, kHeight))
    strip_kernel(PlaneView<const uint8_t> in, PlaneView<uint8_t> out, uint8_t ghost, Border border,
                 Grid grid, const MaskArgument __grid_constant__ mask) {
  constexpr int kWords = matrix_words_of(kSteps);
  static_assert(kHeight * kDigits * kWords <= kMostMatrixWords,
                "the matrices exceed the arguments");
  __shared__ SharedTile<uint32_t, 2 * (kPairsAhead + 1), chunks_of(kSteps) * 4> in_tile alignas(
      kChunk);
  // The last strip across begins further left, so that it does not leave the picture.
  const int across = ceil_div(out.width, kWarpColumns);
  const auto [column, group] = position_of(blockIdx.x, across, grid.down);
  const int own_x = column * kWarpColumns;
  const int strip_x = min(own_x, (out.width - kWarpColumns + 3) & ~3);
  const int strip_y = group * grid.rows;
  const int first_x = strip_x + (mask.dx & ~3);

  // Lane 4 * g + t multiplies segments g and g + 8. Its samples begin at a multiple of four.
  const int g = threadIdx.x / 4, t = threadIdx.x % 4;
  LaneState<kDigits, kSteps, kHeight> lane;
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
      own_x == strip_x && strip_x + kWarpColumns <= out.width && lies_at_multiples_of(2, out)};
  CONVFILT_UNROLL(kHeight * kDigits * kSteps)
  for (int k = 0; k < kHeight * kDigits * kSteps; ++k) {
    const int matrix = k / kSteps, step = k % kSteps;
    lane.matrices[matrix / kDigits][matrix % kDigits][step] =
        mask.matrices[matrix * kWords + step * kStepBytes + 4 * t - g + kSegment - 1];
  }
  const int end_y = lane.first_y + lane.rows + kHeight - 1;
  if (!lane.edge.any && lane.columns.all && lane.rows % 2 == 0 && lane.first_y >= 0 &&
      end_y <= in.height) {
    walk_strip<true>(in, out.stride, ghost, border, mask, lane, in_tile);
  } else {
    walk_strip<false>(in, out.stride, ghost, border, mask, lane, in_tile);
  }
}

static_assert(sizeof(MaskArgument) + kOtherArguments + sizeof(Grid) + sizeof(Border) <= 4096,
              "the kernel's arguments do not fit; make kMostMatrixWords smaller");

MaskArgument mask_argument(const MaskPart<std::uint8_t>& mask, const StripSize& strips,
                           int channels) {
  MaskArgument s{};
  s.dx = mask.dx * channels;
  s.dy = mask.dy;
  s.end = mask.finish;
  s.shift_end = half_to_even(mask.finish);
  s.float_end = float_end(mask.finish, mask.weights, mask.width * mask.height, strips.digits);
  const int words = matrix_words_of(strips.steps);
  for (int j = 0; j < mask.height; ++j) {
    for (int at = 0; at < words; ++at) {
      for (int byte = 0; byte < 4; ++byte) {
        const int i = mask_column(at, byte, s.dx, mask.width, channels);
        if (i < 0) continue;
        const auto weight = std::uint32_t(mask.weight(i, j));
        for (int digit = 0; digit < strips.digits; ++digit) {
          s.matrices[(j * strips.digits + digit) * words + at] |= (weight >> (8 * digit) & 255)
                                                                  << (8 * byte);
        }
      }
    }
  }
  return s;
}

auto kernel_of(const StripSize& s) {
  return with_least<1, 2, 3>(s.digits, [&](auto digits) {
    return with_least<1, 2>(s.steps, [&](auto steps) {
      return with_least<3, 5, 7, 9>(s.height, [&](auto height) {
        constexpr int kWords = height() * digits() * matrix_words_of(steps());
        return strip_kernel < digits(), steps(), kWords <= kMostMatrixWords ? height() : 7 > ;
      });
    });
  });
}

constexpr int kMostRows = 32;  // in a strip; with higher ones the last would end late
constexpr int kLeastRows = 8;

}  // namespace

StripSize size_for(const MaskPart<uint8_t>& mask, int digits, int channels, int out_width,
                   int out_height) {
  StripSize s{digits, steps_of(mask.dx, mask.width, channels), std::max(3, mask.height | 1)};
  // Kernels for one or two digits have only the end in floats. The kernel for three takes all
  // masks.
  if (!float_end(mask.finish, mask.weights, mask.width * mask.height, digits).usable) s.digits = 3;
  if (!mask.first || !mask.last || s.steps > kMostSteps || s.height > kMostHeight ||
      s.height * s.digits * matrix_words_of(s.steps) > kMostMatrixWords) {
    return {};
  }
  const int at_once = blocks_at_once(kernel_of(s), dim3(kLaneCount), 0);
  s.rows = even_rows(out_height, 2, ceil_div(out_width, kWarpColumns), at_once,
                     s.height + 2 * kPairsAhead, {kLeastRows, kMostRows});
  return s;
}

Geometry geometry(const StripSize& strips) {
  Geometry g;
  g.block_columns = g.computing_threads = kLaneCount;
  g.block_rows = 1;
  g.out_columns = kWarpColumns;
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
      std::to_string(strips.digits) + (strips.digits == 1 ? " digit" : " digits") +
      " of base 256. " + warpgroup::kOnWarpgroups;
  return g;
}

bool wide_enough(int in_width, int out_width) {
  // find_edge() expects that a strip reaches over one side at most, by one word a step.
  return in_width >= kWarpColumns + 2 * kMostSteps * kStepBytes && out_width >= kWarpColumns;
}

bool takes(const LaunchJob& job) {
  const auto in = job.input<uint8_t>();
  return wide_enough(in.width, job.out.width) && lies_at_multiples_of(kChunk, in);
}

void filter(const Problem& p, const LaunchJob& job, const StripSize& strips, const Stream& stream) {
  const auto& out = job.output<uint8_t>();
  const Grid grid{strips.rows, ceil_div(out.height, strips.rows), job.channels};
  launch(dim3(ceil_div(out.width, kWarpColumns) * grid.down), dim3(kLaneCount), stream,
         kernel_of(strips), job.input<uint8_t>(), out, job.ghost_cell<uint8_t>(), p.border, grid,
         mask_argument(job.mask_part<uint8_t>(), strips, job.channels));
}

}  // namespace convfilt::CONVFILT_BACKEND::tensor::strips
