// im2col --gemm=strassen: the mask as a banded matrix, by one level of Strassen's recursion.
//
//   A segment of n outputs of a row needs n + w - 1 samples of each of h rows, which make one row
//   of the patches. Each row of the mask becomes a banded Toeplitz block.
//
//                 h * (n + w - 1)         n
//               +-----------------+     +----+
//      segments |     patches     |  x  |\\  |     sums = patches x bands: seven
//               |                 |     | \\ |     products of quarters, not eight
//               +-----------------+     |  \\|
//                                       +----+
//
//   Multiplications per output: 7/8 * h * (n + w - 1), e.g. 7/8 * 101 * 164 at 101x101. Strassen
//   saves 1/8, but the zeros beside the band cost (n + w - 1) / w times as many, here 1.62.
//   n is the mask's width, but at least 16 and at most 64. Longer segments would mean more zeros,
//   shorter ones more patches. Sibling: the library product of im2col has no zeros.

#include <iterator>

#include "kernels/backend/libraries.hpp"
#include "kernels/contract/dispatch.hpp"
#include "kernels/transform/grid.hpp"
#include "kernels/transform/im2col.hpp"

namespace convfilt::CONVFILT_BACKEND::transform {
namespace {

// One level of Strassen's recursion ("Gaussian Elimination is not Optimal", 1969): a product of
// matrices by seven products of their quarters. The upper quarters of a matrix have the numbers 0
// and 1, and the lower ones 2 and 3.

/// One quarter of a matrix plus `sign` times another.
struct Factor {
  int quarter, other, sign;
};

/// One of the products, and its sign in each quarter of the result.
struct Recipe {
  Factor left, right;
  int signs[4];
};

constexpr Recipe kRecipes[] = {
    {{0, 3, 1}, {0, 3, 1}, {1, 0, 0, 1}},   // (A11 + A22) (B11 + B22)
    {{2, 3, 1}, {0, 0, 0}, {0, 0, 1, -1}},  // (A21 + A22) B11
    {{0, 0, 0}, {1, 3, -1}, {0, 1, 0, 1}},  // A11 (B12 - B22)
    {{3, 3, 0}, {2, 0, -1}, {1, 0, 1, 0}},  // A22 (B21 - B11)
    {{0, 1, 1}, {3, 3, 0}, {-1, 1, 0, 0}},  // (A11 + A12) B22
    {{2, 0, -1}, {0, 1, 1}, {0, 0, 0, 1}},  // (A21 - A11) (B11 + B12)
    {{1, 3, -1}, {2, 3, 1}, {1, 0, 0, 0}},  // (A12 - A22) (B21 + B22)
};

template <class T>
CONVFILT_HD PlaneView<T> quarter(const PlaneView<T>& m, int q) {
  const int columns = m.width / 2, rows = m.height / 2;
  return {m.row(q / 2 * rows) + q % 2 * columns, columns, rows, m.stride};
}

__global__ void combine_kernel(PlaneView<float> a, PlaneView<float> b, int sign,
                               PlaneView<float> sum) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < sum.width && y < sum.height) sum.row(y)[x] = a.row(y)[x] + sign * b.row(y)[x];
}

__global__ void add_product_kernel(PlaneView<float> product, PlaneView<float> result, Recipe recipe,
                                   int first) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= product.width || y >= product.height) return;
  for (int q = 0; q < 4; ++q) {
    float& sum = quarter(result, q).row(y)[x];
    sum = (first ? 0.0f : sum) + recipe.signs[q] * product.row(y)[x];
  }
}

/// The right-hand factors of the seven products, one below the other, for a right-hand matrix of
/// rows x columns, which are both even. A matrix that is multiplied often needs them only once.
std::vector<float> strassen_factors(const std::vector<float>& right, int rows, int columns) {
  const PlaneView<const float> matrix{right.data(), columns, rows, columns};
  std::vector<float> factors;
  for (const Recipe& recipe : kRecipes) {
    const auto a = quarter(matrix, recipe.right.quarter), b = quarter(matrix, recipe.right.other);
    for (int y = 0; y < rows / 2; ++y) {
      for (int x = 0; x < columns / 2; ++x) {
        factors.push_back(a.row(y)[x] + float(recipe.right.sign) * b.row(y)[x]);
      }
    }
  }
  return factors;
}

/// The number of floats of device memory that a product needs beside its matrices.
std::size_t strassen_space(int left_rows, int inner, int columns) {
  return std::size_t(left_rows / 2) * (inner / 2 + columns / 2);
}

/// Sets result to left * right. `factors` are the right-hand factors on the device. All sides are
/// even.
void strassen_multiply(const Gemm& gemm, PlaneView<float> left, const float* factors,
                       PlaneView<float> result, float* space, const Stream& stream) {
  const int rows = left.height / 2, inner = left.width / 2, columns = result.width / 2;
  const PlaneView<float> combined{space, inner, rows, inner};
  const PlaneView<float> product{space + std::ptrdiff_t(rows) * inner, columns, rows, columns};
  for (int k = 0; k < int(std::size(kRecipes)); ++k) {
    const Recipe& recipe = kRecipes[k];
    PlaneView<float> factor = quarter(left, recipe.left.quarter);
    if (recipe.left.sign != 0) {
      launch_over(inner, rows, 1, stream, combine_kernel, factor, quarter(left, recipe.left.other),
                  recipe.left.sign, combined);
      factor = combined;
    }
    gemm.multiply({factor.data, inner, rows, factor.stride},
                  {factors + std::ptrdiff_t(k) * inner * columns, columns, inner, columns},
                  product);
    launch_over(columns, rows, 1, stream, add_product_kernel, product, result, recipe, int(k == 0));
  }
}

