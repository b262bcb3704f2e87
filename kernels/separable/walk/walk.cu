// separable's way for square masks of up to 63 taps, of samples that are no bytes: sums of all the
// rows of outputs that a row of samples belongs to stay in registers.
//
//   A block walks down a strip. A lane reads a row's samples around its 16 bytes of outputs from
//   shared memory, and adds their mids to the sums of all rows of outputs that they belong to.
//
//       | s s s s | s s s s | s s s s |   a row in shared memory, copied rows ahead
//                   m m m m               w multiply-adds each
//                   o o o o               h rows of sums, which move down a place as
//                   o o o o               they are added to
//
//   Long masks leave registers for the sums of few columns: the lanes of a warp then share mids,
//   as line_runs.hpp says.
//
//   Global reads per output: (1 + (h - 1) / rows) * (1 + (w + 2) / columns) of 32-bit samples.
//   Multiply-adds per output: (w + h) * (1 + (h - 1) / rows); loads from shared memory:
//   ceil((w + 3) / 4) / 4 of 16 bytes, for 32-bit samples.
//   Sibling: fused_kernel in separable.cu keeps h rows of mids in shared memory, and no sums.
//   What lies beside the picture is written beside its rows first. line_walk.hpp has the kernel,
//   line_rows.hpp loads, line_sums.hpp and line_runs.hpp compute.

#include "kernels/separable/walk/walk.hpp"

#include "kernels/plan/device_plan_base.hpp"
#include "kernels/plan/even_rows.hpp"
#include "kernels/separable/walk/kernel.hpp"

namespace convfilt::CONVFILT_BACKEND {
namespace {

using std::uint16_t;

/// Calls f with what lanes reach for a mask of this side, and the kernel.
template <class T, int kChannels, int kSide = 3, class F>
decltype(auto) with_line(int side, F f) {
  if constexpr (kSide < kLongestLine) {
    constexpr int kNext = line_taps(kSide + 2, sizeof(T) == 4, kChannels);
    if (side > kSide) return with_line<T, kChannels, kNext>(side, f);
  }
  return f(LineReach<T, kSide, kChannels>{}, line_kernel<T, kSide, kChannels>);
}

template <class T, class F>
decltype(auto) with_kernel(int side, int channels, F f) {
  return channels == 1 ? with_line<T, 1>(side, f) : with_line<T, 3>(side, f);
}

template <class R>
dim3 block_of(R) {
  return dim3(32, R::kTuning.beside);
}

template <class R, class Kernel>
LineGrid grid_for(R reach, Kernel kernel, int width, int height) {
  LineGrid grid;
  grid.across = ceil_div(width, R::kColumns);
  const auto blocks =
      std::min<std::int64_t>(blocks_at_once(kernel, block_of(reach), R::kBytes),
                             std::int64_t(multiprocessors()) * R::kTuning.warps * 32 / R::kThreads);
  grid.rows = even_rows(height, R::kTogether, grid.across, int(blocks), R::kSide - 1);
  return grid;
}

/// Bytes of a row that lanes read beyond those of walk_sides(), where they share mids: of a whole
/// run, and of taps that the mask does not have.
template <class T>
int run_sides(const Problem& problem) {
  return with_kernel<T>(problem.mask.width, problem.channels, [&](auto reach, auto) {
    using R = decltype(reach);
    if (R::kRun == 0) return 0;
    return (R::kRun + (R::kSide - problem.mask.width) * R::kPixel + R::kChunk) * int(sizeof(T));
  });
}

template <class T>
class LineWalkPlan : public DevicePlan {
 public:
  LineWalkPlan(const Problem& problem, const PlanOptions& options, const LineMask& mask)
      : DevicePlan(problem, options,
                   {.width = kMostWalkedPixels,
                    .interleaved = true,
                    .sides = walk_sides<T>(problem) + run_sides<T>(problem)}),
        ghost_(ghost_sample<T>(problem)),
        mask_(mask) {
    // A kernel of more taps has the column's ones last.
    with_kernel<T>(mask.side, problem.channels, [&](auto reach, auto) {
      std::rotate(mask_.column, std::end(mask_.column) - (decltype(reach)::kSide - mask.side),
                  std::end(mask_.column));
    });
  }

 protected:
  void filter(const DevicePlane& in_plane, const DevicePlane& out_plane, Shift shift) override {
    const auto in = in_plane.view<T>(), out = out_plane.view<T>();
    LineMask mask = mask_;
    mask.dx += shift.x;
    mask.dy += shift.y;
    with_kernel<T>(problem_.mask.width, step(), [&](auto reach, auto kernel) {
      using R = decltype(reach);
      const int reached = R::samples_for(out.width);
      // Runs are computed whole, by a kernel that may have more taps than the mask.
      const int outputs = R::kRun > 0 ? reached - (mask.side - 1) * step() : out.width;
      const int left = write_sides(in, outputs, ghost_, problem_, mask.dx, step(), stream_);
      const PlaneView<const T> samples{in.data - left, reached, in.height, in.stride};
      const LineGrid grid = grid_for(reach, kernel, out.width, out.height);
      launch_shared(dim3(grid.across, ceil_div(out.height, grid.rows)), block_of(reach), R::kBytes,
                    stream_, kernel, samples, out, ghost_, problem_.border, grid, mask);
    });
  }
  /// So that the samples of the first output begin at a whole address.
  int margin(Shift shift) const override { return -(mask_.dx + shift.x) * step() * int(sizeof(T)); }
  std::size_t scratch_bytes(int, int, int) const override { return 0; }
  void allocate_scratch(int, int, int) override {}

 private:
  const T ghost_;
  LineMask mask_;
};

}  // namespace

template <class T>
std::unique_ptr<Plan> line_walk_plan(const Problem& problem, const PlanOptions& options,
                                     const LineMask& mask) {
  return std::make_unique<LineWalkPlan<T>>(problem, options, mask);
}

template <class T>
Geometry line_walk_geometry(const Problem& p) {
  return with_kernel<T>(p.mask.width, 1, [&](auto reach, auto kernel) {
    using R = decltype(reach);
    const LineGrid grid = grid_for(reach, kernel, p.out_width(), p.out_height());
    Geometry g;
    g.block_columns = 32;
    g.block_rows = R::kTuning.beside;
    g.computing_threads = R::kThreads;
    g.out_columns = R::kColumns;
    g.out_rows = grid.rows;
    g.shared_bytes = R::kBytes;
    const int columns = R::kChunks * R::kChunk;
    const int above = ceil_div(p.mask.height - 1, R::kTogether) * R::kTogether;
    g.loads = double(columns) * (grid.rows + above);
    g.loads_per_output = std::to_string(columns) + " * (rows + " + std::to_string(above) + ") / (" +
                         std::to_string(g.out_columns) + " * rows)";
    g.note = "A block walks down its rows, " + std::to_string(R::kTogether) +
             " at a time, and keeps the sums of as many rows as the mask has: " +
             std::to_string(grid.rows) +
             " rows here, on a GPU as many as let all its multiprocessors end together.";
    return g;
  });
}

template std::unique_ptr<Plan> line_walk_plan<float>(const Problem&, const PlanOptions&,
                                                     const LineMask&);
template std::unique_ptr<Plan> line_walk_plan<uint16_t>(const Problem&, const PlanOptions&,
                                                        const LineMask&);
template Geometry line_walk_geometry<float>(const Problem&);
template Geometry line_walk_geometry<uint16_t>(const Problem&);

}  // namespace convfilt::CONVFILT_BACKEND
