// tensor, where warpgroups multiply (sm_90): a block walks down a strip of 1024 columns.
//
//   Rows are copied to shared memory as they lie. There a row's 64 segments of 16 samples, and the
//   16 to 80 samples behind them, already are a matrix, since each segment's samples begin 16 bytes
//   after those of the segment before. A product multiplies them with the banded matrices of all
//   digits for two outputs (or four) one below the other, and the next row adds to the same sums.
//
//       rows being copied       . . . . . . . . . . . .
//       rows y .. y + h         =======(64 x 32)=======   times h mask rows as banded matrices;
//                                                         output y + 1 takes them one row later
//       rows y, y + 1           o o o o o o o o o o o o   2 x 1024 outputs
//
//   Reads per output: (rows + h - 1) / rows. Products of 64 x 32 x 32 * digits per 2 * 1024
//   outputs: (h + 1) * steps, e.g. 4 at 3x3. A step is 32 samples, and the steps must cover 15
//   samples and the mask's width. Where half of the last step is enough, two rows share it. Where
//   banded matrices leave an SM no room for a second block, the mask is taken in parts of rows, one
//   after the other, and between the parts a strip's sums wait in memory.
//
//   Siblings: strips/strips.cu and tensor.cu, for other devices and narrow pictures.

#include "kernels/tensor/warpgroup/warpgroup.hpp"

#include "kernels/contract/dispatch.hpp"
#include "kernels/plan/device_plan.hpp"
#include "kernels/tensor/warpgroup/walk.hpp"

namespace convfilt::CONVFILT_BACKEND::tensor::warpgroup {
namespace {

/// The number of blocks whose registers an SM must hold. `steps` and `height` are what a kernel is
/// compiled for. With two steps and any height shared memory has room for no more than four.
constexpr int blocks_an_sm(int digits, int steps, int height) {
  if (steps > 1 && height == 0) return 4;
  return digits == 2 ? 8 : digits == 1 ? 7 : 6;
}

template <int kDigits, int kSteps, int kHeight>
__global__ void __launch_bounds__(kThreads, blocks_an_sm(kDigits, kSteps, kHeight))
    group_kernel(PlaneView<uint8_t> picture, PlaneView<const uint8_t> samples,
                 PlaneView<uint8_t> out, PlaneView<const uint8_t> matrix_bytes,
                 PlaneView<int32_t> carried, uint8_t ghost, Border border, int channels, Grid grid,
                 const MaskArgument __grid_constant__ mask) {
  if constexpr (kWarpgroupCode) {
    const SharedWords words = shared_words();
    const int from = blockIdx.x / grid.across * grid.rows;
    const BlockData place{picture, samples,  out,   ghost,
                          border,  channels, words, words.from(matrix_bytes.width / 4),
                          carried};
    const int parts = takes_parts(kSteps, kHeight) ? mask.parts : 1;
    CONVFILT_UNROLL(1)
    for (int part = 0; part < parts; ++part) {
      if (part > 0) __syncthreads();  // until all warps have multiplied the part before
      for (int at = 16 * threadIdx.x; at < matrix_bytes.width; at += 16 * kThreads) {
        copy16(matrix_bytes, at, part, words, at / 4);
      }
      walk_down<kDigits, kSteps, kHeight>(place, mask, grid, blockIdx.x % grid.across, part, from,
                                          min(from + grid.rows, out.height));
    }
  }
}

constexpr int kMostUnrolled = 15;  ///< higher masks take kernel_of()'s kernel for any height

auto kernel_of(int digits, int steps, int height) {
  return with_least<1, 2, 3>(digits, [&](auto d) {
    return with_least<1, 2, kMostSteps>(steps, [&](auto s) {
      if constexpr (s() < kMostSteps) {
        if (height == 3) return group_kernel<d(), s(), 3>;
        if (height == 5) return group_kernel<d(), s(), 5>;
        if (height == 7) return group_kernel<d(), s(), 7>;
        if (height == 9) return group_kernel<d(), s(), 9>;
        if (height == 15) return group_kernel<d(), s(), 15>;
      }
      return group_kernel<d(), s(), 0>;
    });
  });
}

/// Bytes of shared memory behind the rows. compute-sanitizer assumes that a product reads 2,048
/// bytes in one piece, although a row's segments overlap.
constexpr int kBehindRows = 1024;

/// The bytes of shared memory that a block may take if an SM shall run two: half of what the SM
/// has, less what the device reserves for a block.
constexpr int kHalfShared = (228 * 1024) / 2 - 1024;

int shared_bytes(const Cut& cut, int digits) {
  return bytes_of_part(cut, digits) + kept_rows(digits, cut.height) * pitch_words(cut.steps) * 4 +
         kBehindRows;
}

/// Cuts a mask whose segments' taps cover that many samples.
Cut cut_mask(int samples, int height, int digits) {
  Cut cut{ceil_div(samples, kStep), 1, height};
  do {
    cut.height = ceil_div(height, cut.parts);
    if (cut.parts > 1) cut.steps = std::max(cut.steps, 2);
    // Only loops that are not unrolled take half steps.
    cut.half = cut.steps * kStep - samples >= kChunk && height > kMostUnrolled &&
               takes_parts(cut.steps, 0);
    if (cut.half) cut.height |= 1;
  } while (shared_bytes(cut, digits) > kHalfShared && ++cut.parts > 0);
  cut.parts = ceil_div(height, cut.height);  // a height made odd may need fewer parts
  return cut;
}

/// Bytes of a row beside its samples: a mask's reach on either side, what the last strip exceeds
/// the picture by, and what a step reads behind the taps.
constexpr int kMostSides = 2 * kMostSteps * kStep + kSector;

constexpr int kMostSlack = 3;

/// With this limit columns stay within int, even when strips round them up.
constexpr int kMostColumns = 1 << 30;

class StripsPlan : public DevicePlan {
 public:
  StripsPlan(const Problem& problem, const PlanOptions& options, PreparedMask<uint8_t> mask,
             bool interleaved)
      : DevicePlan(problem, options,
                   {.width = kMostColumns / problem.channels,
                    .interleaved = interleaved,
                    .sides = kMostSides}),
        mask_(std::move(mask)),
        digits_(signed_digits(mask_)),
        end_(ends_of(mask_, digits_)),
        ghost_(ghost_sample<uint8_t>(problem)) {}

