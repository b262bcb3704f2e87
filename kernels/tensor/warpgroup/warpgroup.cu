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
//   count. Where half of the last would do, two rows share it. What lies beside the picture is
//   written there first, into its rows' padding. Bands that leave no room for a second block are
//   taken in parts of rows, one after the other, between which a strip's sums wait in memory.
//   Siblings: tensor_strips.cu and tensor.cu, for other devices and narrow pictures.

#include "kernels/tensor/warpgroup/warpgroup.hpp"

#include "kernels/plan/device_plan_base.hpp"
#include "kernels/tensor/warpgroup/colour/colour.hpp"
#include "kernels/tensor/warpgroup/walk.hpp"

namespace convfilt::CONVFILT_BACKEND {
namespace {

/// So many blocks shall fit an SM's registers. `steps`, `height`: what a kernel is compiled for;
/// two steps of masks of any height leave no more in shared memory.
constexpr int blocks_an_sm(int digits, int steps, int height) {
  if (steps > 1 && height == 0) return 4;
  return digits == 2 ? 8 : digits == 1 ? 7 : 6;
}

template <int kDigits, int kSteps, int kHeight>
__global__ void __launch_bounds__(kGroupThreads, blocks_an_sm(kDigits, kSteps, kHeight))
    group_kernel(PlaneView<uint8_t> picture, PlaneView<const uint8_t> samples,
                 PlaneView<uint8_t> out, PlaneView<const uint8_t> band_bytes,
                 PlaneView<int32_t> carried, uint8_t ghost, Border border, int channels,
                 GroupGrid grid, const GroupMask __grid_constant__ mask) {
  if constexpr (kWarpgroupCode) {
    const SharedWords words = shared_words();
    const int from = blockIdx.x / grid.across * grid.rows;
    const GroupPlace place{picture, samples,  out,   ghost,
                           border,  channels, words, words.from(band_bytes.width / 4),
                           carried};
    const int parts = takes_parts(kSteps, kHeight) ? mask.parts : 1;
    CONVFILT_UNROLL(1)
    for (int part = 0; part < parts; ++part) {
      if (part > 0) __syncthreads();  // all are through with the part before
      for (int at = 16 * threadIdx.x; at < band_bytes.width; at += 16 * kGroupThreads) {
        copy16(band_bytes, at, part, words, at / 4);
      }
      walk_down<kDigits, kSteps, kHeight>(place, mask, grid, blockIdx.x % grid.across, part, from,
                                          min(from + grid.rows, out.height));
    }
  }
}

constexpr int kMostWrittenOut = 15;  ///< of kernel_of()'s heights

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
  if (steps == kMostGroupSteps) return group_kernel<kDigits, kMostGroupSteps, 0>;
  return steps == 1 ? kernel_of<kDigits, 1>(height) : kernel_of<kDigits, 2>(height);
}

auto kernel_of(int digits, int steps, int height) {
  if (digits == 1) return kernel_of<1>(steps, height);
  return digits == 2 ? kernel_of<2>(steps, height) : kernel_of<3>(steps, height);
}

/// Bytes of shared memory behind the rows: compute-sanitizer takes a product to read 2,048 bytes in
/// one piece, though a row's segments overlap.
constexpr int kBehindRows = 1024;

/// Of shared memory, so that an SM runs two blocks: what an SM has, less what each block takes for
/// itself.
constexpr int kHalfShared = (228 * 1024) / 2 - 1024;

int group_bytes(const GroupCut& cut, int digits) {
  return group_part_bytes(cut, digits) +
         kept_rows(digits, cut.height) * pitch_words(cut.steps) * 4 + kBehindRows;
}

/// Of a mask whose segments' taps cover so many samples.
GroupCut group_cut(int samples, int height, int digits) {
  GroupCut cut{ceil_div(samples, kGroupStep), 1, height};
  do {
    cut.height = ceil_div(height, cut.parts);
    if (cut.parts > 1) cut.steps = std::max(cut.steps, 2);
    // Loops that are written out take whole steps.
    cut.half = cut.steps * kGroupStep - samples >= kChunk && height > kMostWrittenOut &&
               takes_parts(cut.steps, 0);
    if (cut.half) cut.height |= 1;
  } while (group_bytes(cut, digits) > kHalfShared && ++cut.parts > 0);
  cut.parts = ceil_div(height, cut.height);  // an odd height may need fewer
  return cut;
}

/// Bytes of a row beside its samples: a mask's reach on either side, the last strip's, and what is
/// read of a step behind the taps.
constexpr int kMostSides = 2 * kMostGroupSteps * kGroupStep + kSector;

constexpr int kMostSlack = 3;

/// So that columns and what strips round them up to stay within int.
constexpr int kMostColumns = 1 << 30;

class GroupPlan : public DevicePlan {
 public:
  GroupPlan(const Problem& problem, const PlanOptions& options, PreparedMask<uint8_t> mask,
            bool interleaved)
      : DevicePlan(problem, options,
                   {.width = kMostColumns / problem.channels,
                    .interleaved = interleaved,
                    .sides = kMostSides}),
        mask_(std::move(mask)),
        digits_(signed_digits(mask_)),
        end_(group_end(mask_, digits_)),
        ghost_(ghost_sample<uint8_t>(problem)) {}

