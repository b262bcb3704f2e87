// texture: the input through the texture unit (CUDA C++ Programming Guide, "Texture Memory").
//
//   As in basic, one thread computes one output. But samples come through the texture unit,
//   whose address modes make up the ghost cells in hardware:
//
//       replicate  = clamp              wrap    = wrap    (normalised coordinates)
//       constant 0 = border             reflect = mirror  (normalised coordinates)
//
//   reflect101 and a constant other than 0 have no mode. There the border's index
//   function is computed first, as in the siblings.
//
//   The texture lies over pitched rows of memory, or with --texture=array over a CUDA array, to
//   which the input is copied: its order of samples suits patches. Planes that do not begin at a
//   multiple of 512 bytes, as the second and third may not, always get an array.
//   Texture fetches per output: w * h, e.g. 25 at 5x5.
//   Sibling: basic reads global memory, and computes every border itself.

#include "kernels/plan/block_counts.hpp"
#include "kernels/textbook/terms.hpp"

namespace convfilt::CONVFILT_BACKEND::texture {
namespace {

constexpr int kBlockColumns =
    32;  // texture caches are fast for patches such as 32 x 8, which are near in both directions
constexpr int kBlockRows = 8;
constexpr InputLimits kLimits{131072, 65000, true};  // a 2D texture over pitched memory has these

/// The texture, its size, and the units of its coordinates, which are 1 for samples and 1 / size
/// where the address mode wants 0..1.
struct TextureInput {
  cudaTextureObject_t texture;
  int width, height;
  float unit_x, unit_y;
  bool makes_border;  ///< by an address mode
};

template <class T>
CONVFILT_DEVICE T fetch(const TextureInput& in, int x, int y) {
  return tex2D<T>(in.texture, (x + 0.5f) * in.unit_x, (y + 0.5f) * in.unit_y);
}

/// A tap at the image's edge.
template <class T>
CONVFILT_DEVICE T fetch_or_ghost(const TextureInput& in, int x, int y, Border border, T ghost) {
  if (in.makes_border) return fetch<T>(in, x, y);
  x = border_index(border, x, in.width);
  y = border_index(border, y, in.height);
  if (x >= 0 && y >= 0) return fetch<T>(in, x, y);
  count_ghost_cell();
  return ghost;
}

template <class T, int kSide>
__global__ void texture_kernel(TextureInput in, Outputs<T, kSide> out, Border border, T ghost,
                               const MaskPart<T> __grid_constant__ mask) {
  const Sides sides = sides_of<kSide>(mask);
  const int x = blockIdx.x * kBlockColumns + threadIdx.x;
  const int y = blockIdx.y * kBlockRows + threadIdx.y;
  if (!out.has(x, y)) return;

  const int in_x = x + mask.dx, in_y = y + mask.dy;
  SumOf<T> sum = out.begin(mask, x, y);
  if (in_x >= 0 && in_x + sides.width <= in.width && in_y >= 0 &&
      in_y + sides.height <= in.height) {
    CONVFILT_UNROLL(turns(kSide))
    for (int j = 0; j < sides.height; ++j) {
      SumOf<T> row_sum = 0;
      CONVFILT_UNROLL(turns(kSide, 4))
      for (int i = 0; i < sides.width; ++i) {
        const T sample = fetch<T>(in, in_x + i, in_y + j);
        row_sum = multiply_add(weight_of(mask, j * sides.width + i), sample, row_sum);
      }
      sum += row_sum;
    }
  } else {
    sum = add_taps_at_edge(mask, sum, [&](int i, int j) {
      return fetch_or_ghost(in, in_x + i, in_y + j, border, ghost);
    });
  }
  out.end(mask, x, y, sum);
}

cudaTextureAddressMode address_mode(Border border) {
  switch (border) {
    case Border::constant: return cudaAddressModeBorder;
    case Border::reflect: return cudaAddressModeMirror;
    case Border::wrap: return cudaAddressModeWrap;
    default: return cudaAddressModeClamp;
  }
}

Geometry geometry(const Problem& p, const Tuning& tuning) {
  Geometry g = one_output_a_thread(p, kBlockColumns, kBlockRows);
  g.always_padded = tuning[Setting::texture] == kLinear;  // a texture over rows needs that
  return g;
}

std::optional<Counts> block_counts(const Problem& p, const Tuning& tuning,
                                   const BlockPlace& place) {
  const Geometry g = geometry(p, tuning);
  BlockFormula block(p, g, {place.x, place.y, place.padded_pitch || g.always_padded});
  for_each_tap(first_part(p.mask), [&](int, int) {
    block.fetch(BlockCell::own);
    block.read_mask(BlockCell::own);
  });
  block.write(BlockCell::own);
  return block.counts();
}

void run(const Problem& p, const LaunchJob& job, const Stream& stream) {
  const Geometry g = geometry(p, job.tuning);
  with_types(p.depth, first_part(p.mask), true, [&]<class T, int kSide>() {
    const T ghost = job.ghost_cell<T>();
    const bool by_mode =
        p.border != Border::reflect101 && (p.border != Border::constant || ghost == T(0));
    const auto mode = by_mode ? address_mode(p.border) : cudaAddressModeClamp;
    const bool normalised = mode == cudaAddressModeWrap || mode == cudaAddressModeMirror;
    const auto texture = job.textures->get(
        job.in.data, job.in.width, job.in.height, job.in.pitch, cudaCreateChannelDesc<T>(), mode,
        TextureMemory(job.tuning[Setting::texture]), stream, job.fresh);
    const TextureInput in{texture,
                          job.in.width,
                          job.in.height,
                          normalised ? 1.0f / job.in.width : 1.0f,
                          normalised ? 1.0f / job.in.height : 1.0f,
                          by_mode};
    launch(grid_of(g, job.out), block_of(g), stream, texture_kernel<T, kSide>, in,
           outputs_of<T, kSide>(job), p.border, ghost, job.mask_part<T>());
  });
}

}  // namespace

extern const Strategy strategy{
    .name = "texture",
    .summary = "as basic, through the texture unit, borders by its address modes",
    .family = Family::direct,
    .refuses = direct_refuses,
    .make_plan = direct_plan<run, kLimits>,
    .geometry = geometry,
    .block_counts = block_counts,
    .settings = {Setting::texture},
};

}  // namespace convfilt::CONVFILT_BACKEND::texture
