// direct: sums in registers, fed by loads of 16 bytes.
//
//   For squares of a known side (walk.hpp), a warp walks down a strip of the picture. It keeps the
//   sums of all rows of outputs that the current row of samples adds to. There is no shared memory,
//   and weights are operands of the multiply-adds.
//
//       | s s s s | s s s s | s s s s |      Each row is read once for h rows of outputs,
//                   o o o o                  whose sums move on by a place as they are added to.
//
//   For masks of other sizes, and parts of masks (tile.hpp), a block keeps a tile in shared memory,
//   and a thread computes 4 x 8 outputs. Each chunk of 4 weights or samples that it reads from
//   there serves 32 multiply-adds.
//
//   Global reads per output: (1 + (h - 1) / rows) * ceil((w + 3) / 4) of 32-bit samples, e.g. 2 at
//   5x5, of which the caches give all but one.
//   Siblings: unrolled reads every row h times; tensor does 8 bits on tensor cores.

#include "kernels/backend/shared_words.hpp"
#include "kernels/contract/dispatch.hpp"
#include "kernels/direct/tile.hpp"
#include "kernels/direct/walk.hpp"
#include "kernels/plan/device_plan.hpp"
#include "kernels/plan/even_rows.hpp"
#include "kernels/plan/side_samples.hpp"

namespace convfilt::CONVFILT_BACKEND::direct {
namespace {

using std::uint16_t;
using std::uint8_t;

// The loop for a larger side would no longer fit into the instruction cache, and the tile is as
// fast there. For 16-bit samples fewer sides are compiled, which saves build time.
template <class T>
constexpr int kLargestWalk = std::is_same_v<T, float> ? 21 : 17;

/// Whether warps walk down the picture for this problem; otherwise blocks take tiles.
bool walks(const Problem& p) {
  const int side = p.mask.width;
  const int largest = p.depth == Depth::f32 ? kLargestWalk<float> : kLargestWalk<uint16_t>;
  return p.depth != Depth::u8 && side == p.mask.height && side >= 3 && side <= largest &&
         side % 2 == 1 && (p.channels == 1 || p.channels == 3);
}

/// Calls f with the Reach and the kernel for this side and this number of channels.
template <class T, int kSide = 3, class F>
decltype(auto) with_walk(int side, int channels, F f) {
  if constexpr (kSide + 2 <= kLargestWalk<T>) {
    if (side > kSide) return with_walk<T, kSide + 2>(side, channels, f);
  }
  if (channels == 1) return f(Reach<T, kSide, 1>{}, walk_kernel<T, kSide, 1>);
  return f(Reach<T, kSide, 3>{}, walk_kernel<T, kSide, 3>);
}

const dim3 kWalkBlock(32, kWalkWarps);

template <class R, class Kernel>
WalkGrid walk_grid(R, Kernel kernel, int width, int height) {
  const int blocks = blocks_at_once(kernel, kWalkBlock, 0);
  WalkGrid grid{ceil_div(width, 32 * kWalkWarps * R::kOutputs), height, 0};
  if (R::kTuning.guarded) {
    grid.rows = ceil_div(ceil_div(grid.strips * height, blocks), R::kTogether) * R::kTogether;
  } else {
    // These walks wait for memory, which is faster when neighbours read the same rows at the same
    // time. So each strip is cut into equal pieces by itself.
    grid.rows = even_rows(height, R::kTogether, grid.strips, blocks, R::kSide - 1);
    grid.length = ceil_div(height, grid.rows) * grid.rows;
  }
  return grid;
}

template <class T>
class WalkPlan : public DevicePlan {
 public:
  WalkPlan(const Problem& problem, const PlanOptions& options)
      : DevicePlan(problem, options,
                   {.width = kMostWalkedPixels,
                    .interleaved = true,
                    .sides = walk_sides<T>(problem),
                    .brings_rows = true}),
        mask_(prepare_mask<T>(problem.mask).parts().front()),
        ghost_(ghost_sample<T>(problem)) {
    // The sums of the mask's first row are not added to a zero here, so they may be -0. An offset
    // of 0 turns them into 0 at the end, but an offset of -0 would not.
    mask_.finish.offset += 0.0f;
  }

