// The steps between a strategy's load and its end: the forward transform, the product with the
// mask's spectrum, and the inverse transform.

#include "kernels/transform/correlation.hpp"

#include "kernels/contract/dispatch.hpp"
#include "kernels/plan/sums.hpp"
#include "kernels/transform/grid.hpp"

namespace convfilt::CONVFILT_BACKEND::transform {
namespace {

constexpr InputLimits kLimits{1 << 17, 1 << 17};  // keep counts of blocks and rows within an int

/// Where the first block's first sample lies in the input.
struct Origin {
  int x, y;
};

/// Loads blocks. `in` holds all planes, of `height` rows each, one below the other. So does the
/// `out` of keep_kernel.
template <class T, Border B>
__global__ void load_kernel(PlaneView<const T> in, int height, PlaneView<float> samples,
                            Tiling tiling, int first, Origin origin, T ghost) {
  const int col = blockIdx.x * blockDim.x + threadIdx.x;
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (col >= samples.width || row >= samples.height) return;
  int tile = first + int(blockIdx.z);
  const int top = tiling.plane_of(tile) * height;
  const bool inside = col < tiling.columns && row < tiling.rows && top < in.height;
  const int x = origin.x + tiling.x(tile) + col;
  const int y = origin.y + tiling.y(tile) + row;
  samples.row(int(blockIdx.z) * samples.height + row)[col] =
      inside ? float(load<B>(in.rows(top, height), x, y, ghost)) : 0.0f;
}

template <class T>
__global__ void keep_kernel(PlaneView<float> sums, PlaneView<T> out, int height, Tiling tiling,
                            int first, FloatFinish end) {
  const int col = blockIdx.x * blockDim.x + threadIdx.x;
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  int tile = first + int(blockIdx.z);
  const int top = tiling.plane_of(tile) * height;
  if (col >= tiling.kept_columns || row >= tiling.kept_rows || top >= out.height) return;
  const int x = tiling.x(tile) + col;
  const int y = tiling.y(tile) + row;
  if (x >= out.width || y >= height) return;
  finish(end, sums.row(int(blockIdx.z) * sums.height + row)[col], out.row(top + y)[x]);
}

__global__ void multiply_kernel(Complex* spectra, PlaneView<const Complex> mask) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= mask.width || y >= mask.height) return;
  const std::ptrdiff_t row = std::ptrdiff_t(blockIdx.z) * mask.height + y;
  Complex& value = spectra[row * mask.width + x];
  value = product(value, conjugate(mask.row(y)[x]));
}

}  // namespace

void multiply_conjugate(Complex* spectra, const Complex* mask, const Blocks& blocks,
                        const Stream& stream) {
  const int half = blocks.half();
  launch_over(half, blocks.rows, blocks.batch, stream, multiply_kernel, spectra,
              PlaneView<const Complex>{mask, half, blocks.rows, half});
}

std::vector<float> float_weights(const Mask& mask) {
  std::vector<float> weights;
  for (double weight : mask.weights) weights.push_back(float(weight / mask.divisor));
  return weights;
}

CorrelationPlan::CorrelationPlan(const Problem& problem, const PlanOptions& options)
    : DevicePlan(problem, options, kLimits) {}

void CorrelationPlan::filter_planes(const DevicePlane& in, const DevicePlane& out, int planes,
                                    Shift shift) {
  const int in_height = in.height / planes, out_height = out.height / planes;
  const Tiling tiling = tiling_for(out.width, out_height);
  const Origin origin{shift.x - problem_.mask.anchor_x, shift.y - problem_.mask.anchor_y};
  const FloatFinish end{1, float(problem_.mask.offset)};
  with_depth(problem_.depth, [&]<class T>(TypeTag<T>) {
    for (int first = 0; first < tiling.tiles() * planes; first += blocks_.batch) {
      with_border(problem_.border, [&](auto border) {
        launch_over(blocks_.columns, blocks_.rows, blocks_.batch, stream_, load_kernel<T, border()>,
                    in.view<const T>(), in_height, samples(), tiling, first, origin,
                    ghost_sample<T>(problem_));
      });
      correlate();
      launch_over(tiling.kept_columns, tiling.kept_rows, blocks_.batch, stream_, keep_kernel<T>,
                  samples(), out.view<T>(), out_height, tiling, first, end);
    }
  });
}

Blocks CorrelationPlan::blocks_for(int out_width, int out_height) const {
  const Tiling tiling = tiling_for(out_width, out_height);
  const Blocks one{good_fft_size(tiling.columns), good_fft_rows(tiling.rows), 1};
  return {one.columns, one.rows, batch_for(tiling, one.bytes())};
}

std::size_t CorrelationPlan::scratch_bytes(int, int out_width, int out_height) const {
  const Blocks b = blocks_for(out_width, out_height);
  return b.bytes() + b.one().frequencies() * sizeof(Complex) +
         Fft::estimated_workspace(b.columns, b.rows, b.batch);
}

Fft& CorrelationPlan::fft(const Blocks& b) {
  return ffts_.try_emplace(b, b.columns, b.rows, b.batch, stream_).first->second;
}

void CorrelationPlan::allocate_scratch(int, int out_width, int out_height) {
  const Blocks blocks = blocks_ = blocks_for(out_width, out_height);
  hold(samples_, blocks.samples() * sizeof(float));
  hold(spectra_, blocks.frequencies() * sizeof(Complex));
  hold(mask_spectrum_, blocks.one().frequencies() * sizeof(Complex));
  hold(workspace_, std::max(fft(blocks).workspace_bytes(), fft(blocks.one()).workspace_bytes()));
  if (blocks.one() != mask_blocks_) transform_mask();
  mask_blocks_ = blocks.one();
}

void CorrelationPlan::transform_mask() {
  // The weights undo the scale of the transforms, while no sum is large yet.
  Mask mask = problem_.mask;
  mask.divisor *= double(blocks_.columns) * blocks_.rows;
  const std::vector<float> weights = float_weights(mask);
  const PlaneView<float> block = samples();
  zero(block, stream_);
  upload_rows(samples_.data(), block.stride * sizeof(float),
              reinterpret_cast<const std::byte*>(weights.data()), mask.width * sizeof(float),
              mask.width * sizeof(float), mask.height, stream_);
  Fft& one = fft(blocks_.one());
  one.use_workspace(workspace_.data());
  one.forward(block.data, as<Complex>(mask_spectrum_));
  stream_.synchronize();  // the weights have been read
}

void CorrelationPlan::correlate() {
  Fft& transform = fft(blocks_);
  transform.use_workspace(workspace_.data());
  transform.forward(samples().data, as<Complex>(spectra_));
  multiply_conjugate(as<Complex>(spectra_), as<Complex>(mask_spectrum_), blocks_, stream_);
  transform.inverse(as<Complex>(spectra_), samples().data);
}

}  // namespace convfilt::CONVFILT_BACKEND::transform
