// tensor, where warpgroups multiply (sm_90), for three channels: a block walks down a strip of 1024
// pixels, takes their colours apart in shared memory, and joins them there again.
//
//       rows as they lie      rgbrgbrgbrgbrgbrgb...      two rows, being copied
//       planes                rrrrrr  gggggg  bbbbbb     h + 1 rows, and two that are written
//       sums                  rrrrrr, gggggg, bbbbbb     of two rows, one colour after another
//       outputs               rgbrgbrgbrgbrgbrgb...
//
//   A product has the banded matrices on its left: one matrix of 64 rows for two rows' outputs and
//   digits. On its right are 64 segments of 16 pixels, as they lie in a plane (warpgroup.cu). The
//   matrices of small masks stay in registers. Otherwise matrices and pixels together would take
//   all of shared memory's bandwidth, which taking apart needs, too. For masks wider than 17 the
//   third chunks of two rows share a product.
//
//   Reads per output: (rows + h - 1) / rows. Products of 64 x 64 x 32 per 2 * 1024 outputs of a
//   colour, or 4 * 1024 with weights of one digit: h + 1 or h + 3, half as many again where a row
//   takes three chunks. Taking apart and joining take 1.2 instructions an output.
//   Sibling: ../warpgroup.cu, for one channel, and for small masks in colour, which it takes as one
//   wide mask with gaps.

#include "kernels/contract/dispatch.hpp"
#include "kernels/plan/device_plan.hpp"
#include "kernels/plan/side_samples.hpp"
#include "kernels/tensor/warpgroup/colour/walk.hpp"
#include "kernels/tensor/warpgroup/warpgroup.hpp"

namespace convfilt::CONVFILT_BACKEND::tensor::warpgroup::colour {
namespace {

template <int kDigits, int kChunks, int kHeight>
__global__ void __launch_bounds__(kThreads, blocks_an_sm(kDigits, kChunks, kHeight))
    colour_kernel(PlaneView<const uint8_t> samples, PlaneView<uint8_t> out,
                  PlaneView<const uint8_t> matrix_bytes, uint8_t ghost, Border border, Grid grid,
                  const MaskArgument __grid_constant__ mask) {
  if constexpr (kWarpgroupCode) {
    using Shape = StripShape<kDigits, kChunks, kHeight>;
    const SharedWords words = shared_words();
    const BlockData place{
        {}, samples, out, ghost, border, kColours, words.from(Shape::kMatricesAt), words};
    const Strip strip = strip_of<Shape>(grid, blockIdx.x, mask.dy, out.height);
    find_sources<Shape>(place, strip);
    const BandedMatrices<Shape> matrices(place, matrix_bytes);
    with_late_end<kDigits>(mask.end, [&](const auto& end) {
      walk_down<kDigits, colours_at_once(kDigits, kChunks, kHeight)>(place, matrices, end, strip);
    });
  }
}

/// A kernel, and what it is compiled for.
struct Kernel {
  decltype(&colour_kernel<1, 2, 3>) kernel;
  int chunks, height, words, matrix_bytes;
};

/// The kernel of the least height that a mask fits. Zeros below a mask cost as much as its rows,
/// but heights that few masks have share a kernel.
template <int kChunks, int... kHeights>
Kernel lowest(int digits, int mask_height) {
  return with_least<1, 2>(digits, [&](auto known_digits) {
    return with_least<kHeights...>(mask_height, [&](auto height) {
      using Shape = StripShape<known_digits(), kChunks, height()>;
      return Kernel{colour_kernel<known_digits(), kChunks, height()>, kChunks, height(),
                    Shape::kWords, Shape::kAllMatrixBytes};
    });
  });
}

Kernel kernel_for(int digits, int chunks, int height) {
  return chunks == 2 ? lowest<2, 3, 5, 7, 9, 11, 13, 15, 17, 23, 31>(digits, height)
                     : lowest<3, 9, 15, 19, 23, 31>(digits, height);
}

/// Bytes of a row beside its samples: a mask's reach on either side, what the last strip exceeds
/// the picture by, and chunks that are read whole.
constexpr int kMostSides = kColours * (kMaxPartSide + kSector + 2 * kChunk);

/// With this limit columns stay within int, even when strips round them up.
constexpr int kMostPixels = (1 << 30) / kColours;

class ColourPlan : public DevicePlan {
 public:
  ColourPlan(const Problem& problem, const PlanOptions& options, const MaskPart<uint8_t>& mask)
      : DevicePlan(
            problem, options,
            {.width = kMostPixels, .interleaved = true, .sides = kMostSides, .brings_rows = true}),
        mask_(mask),
        digits_(signed_digits(mask)),
        kernel_(kernel_for(digits_, pixel_chunks(mask.width), mask.height)),
        matrices_(banded_matrices(mask, kernel_.height, digits_, kernel_.chunks)),
        mask_argument_{kernel_.height, mask.dy, ends_of(mask, digits_)},
        ghost_(ghost_sample<uint8_t>(problem)) {}