constexpr int even(int n) {
  return n + n % 2;
}

/// Segments of outputs, which cover one row of the plane after the other.
struct Segments {
  int length, across, first, count;

  CONVFILT_HD int x(int s) const { return (first + s) % across * length; }
  CONVFILT_HD int y(int s) const { return (first + s) / across; }
};

template <class T, Border B>
__global__ void unfold_kernel(PlaneView<const T> in, PlaneView<float> patches, Segments segments,
                              int span, int mask_height, int dx, int dy, T ghost) {
  const int k = blockIdx.x * blockDim.x + threadIdx.x;
  const int s = blockIdx.y * blockDim.y + threadIdx.y;
  if (k >= patches.width || s >= patches.height) return;
  const int i = k % span, j = k / span;
  const bool inside = s < segments.count && j < mask_height;
  patches.row(s)[k] =
      inside ? float(load<B>(in, segments.x(s) + dx + i, segments.y(s) + dy + j, ghost)) : 0.0f;
}

template <class T>
__global__ void finish_kernel(PlaneView<float> sums, PlaneView<T> out, Segments segments,
                              FloatFinish end) {
  const int col = blockIdx.x * blockDim.x + threadIdx.x;
  const int s = blockIdx.y * blockDim.y + threadIdx.y;
  if (col >= sums.width || s >= segments.count) return;
  const int x = segments.x(s) + col;
  if (x < out.width) finish(end, sums.row(s)[col], out.row(segments.y(s))[x]);
}

class StrassenPlan : public DevicePlan {
 public:
  StrassenPlan(const Problem& problem, const PlanOptions& options)
      : DevicePlan(problem, options, {}),
        gemm_(stream_),
        length_(std::clamp(even(problem.mask.width), 16, 64)),
        span_(length_ + problem.mask.width - 1),
        inner_(even(span_ * problem.mask.height)),
        factors_(strassen_factors(bands(), inner_, length_)) {}

 protected:
  void filter(const DevicePlane& in, const DevicePlane& out, Shift shift) override {
    const Mask& mask = problem_.mask;
    const int total = ceil_div(out.width, length_) * out.height;
    const int chunk = chunk_for(out.width, out.height);
    with_depth(problem_.depth, [&]<class T>(TypeTag<T>) {
      for (int first = 0; first < total; first += chunk) {
        const Segments segments{length_, ceil_div(out.width, length_), first,
                                std::min(chunk, total - first)};
        const PlaneView<float> patches = view_of<float>(patches_, inner_, even(segments.count));
        const PlaneView<float> sums = view_of<float>(sums_, length_, even(segments.count));
        with_border(problem_.border, [&](auto border) {
          launch_over(inner_, patches.height, 1, stream_, unfold_kernel<T, border()>,
                      in.view<const T>(), patches, segments, span_, mask.height,
                      shift.x - mask.anchor_x, shift.y - mask.anchor_y, ghost_sample<T>(problem_));
        });
        strassen_multiply(gemm_, patches, as<const float>(device_factors_), sums, as<float>(space_),
                          stream_);
        launch_over(length_, patches.height, 1, stream_, finish_kernel<T>, sums, out.view<T>(),
                    segments, FloatFinish{1, float(mask.offset)});
      }
    });
  }

  std::size_t scratch_bytes(int, int out_width, int out_height) const override {
    const int rows = chunk_for(out_width, out_height);
    return (std::size_t(rows) * (inner_ + length_) + strassen_space(rows, inner_, length_) +
            factors_.size()) *
           sizeof(float);
  }

  void allocate_scratch(int, int out_width, int out_height) override {
    const int rows = chunk_for(out_width, out_height);
    hold(patches_, std::size_t(rows) * inner_ * sizeof(float));
    hold(sums_, std::size_t(rows) * length_ * sizeof(float));
    hold(space_, strassen_space(rows, inner_, length_) * sizeof(float));
    if (device_factors_.size() == 0) hold_copy(device_factors_, factors_);
  }

 private:
  /// Column x holds the weights that output x of a segment gives to the segment's samples.
  std::vector<float> bands() const {
    const int w = problem_.mask.width;
    const std::vector<float> weights = float_weights(problem_.mask);
    std::vector<float> bands(std::size_t(inner_) * length_);
    for (std::size_t k = 0; k < weights.size(); ++k) {
      const std::size_t sample = k / w * span_ + k % w;  // counted from a segment's first output
      for (int x = 0; x < length_; ++x) bands[(sample + x) * length_ + x] = weights[k];
    }
    return bands;
  }

  // The number of segments at a time: as many as kPatchBytes hold, and even.
  int chunk_for(int out_width, int out_height) const {
    constexpr std::size_t kMost =
        65534 * convfilt::transform::kThreads.rows;  // keeps a grid's y within 65,535
    const std::size_t fitting = kPatchBytes / sizeof(float) / inner_ / 2 * 2;
    return even(std::min<int>(std::clamp<std::size_t>(fitting, 2, kMost),
                              ceil_div(out_width, length_) * out_height));
  }

  Gemm gemm_;
  const int length_, span_, inner_;
  const std::vector<float> factors_;
  DeviceBuffer patches_, sums_, space_, device_factors_;
};

}  // namespace

std::unique_ptr<Plan> im2col_by_strassen(const Problem& problem, const PlanOptions& options) {
  return std::make_unique<StrassenPlan>(problem, options);
}

}  // namespace convfilt::CONVFILT_BACKEND::transform
