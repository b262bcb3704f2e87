// tensor, where warpgroups multiply (sm_90): a block walks down a strip of 1024 columns.
//
//   Rows are copied to shared memory as they lie. A row's 64 segments of 16 samples and the 16
//   or 48 behind them are a matrix there without another copy: each segment's samples begin 16
//   bytes after those before it. A product multiplies them with the bands of all digits for two
//   outputs (or four) one below the other, and the next row adds to the same sums.
//
//       rows on their way       . . . . . . . . . . . .
//       rows y .. y + h + 1     =======(64 x 32)=======   times bands of h mask rows,
//                                                         those of output y + 1 one row later
//       rows y, y + 1           o o o o o o o o o o o o   2 x 1024 outputs
//
//   Reads per output: (rows + h - 1) / rows. Products of 64 x 32 x 32 * digits per 2 * 1024
//   outputs: (h + 1) * steps, e.g. 4 at 3x3; a step is 32 samples, of which 15 and a mask's width
//   count. What lies beside the picture is written there first, into its rows' padding.
//   Siblings: tensor_strips.cu and tensor.cu, for other devices and narrow pictures.

#include "tensor_groups.hpp"

#include "device_plan_base.hpp"
#include "group_walk.hpp"
#include "tensor_colour.hpp"

namespace convfilt::CONVFILT_BACKEND {
namespace {

/// So many blocks shall fit an SM's registers.
constexpr int blocks_an_sm(int digits) {
  return digits == 2 ? 8 : digits == 1 ? 7 : 6;
}

template <int kDigits, int kSteps, int kHeight>
__global__ void __launch_bounds__(kGroupThreads, blocks_an_sm(kDigits))
    group_kernel(PlaneView<uint8_t> picture, PlaneView<const uint8_t> samples,
                 PlaneView<uint8_t> out, PlaneView<const uint8_t> band_bytes, uint8_t ghost,
                 Border border, int channels, GroupGrid grid,
                 const GroupMask __grid_constant__ mask) {
  if constexpr (kWarpgroupCode) {
    const SharedWords words = shared_words();
    const GroupPlace place{picture, samples,  out,   ghost,
                           border,  channels, words, words.from(band_bytes.width / 4)};
    for (int at = 16 * threadIdx.x; at < band_bytes.width; at += 16 * kGroupThreads) {
      copy16(band_bytes, at, 0, words, at / 4);
    }
    const int from = blockIdx.x / grid.across * grid.rows;
    walk_down<kDigits, kSteps, kHeight>(place, mask, grid, blockIdx.x % grid.across, from,
                                        min(from + grid.rows, out.height));
  }
}

template <int kDigits, int kSteps>
auto kernel_of(int height) {
  if (height == 3) return group_kernel<kDigits, kSteps, 3>;
  if (height == 5) return group_kernel<kDigits, kSteps, 5>;
  if (height == 7) return group_kernel<kDigits, kSteps, 7>;
  if (height == 9) return group_kernel<kDigits, kSteps, 9>;
  if (height == 15) return group_kernel<kDigits, kSteps, 15>;
  return group_kernel<kDigits, kSteps, 0>;
}

template <int kDigits>
auto kernel_of(int steps, int height) {
  return steps == 1 ? kernel_of<kDigits, 1>(height) : kernel_of<kDigits, 2>(height);
}

auto kernel_of(int digits, int steps, int height) {
  if (digits == 1) return kernel_of<1>(steps, height);
  return digits == 2 ? kernel_of<2>(steps, height) : kernel_of<3>(steps, height);
}

/// Bytes of shared memory behind the rows: compute-sanitizer takes a product to read 2,048 bytes in
/// one piece, though a row's segments overlap.
constexpr int kBehindRows = 1024;

/// Bytes of a row beside its samples: a mask's reach on either side, the last strip's, and what is
/// read of a step behind the taps.
constexpr int kMostSides = 2 * kMostGroupSteps * kGroupStep + kSector;

/// So that columns and what strips round them up to stay within int.
constexpr int kMostColumns = 1 << 30;

class GroupPlan : public DevicePlan {
 public:
  GroupPlan(const Problem& problem, const PlanOptions& options, const MaskPart<uint8_t>& mask,
            bool interleaved)
      : DevicePlan(problem, options,
                   {.width = kMostColumns / problem.channels,
                    .interleaved = interleaved,
                    .sides = kMostSides}),
        mask_(mask),
        digits_(signed_digits(mask)),
        end_(group_end(mask, digits_)),
        ghost_(ghost_sample<uint8_t>(problem)) {}