 protected:
  void filter(const DevicePlane& in_plane, const DevicePlane& out_plane, Shift shift) override {
    const auto in = in_plane.view<uint8_t>();
    const auto out = out_plane.view<uint8_t>();
    const int dx = (shift.x - mask_.anchor_x) * step();
    const Cut cut = cut_from(dx);
    hold_matrices(cut, slack_of(dx));
    const auto matrices =
        view_of<const uint8_t>(buffer_, int(matrices_.size()) / cut.parts, cut.parts);
    Grid grid = cover_columns(dx, taps(), in.width, out.width);
    const PlaneView<const uint8_t> samples{in.data - grid.lead, grid.read_columns(), in.height,
                                           in.stride};
    const int bytes = shared_bytes(cut, digits_);
    const auto kernel = kernel_of(digits_, cut.steps, cut.parts > 1 ? 0 : cut.height);
    const dim3 block(kThreads);
    cover_rows(grid, rows_together(digits_), cut.height, out.height,
               blocks_at_once(kernel, block, bytes));
    const int blocks = grid.across * grid.down;
    const auto carried = view_of<int32_t>(carried_, kColumns, blocks * grid.rows);
    MaskArgument mask{cut.height, shift.y - mask_.anchor_y, end_, cut.parts, cut.half};
    // Sums that are carried from part to part cannot begin with the starts that an end in floats
    // needs.
    if (cut.parts > 1) mask.end.floats.usable = 0;
    launch_shared(dim3(blocks), block, bytes, stream_, kernel, in, samples, out, matrices, carried,
                  ghost_, problem_.border, step(), grid, mask);
  }
  /// With this margin the strips' samples begin at addresses that are multiples of 16.
  int margin(Shift shift) const override { return lead_of((shift.x - mask_.anchor_x) * step()); }
  std::size_t scratch_bytes(int, int out_width, int out_height) const override {
    const Cut cut = cut_from(kMostSlack);
    return std::size_t(cut.parts) * bytes_of_part(cut, digits_) +
           carried_bytes(out_width, out_height);
  }
  void allocate_scratch(int, int out_width, int out_height) override {
    hold(carried_, carried_bytes(out_width, out_height));
  }

 private:
  int taps() const { return (mask_.width - 1) * step() + 1; }
  Cut cut_from(int dx) const {
    return cut_mask(segment_samples(dx, taps()), mask_.height, digits_);
  }

  /// Bytes of all strips' sums. Their rows exceed the plane's by less than a strip's height.
  std::size_t carried_bytes(int out_width, int out_height) const {
    if (cut_from(kMostSlack).parts == 1) return 0;
    const std::size_t columns = std::size_t(out_width) + 2 * kColumns + kSector;
    const std::size_t rows = std::size_t(out_height) + std::min(out_height + 8, kMostRows);
    return columns * rows * sizeof(int32_t);
  }

  /// Uploads the banded matrices, which depend on where a piece of the picture begins.
  void hold_matrices(const Cut& cut, int slack) {
    if (slack == slack_) return;
    matrices_ = banded_matrices(mask_, cut, slack, step(), digits_);
    hold_copy(buffer_, matrices_);
    slack_ = slack;
  }

  const PreparedMask<uint8_t> mask_;
  const int digits_;
  const Ends end_;
  const uint8_t ghost_;
  int slack_ = -1;  ///< the slack that matrices_, and their copy in buffer_, were made for
  std::vector<uint8_t> matrices_;
  DeviceBuffer buffer_;
  DeviceBuffer carried_;  ///< sums between two parts
};

/// Whether that many steps cover a segment's taps, whatever the slack is.
bool steps_hold(int steps, int mask_width, int channels) {
  return segment_samples(kMostSlack, (mask_width - 1) * channels + 1) <= steps * kStep;
}

/// Wide masks take channels as planes, since a banded matrix over all channels is mostly zeros.
bool interleaves(const Problem& problem) {
  return problem.channels == 1 || steps_hold(2, problem.mask.width, problem.channels);
}

}  // namespace

bool takes(const Problem& problem) {
  if (colour::takes(problem)) return true;
  const std::int64_t samples_of_a_pixel = interleaves(problem) ? problem.channels : 1;
  return steps_hold(kMostSteps, problem.mask.width, 1) &&
         strips_fit(problem.out_width() * samples_of_a_pixel);
}

std::unique_ptr<Plan> make_plan(const Problem& problem, const PlanOptions& options) {
  if (!options.padded_pitch || !has_warpgroups(options) || !takes(problem)) return nullptr;
  if (colour::takes(problem)) return colour::make_plan(problem, options);
  return std::make_unique<StripsPlan>(problem, options, prepare_mask<uint8_t>(problem.mask),
                                      interleaves(problem));
}

}  // namespace convfilt::CONVFILT_BACKEND::tensor::warpgroup
