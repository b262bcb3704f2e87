// direct: sums in registers, fed by loads of 16 bytes.
//
//   Squares of a known side: a warp walks down a strip, and keeps the sums of all rows of
//   outputs that the row of samples at hand adds to. No shared memory; weights are operands.
//
//       | s s s s | s s s s | s s s s |      read once, for h rows of outputs:
//                   o o o o                  the sums move down a place as they are added to
//
//   Masks of other sizes, and parts of masks: a tile in shared memory, 4 x 8 outputs a
//   thread; a chunk of 4 weights or samples read from it serves 32 multiply-adds.
//
//   Global reads per output: (1 + (h - 1) / 32) * 4 * ceil((w + 3) / 4) / 4 of 32-bit samples, e.g.
//   3.4 at 5x5, of which the caches give all but one.
//   Siblings: unrolled reads every row h times; tensor does 8 bits on tensor cores.
//   direct_walk.hpp and direct_tile.hpp are the kernels.

#include "direct_tile.hpp"
#include "direct_walk.hpp"
#include "dispatch.hpp"

namespace convfilt::CONVFILT_BACKEND {
namespace {

using std::uint16_t;
using std::uint8_t;

// From where on the sums of so many rows leave too few registers: the tile is faster then.
constexpr int kLargestWalk = 17;

/// Whether the mask, which is not in parts, is one that a warp walks down.
bool walks(const Problem& p, int width, int height) {
  return p.depth != Depth::u8 && width == height && width >= 3 && width <= kLargestWalk &&
         width % 2 == 1 && (p.channels == 1 || p.channels == 3);
}

/// Calls f with the side as a constant.
template <int kSide = 3, class F>
void with_side(int side, F f) {
  if constexpr (kSide > kLargestWalk) {
    return;
  } else if (side == kSide) {
    f(std::integral_constant<int, kSide>{});
  } else {
    with_side<kSide + 2>(side, f);
  }
}

template <class T, int kSide, int kChannels>
void run_walk(const Problem& p, const Pass& pass, const Stream& stream) {
  using R = Reach<T, kSide, kChannels>;
  MaskPart<T> mask = pass.mask_part<T>();
  // The first row's sums are not added to zero here, and may be -0. An offset of 0 makes that 0 in
  // the end, but one of -0 would not.
  mask.finish.offset += 0.0f;
  const int shift = outputs_shift<R>(mask.dx * kChannels);
  const dim3 block(32, kWalkWarps);
  const int across = ceil_div(pass.out.width + shift, 32 * R::kOutputs);
  const int down = ceil_div(pass.out.height, kWalkWarps * R::kRows);
  launch(dim3(across * down), block, stream, walk_kernel<T, kSide, kChannels>, pass.input<T>(),
         pass.output<T>(), pass.ghost_cell<T>(), p.border, shift, across, down, mask);
}

template <class T, int kChunks = 1>
void run_tile(const Problem& p, const Pass& pass, const Stream& stream) {
  const auto& mask = pass.mask_part<T>();
  if constexpr (kChunks < kMostChunks) {
    if (mask.width > kChunks * kChunk) return run_tile<T, kChunks + 1>(p, pass, stream);
  }
  const dim3 block(32, kTileWarps);
  const dim3 grid(ceil_div(pass.out.width / pass.channels, kTileColumns) * pass.channels,
                  ceil_div(pass.out.height, kTileRows));
  launch(grid, block, stream, tile_kernel<T, kChunks>, pass.input<T>(), pass.output<T>(),
         pass.sums<T>(), pass.ghost_cell<T>(), p.border, pass.channels, mask);
}

template <class T>
void run_depth(const Problem& p, const Pass& pass, const Stream& stream) {
  const auto& mask = pass.mask_part<T>();
  if constexpr (!std::is_same_v<T, uint8_t>) {
    if (mask.first && mask.last && walks(p, mask.width, mask.height)) {
      return with_side(mask.width, [&](auto side) {
        if (pass.channels == 1) {
          run_walk<T, side(), 1>(p, pass, stream);
        } else {
          run_walk<T, side(), 3>(p, pass, stream);
        }
      });
    }
  }
  run_tile<T>(p, pass, stream);
}

void run(const Problem& p, const Pass& pass, const Stream& stream) {
  with_depth(p.depth,
             [&](auto depth) { run_depth<typename decltype(depth)::type>(p, pass, stream); });
}

template <class T>
Geometry walk_geometry(const Problem& p) {
  Geometry g;
  const int side = p.mask.width;
  int rows = 0, loads = 0;
  with_side(side, [&](auto known) {
    rows = Reach<T, known(), 1>::kRows;
    loads = p.channels == 1 ? Reach<T, known(), 1>::kLoads : Reach<T, known(), 3>::kLoads;
  });
  g.block_columns = 32;
  g.block_rows = kWalkWarps;
  g.computing_threads = 32 * kWalkWarps;
  g.out_columns = 32 * kIn16<T>;
  g.out_rows = kWalkWarps * rows;
  g.loads = double(g.computing_threads) * (rows + side - 1) * loads * kIn16<T>;
  g.loads_per_output = "(1 + (h - 1) / " + std::to_string(rows) + ") * " + std::to_string(loads);
  g.note = "A warp walks down " + std::to_string(rows) + " rows of outputs, and loads " +
           std::to_string(kIn16<T>) +
           " samples at a time, beyond those it needs where these do not start at such an address.";
  return g;
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
  if (!walks(p, p.mask.width, p.mask.height)) return tile_geometry(p);
  return p.depth == Depth::f32 ? walk_geometry<float>(p) : walk_geometry<uint16_t>(p);
}

}  // namespace

extern const Implementation direct{
    "direct",
    "sums in registers, any depth: warps walk down the picture, or threads share a tile",
    Family::direct,
    direct_refuses,
    direct_plan<run, InputLimits{.interleaved = true}>,
    geometry};

}  // namespace convfilt::CONVFILT_BACKEND