 protected:
  void filter(const DevicePlane& in_plane, const DevicePlane& out_plane, Shift shift) override {
    const auto in = in_plane.view<T>(), out = out_plane.view<T>();
    MaskPart<T> mask = mask_;
    mask.dx += shift.x;
    mask.dy += shift.y;
    const int left =
        bring_rows(callers(), in, out.width, ghost_, problem_, mask.dx, step(), stream_);
    with_walk<T>(mask.width, step(), [&](auto reach, auto kernel) {
      using R = decltype(reach);
      const int columns = (ceil_div(out.width, R::kOutputs) + R::kLoads - 1) * R::kOutputs;
      const PlaneView<const T> samples{in.data - left, columns, in.height, in.stride};
      const WalkGrid grid = walk_grid(reach, kernel, out.width, out.height);
      launch(dim3(ceil_div(grid.strips * grid.length, grid.rows)), kWalkBlock, stream_, kernel,
             samples, out, ghost_, problem_.border, grid, mask);
    });
  }
  /// The margin lets the samples of the first output begin at an aligned address.
  int margin(Shift shift) const override { return -(mask_.dx + shift.x) * step() * int(sizeof(T)); }

 private:
  MaskPart<T> mask_;
  const T ghost_;
};

template <class T, int kChunks = 1>
void run_tile(const Problem& p, const LaunchJob& job, const Stream& stream) {
  const auto& mask = job.mask_part<T>();
  if constexpr (kChunks < kMostChunks) {
    if (mask.width > kChunks * kChunk) return run_tile<T, kChunks + 1>(p, job, stream);
  }
  const dim3 block(32, kTileWarps);
  const dim3 grid(ceil_div(job.out.width / job.channels, kTileColumns) * job.channels,
                  ceil_div(job.out.height, kTileRows));
  launch(grid, block, stream, tile_kernel<T, kChunks>, job.input<T>(), job.output<T>(),
         job.sums<T>(), job.ghost_cell<T>(), p.border, job.channels, mask);
}

void run(const Problem& p, const LaunchJob& job, const Stream& stream) {
  with_depth(p.depth, [&]<class T>(TypeTag<T>) { run_tile<T>(p, job, stream); });
}

std::unique_ptr<Plan> prepare(const Problem& problem, const PlanOptions& options) {
  if (walks(problem) && has_room_for_sides(options)) {
    if (problem.depth == Depth::f32) return std::make_unique<WalkPlan<float>>(problem, options);
    return std::make_unique<WalkPlan<uint16_t>>(problem, options);
  }
  return make_direct_plan(problem, options, run, {.interleaved = true});
}

template <class T>
Geometry walk_geometry(const Problem& p) {
  return with_walk<T>(p.mask.width, p.channels, [&](auto reach, auto kernel) {
    using R = decltype(reach);
    const WalkGrid grid = walk_grid(reach, kernel, p.out_width() * p.channels, p.out_height());
    Geometry g;
    g.block_columns = 32;
    g.block_rows = kWalkWarps;
    g.computing_threads = 32 * kWalkWarps;
    g.out_columns = g.computing_threads * R::kOutputs;
    g.out_rows = grid.rows;
    g.loads = double(g.computing_threads) * (grid.rows + R::kSide - 1) * R::kLoads * R::kOutputs;
    g.loads_per_output = "(1 + (h - 1) / rows) * " + std::to_string(R::kLoads);
    g.note = "A warp walks down its rows of outputs, and loads " + std::to_string(R::kOutputs) +
             " samples at a time: " + std::to_string(grid.rows) +
             " rows here, on a GPU as many as let all its multiprocessors end together.";
    return g;
  });
}

Geometry tile_geometry(const Problem& p) {
  const Sides mask = first_part(p.mask);
  Geometry g;
  g.block_columns = 32;
  g.block_rows = kTileWarps;
  g.loading_threads = g.computing_threads = 32 * kTileWarps;
  const int chunks = ceil_div(mask.width, kChunk);
  g.in_columns = tile_in_columns(chunks);
  g.in_rows = kTileRows + mask.height - 1;
  g.out_columns = kTileColumns;
  g.out_rows = kTileRows;
  g.lead_x = p.lead_x();
  g.lead_y = p.lead_y();
  g.shared_bytes = tile_shared_bytes(chunks);
  g.loads = double(g.in_columns) * g.in_rows;
  g.loads_per_output = std::to_string(g.in_columns) + " * (" + std::to_string(g.out_rows) +
                       " + h - 1) / (" + std::to_string(g.out_columns) + " * " +
                       std::to_string(g.out_rows) + ")";
  g.note = "Each thread computes 4 rows of 8 outputs of one channel.";
  return g;
}

Geometry geometry(const Problem& p, const Tuning&) {
  if (!walks(p)) return tile_geometry(p);
  return p.depth == Depth::f32 ? walk_geometry<float>(p) : walk_geometry<uint16_t>(p);
}

}  // namespace

extern const Strategy strategy{
    .name = "direct",
    .summary = "sums in registers, any depth: warps walk down the picture, or threads share a tile",
    .family = Family::direct,
    .refuses = direct_refuses,
    .make_plan = prepare,
    .geometry = geometry,
};

}  // namespace convfilt::CONVFILT_BACKEND::direct
