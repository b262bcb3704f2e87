// separable's way for small square masks of samples that are no bytes: both passes in registers.
//
//   A block walks down a strip. A lane reads a row's samples around its 16 bytes of outputs
//   from shared memory, computes their mids, and adds these to the sums of all rows of
//   outputs that they belong to, which it holds.
//
//       | s s s s | s s s s | s s s s |   a row in shared memory, copied rows ahead
//                   m m m m               w multiply-adds each
//                   o o o o               h rows of sums, which move down a place as
//                   o o o o               they are added to
//
//   Multiply-adds per output: (w + h) * (1 + (h - 1) / rows); loads from shared memory:
//   ceil((w + 3) / 4) / 4 of 16 bytes, for 32-bit samples.
//   Sibling: fused_kernel in separable.cu keeps mids in shared memory, of which a long mask
//   needs too many for registers.
//   line_rows.hpp and line_ghosts.hpp load, line_sums.hpp computes.

#include "separable_walk.hpp"

#include "device_plan_base.hpp"
#include "even_rows.hpp"
#include "line_rows.hpp"
#include "line_sums.hpp"

namespace convfilt::CONVFILT_BACKEND {
namespace {

using std::uint16_t;

/// A barrier of the block.
template <class R>
CONVFILT_DEVICE inline void synchronise() {
  if constexpr (R::kThreads == 32) {
    __syncwarp();
  } else {
    __syncthreads();
  }
}

template <class T, int kSide, int kChannels>
__global__ void __launch_bounds__(LineReach<T, kSide, kChannels>::kThreads,
                                  LineReach<T, kSide, kChannels>::kTuning.warps * 32 /
                                      LineReach<T, kSide, kChannels>::kThreads)
    line_kernel(PlaneView<const T> in, PlaneView<T> out, T ghost, Border border, LineGrid grid,
                const LineMask __grid_constant__ mask) {
  using R = LineReach<T, kSide, kChannels>;
  constexpr int kOutputs = R::kOutputs, kTogether = R::kTogether, kSlots = R::kSlots;
  const SharedWords words = shared_words();
  // The last strip begins further left, so that it does not leave the picture by much.
  const int own = int(blockIdx.x) * R::kColumns;
  const int fits = ceil_div(max(0, out.width + grid.shift - R::kColumns), R::kChunk) * R::kChunk;
  const int strip_x = min(own, fits) - grid.shift;
  const int lane = threadIdx.y * 32 + threadIdx.x, x = strip_x + lane * kOutputs;
  const int first_x = max(0, own - grid.shift);
  const int y = blockIdx.y * grid.rows, rows = min(grid.rows, out.height - y);
  const int steps = (rows + kSide - 1 + kTogether - 1) / kTogether;
  const bool whole =
      x >= first_x && x + kOutputs <= out.width && grid.shift == 0 && lies_at_multiples_of(16, out);

  // Load the first rows.
  const LineSource<T, R> source(in, ghost, border, strip_x + mask.dx * kChannels - R::kBack);
  LineRows<T, R> lines(source, y + mask.dy);
  const LineGhosts<T, R> ghosts(source);
  CONVFILT_UNROLL(kSlots)
  for (int slot = 0; slot < kSlots - 1; ++slot) {
    if (slot < steps) lines.copy(words.from(slot * R::kSlot));
    commit_copies();
  }

  typename R::Sums sums = {};
  std::ptrdiff_t to = y * out.stride + x;
  int slot = 0, free_slot = (kSlots - 1) * R::kSlot;
  CONVFILT_UNROLL(1)
  for (int step = 0; step < steps; ++step) {
    // Load rows ahead, where all have read those of the step before.
    finish_copies<kSlots - 2>();
    synchronise<R>();
    if (step + kSlots - 1 < steps) lines.copy(words.from(free_slot));
    commit_copies();
    if (ghosts.any()) {
      ghosts.fill(words.from(slot), y + mask.dy + step * kTogether);
      synchronise<R>();
    }

    // Compute, and store the rows of outputs that are complete.
    const SharedWords first = words.from(slot + (R::kFirst + lane * kOutputs) * int(sizeof(T)) / 4);
    CONVFILT_UNROLL(kTogether)
    for (int r = 0; r < kTogether; ++r) {
      typename R::Samples samples;
      read_line<T, R>(first.from(r * R::kPitch), samples);
      add_line<R>(mask, samples, sums);
      const int row = step * kTogether + r - (kSide - 1);
      if (row < 0 || row >= rows) continue;
      const LineEnds<T, R> ends(mask.finish, sums[kSide - 1]);
      if (whole) {
        *reinterpret_cast<LineEnds<T, R>*>(out.data + to) = ends;
      } else {
        CONVFILT_UNROLL(kOutputs)
        for (int n = 0; n < kOutputs; ++n) {
          if (x + n >= first_x && x + n < out.width) out.data[to + n] = ends.sample(n);
        }
      }
      to += out.stride;
    }
    free_slot = slot;
    slot = slot == (kSlots - 1) * R::kSlot ? 0 : slot + R::kSlot;
  }
}

/// Calls f with the side as a constant.
template <class T, int kSide = 3, class F>
decltype(auto) with_line(int side, F f) {
  if constexpr (kSide + 2 <= kLongestWalk<T>) {
    if (side > kSide) return with_line<T, kSide + 2>(side, f);
  }
  return f(std::integral_constant<int, kSide>{});
}

/// Calls f with what lanes reach, and the kernel.
template <class T, class F>
decltype(auto) with_kernel(int side, int channels, F f) {
  return with_line<T>(side, [&](auto known) {
    if (channels == 1) return f(LineReach<T, known(), 1>{}, line_kernel<T, known(), 1>);
    return f(LineReach<T, known(), 3>{}, line_kernel<T, known(), 3>);
  });
}

template <class R>
dim3 block_of(R) {
  return dim3(32, R::kTuning.beside);
}

template <class R, class Kernel>
LineGrid grid_for(R reach, Kernel kernel, const LineMask& mask, int width, int height) {
  LineGrid grid;
  grid.shift = floor_modulo(mask.dx * R::kPixel - R::kBack, R::kChunk);
  grid.across = ceil_div(width + grid.shift, R::kColumns);
  const auto blocks =
      std::min<std::int64_t>(blocks_at_once(kernel, block_of(reach), R::kBytes),
                             std::int64_t(multiprocessors()) * R::kTuning.warps * 32 / R::kThreads);
  grid.rows = even_rows(height, R::kTogether, grid.across, int(blocks), R::kSide - 1);
  return grid;
}

template <class T>
class LineWalkPlan : public DevicePlan {
 public:
  LineWalkPlan(const Problem& problem, const PlanOptions& options, const LineMask& mask)
      : DevicePlan(problem, options, {.interleaved = true}),
        ghost_(ghost_sample<T>(problem)),
        mask_(mask) {}

