// winograd: minimal filtering (Winograd 1980; Lavin and Gray 2015, F(2x2,3x3) and F(4x4,3x3)).
//
//   A tile of m x m outputs of a 3x3 mask is a product of polynomials. At m + 2 points on each
//   axis, the product takes one multiplication for each point. Additions and multiplications by
//   constants make the values at the points, and lead back from them.
//
//      input tile            values          values            output tile
//     (m+2) x (m+2)  --->  at the points  x  of the mask  --->    m x m
//
//   Multiplications per output: (m + 2)^2 / m^2, 4 at m = 2 and 2.25 at m = 4, against 9.
//   Global reads per output: as many. m = 2 is the default, because m = 4 errs ten times as much.
//   Smaller masks are filled up with zeros.
//   Sibling: fft takes the values at enough points for any mask.

#include <array>

#include "kernels/contract/arithmetic.hpp"
#include "kernels/contract/dispatch.hpp"
#include "kernels/plan/device_plan.hpp"
#include "kernels/transform/grid.hpp"

namespace convfilt::CONVFILT_BACKEND::winograd {

using namespace convfilt::transform;
using namespace CONVFILT_BACKEND::transform;
namespace {

constexpr InputLimits kLimits{1 << 19, 1 << 19};  // keep a grid's y within 65,535

// A line of n = m + 2 samples and three weights are the coefficients of two polynomials. The values
// of their product at n points, one of them infinity, determine m sums of weights times samples.

constexpr int kWinogradMaskSide = 3;

// The points for m = 2 are 0, 1, -1 and infinity; those for m = 4 are 0, +-kNearPoint, +-kFarPoint
// and infinity. In single precision the latter err a quarter as much as the usual 0, +-1, +-2, and
// all their products are exact.
constexpr float kNearPoint = 0.75f, kFarPoint = 1.5f;

/// The mask as the kernel takes it. Output (x, y) begins at in(x + dx, y + dy).
template <int kTile>
struct WinogradMask {
  static constexpr int kSide = kTile + kWinogradMaskSide - 1;
  int dx, dy;
  FloatFinish finish;
  float values[kSide][kSide];
};

/// Turns the samples of a line into values at the points.
CONVFILT_HD inline void to_points(float (&d)[4]) {
  const float middle[] = {d[1], d[2]};
  d[0] = d[2] - d[0];
  d[3] = d[3] - d[1];
  d[1] = middle[1] + middle[0];
  d[2] = middle[1] - middle[0];
}
CONVFILT_HD inline void to_points(float (&d)[6]) {
  constexpr float kNear2 = kNearPoint * kNearPoint, kFar2 = kFarPoint * kFarPoint;
  const float near_even = add_product(-kFar2, d[2], d[4]);
  const float near_odd = kNearPoint * add_product(-kFar2, d[1], d[3]);
  const float far_even = add_product(-kNear2, d[2], d[4]);
  const float far_odd = kFarPoint * add_product(-kNear2, d[1], d[3]);
  d[0] = add_product(kNear2 * kFar2, d[0], add_product(-kNear2 - kFar2, d[2], d[4]));
  d[5] = add_product(kNear2 * kFar2, d[1], add_product(-kNear2 - kFar2, d[3], d[5]));
  d[1] = near_even + near_odd;
  d[2] = near_even - near_odd;
  d[3] = far_even + far_odd;
  d[4] = far_even - far_odd;
}

/// Turns products at the points into outputs, which replace the first products.
CONVFILT_HD inline void from_points(float (&m)[4]) {
  const float difference = m[1] - m[2];
  m[0] = m[0] + (m[1] + m[2]);
  m[1] = difference + m[3];
}
CONVFILT_HD inline void from_points(float (&m)[6]) {
  const float near_sum = m[1] + m[2], near_difference = kNearPoint * (m[1] - m[2]);
  const float far_sum = m[3] + m[4], far_difference = kFarPoint * (m[3] - m[4]);
  m[0] = m[0] + (near_sum + far_sum);
  m[1] = near_difference + far_difference;
  m[2] = add_product(kFarPoint * kFarPoint, far_sum, kNearPoint * kNearPoint * near_sum);
  m[3] = add_product(kFarPoint * kFarPoint, far_difference,
                     kNearPoint * kNearPoint * near_difference) +
         m[5];
}

/// The matrix that takes three weights of an axis to their values at the points. Row p gives the
/// value at point p.
template <int kTile>
constexpr auto mask_points() {
  constexpr int kSide = WinogradMask<kTile>::kSide;
  const double points[] = {0, kTile == 2 ? 1 : kNearPoint, kTile == 2 ? -1 : -kNearPoint, kFarPoint,
                           -kFarPoint};
  std::array<std::array<double, kWinogradMaskSide>, kSide> rows{};
  for (int p = 0; p + 1 < kSide; ++p) {
    double scale = 1;
    for (int q = 0; q + 1 < kSide; ++q) {
      if (q != p) scale *= points[p] - points[q];
    }
    rows[p] = {1 / scale, points[p] / scale, points[p] * points[p] / scale};
  }
  rows[kSide - 1] = {0, 0, 1};  // infinity
  return rows;
}

/// The mask's values at the points of both axes, computed on the host.
template <int kTile>
WinogradMask<kTile> winograd_mask(const Mask& mask) {
  constexpr auto kPoints = mask_points<kTile>();
  WinogradMask<kTile> result{0, 0, {1, float(mask.offset)}, {}};
  for (int row = 0; row < result.kSide; ++row) {
    for (int col = 0; col < result.kSide; ++col) {
      double value = 0;
      for (int j = 0; j < mask.height; ++j) {
        for (int i = 0; i < mask.width; ++i) {
          value += kPoints[row][j] * kPoints[col][i] * mask.weight(i, j);
        }
      }
      result.values[row][col] = float(value / mask.divisor);
    }
  }
  return result;
}

template <class T, Border B, int kTile>
__global__ void winograd_kernel(PlaneView<const T> in, PlaneView<T> out, T ghost,
                                const WinogradMask<kTile> __grid_constant__ mask) {
  constexpr int kSide = WinogradMask<kTile>::kSide;
  const int x = (blockIdx.x * blockDim.x + threadIdx.x) * kTile;  // the output tile's first
  const int y = (blockIdx.y * blockDim.y + threadIdx.y) * kTile;
  if (x >= out.width || y >= out.height) return;

  // Load the columns of the input tile as lines, and take each to the points.
  float tile[kSide][kSide], turned[kSide][kSide];
  CONVFILT_UNROLL(kSide)
  for (int col = 0; col < kSide; ++col) {
    for (int row = 0; row < kSide; ++row) {
      tile[col][row] = load<B>(in, x + mask.dx + col, y + mask.dy + row, ghost);
    }
    to_points(tile[col]);
  }
  CONVFILT_UNROLL(kSide)
  for (int row = 0; row < kSide; ++row) {
    for (int col = 0; col < kSide; ++col) turned[row][col] = tile[col][row];
    // Take a row to the points.
    to_points(turned[row]);

    // Multiply, and go back along the rows.
    for (int col = 0; col < kSide; ++col) turned[row][col] *= mask.values[row][col];
    from_points(turned[row]);
  }

  // Go back along the columns, and end the sums.
  CONVFILT_UNROLL(kTile)
  for (int col = 0; col < kTile; ++col) {
    for (int row = 0; row < kSide; ++row) tile[col][row] = turned[row][col];
    from_points(tile[col]);
    for (int row = 0; row < kTile; ++row) {
      if (x + col < out.width && y + row < out.height) {
        finish(mask.finish, tile[col][row], out.row(y + row)[x + col]);
      }
    }
  }
}

int tile_of(const Tuning& tuning) {
  return tuning[Setting::tile] ? tuning[Setting::tile] : 2;
}

Geometry geometry(const Problem&, const Tuning& tuning) {
  const int tile = tile_of(tuning), side = tile + kWinogradMaskSide - 1;
  Geometry g;
  g.block_columns = kThreads.columns;
  g.block_rows = kThreads.rows;
  g.out_columns = kThreads.columns * tile;
  g.out_rows = kThreads.rows * tile;
  g.computing_threads = kThreads.columns * kThreads.rows;
  g.loads = double(g.computing_threads) * side * side;
  g.loads_per_output = "(tile + 2)^2 / tile^2";
  g.note = "Each thread computes a tile of its own, with " + std::to_string(side * side) +
           " multiplications of samples by weights instead of " + std::to_string(9 * tile * tile) +
           ".";
  return g;
}

class WinogradPlan : public DevicePlan {
 public:
  WinogradPlan(const Problem& problem, const PlanOptions& options)
      : DevicePlan(problem, options, kLimits) {}

