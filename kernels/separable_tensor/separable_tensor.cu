// separable-tensor: both passes of a mask of rank 1 to 3 in one kernel, on tensor cores, for 8-bit
// pictures. Row sums never leave the registers.
//
//   A block walks down a strip of columns, a slice of 16 rows a step. The row pass multiplies a
//   banded matrix of row weights by the samples as they lie in memory. Every lane ends up with four
//   rows of one column of its sums. The column pass takes just these as its operand, and multiplies
//   a banded matrix of column weights by them.
//
//      16 rows  +--------+      row sums, 16 bits,      16 rows of outputs:
//      of       | ====== | -->  of the last slices  --> banded matrix x
//      samples  +--------+      of 16 rows              16 h rows above
//
//   Weights and row sums are two digits of base 256 each: 2 products of bytes in the row pass, 4 in
//   the column pass. Multiplications per output and term: 6 * 16 * ceil((15 + taps) / 16), e.g. 288
//   at 31 taps; mma.sync does 2,700 a clock and multiprocessor (measured, H200).
//   Siblings: separable; warpgroup/warpgroup.cu for sm_90.
//   Source: PTX ISA, "Warp Level Matrix Multiply-Accumulate Instructions".

#include <algorithm>
#include <type_traits>

#include "kernels/backend/devices.hpp"
#include "kernels/backend/shared_words.hpp"
#include "kernels/contract/dispatch.hpp"
#include "kernels/plan/device_plan.hpp"
#include "kernels/separable_tensor/mask.hpp"
#include "kernels/separable_tensor/passes.hpp"
#include "kernels/separable_tensor/tile.hpp"
#include "kernels/separable_tensor/warpgroup/warpgroup.hpp"

