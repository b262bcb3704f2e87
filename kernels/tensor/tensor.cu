// tensor: 8-bit pictures on tensor cores, which multiply matrices of bytes. It is the Toeplitz form
// of a convolution, as in im2col_strassen, but nothing is unfolded: rows of A overlap in memory.
//
//   A row of A is a segment: the samples that 8 neighbouring outputs need, as they lie in memory.
//   B is one row of the mask as a banded matrix, with a column for each output. A product of 16
//   segments adds one mask row to 128 outputs. A warp has two such products side by side and walks
//   down the mask's rows.
//
//       segment g:   s s s s s s s s s s s s s s s s    (16 a step; segment g + 1: 8 later)
//       column 0 :   w w w . . . . . . . . . . . . .
//       column 1 :   . w w w . . . . . . . . . . . .    ... to column 7
//
//   Weights are written in base 256 with 1 to 3 digits, and the top digit is signed. Each digit has
//   a product of its own. Products per 128 outputs: h * digits * ceil((7 + w) / 16), e.g. 10 at 5x5
//   with 16-bit weights.
//   Siblings: strips/ for small masks, warpgroup/ for devices with warpgroups; tiled-out has the
//   same tile, and a multiply-add for each tap.
//   Source: PTX ISA, "Warp Level Matrix Multiply-Accumulate Instructions". Sums are integers, so no
//   order of additions changes a byte. tile.hpp loads, multiplies and ends.

#include "kernels/backend/devices.hpp"
#include "kernels/backend/shared_words.hpp"
#include "kernels/contract/dispatch.hpp"
#include "kernels/tensor/strips/strips.hpp"
#include "kernels/tensor/tile.hpp"
#include "kernels/tensor/warpgroup/grid.hpp"
#include "kernels/tensor/warpgroup/warpgroup.hpp"

