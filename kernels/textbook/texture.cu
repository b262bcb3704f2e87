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

#include "kernels/contract/dispatch.hpp"
#include "kernels/plan/block_counts.hpp"
#include "kernels/textbook/geometry.hpp"
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
};

template <class T, Border B, bool kByAddressMode>
CONVFILT_DEVICE T fetch(const TextureInput& in, int x, int y, T ghost) {
  if constexpr (!kByAddressMode) {
    x = border_index<B>(x, in.width);
    y = border_index<B>(y, in.height);
    if (x < 0 || y < 0) return ghost_cell(ghost);
  }
  return tex2D<T>(in.texture, (x + 0.5f) * in.unit_x, (y + 0.5f) * in.unit_y);
}

template <class T, Border B, bool kByAddressMode>
__global__ void texture_kernel(TextureInput in, PlaneView<T> out, PlaneView<SumOf<T>> partial,
                               T ghost, const MaskPart<T> __grid_constant__ mask) {
  const int x = blockIdx.x * kBlockColumns + threadIdx.x;
  const int y = blockIdx.y * kBlockRows + threadIdx.y;
  if (x >= out.width || y >= out.height) return;

  SumOf<T> sum = begin_sum(mask, partial, x, y);
  for (int j = 0; j < mask.height; ++j) {
    SumOf<T> row_sum = 0;
    for (int i = 0; i < mask.width; ++i) {
      const T sample = fetch<T, B, kByAddressMode>(in, x + mask.dx + i, y + mask.dy + j, ghost);
      row_sum = multiply_add(weight_of(mask, i, j), sample, row_sum);
    }
    sum += row_sum;
  }
  end_sum(mask, partial, out, x, y, sum);
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
  with_depth(p.depth, [&](auto depth) {
    using T = typename decltype(depth)::type;
    const T ghost = job.ghost_cell<T>();
    const bool by_mode =
        p.border != Border::reflect101 && (p.border != Border::constant || ghost == T(0));
    const auto mode = by_mode ? address_mode(p.border) : cudaAddressModeClamp;
    const auto& texture = job.textures->get(job.in.data, job.in.width, job.in.height, job.in.pitch,
                                            cudaCreateChannelDesc<T>(), mode,
                                            TextureMemory(job.tuning[Setting::texture]));
    const bool normalised = mode == cudaAddressModeWrap || mode == cudaAddressModeMirror;
    const TextureInput in{texture.object(stream, job.fresh), job.in.width, job.in.height,
                          normalised ? 1.0f / job.in.width : 1.0f,
                          normalised ? 1.0f / job.in.height : 1.0f};
    with_border(p.border, [&](auto border) {
      const auto kernel =
          by_mode ? texture_kernel<T, border(), true> : texture_kernel<T, border(), false>;
      launch(grid_of(g, job.out), block_of(g), stream, kernel, in, job.output<T>(), job.sums<T>(),
             ghost, job.mask_part<T>());
    });
  });
}

constexpr Setting kTextureSettings[] = {Setting::texture};

}  // namespace

extern const Implementation implementation{
    .name = "texture",
    .summary = "as basic, through the texture unit, borders by its address modes",
    .family = Family::direct,
    .refuses = direct_refuses,
    .prepare = direct_plan<run, kLimits>,
    .geometry = geometry,
    .block_counts = block_counts,
    .settings = kTextureSettings,
};

}  // namespace convfilt::CONVFILT_BACKEND::texture