namespace convfilt::CONVFILT_BACKEND::separable_tensor {
namespace {

using std::uint32_t, std::uint8_t;

/// The number of blocks whose registers an SM must hold.
constexpr int blocks_an_sm(int channels, int slices, int terms) {
  if (slices > 5) return 2;
  if (terms > 1) return slices * terms * channels > 6 ? 2 : 3;
  return slices == 5 && channels > 1 ? 3 : 4;
}

/// kSlices slices cover the taps along either axis, and kDigits digits hold the weights.
template <int kChannels, int kSlices, int kDigits, int kTerms>
__global__ void __launch_bounds__(kThreads, blocks_an_sm(kChannels, kSlices, kTerms))
    separable_tensor_kernel(PlaneView<const uint8_t> in, PlaneView<uint8_t> out, uint8_t ghost,
                            Border border, int strips, int rows, int pixel_chunks,
                            const KernelMask __grid_constant__ mask) {
  using B = Block<kChannels, kSlices>;
  constexpr int kStages = B::kStages, kAhead = B::kAhead, kPerTurn = B::kPerTurn;
  constexpr int kTurnRows = B::kTurnRows;
  constexpr bool kSplit = kChannels > 1;
  __shared__ SharedTile<uint32_t, kStages * kTurnRows, B::kInWords> in_tiles alignas(kChunk);
  __shared__ SharedTile<uint32_t, kSplit ? 2 * kTurnRows : 1, B::kInWords> planes alignas(kChunk);
  __shared__ SharedTile<uint32_t, 2 * kTurnRows, B::kOutWords> out_tiles alignas(kChunk);
  __shared__ SharedTile<uint32_t, 1, B::kInChunks * kSlice> places alignas(kChunk);
  __shared__ SharedTile<std::int32_t, 2 * kTerms, kMostTaps> weights;

  const int tile_x = blockIdx.x % strips * B::kPixels, tile_y = blockIdx.x / strips * rows;
  const int end_y = min(tile_y + rows, out.height);
  const int in_slice = mask.dx & (kSlice - 1);  // where the block's first sample lies in its slice
  const int columns = min(B::kPixels, out.width / kChannels - tile_x);
  const Source source =
      source_of<kChannels>(in, border, ghost, tile_x + mask.dx - in_slice, tile_y + mask.dy,
                           pixel_chunks, ceil_div(in_slice + columns + mask.width - 1, kSlice));
  const Share share = own_share();
  const Sink sink = sink_of<kChannels>(out, tile_x, tile_y, end_y, share);
  // The first slices give row sums but no outputs.
  const int steps = kSlices - 1 + ceil_div(end_y - tile_y, kSlice);
  const int turns = ceil_div(steps, kPerTurn);

  // Load the first rows, and the weights, and make banded matrices of the weights.
  const int chunks = pixel_chunks * kChannels;
  const std::ptrdiff_t in_step = kSlice * in.stride, out_step = kSlice * out.stride;
  std::ptrdiff_t in_at = source.first_place<kChannels>(share), out_at = sink.at;
  const auto load_turn = [&](int turn) {
    const int first_row = int(unsigned(turn) % kStages) * kTurnRows;
    const int first_step = turn * kPerTurn, y = source.first_y + first_step * kSlice;
    if (source.across && y >= 0 && y + kTurnRows <= in.height) {
      CONVFILT_UNROLL(kPerTurn)
      for (int k = 0; k < kPerTurn; ++k) {
        load_whole_slice<B::kInChunks * kChannels>(in_tiles, first_row + k * kSlice, source, chunks,
                                                   share, in_at + k * in_step);
      }
    } else {
      CONVFILT_UNROLL(1)
      for (int k = 0; k < min(kPerTurn, steps - first_step); ++k) {
        load_slice<kChannels>(in_tiles, first_row + k * kSlice, source, (first_step + k) * kSlice,
                              share);
      }
    }
    in_at += kPerTurn * in_step;
  };
  for (int turn = 0; turn < kAhead; ++turn) {
    if (turn < turns) load_turn(turn);
    commit_copies();
  }
  if (source.has_ghosts()) find_places<kChannels>(places, source);
  for (int n = threadIdx.y * kLaneCount + threadIdx.x; n < kMostTaps; n += kThreads) {
    CONVFILT_UNROLL(kTerms)
    for (int term = 0; term < kTerms; ++term) {
      weights[2 * term][n] = mask.rows[term][n];
      weights[2 * term + 1][n] = mask.columns[term][n];
    }
  }
  __syncthreads();
  const int g = threadIdx.x / 4, t = threadIdx.x % 4;
  const int slack = slack_of(mask.dx);
  BandedMatrix<kDigits, kSlices> row_matrices[kTerms], column_matrices[kTerms];
  CONVFILT_UNROLL(kTerms)
  for (int term = 0; term < kTerms; ++term) {
    row_matrices[term] = banded_matrix<WordOrder::neighbours, kDigits, kSlices>(
        weights, 2 * term, mask.width, {slack + column_of(g, 0), slack + column_of(g, 1)});
    column_matrices[term] = banded_matrix<WordOrder::two_and_two, kDigits, kSlices>(
        weights, 2 * term + 1, mask.height, {g, g + 8});
  }

  const int word = in_slice / 4 + threadIdx.y * B::kAcross * 4 + t;
  FourRowSums row_sums[B::kColumnSlices][kHalves][kTerms][kSlices] = {};
  for (int turn = 0; turn <= turns + 1; ++turn) {
    // Load rows ahead, store the outputs of the last turn, and split the channels and fill in the
    // ghost cells of the rows that have arrived.
    finish_copies<kAhead - 1>();
    __syncthreads();
    if (turn + kAhead < turns) load_turn(turn + kAhead);
    commit_copies();
    if (turn > 1) {
      CONVFILT_UNROLL(kPerTurn)
      for (int k = 0; k < kPerTurn; ++k) {
        const int out_slice = (turn - 2) * kPerTurn + k - (kSlices - 1);
        if (out_slice < 0) continue;
        store_slice<B::kOutChunks>(out_tiles, (~turn & 1) * kTurnRows + k * kSlice, sink, share,
                                   out_slice * kSlice, out_at);
        out_at += out_step;
      }
    }
    if (kSplit || source.has_ghosts()) {
      CONVFILT_UNROLL(1)
      for (int step = turn * kPerTurn; step < min(steps, (turn + 1) * kPerTurn); ++step) {
        const int in_turn = (step - turn * kPerTurn) * kSlice;
        const int arrived = int(unsigned(turn) % kStages) * kTurnRows + in_turn;
        if constexpr (kSplit) {
          const int to = (turn & 1) * kTurnRows + in_turn;
          split_channels<B::kPlaneWords>(in_tiles, arrived, planes, to, source, share);
          if (source.has_ghosts()) {
            fill_ghosts<kChannels, B::kPlaneWords>(in_tiles, arrived, planes, to, places, source,
                                                   share, step * kSlice);
          }
        } else {
          fill_ghosts<kChannels, B::kPlaneWords>(in_tiles, arrived, in_tiles, arrived, places,
                                                 source, share, step * kSlice);
        }
      }
    }
    if (turn == 0) continue;

    // Compute the row pass of each slice of rows. Its row sums replace those of the uppermost
    // slice. Compute the column pass as soon as there are enough slices.
    CONVFILT_UNROLL(kPerTurn)
    for (int in_turn = 0; in_turn < kPerTurn; ++in_turn) {
      const int step = (turn - 1) * kPerTurn + in_turn;
      if (step >= steps) break;
      const int slot = kPerTurn > 1 ? in_turn : kSlices - 1;
      if constexpr (kPerTurn == 1) move_down(row_sums);
      const int in_row = kSplit ? ((turn - 1) & 1) * kTurnRows
                                : int(unsigned(turn - 1) % kStages) * kTurnRows + in_turn * kSlice;
      CONVFILT_UNROLL(kChannels)
      for (int channel = 0; channel < kChannels; ++channel) {
        uint32_t words[kHalves][kSlices + B::kAcross - 1];
        if constexpr (kSplit) {
          read_words(planes, in_row + g, channel * B::kPlaneWords + word, words);
        } else {
          read_words(in_tiles, in_row + g, word, words);
        }
        CONVFILT_UNROLL(B::kAcross * kTerms)
        for (int k = 0; k < B::kAcross * kTerms; ++k) {
          const int side = k / kTerms, term = k % kTerms;
          row_pass(row_matrices[term], mask.ends, words, side, slot,
                   row_sums[channel * B::kAcross + side], term);
        }
      }
      if (step < kSlices - 1) continue;

      ColumnSums<B::kColumnSlices> sums;
      CONVFILT_UNROLL(B::kColumnSlices * kHalves)
      for (int k = 0; k < B::kColumnSlices * kHalves; ++k) {
        column_pass(column_matrices, mask.ends.column_start, row_sums[k / 2][k % 2], slot,
                    sums[k / 2][k % 2]);
      }
      uint32_t ends[2][B::kColumnSlices];
      end_columns<B::kColumnSlices>(mask.ends, sums, ends);
      CONVFILT_UNROLL(2)
      for (int lower = 0; lower < 2; ++lower) {
        if constexpr (kSplit) join_three(ends[lower][0], ends[lower][1], ends[lower][2]);
        CONVFILT_UNROLL(B::kColumnSlices)
        for (int k = 0; k < B::kColumnSlices; ++k) {
          const int at = kSplit ? (threadIdx.y * 4 + t) * 3 + k : (threadIdx.y * 2 + k) * 4 + t;
          out_tiles[(turn & 1) * kTurnRows + in_turn * kSlice + lower * 8 + g][at] = ends[lower][k];
        }
      }
    }
  }
}

/// Calls f with the slices, as a constant, of the smallest compiled kernel that has at least that
/// many.
template <int kTerms, class F>
auto with_slices(int slices, F f) {
  if constexpr (kTerms == 1) {
    return with_least<2, 3, 5, kMostSlices>(slices, f);
  } else {
    return with_least<3, 5>(slices, f);
  }
}

/// The number of slices of pixels that a block reads, from the beginning of a slice to the last
/// that its last warp reads.
template <int kChannels, int kTerms>
int pixel_chunks_of(int slices, int dx) {
  const int compiled = with_slices<kTerms>(slices, [](auto known) { return known(); });
  return kWarps * Block<kChannels, 2>::kAcross - 1 + compiled + ((dx & (kSlice - 1)) >= 4 ? 1 : 0);
}

/// The number of blocks for each one that runs at a time. More blocks compute more rows twice,
/// since each begins above its own rows. But blocks at the picture's left and right take longer,
/// and in one round all others would wait for them: 31 taps on 8192x8192 take 3.1 device copies of
/// the picture with 1 and 2.9 with 3 (H200).
constexpr int kRounds = 3;

/// The number of blocks side by side, and the rows of outputs of each block.
struct Grid {
  int strips, rows;
};

/// Cuts a picture into blocks, if `at_once` of them run at a time.
template <int kChannels>
Grid grid_for(int out_width, int out_height, int at_once) {
  const int strips = ceil_div(out_width, Block<kChannels, 2>::kPixels * kChannels);
  const int row_slices = ceil_div(out_height, kSlice);
  const std::int64_t blocks = std::int64_t(kRounds) * at_once;
  const int segments = int(std::clamp<std::int64_t>(blocks / strips, 1, row_slices));
  return {strips, ceil_div(row_slices, segments) * kSlice};
}

/// The geometry of a block with that many rows, for pictures of one channel.
template <int kSlices, int kTerms>
Geometry block_geometry(int pixel_chunks, int rows) {
  using B = Block<1, kSlices>;
  Geometry g;
  g.block_columns = kLaneCount;
  g.block_rows = kWarps;
  g.computing_threads = kThreads;
  g.out_columns = B::kPixels;
  g.out_rows = rows;
  g.shared_bytes = sizeof(std::uint32_t) * ((B::kStages * B::kTurnRows + 1) * B::kInWords +
                                            2 * B::kTurnRows * B::kOutWords +
                                            B::kInChunks * kSlice + 2 * kTerms * kMostTaps);
  // The first slices give no outputs, and a turn is always loaded whole.
  const int steps = ceil_div(kSlices - 1 + rows / kSlice, B::kPerTurn) * B::kPerTurn;
  g.loads = double(pixel_chunks) * kSlice * steps * kSlice;
  g.loads_per_output = std::to_string(pixel_chunks * kSlice) + " * (rows + " +
                       std::to_string((kSlices - 1) * kSlice) + ") / (" +
                       std::to_string(g.out_columns) + " * rows)";
  g.note = "A block walks down its rows, " + std::to_string(B::kTurnRows) +
           " of the input at a time, and keeps what lies between the passes in registers: " +
           std::to_string(rows) + " rows here, on a GPU so many that there are " +
           std::to_string(kRounds) + " blocks for each that runs at a time. " + warpgroup::kNote;
  return g;
}

template <int kChannels, int kTerms>
auto kernel_of(int slices, int digits) {
  constexpr int kMost = most_slices(kChannels, kTerms);
  return with_slices<kTerms>(std::min(slices, kMost), [&](auto compiled) {
    constexpr int kSlices = std::min(compiled(), kMost);
    if constexpr (kTerms == 1) {
      if (digits == 1) return separable_tensor_kernel<kChannels, kSlices, 1, kTerms>;
    }
    return separable_tensor_kernel<kChannels, kSlices, 2, kTerms>;
  });
}

class WarpPlan : public DevicePlan {
 public:
  WarpPlan(const Problem& problem, const PlanOptions& options, const SeparableMask<uint8_t>& mask)
      : DevicePlan(problem, options, {.interleaved = interleaves(problem, mask), .padding = true}),
        mask_(kernel_mask(mask)),
        digits_(digits_of(mask)),
        ghost_(ghost_sample<uint8_t>(problem)) {}

