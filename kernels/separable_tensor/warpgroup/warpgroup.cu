// separable-tensor, where warpgroups multiply (sm_90): a block walks down a strip of 64 columns.
//
//   The device copies a slice of 32 rows at a time to shared memory on its own. The row pass
//   multiplies the row's banded matrices by it, which gives 64 outputs x 32 rows. In each of its
//   columns of these sums, a lane has just the rows that it needs as its share of the column pass's
//   operand. So row sums stay in registers, two bytes each, for this slice and those above it. The
//   banded matrices of the column come from shared memory. At last the outputs are transposed in
//   matrices of 8 x 8, so that the outputs of a row become neighbours.
//
//      32 rows  +--------+      64 x 32 row sums,   64 x 32 outputs, turned:
//      of       | ====== | -->  two bytes each, --> the last slices' times the
//      samples  +--------+      in registers        column's banded matrices
//
//   Products of 64 x 32 x 32 for 2048 outputs: digits * (steps + 2 * slices), e.g. 14 at 31 taps
//   with weights of two digits; steps of 32 samples cover a strip's outputs and the taps. Global
//   reads per output: 2 * (1 + (h - 1) / rows) up to 62 taps, where one box of 128 samples holds a
//   strip's row. Here h - 1 counts in whole slices.
//   Ghost cells beside the picture are written there first, by a kernel of its own, because strips
//   that did it themselves took three times as long as the others.
//   Sibling: separable_tensor.cu, for other devices.

#include "kernels/separable_tensor/warpgroup/warpgroup.hpp"

#include "kernels/contract/dispatch.hpp"
#include "kernels/plan/device_plan.hpp"
#include "kernels/plan/side_samples.hpp"
#include "kernels/separable_tensor/warpgroup/passes.hpp"