 protected:
  void filter(const DevicePlane& in_plane, const DevicePlane& out_plane, Shift shift) override {
    const auto in = in_plane.view<uint8_t>();
    const auto out = out_plane.view<uint8_t>();
    MaskPart<uint8_t> mask = mask_;
    mask.dx += shift.x;
    mask.dy += shift.y;
    const int dx = mask.dx * step(), taps = (mask.width - 1) * step() + 1;
    const int steps = ceil_div(group_samples(dx, taps), kGroupStep);
    hold_bands(mask, slack_of(dx), steps);
    const PlaneView<const uint8_t> bands{reinterpret_cast<const uint8_t*>(buffer_.data()),
                                         int(bands_.size()), 1, std::ptrdiff_t(bands_.size())};
    GroupGrid grid = group_columns(dx, taps, in.width, out.width);
    const PlaneView<const uint8_t> samples{in.data - grid.lead, grid.read_columns(), in.height,
                                           in.stride};
    const int kept = kept_rows(digits_, mask.height) * pitch_words(steps) * 4;
    const int bytes = int(bands_.size()) + kept + kBehindRows;
    const auto kernel = kernel_of(digits_, steps, mask.height);
    const dim3 block(kGroupThreads);
    group_rows_of(grid, group_rows(digits_), mask.height, out.height,
                  blocks_at_once(kernel, block, bytes));
    launch_shared(dim3(grid.across * grid.down), block, bytes, stream_, kernel, in, samples, out,
                  bands, ghost_, problem_.border, step(), grid,
                  GroupMask{mask.height, mask.dy, end_});
  }
  /// So that the strips' samples begin at addresses that are multiples of 16.
  int margin(Shift shift) const override { return group_lead((mask_.dx + shift.x) * step()); }
  std::size_t scratch_bytes(int, int, int) const override {
    return std::size_t(kMostGroupSteps) * group_bands(digits_, mask_.height) *
           group_band_bytes(digits_);
  }
  void allocate_scratch(int, int, int) override {}

 private:
  /// They depend on where a piece of the picture begins.
  void hold_bands(const MaskPart<uint8_t>& mask, int slack, int steps) {
    if (slack == slack_) return;
    bands_ = group_bands_of(mask, step(), digits_, steps);
    hold(buffer_, bands_.size());
    upload_rows(buffer_.data(), bands_.size(), reinterpret_cast<const std::byte*>(bands_.data()),
                bands_.size(), bands_.size(), 1, stream_);
    slack_ = slack;
  }

  const MaskPart<uint8_t> mask_;
  const int digits_;
  const GroupEnd end_;
  const uint8_t ghost_;
  int slack_ = -1;  ///< of bands_, which lie in buffer_
  std::vector<uint8_t> bands_;
  DeviceBuffer buffer_;
};

/// Whether two steps hold a segment's taps, wherever it begins in its words.
bool steps_hold(int mask_width, int channels) {
  constexpr int kMostSlack = 3;
  return group_samples(kMostSlack, (mask_width - 1) * channels + 1) <= kMostGroupSteps * kGroupStep;
}

}  // namespace

std::unique_ptr<Plan> group_plan(const Problem& problem, const PlanOptions& options) {
  if (auto plan = colour_plan(problem, options)) return plan;
  const auto parts = prepare_mask<uint8_t>(problem.mask).parts();
  // Channels of wide masks are taken apart: together their bands would be mostly empty.
  const int width = parts.front().width;
  const bool interleaved = steps_hold(width, problem.channels);
  if (parts.size() > 1 || !steps_hold(width, 1) || !options.padded_pitch ||
      !strips_fit(std::int64_t(problem.out_width()) * (interleaved ? problem.channels : 1)) ||
      !has_warpgroups(options)) {
    return nullptr;
  }
  return std::make_unique<GroupPlan>(problem, options, parts.front(), interleaved);
}

}  // namespace convfilt::CONVFILT_BACKEND