 protected:
  void filter(const DevicePlane& in, const DevicePlane& out, Shift shift) override {
    with_least<1, 2, kMostTerms>(mask_.terms, [&](auto terms) {
      step() == 1 ? filter<1, terms()>(in, out, shift) : filter<3, terms()>(in, out, shift);
    });
  }

 private:
  static bool interleaves(const Problem& p, const SeparableMask<uint8_t>& mask) {
    const int slices = slices_of(p.mask.width, p.mask.height, -p.lead_x());
    return p.channels == 3 && slices <= most_slices(3, int(mask.terms.size()));
  }

  template <int kChannels, int kTerms>
  void filter(const DevicePlane& in, const DevicePlane& out, Shift shift) {
    KernelMask mask = mask_;
    mask.dx = shift.x - problem_.mask.anchor_x;
    mask.dy = shift.y - problem_.mask.anchor_y;
    const int slices = slices_of(mask.width, mask.height, mask.dx);
    const auto kernel = kernel_of<kChannels, kTerms>(slices, digits_);
    const dim3 block(kLaneCount, kWarps);
    const auto [strips, rows] =
        grid_for<kChannels>(out.width, out.height, blocks_at_once(kernel, block, 0));
    launch(dim3(strips * ceil_div(out.height, rows)), block, stream_, kernel,
           in.view<const uint8_t>(), out.view<uint8_t>(), ghost_, problem_.border, strips, rows,
           pixel_chunks_of<kChannels, kTerms>(slices, mask.dx), mask);
  }

