// separable-tensor: both passes of a mask of rank 1 to 3 in one kernel, on tensor cores, for 8-bit
// pictures. What lies between the passes never leaves the registers.
//
//   A block walks down a strip of columns, 16 rows a step. The row pass multiplies a band of row
//   weights with the samples as they lie in memory; of its sums every lane ends up with four rows
//   of one column, which is what the column pass multiplies with a band of column weights.
//
//      16 rows  +--------+      what lies between,      16 rows of outputs:
//      of       | ====== | -->  16 bits, of the last    band x 16 h rows above
//      samples  +--------+      groups of 16 rows
//
//   Weights and what lies between are two digits of base 256 each: 2 products of bytes in the row
//   pass, 4 in the column pass. Multiplications per output and term: 6 * 16 * ceil((15 + taps) /
//   16), e.g. 288 at 31 taps; mma.sync does 2,700 a clock and multiprocessor (measured, H200).
//   Sibling: separable. Source: PTX ISA, "Warp Level Matrix Multiply-Accumulate Instructions".

#include "kernels/backend/devices.hpp"
#include "kernels/backend/shared_words.hpp"
#include "kernels/plan/device_plan_base.hpp"
#include "kernels/separable_tensor/blocks.hpp"
#include "kernels/separable_tensor/ghosts.hpp"
#include "kernels/separable_tensor/passes.hpp"
#include "kernels/separable_tensor/sink.hpp"
#include "kernels/separable_tensor/warpgroup/warpgroup.hpp"