 protected:
  void filter(const DevicePlane& in, const DevicePlane& out, Shift shift) override {
    LineMask mask = mask_;
    mask.dx += shift.x;
    mask.dy += shift.y;
    with_kernel<T>(problem_.mask.width, step(), [&](auto reach, auto kernel) {
      const LineGrid grid = grid_for(reach, kernel, mask, out.width, out.height);
      launch_shared(dim3(grid.across, ceil_div(out.height, grid.rows)), block_of(reach),
                    reach.kBytes, stream_, kernel, in.view<const T>(), out.view<T>(), ghost_,
                    problem_.border, grid, mask);
    });
  }
  std::size_t scratch_bytes(int, int, int) const override { return 0; }
  void allocate_scratch(int, int, int) override {}

 private:
  const T ghost_;
  const LineMask mask_;
};

}  // namespace

template <class T>
std::unique_ptr<Plan> line_walk_plan(const Problem& problem, const PlanOptions& options,
                                     const LineMask& mask) {
  return std::make_unique<LineWalkPlan<T>>(problem, options, mask);
}

template <class T>
Geometry line_walk_geometry(const Problem& p, const LineMask& mask) {
  return with_kernel<T>(p.mask.width, 1, [&](auto reach, auto kernel) {
    using R = decltype(reach);
    const LineGrid grid = grid_for(reach, kernel, mask, p.out_width(), p.out_height());
    Geometry g;
    g.block_columns = 32;
    g.block_rows = R::kTuning.beside;
    g.computing_threads = R::kThreads;
    g.out_columns = R::kColumns;
    g.out_rows = grid.rows;
    g.shared_bytes = R::kBytes;
    const int columns = R::kChunks * R::kChunk;
    g.loads = double(columns) * (grid.rows + R::kSide - 1);
    g.loads_per_output = std::to_string(columns) + " * (rows + h - 1) / (" +
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
template Geometry line_walk_geometry<float>(const Problem&, const LineMask&);
template Geometry line_walk_geometry<uint16_t>(const Problem&, const LineMask&);

}  // namespace convfilt::CONVFILT_BACKEND