 protected:
  void filter(const DevicePlane& in_plane, const DevicePlane& out_plane, Shift shift) override {
    const auto in = in_plane.view<uint8_t>();
    const auto out = out_plane.view<uint8_t>();
    const int dx = (shift.x - mask_.anchor_x) * step();
    const GroupCut cut = cut_from(dx);
    hold_bands(cut, slack_of(dx));
    const int part_bytes = int(bands_.size()) / cut.parts;
    const PlaneView<const uint8_t> bands{reinterpret_cast<const uint8_t*>(buffer_.data()),
                                         part_bytes, cut.parts, part_bytes};
    GroupGrid grid = group_columns(dx, taps(), in.width, out.width);
    const PlaneView<const uint8_t> samples{in.data - grid.lead, grid.read_columns(), in.height,
                                           in.stride};
    const int bytes = group_bytes(cut, digits_);
    const auto kernel = kernel_of(digits_, cut.steps, cut.parts > 1 ? 0 : cut.height);
    const dim3 block(kGroupThreads);
    group_rows_of(grid, group_rows(digits_), cut.height, out.height,
                  blocks_at_once(kernel, block, bytes));
    const int blocks = grid.across * grid.down;
    const PlaneView<int32_t> carried{reinterpret_cast<int32_t*>(carried_.data()), kGroupColumns,
                                     blocks * grid.rows, kGroupColumns};
    GroupMask mask{cut.height, shift.y - mask_.anchor_y, end_, cut.parts, cut.half};
    // Sums that are carried on begin with what is carried.
    if (cut.parts > 1) mask.end.floats.usable = 0;
    launch_shared(dim3(blocks), block, bytes, stream_, kernel, in, samples, out, bands, carried,
                  ghost_, problem_.border, step(), grid, mask);
  }
  /// So that the strips' samples begin at addresses that are multiples of 16.
  int margin(Shift shift) const override { return group_lead((shift.x - mask_.anchor_x) * step()); }
  std::size_t scratch_bytes(int, int out_width, int out_height) const override {
    const GroupCut cut = cut_from(kMostSlack);
    return std::size_t(cut.parts) * group_part_bytes(cut, digits_) +
           carried_bytes(out_width, out_height);
  }
  void allocate_scratch(int, int out_width, int out_height) override {
    hold(carried_, carried_bytes(out_width, out_height));
  }

 private:
  int taps() const { return (mask_.width - 1) * step() + 1; }
  GroupCut cut_from(int dx) const {
    return group_cut(group_samples(dx, taps()), mask_.height, digits_);
  }

  /// Of all strips, whose rows are more than the plane's by less than a strip's.
  std::size_t carried_bytes(int out_width, int out_height) const {
    if (cut_from(kMostSlack).parts == 1) return 0;
    const std::size_t columns = std::size_t(out_width) + 2 * kGroupColumns + kSector;
    const std::size_t rows = std::size_t(out_height) + std::min(out_height + 8, kMostGroupRows);
    return columns * rows * sizeof(int32_t);
  }

  /// They depend on where a piece of the picture begins.
  void hold_bands(const GroupCut& cut, int slack) {
    if (slack == slack_) return;
    bands_ = group_bands_of(mask_, cut, slack, step(), digits_);
    hold(buffer_, bands_.size());
    upload_rows(buffer_.data(), bands_.size(), reinterpret_cast<const std::byte*>(bands_.data()),
                bands_.size(), bands_.size(), 1, stream_);
    slack_ = slack;
  }

  const PreparedMask<uint8_t> mask_;
  const int digits_;
  const GroupEnd end_;
  const uint8_t ghost_;
  int slack_ = -1;  ///< of bands_, which lie in buffer_
  std::vector<uint8_t> bands_;
  DeviceBuffer buffer_;
  DeviceBuffer carried_;  ///< sums between two parts
};

/// Whether so many steps hold a segment's taps, wherever it begins in its words.
bool steps_hold(int steps, int mask_width, int channels) {
  return group_samples(kMostSlack, (mask_width - 1) * channels + 1) <= steps * kGroupStep;
}

}  // namespace

std::unique_ptr<Plan> group_plan(const Problem& problem, const PlanOptions& options) {
  if (auto plan = colour_plan(problem, options)) return plan;
  // Channels of wide masks are taken apart: together their bands would be mostly empty.
  const int width = problem.mask.width;
  const bool interleaved = problem.channels == 1 || steps_hold(2, width, problem.channels);
  if (!steps_hold(kMostGroupSteps, width, 1) || !options.padded_pitch ||
      !strips_fit(std::int64_t(problem.out_width()) * (interleaved ? problem.channels : 1)) ||
      !has_warpgroups(options)) {
    return nullptr;
  }
  return std::make_unique<GroupPlan>(problem, options, prepare_mask<uint8_t>(problem.mask),
                                     interleaved);
}

}  // namespace convfilt::CONVFILT_BACKEND