namespace convfilt::CONVFILT_BACKEND {
namespace {

using std::uint32_t, std::uint8_t;

/// So many blocks shall fit an SM's registers.
constexpr int blocks_an_sm(int channels, int groups, int terms) {
  if (groups > 5) return 2;
  if (terms > 1) return groups * terms * channels > 6 ? 2 : 3;
  return groups == 5 && channels > 1 ? 3 : 4;
}

/// kGroups: of 16 taps, for both lines. kDigits: of both lines' weights.
template <int kChannels, int kGroups, int kDigits, int kTerms>
__global__ void __launch_bounds__(kThreads, blocks_an_sm(kChannels, kGroups, kTerms))
    separable_tensor_kernel(PlaneView<const uint8_t> in, PlaneView<uint8_t> out, uint8_t ghost,
                            Border border, int strips, int rows, int pixel_chunks,
                            const TensorLines __grid_constant__ lines) {
  using T = Tile<kChannels, kGroups>;
  constexpr int kStages = T::kStages, kAhead = T::kAhead, kPerTurn = T::kPerTurn;
  constexpr int kTurnRows = T::kTurnRows;
  constexpr bool kSplit = kChannels > 1;
  __shared__ SharedTile<uint32_t, kStages * kTurnRows, T::kInWords> in_tiles alignas(kChunk);
  __shared__ SharedTile<uint32_t, kSplit ? 2 * kTurnRows : 1, T::kInWords> planes alignas(kChunk);
  __shared__ SharedTile<uint32_t, 2 * kTurnRows, T::kOutWords> out_tiles alignas(kChunk);
  __shared__ SharedTile<uint32_t, 1, T::kInChunks * kGroup> places alignas(kChunk);
  __shared__ SharedTile<std::int32_t, 2 * kTerms, kMostTaps> weights;

  const int tile_x = blockIdx.x % strips * T::kPixels, tile_y = blockIdx.x / strips * rows;
  const int end_y = min(tile_y + rows, out.height);
  const int in_group = lines.dx & (kGroup - 1);  // of the block's first sample
  const int columns = min(T::kPixels, out.width / kChannels - tile_x);
  const Source source =
      source_of<kChannels>(in, border, ghost, tile_x + lines.dx - in_group, tile_y + lines.dy,
                           pixel_chunks, ceil_div(in_group + columns + lines.width - 1, kGroup));
  const Share share = own_share();
  const Sink sink = sink_of<kChannels>(out, tile_x, tile_y, end_y, share);
  // The first groups give no outputs, but what lies between.
  const int steps = kGroups - 1 + ceil_div(end_y - tile_y, kGroup);
  const int turns = ceil_div(steps, kPerTurn);

  // Load the first rows, and the weights; lay the weights out as bands.
  const int chunks = pixel_chunks * kChannels;
  const std::ptrdiff_t in_step = kGroup * in.stride, out_step = kGroup * out.stride;
  std::ptrdiff_t in_at = source.first_place<kChannels>(share), out_at = sink.at;
  const auto load_turn = [&](int turn) {
    const int first_row = int(unsigned(turn) % kStages) * kTurnRows;
    const int first_step = turn * kPerTurn, y = source.first_y + first_step * kGroup;
    if (source.across && y >= 0 && y + kTurnRows <= in.height) {
      CONVFILT_UNROLL(kPerTurn)
      for (int k = 0; k < kPerTurn; ++k) {
        load_whole_group<T::kInChunks * kChannels>(in_tiles, first_row + k * kGroup, source, chunks,
                                                   share, in_at + k * in_step);
      }
    } else {
      CONVFILT_UNROLL(1)
      for (int k = 0; k < min(kPerTurn, steps - first_step); ++k) {
        load_group<kChannels>(in_tiles, first_row + k * kGroup, source, (first_step + k) * kGroup,
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
      weights[2 * term][n] = lines.rows[term][n];
      weights[2 * term + 1][n] = lines.columns[term][n];
    }
  }
  __syncthreads();
  const int g = threadIdx.x / 4, t = threadIdx.x % 4;
  const int slack = slack_of(lines.dx);
  Band<kDigits, kGroups> row_bands[kTerms], column_bands[kTerms];
  CONVFILT_UNROLL(kTerms)
  for (int term = 0; term < kTerms; ++term) {
    row_bands[term] = make_band<Places::neighbours, kDigits, kGroups>(
        weights, 2 * term, lines.width, {slack + column_of(g, 0), slack + column_of(g, 1)});
    column_bands[term] = make_band<Places::two_and_two, kDigits, kGroups>(weights, 2 * term + 1,
                                                                          lines.height, {g, g + 8});
  }

  const int word = in_group / 4 + threadIdx.y * T::kSide * 4 + t;
  Mids mids[T::kBlocks][kHalves][kTerms][kGroups] = {};
  for (int turn = 0; turn <= turns + 1; ++turn) {
    // Load rows ahead, store the outputs of the last turn, make those that have arrived ready.
    finish_copies<kAhead - 1>();
    __syncthreads();
    if (turn + kAhead < turns) load_turn(turn + kAhead);
    commit_copies();
    if (turn > 1) {
      CONVFILT_UNROLL(kPerTurn)
      for (int k = 0; k < kPerTurn; ++k) {
        const int out_group = (turn - 2) * kPerTurn + k - (kGroups - 1);
        if (out_group < 0) continue;
        store_group<T::kOutChunks>(out_tiles, (~turn & 1) * kTurnRows + k * kGroup, sink, share,
                                   out_group * kGroup, out_at);
        out_at += out_step;
      }
    }
    if (kSplit || source.has_ghosts()) {
      CONVFILT_UNROLL(1)
      for (int step = turn * kPerTurn; step < min(steps, (turn + 1) * kPerTurn); ++step) {
        const int in_turn = (step - turn * kPerTurn) * kGroup;
        const int arrived = int(unsigned(turn) % kStages) * kTurnRows + in_turn;
        if constexpr (kSplit) {
          const int to = (turn & 1) * kTurnRows + in_turn;
          split_channels<T::kPlaneWords>(in_tiles, arrived, planes, to, source, share);
          if (source.has_ghosts()) {
            fill_ghosts<kChannels, T::kPlaneWords>(in_tiles, arrived, planes, to, places, source,
                                                   share, step * kGroup);
          }
        } else {
          fill_ghosts<kChannels, T::kPlaneWords>(in_tiles, arrived, in_tiles, arrived, places,
                                                 source, share, step * kGroup);
        }
      }
    }
    if (turn == 0) continue;

    // Compute the row pass of one group of rows after the other, each in the place of the uppermost
    // group, and the column pass, once there are groups enough.
    CONVFILT_UNROLL(kPerTurn)
    for (int in_turn = 0; in_turn < kPerTurn; ++in_turn) {
      const int step = (turn - 1) * kPerTurn + in_turn;
      if (step >= steps) break;
      const int slot = kPerTurn > 1 ? in_turn : kGroups - 1;
      if constexpr (kPerTurn == 1) move_down(mids);
      const int in_row = kSplit ? ((turn - 1) & 1) * kTurnRows
                                : int(unsigned(turn - 1) % kStages) * kTurnRows + in_turn * kGroup;
      CONVFILT_UNROLL(kChannels)
      for (int channel = 0; channel < kChannels; ++channel) {
        uint32_t words[kHalves][kGroups + T::kSide - 1];
        if constexpr (kSplit) {
          read_words(planes, in_row + g, channel * T::kPlaneWords + word, words);
        } else {
          read_words(in_tiles, in_row + g, word, words);
        }
        CONVFILT_UNROLL(T::kSide * kTerms)
        for (int k = 0; k < T::kSide * kTerms; ++k) {
          const int side = k / kTerms, term = k % kTerms;
          row_pass(row_bands[term], lines.ends, words, side, slot, mids[channel * T::kSide + side],
                   term);
        }
      }
      if (step < kGroups - 1) continue;

      ColumnSums<T::kBlocks> sums;
      CONVFILT_UNROLL(T::kBlocks * kHalves)
      for (int k = 0; k < T::kBlocks * kHalves; ++k) {
        column_pass(column_bands, lines.ends.column_start, mids[k / 2][k % 2], slot,
                    sums[k / 2][k % 2]);
      }
      uint32_t ends[2][T::kBlocks];
      end_columns<T::kBlocks>(lines.ends, sums, ends);
      CONVFILT_UNROLL(2)
      for (int lower = 0; lower < 2; ++lower) {
        if constexpr (kSplit) join_three(ends[lower][0], ends[lower][1], ends[lower][2]);
        CONVFILT_UNROLL(T::kBlocks)
        for (int k = 0; k < T::kBlocks; ++k) {
          const int at = kSplit ? (threadIdx.y * 4 + t) * 3 + k : (threadIdx.y * 2 + k) * 4 + t;
          out_tiles[(turn & 1) * kTurnRows + in_turn * kGroup + lower * 8 + g][at] = ends[lower][k];
        }
      }
    }
  }
}

template <int kChannels, int kTerms>
auto kernel_of(int groups, int digits) {
  constexpr int kMost = most_groups(kChannels, kTerms);
  return with_groups<kTerms>(std::min(groups, kMost), [&](auto compiled) {
    constexpr int kGroups = std::min(compiled(), kMost);
    if constexpr (kTerms == 1) {
      if (digits == 1) return separable_tensor_kernel<kChannels, kGroups, 1, kTerms>;
    }
    return separable_tensor_kernel<kChannels, kGroups, 2, kTerms>;
  });
}

class SeparableTensorPlan : public DevicePlan {
 public:
  SeparableTensorPlan(const Problem& problem, const PlanOptions& options,
                      const SeparableMask<uint8_t>& mask)
      : DevicePlan(problem, options, {.interleaved = interleaves(problem, mask), .padding = true}),
        lines_(tensor_lines(mask)),
        digits_(digits_of(mask)),
        ghost_(ghost_sample<uint8_t>(problem)) {}

 protected:
  void filter(const DevicePlane& in, const DevicePlane& out, Shift shift) override {
    with_terms(lines_.terms, [&](auto terms) {
      step() == 1 ? filter<1, terms()>(in, out, shift) : filter<3, terms()>(in, out, shift);
    });
  }

  std::size_t scratch_bytes(int, int, int) const override { return 0; }
  void allocate_scratch(int, int, int) override {}

 private:
  static bool interleaves(const Problem& p, const SeparableMask<uint8_t>& mask) {
    const int groups = groups_of(p.mask.width, p.mask.height, -p.lead_x());
    return p.channels == 3 && groups <= most_groups(3, int(mask.terms.size()));
  }

  template <int kChannels, int kTerms>
  void filter(const DevicePlane& in, const DevicePlane& out, Shift shift) {
    TensorLines lines = lines_;
    lines.dx = shift.x - problem_.mask.anchor_x;
    lines.dy = shift.y - problem_.mask.anchor_y;
    const int groups = groups_of(lines.width, lines.height, lines.dx);
    const auto kernel = kernel_of<kChannels, kTerms>(groups, digits_);
    const dim3 block(kLaneCount, kWarps);
    const auto [strips, rows] =
        blocks_of<kChannels>(out.width, out.height, blocks_at_once(kernel, block, 0));
    launch(dim3(strips * ceil_div(out.height, rows)), block, stream_, kernel,
           in.view<const uint8_t>(), out.view<uint8_t>(), ghost_, problem_.border, strips, rows,
           pixel_chunks_of<kChannels, kTerms>(groups, lines.dx), lines);
  }

  const TensorLines lines_;
  const int digits_;
  const uint8_t ghost_;
};

/// Of one channel.
Geometry geometry(const Problem& p, const Tuning&) {
  const int dx = -p.lead_x(), groups = groups_of(p.mask.width, p.mask.height, dx);
  return with_terms(int(prepare_separable<uint8_t>(p.mask).terms.size()), [&](auto terms) {
    const int at_once =
        blocks_at_once(kernel_of<1, terms()>(groups, 2), dim3(kLaneCount, kWarps), 0);
    return with_groups<terms()>(groups, [&](auto compiled) {
      return block_geometry<compiled(), terms()>(
          pixel_chunks_of<1, terms()>(groups, dx),
          blocks_of<1>(p.out_width(), p.out_height(), at_once).rows);
    });
  });
}

std::string refuses(const Problem& problem, const Tuning&) {
  if (std::string reason = bytes_refuse(problem, "separable"); !reason.empty()) return reason;
  if (std::string reason = separable_refuses(problem); !reason.empty()) return reason;
  const auto mask = prepare_separable<uint8_t>(problem.mask);
  const int most = most_groups(1, int(mask.terms.size()));
  if (groups_of(mask.width(), mask.height(), -problem.lead_x()) > most) {
    return "the mask's rank is " + std::to_string(mask.terms.size()) +
           ", and a side has more than " + std::to_string((most - 1) * kGroup - 1) +
           " taps; use --strategy=separable";
  }
  if (!rows_fit(mask)) return "the row pass fills more than 16 bits; use --strategy=separable";
  return "";
}

std::unique_ptr<Plan> prepare(const Problem& problem, const PlanOptions& options) {
  const auto mask = prepare_separable<uint8_t>(problem.mask);
  if (auto plan = separable_group_plan(problem, options, mask)) return plan;
  return std::make_unique<SeparableTensorPlan>(problem, options, mask);
}

std::string_view kernel_for(const Problem&, const CudaDevice& device) {
  return convfilt::has_warpgroups(device) ? "warpgroups" : "warps";
}

}  // namespace

namespace separable_tensor {
extern const Implementation implementation{
    .name = "separable-tensor",
    .summary = "8-bit pictures, both passes in one kernel on tensor cores",
    .family = Family::separable,
    .refuses = refuses,
    .prepare = prepare,
    .geometry = geometry,
    .needs = {.major = kTensorCoreMajor},
    .kernel_for = kernel_for,
};
}

}  // namespace convfilt::CONVFILT_BACKEND