 protected:
  void filter(const DevicePlane& in, const DevicePlane& out, Shift shift) override {
    tile_of(options_.tuning) == 2 ? filter<2>(in, out, shift) : filter<4>(in, out, shift);
  }

 private:
  template <int kTile>
  void filter(const DevicePlane& in, const DevicePlane& out, Shift shift) {
    const Geometry g = geometry(problem_, options_.tuning);
    WinogradMask<kTile> mask = winograd_mask<kTile>(problem_.mask);
    mask.dx = shift.x - problem_.mask.anchor_x;
    mask.dy = shift.y - problem_.mask.anchor_y;
    with_depth(problem_.depth, [&]<class T>(TypeTag<T>) {
      with_border(problem_.border, [&](auto border) {
        launch(grid_of(g, out), block_of(g), stream_, winograd_kernel<T, border(), kTile>,
               in.view<const T>(), out.view<T>(), ghost_sample<T>(problem_), mask);
      });
    });
  }
};

std::string refuses(const Problem& p, const Tuning& tuning) {
  if (p.mask.width > kWinogradMaskSide || p.mask.height > kWinogradMaskSide) {
    return "Winograd's tiles are made for 3x3 masks; larger ones would need more points, and lose "
           "precision with each; use fft";
  }
  const int tile = tile_of(tuning);
  if (tile != 2 && tile != 4) return "--tile must be 2 or 4";
  if (std::string reason = transform_refuses(p); !reason.empty()) return reason;
  // Tiles of 4 err by up to 2.5e-6 of the largest sum, which is a third of a step at this limit.
  constexpr double kLargestSum = 1 << 17;
  constexpr double kMostContrast = 4;
  const double largest = absolute_gain(p.mask) * full_range(p.depth);
  if (tile == 4 && (p.depth == Depth::f32 ? p.contrast > kMostContrast : largest > kLargestSum)) {
    return "with --tile=4 the mask's weights or the picture's contrast are so large that results "
           "may leave the family's bound; use --tile=2";
  }
  return "";
}

std::unique_ptr<Plan> prepare(const Problem& problem, const PlanOptions& options) {
  return std::make_unique<WinogradPlan>(problem, options);
}

}  // namespace

extern const Strategy strategy{
    .name = "winograd",
    .summary = "3x3 masks with 4 or 2.25 multiplications an output, not 9",
    .family = Family::transform,
    .refuses = refuses,
    .make_plan = prepare,
    .geometry = geometry,
    .settings = {Setting::tile},
};

}  // namespace convfilt::CONVFILT_BACKEND::winograd