namespace convfilt::CONVFILT_BACKEND::tensor {
namespace {

using std::uint32_t;
using std::uint8_t;

/// kHeight is the greatest height of masks that the kernel takes. Each of `blocks` blocks takes
/// every blocks-th tile. Where shared memory has room for two tiles, a block loads the next one
/// while it multiplies.
template <int kDigits, int kSteps, int kHeight>
__global__ void __launch_bounds__(kWarps* kLaneCount, blocks_an_sm(kDigits))
    tensor_kernel(PlaneView<const uint8_t> in, PlaneView<uint8_t> out,
                  PlaneView<std::int32_t> partial, uint8_t ghost, Border border, HalfToEven end,
                  int channels, int tiles_across, int tiles, int blocks,
                  const MaskPart<uint8_t> __grid_constant__ mask) {
  constexpr int kRows = rows_together(kDigits), kWords = in_words_of(kSteps);
  constexpr int kTiles = tiles_kept(kDigits, kSteps, kHeight), kInRows = kTileRows + kHeight - 1;
  static_assert(shared_bytes_of(kDigits, kSteps, kHeight, kTiles) <= kMostShared,
                "the tile and the matrices exceed static shared memory");
  static_assert(kTileRows % (kWarps * kRows) == 0, "all warps compute the same number of rows");
  __shared__ SharedTile<uint32_t, kTiles * kInRows, kWords> in_tiles alignas(kChunk);
  __shared__ SharedTile<uint32_t, kHeight * kDigits, matrix_words_of(kSteps)> matrices;
  __shared__ SharedTile<std::int32_t, 1, kHeight * kMaxPartSide> weights;

  // Lane 4 * g + t multiplies segments g and g + 8.
  const int g = threadIdx.x / 4, t = threadIdx.x % 4;
  const int dx = mask.dx * channels;  // in samples
  const int word = 2 * g + t + (dx & (kChunk - 1)) / 4;
  const int matrix_at = 4 * t - g + kSegment - 1;
  const bool pairs = out.stride % 2 == 0 && reinterpret_cast<std::uintptr_t>(out.data) % 2 == 0;
  const auto load_tile = [&](int tile, int first_row) {
    const int x = tile % tiles_across * kWarpColumns, y = tile / tiles_across * kTileRows;
    load_chunks<kWords>(in_tiles, first_row, in, border, channels, ghost, (x + dx) & -kChunk,
                        y + mask.dy, kTileRows + mask.height - 1);
  };

  // Load the first tile, from the beginning of a chunk on, and the mask.
  int first_row = 0;
  load_tile(blockIdx.x, first_row);
  commit_copies();
  load_matrices<kDigits, kSteps>(matrices, weights, mask, channels);
  for (int tile = blockIdx.x; tile < tiles; tile += blocks) {
    const int next = tile + blocks, next_row = kInRows - first_row;
    if (kTiles == 2 && next < tiles) load_tile(next, next_row);
    commit_copies();
    finish_copies<kTiles - 1>();  // copies of the next tile may go on
    __syncthreads();

    // Compute a few rows of outputs at a time.
    const int tile_x = tile % tiles_across * kWarpColumns, tile_y = tile / tiles_across * kTileRows;
    CONVFILT_UNROLL(1)
    for (int row = threadIdx.y * kRows; row < kTileRows; row += kWarps * kRows) {
      if (tile_y + row >= out.height) break;
      Sums<kDigits> sums;
      start<kDigits>(sums, end.start);
      const int from = first_row + row;
      if constexpr (kSteps == 1) {
        add_rows<kDigits, 0, 1>(in_tiles, matrices, from, word, matrix_at, mask.height, sums);
      } else {
        add_rows<kDigits, 0, 2>(in_tiles, matrices, from, word, matrix_at, mask.height, sums);
      }
      if constexpr (kSteps == 3) {
        add_rows<kDigits, 2, 1>(in_tiles, matrices, from, word, matrix_at, mask.height, sums);
      }
      const bool whole =
          pairs && tile_x + kWarpColumns <= out.width && tile_y + row + kRows <= out.height;
      end_sums<kDigits>(mask, end, partial, out, tile_x + g * kSegment + 2 * t, tile_y + row, whole,
                        sums);
    }

    // Only after all warps have read the tile may it be overwritten.
    if (next < tiles) __syncthreads();
    if constexpr (kTiles == 2) {
      first_row = next_row;
    } else if (next < tiles) {
      load_tile(next, 0);
    }
  }
}

static_assert(sizeof(MaskPart<uint8_t>) + kOtherArguments + sizeof(Border) + sizeof(HalfToEven) +
                      4 * sizeof(int) <=
                  4096,
              "the kernel's arguments do not fit; make kMaxPartSide smaller");

/// Digits of base 256 that hold all weights. Three suffice, since the sum of |weights| is below
/// 2^30 / 255.
int digits_of(const MaskPart<uint8_t>& mask) {
  int digits = 1;
  for (int k = 0; k < mask.width * mask.height; ++k) {
    for (; digits < 3; ++digits) {
      const int limit = 1 << (8 * digits - 1);
      if (mask.weights[k] >= -limit && mask.weights[k] < limit) break;
    }
  }
  return digits;
}

/// The numbers that the kernel for a mask is compiled for.
struct Compiled {
  int digits, steps, height;
};

constexpr int kFewRows = 15;  // up to this height shared memory mostly has room for two tiles

Compiled compiled_for(int digits, int steps, int height) {
  return {digits, steps, steps < 3 && height <= kFewRows ? kFewRows : kMaxPartSide};
}

auto kernel_for(const Compiled& c) {
  static_assert(kMaxSteps == 3);
  return with_least<1, 2, 3>(c.digits, [&](auto digits) {
    return with_least<1, 2, 3>(c.steps, [&](auto steps) {
      if constexpr (steps() < 3) {
        if (c.height == kFewRows) return tensor_kernel<digits(), steps(), kFewRows>;
      }
      return tensor_kernel<digits(), steps(), kMaxPartSide>;
    });
  });
}

/// A mask in parts is described by its first part, as if that were a mask of its own.
Geometry geometry(const Problem& p, const Tuning&) {
  const auto part = prepare_mask<uint8_t>(p.mask).parts().front();
  Problem first = p;
  if (!part.last) first.mask = make_mask("first part", part.width, part.height, {});
  const int dx = -first.lead_x();
  const int digits = digits_of(part), steps = steps_of(dx, part.width, 1);
  if (const strips::StripSize strips =
          strips::size_for(part, digits, 1, first.out_width(), first.out_height());
      strips.digits > 0 && strips::wide_enough(first.width, first.out_width())) {
    return strips::geometry(strips);
  }
  const Compiled kernel = compiled_for(digits, steps, part.height);
  Geometry g;
  g.block_columns = kLaneCount;
  g.block_rows = kWarps;
  g.loading_threads = g.computing_threads = kWarps * kLaneCount;
  g.out_columns = kWarpColumns;
  g.out_rows = kTileRows;
  g.in_columns = in_words_of(steps) * 4;
  g.in_rows = g.out_rows + part.height - 1;
  g.lead_x = -(dx & -kChunk);
  g.lead_y = first.lead_y();
  g.shared_bytes =
      shared_bytes_of(digits, steps, kernel.height, tiles_kept(digits, steps, kernel.height));
  g.loads = double(g.in_columns) * g.in_rows;
  g.loads_per_output = std::to_string(g.in_columns) + " * (" + std::to_string(g.out_rows) +
                       " + h - 1) / (256 * " + std::to_string(g.out_rows) + ")";
  g.note =
      "Samples are loaded and read four and more at a time, in whole chunks of 16. A weight "
      "has " +
      std::to_string(digits) + (digits == 1 ? " digit" : " digits") +
      " of base 256, a row of the mask " + std::to_string(steps) +
      (steps == 1 ? " step" : " steps") + " of 16 samples: so many products. " +
      warpgroup::kOnWarpgroups;
  return g;
}

void run(const Problem& p, const LaunchJob& job, const Stream& stream) {
  const auto& mask = job.mask_part<uint8_t>();
  if (const strips::StripSize strips =
          strips::size_for(mask, digits_of(mask), job.channels, job.out.width, job.out.height);
      strips.digits > 0 && strips::takes(job)) {
    return strips::filter(p, job, strips, stream);
  }
  HalfToEven end;  // stays unusable where sums are carried on
  if (mask.first && mask.last) end = half_to_even(mask.finish);
  const auto kernel = kernel_for(
      compiled_for(digits_of(mask), steps_of(mask.dx, mask.width, job.channels), mask.height));
  const dim3 block(kLaneCount, kWarps);
  const int across = ceil_div(job.out.width, kWarpColumns);
  const int tiles = across * ceil_div(job.out.height, kTileRows);
  const int blocks = std::min(tiles, blocks_at_once(kernel, block, 0));
  launch(dim3(blocks), block, stream, kernel, job.input<uint8_t>(), job.output<uint8_t>(),
         job.sums<uint8_t>(), job.ghost_cell<uint8_t>(), p.border, end, job.channels, across, tiles,
         blocks, mask);
}

std::string refuses(const Problem& problem, const Tuning& tuning) {
  if (std::string reason = bytes_refuse(problem, "auto"); !reason.empty()) return reason;
  return direct_refuses(problem, tuning);
}

std::unique_ptr<Plan> prepare(const Problem& problem, const PlanOptions& options) {
  if (auto plan = warpgroup::make_plan(problem, options)) return plan;
  // Small masks take channels as they lie. The banded matrices of large masks would then be wide
  // and mostly empty.
  const auto parts = prepare_mask<uint8_t>(problem.mask).parts();
  const strips::StripSize strips =
      strips::size_for(parts.front(), digits_of(parts.front()), problem.channels, 1, 1);
  return make_direct_plan(problem, options, run, {.interleaved = strips.digits > 0});
}

std::string_view kernel_for(const Problem& problem, const CudaDevice& device) {
  return convfilt::has_warpgroups(device) && warpgroup::takes(problem) ? "warpgroups" : "warps";
}

}  // namespace

extern const Strategy strategy{
    .name = "tensor",
    .summary = "8-bit pictures on tensor cores: mask rows as banded matrices of bytes",
    .family = Family::direct,
    .refuses = refuses,
    .make_plan = prepare,
    .geometry = geometry,
    .needs = {.major = kTensorCoreMajor},
    .kernel_for = kernel_for,
};

}  // namespace convfilt::CONVFILT_BACKEND::tensor
