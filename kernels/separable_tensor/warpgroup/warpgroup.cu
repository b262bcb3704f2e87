// separable-tensor, where warpgroups multiply (sm_90): a block walks down a strip of 64 columns.
//
//   The device copies 32 rows at a time to shared memory on its own. The row pass multiplies the
//   row's band with them: 64 outputs x 32 rows. A lane has of its sums such rows of
//   one column as it needs of the other operand of the column pass, so that what lies between the
//   passes stays in registers: two bytes a sample, of this group of rows and those above it. The
//   column's band is out of shared memory again. A last turn of 8 x 8 outputs makes neighbours of
//   the same row's.
//
//      32 rows  +--------+      64 x 32 sums,       64 x 32 outputs, turned:
//      of       | ====== | -->  two bytes each, --> the last groups' times
//      samples  +--------+      in registers        the column's bands
//
//   Products of 64 x 32 x 32 per 2048 outputs: digits * (steps + 2 * blocks), e.g. 14 at 31 taps
//   with weights of two digits; steps are of 32 samples, of which a strip's outputs and the taps
//   count, blocks groups of 32 rows. Global reads per output: 2 * (1 + (h - 1) / rows) to 33 taps.
//   What lies beside the picture is written there first, by a
//   kernel of its own: strips that did it took three times as long as the others. Sibling:
//   separable_tensor.cu, for other devices.

#include "kernels/separable_tensor/warpgroup/warpgroup.hpp"

#include "kernels/plan/device_plan_base.hpp"
#include "kernels/plan/side_samples.hpp"
#include "kernels/separable_tensor/warpgroup/walk.hpp"

namespace convfilt::CONVFILT_BACKEND {
namespace {

/// Steps whose bands a lane keeps in registers, and so many blocks shall fit an SM's registers.
constexpr int kMostKeptSteps = 5;
constexpr int blocks_an_sm(int steps) {
  return steps == 3 ? 5 : 4;
}

template <int kDigits, int kSteps, int kBlocks>
__global__ void __launch_bounds__(kPassThreads, blocks_an_sm(kSteps))
    separable_group_kernel(const BoxSource __grid_constant__ samples, int height,
                           PlaneView<uint8_t> out, PlaneView<const uint8_t> bands, uint8_t ghost,
                           Border border, int dy, PassGrid grid,
                           const LineEnds __grid_constant__ ends) {
  if constexpr (kWarpgroupCode) {
    const SharedWords rows = box_words(shared_words());
    const SharedWords band_words = rows.from((kPassAhead + 1) * boxes_of(grid) * kBoxWords);
    const SharedWords stages = band_words.from(bands.width / 4);
    const SharedWords arrivals = stages.from(kStages * kPassRows * kStageWords);
    const PassPlace place{samples, height, out, ghost, border, rows, band_words, stages, arrivals};
    for (int at = 16 * threadIdx.x; at < bands.width; at += 16 * kPassThreads) {
      copy16(bands, at, 0, band_words, at / 4);
    }
    walk_passes<kDigits, kSteps, kBlocks>(place, grid, dy, ends, grid.strip(blockIdx.x));
  }
}

template <int kSteps, int kBlocks>
auto kernel_for(int digits) {
  // Weights of one digit are those of small masks.
  if constexpr (kBlocks == 2) {
    if (digits == 1) return separable_group_kernel<1, kSteps, kBlocks>;
  }
  return separable_group_kernel<2, kSteps, kBlocks>;
}

/// kLeast: fewer steps are rounded up, since few masks are so much higher than wide.
template <int kBlocks, int kLeast = kBlocks + 1>
auto kernel_for(int digits, int steps) {
  if constexpr (kLeast > kMostKeptSteps) {
    return kernel_for<0, kBlocks>(digits);
  } else {
    if (steps <= kLeast) return kernel_for<kLeast, kBlocks>(digits);
    return kernel_for<kBlocks, kLeast + 1>(digits, steps);
  }
}

auto kernel_for(int digits, int steps, int blocks) {
  if (blocks == 2) return kernel_for<2>(digits, steps);
  if (blocks == 3) return kernel_for<3>(digits, steps);
  return blocks == 4 ? kernel_for<4>(digits, steps) : kernel_for<5>(digits, steps);
}

/// The steps that the kernel for so many takes.
int compiled_steps(int steps, int blocks) {
  const int least = std::max(steps, blocks + 1);
  return least <= kMostKeptSteps ? least : ceil_div(steps, kPassStepsTogether) * kPassStepsTogether;
}

class SeparableGroupPlan : public DevicePlan {
 public:
  SeparableGroupPlan(const Problem& problem, const PlanOptions& options,
                     const SeparableMask<uint8_t>& mask)
      : DevicePlan(problem, options,
                   {.width = kMostColumns / problem.channels,
                    .interleaved = true,
                    .sides = most_sides(problem)}),
        term_(mask.terms.front()),
        ends_(line_ends(mask)),
        blocks_(std::max(2, pass_blocks(mask.height()))),
        digits_(blocks_ == 2 ? digits_of(mask) : 2),
        ghost_(ghost_sample<uint8_t>(problem)) {}