  const KernelMask mask_;
  const int digits_;
  const uint8_t ghost_;
};

/// The geometry for pictures of one channel.
Geometry geometry(const Problem& p, const Tuning&) {
  const int dx = -p.lead_x(), slices = slices_of(p.mask.width, p.mask.height, dx);
  return with_least<1, 2, kMostTerms>(
      int(prepare_separable<uint8_t>(p.mask).terms.size()), [&](auto terms) {
        const int at_once =
            blocks_at_once(kernel_of<1, terms()>(slices, 2), dim3(kLaneCount, kWarps), 0);
        return with_slices<terms()>(slices, [&](auto compiled) {
          return block_geometry<compiled(), terms()>(
              pixel_chunks_of<1, terms()>(slices, dx),
              grid_for<1>(p.out_width(), p.out_height(), at_once).rows);
        });
      });
}

std::string refuses(const Problem& problem, const Tuning&) {
  if (std::string reason = bytes_refuse(problem, "separable"); !reason.empty()) return reason;
  if (std::string reason = separable_refuses(problem); !reason.empty()) return reason;
  const auto mask = prepare_separable<uint8_t>(problem.mask);
  const int most = most_slices(1, int(mask.terms.size()));
  if (slices_of(mask.width(), mask.height(), -problem.lead_x()) > most) {
    return "the mask's rank is " + std::to_string(mask.terms.size()) +
           ", and a side has more than " + std::to_string((most - 1) * kSlice - 1) +
           " taps; use --strategy=separable";
  }
  if (!rows_fit(mask)) return "the row pass fills more than 16 bits; use --strategy=separable";
  return "";
}

std::unique_ptr<Plan> prepare(const Problem& problem, const PlanOptions& options) {
  const auto mask = prepare_separable<uint8_t>(problem.mask);
  if (auto plan = warpgroup::make_plan(problem, options, mask)) return plan;
  return std::make_unique<WarpPlan>(problem, options, mask);
}

std::string_view kernel_for(const Problem& problem, const CudaDevice& device) {
  const bool taken = convfilt::has_warpgroups(device) &&
                     warpgroup::takes(prepare_separable<uint8_t>(problem.mask));
  return taken ? "warpgroups" : "warps";
}

}  // namespace

extern const Strategy strategy{
    .name = "separable-tensor",
    .summary = "8-bit pictures, both passes in one kernel on tensor cores",
    .family = Family::separable,
    .refuses = refuses,
    .make_plan = prepare,
    .geometry = geometry,
    .needs = {.major = kTensorCoreMajor},
    .kernel_for = kernel_for,
};

}  // namespace convfilt::CONVFILT_BACKEND::separable_tensor