namespace convfilt::CONVFILT_BACKEND::separable_tensor::warpgroup {
namespace {

/// Walks down a strip.
template <int kDigits, int kSteps, int kSlices>
CONVFILT_DEVICE inline void walk_strip(const Block& block, const Grid& grid, int dy,
                                       const Ends& ends, const Strip& strip) {
  const int x = strip.x, boxes = boxes_of(grid);
  const int from = strip.from, to = min(from + strip.rows, block.out.height);
  const int slices = kSlices - 1 + ceil_div(to - from, kRows);
  RowCopies copies(x, from + dy, slices, boxes);
  if (threadIdx.x == 0) start_arrivals(block.arrivals, 0, kAhead + 1);
  __syncthreads();
  CONVFILT_UNROLL(1)
  for (int ahead = 0; ahead < kAhead; ++ahead) {
    copies.copy_slice(block);
  }
  commit_copies();  // the kernel has begun the copies of the matrices
  finish_copies<0>();
  hand_over();
  __syncthreads();
  const RowMatrices<kDigits, kSteps> row_matrices(block.matrices, grid.steps);
  const Operand column_matrices =
      matrix_operand(block.matrices.from(grid.steps * kDigits * (kRowMatrixBytes / 4)));

  Sink sink(block, x, from, to);
  RowSums<kSlices> row_sums;
  const Operand first = box_operand(block.rows);
  int slot = 0, round = 0, stage = threadIdx.x / 32 * 4;
  CONVFILT_UNROLL(1)
  for (int slice = 0; slice < slices; ++slice) {
    // Wait for the newest rows, and multiply them.
    await(block.arrivals, 2 * slot, round);
    __syncthreads();
    int32_t sums[kLaneSums];
    const Operand rows = first.from(slot * boxes * kBoxWords * 4);
    begin_products();
    row_matrices.template multiply_rows<0>(sums, rows);
    commit_products();
    round += slot == kAhead;
    slot = slot == kAhead ? 0 : slot + 1;

    // Meanwhile, copy rows over those that no warp has read since the barrier, and store the
    // outputs that were complete before it.
    copies.copy_slice(block);
    if (slice >= kSlices) sink.store_slice(block);
    finish_rows(sums, row_matrices, rows);
    row_sums.push(ends.rows[0], sums);
    if (slice < kSlices - 1) continue;

    // Multiply the row sums by the column's matrices, and end the sums.
    multiply_columns<kDigits>(sums, row_sums, column_matrices, ends.column_start);
    with_column_end(ends, [&](const auto& end) {
      const auto ended = [&](int k) { return end(sums[k]); };
      uint32_t words[4];
      CONVFILT_UNROLL(4)
      for (int k = 0; k < 4; ++k) {
        words[k] =
            saturated_four(ended(4 * k), ended(4 * k + 2), ended(4 * k + 1), ended(4 * k + 3));
      }
      set_turned(block.stages, stage, kStageWords, words);
    });
    stage += stage < kRows * kStageWords ? kRows * kStageWords : -kRows * kStageWords;
  }
  __syncthreads();
  sink.store_slice(block);
}

/// The most steps whose matrices a lane keeps in registers.
constexpr int kMostKeptSteps = 5;

/// The number of blocks whose registers an SM must hold.
constexpr int blocks_an_sm(int steps) {
  return steps == 3 ? 5 : 4;
}

template <int kDigits, int kSteps, int kSlices>
__global__ void __launch_bounds__(kThreads, blocks_an_sm(kSteps))
    warpgroup_kernel(const BoxSource __grid_constant__ samples, int height, PlaneView<uint8_t> out,
                     PlaneView<const uint8_t> matrices, uint8_t ghost, Border border, int dy,
                     Grid grid, const Ends __grid_constant__ ends) {
  if constexpr (kWarpgroupCode) {
    const SharedWords rows = box_words(shared_words());
    const SharedWords matrix_words = rows.from((kAhead + 1) * boxes_of(grid) * kBoxWords);
    const SharedWords stages = matrix_words.from(matrices.width / 4);
    const SharedWords arrivals = stages.from(kStages * kRows * kStageWords);
    const Block block{samples, height, out, ghost, border, rows, matrix_words, stages, arrivals};
    for (int at = 16 * threadIdx.x; at < matrices.width; at += 16 * kThreads) {
      copy16(matrices, at, 0, matrix_words, at / 4);
    }
    walk_strip<kDigits, kSteps, kSlices>(block, grid, dy, ends, grid.strip(blockIdx.x));
  }
}

/// Fewer steps than slices + 1 are rounded up, since few masks are so much higher than wide. Only
/// small masks have weights of one digit.
auto kernel_for(int digits, int steps, int slices) {
  static_assert(kMostKeptSteps == 5);
  return with_least<2, 3, 4, 5>(slices, [&](auto known_slices) {
    return with_least<3, 4, 5, 0>(std::max(steps, slices + 1), [&](auto known_steps) {
      constexpr int kSlices = known_slices(), kSteps = known_steps() > kSlices ? known_steps() : 0;
      if constexpr (kSlices == 2) {
        if (digits == 1) return warpgroup_kernel<1, kSteps, kSlices>;
      }
      return warpgroup_kernel<2, kSteps, kSlices>;
    });
  });
}

/// The steps of the kernel that takes this many steps.
int compiled_steps(int steps, int slices) {
  const int least = std::max(steps, slices + 1);
  return least <= kMostKeptSteps ? least : ceil_div(steps, kStepsTogether) * kStepsTogether;
}

class WarpgroupPlan : public DevicePlan {
 public:
  WarpgroupPlan(const Problem& problem, const PlanOptions& options,
                const SeparableMask<uint8_t>& mask)
      : DevicePlan(problem, options,
                   {.width = kMostColumns / problem.channels,
                    .interleaved = true,
                    .sides = most_sides(problem),
                    .brings_rows = true}),
        term_(mask.terms.front()),
        ends_(ends_of(mask)),
        slices_(std::max(2, slices_for(mask.height()))),
        digits_(slices_ == 2 ? digits_of(mask) : 2),
        ghost_(ghost_sample<uint8_t>(problem)) {}