 protected:
  void filter(const DevicePlane& in_plane, const DevicePlane& out_plane, Shift shift) override {
    const auto in = in_plane.view<uint8_t>();
    const auto out = out_plane.view<uint8_t>();
    const int dx = dx_of(shift), taps = (problem_.mask.width - 1) * step() + 1;
    const int steps = compiled_steps(pass_steps(dx, taps), blocks_);
    hold_bands(dx, steps);
    const PlaneView<const uint8_t> bands{reinterpret_cast<const uint8_t*>(buffer_.data()),
                                         int(bands_.size()), 1, std::ptrdiff_t(bands_.size())};
    PassGrid grid = pass_columns(dx, taps, steps, in.width, out.width);
    const PlaneView<const uint8_t> samples{in.data - grid.lead, grid.read_columns(), in.height,
                                           in.stride};
    const int words = kBoxSlack + (kPassAhead + 1) * (boxes_of(grid) * kBoxWords + 2) +
                      kStages * kPassRows * kStageWords;
    const int bytes = int(bands_.size()) + words * 4;
    const auto kernel = kernel_for(digits_, steps, blocks_);
    const dim3 block(kPassThreads);
    pass_rows_of(grid, blocks_, out.height, blocks_at_once(kernel, block, bytes));
    write_sides(in, ghost_, problem_.border, step(), grid.left, grid.right, stream_);
    launch_shared(dim3(grid.across * grid.down), block, bytes, stream_, kernel, box_source(samples),
                  in.height, out, bands, ghost_, problem_.border, shift.y - problem_.mask.anchor_y,
                  grid, ends_);
  }
  /// So that the strips' samples begin at addresses that are multiples of 16.
  int margin(Shift shift) const override { return pass_lead(dx_of(shift)); }
  std::size_t scratch_bytes(int, int, int) const override {
    return std::size_t(digits_) * (std::size_t(most_steps(problem_)) * kRowBandBytes +
                                   std::size_t(blocks_) * kColumnBandBytes);
  }
  void allocate_scratch(int, int, int) override {}

 private:
  /// So that columns and what strips round them up to stay within int.
  static constexpr int kMostColumns = 1 << 30;

  /// Wherever a strip's samples begin in their words.
  static int most_steps(const Problem& problem) {
    constexpr int kMostSlack = 3;
    const int steps = pass_steps(kMostSlack, (problem.mask.width - 1) * problem.channels + 1);
    return compiled_steps(steps, pass_blocks(problem.mask.height));
  }
  /// Bytes of a row beside its samples: what its strips read, the last of which may have one
  /// output.
  static int most_sides(const Problem& problem) {
    const int more_outputs = std::max(0, problem.out_width() - problem.width) * problem.channels;
    return more_outputs + most_steps(problem) * kPassStep + kPassColumns;
  }
  int dx_of(Shift shift) const { return (shift.x - problem_.mask.anchor_x) * step(); }

  /// They depend on where a piece of the picture begins.
  void hold_bands(int dx, int steps) {
    if (slack_of(dx) == slack_) return;
    bands_ = pass_bands(term_, step(), dx, steps, blocks_, digits_);
    hold(buffer_, bands_.size());
    upload_rows(buffer_.data(), bands_.size(), reinterpret_cast<const std::byte*>(bands_.data()),
                bands_.size(), bands_.size(), 1, stream_);
    slack_ = slack_of(dx);
  }

  const SeparableTerm<uint8_t> term_;
  const LineEnds ends_;
  const int blocks_, digits_;
  const uint8_t ghost_;
  int slack_ = -1;  ///< of bands_, which lie in buffer_
  std::vector<uint8_t> bands_;
  DeviceBuffer buffer_;
};

}  // namespace

std::unique_ptr<Plan> separable_group_plan(const Problem& problem, const PlanOptions& options,
                                           const SeparableMask<uint8_t>& mask) {
  if (mask.terms.size() > 1 || !has_room_for_sides(options) || !has_warpgroups(options))
    return nullptr;
  return std::make_unique<SeparableGroupPlan>(problem, options, mask);
}

}  // namespace convfilt::CONVFILT_BACKEND