 protected:
  void filter(const DevicePlane& in_plane, const DevicePlane& out_plane, Shift shift) override {
    const auto in = in_plane.view<uint8_t>();
    const auto out = out_plane.view<uint8_t>();
    if (buffer_.size() == 0) hold_copy(buffer_, matrices_);
    const auto matrices = view_of<const uint8_t>(buffer_, int(matrices_.size()));
    const int dx = mask_.dx + shift.x;
    Grid grid = cover_columns(dx, mask_.width, in.width / kColours, out.width / kColours);
    grid.lead = -dx;
    grid.chunks = kernel_.chunks;
    MaskArgument mask = mask_argument_;
    mask.dy += shift.y;
    const PlaneView<const uint8_t> samples{in.data - margin(shift), kColours * grid.read_columns(),
                                           in.height, in.stride};
    bring_rows(callers(), in, ghost_, problem_.border, kColours, kColours * grid.left,
               kColours * grid.right, stream_);
    const int bytes = kernel_.words * int(sizeof(uint32_t));
    const dim3 block(kThreads);
    cover_rows(grid, rows_together(digits_), kernel_.height, out.height,
               blocks_at_once(kernel_.kernel, block, bytes), kMostPixelRows);
    launch_shared(dim3(grid.across * grid.down), block, bytes, stream_, kernel_.kernel, samples,
                  out, matrices, ghost_, problem_.border, grid, mask);
  }
  /// With this margin the strips' samples begin at addresses that are multiples of 16.
  int margin(Shift shift) const override { return -kColours * (mask_.dx + shift.x); }
  std::size_t scratch_bytes(int, int, int) const override { return matrices_.size(); }

 private:
  const MaskPart<uint8_t> mask_;
  const int digits_;
  const Kernel kernel_;
  const std::vector<uint8_t> matrices_;
  const MaskArgument mask_argument_;
  const uint8_t ghost_;
  DeviceBuffer buffer_;  ///< the banded matrices on the device
};

}  // namespace

bool takes(const Problem& problem) {
  if (problem.channels != kColours || !strips_fit(problem.out_width())) return false;
  const auto parts = prepare_mask<uint8_t>(problem.mask).parts();
  const auto& mask = parts.front();
  // A mask that fits one step with gaps between its weights is left to warpgroup.cu, where no
  // pixels need taking apart.
  constexpr int kMostSlack = 3;
  const int with_gaps = segment_samples(kMostSlack, (mask.width - 1) * kColours + 1);
  return parts.size() == 1 && with_gaps > kStep && signed_digits(mask) <= 2;
}

std::unique_ptr<Plan> make_plan(const Problem& problem, const PlanOptions& options) {
  return std::make_unique<ColourPlan>(problem, options,
                                      prepare_mask<uint8_t>(problem.mask).parts().front());
}

}  // namespace convfilt::CONVFILT_BACKEND::tensor::warpgroup::colour