 protected:
  void filter(const DevicePlane& in_plane, const DevicePlane& out_plane, Shift shift) override {
    const auto in = in_plane.view<uint8_t>();
    const auto out = out_plane.view<uint8_t>();
    const int dx = dx_of(shift), taps = (problem_.mask.width - 1) * step() + 1;
    const int steps = compiled_steps(steps_for(dx, taps), slices_);
    hold_matrices(dx, steps);
    const auto matrices = view_of<const uint8_t>(buffer_, int(matrices_.size()));
    Grid grid = cut_columns(dx, taps, steps, in.width, out.width);
    const PlaneView<const uint8_t> samples{in.data - grid.lead, grid.read_columns(), in.height,
                                           in.stride};
    const int words =
        kBoxSlack + (kAhead + 1) * (boxes_of(grid) * kBoxWords + 2) + kStages * kRows * kStageWords;
    const int bytes = int(matrices_.size()) + words * 4;
    const auto kernel = kernel_for(digits_, steps, slices_);
    const dim3 block(kThreads);
    cut_rows(grid, slices_, out.height, blocks_at_once(kernel, block, bytes));
    bring_rows(callers(), in, ghost_, problem_.border, step(), grid.left, grid.right, stream_);
    launch_shared(dim3(grid.across * grid.down), block, bytes, stream_, kernel, box_source(samples),
                  in.height, out, matrices, ghost_, problem_.border,
                  shift.y - problem_.mask.anchor_y, grid, ends_);
  }
  /// With this margin the strips' samples begin at addresses that are multiples of 16.
  int margin(Shift shift) const override { return lead_of(dx_of(shift)); }
  std::size_t scratch_bytes(int, int, int) const override {
    return std::size_t(digits_) * (std::size_t(most_steps(problem_)) * kRowMatrixBytes +
                                   std::size_t(slices_) * kColumnMatrixBytes);
  }

 private:
  /// With this limit columns stay within int, even when strips round them up.
  static constexpr int kMostColumns = 1 << 30;

  /// The most steps that a mask needs, wherever in a word its strips' samples begin.
  static int most_steps(const Problem& problem) {
    constexpr int kMostSlack = 3;
    const int steps = steps_for(kMostSlack, (problem.mask.width - 1) * problem.channels + 1);
    return compiled_steps(steps, slices_for(problem.mask.height));
  }
  /// Bytes beside a row's samples that strips read, where the last strip may have a single output.
  static int most_sides(const Problem& problem) {
    const int more_outputs = std::max(0, problem.out_width() - problem.width) * problem.channels;
    return more_outputs + most_steps(problem) * kStep + kColumns;
  }
  int dx_of(Shift shift) const { return (shift.x - problem_.mask.anchor_x) * step(); }

  /// Makes the matrices, unless they are there. They depend on where a piece of the picture begins.
  void hold_matrices(int dx, int steps) {
    if (slack_of(dx) == slack_) return;
    matrices_ = banded_matrices(term_, step(), dx, steps, slices_, digits_);
    hold_copy(buffer_, matrices_);
    slack_ = slack_of(dx);
  }

  const SeparableTerm<uint8_t> term_;
  const Ends ends_;
  const int slices_, digits_;
  const uint8_t ghost_;
  int slack_ = -1;  ///< the slack that matrices_, and their copy in buffer_, were made for
  std::vector<uint8_t> matrices_;
  DeviceBuffer buffer_;
};

}  // namespace

std::unique_ptr<Plan> make_plan(const Problem& problem, const PlanOptions& options,
                                const SeparableMask<uint8_t>& mask) {
  if (!takes(mask) || !has_room_for_sides(options) || !has_warpgroups(options)) return nullptr;
  return std::make_unique<WarpgroupPlan>(problem, options, mask);
}

}  // namespace convfilt::CONVFILT_BACKEND::separable_tensor::warpgroup
