// coarse: smooth masks of rank 1, on grids of every d-th row and column (Unser, Aldroubi and Eden,
// "B-spline signal processing", 1993; the sum of the two is Gordon's blending, 1971).
//
//   Of a row f and a column g, both smooth over d samples, s and t are what a coarse grid can do:
//   samples onto the grid by a B-spline, few sums there, back by a B-spline. They are wrong where f
//   and g end, by some 1e-2. But f t + s g - s t is wrong by (f - s)(g - t) alone, some 1e-5:
//
//        picture --y--> rows of nodes --f--> A ------+
//           |                 |                      |      out = A in y, plus B in x,
//           |                 +---x, s--> C ---------+            less C in both
//           +-----x--> columns of nodes --g--> B ----+
//
//   f runs at full length over every d-th row, g over every d-th column: (w + h) / d multiply-adds
//   an output, and d grows with the mask: 10 to 40 for a Gaussian of any sigma. Global reads: 2,
//   and some 6 / d of floats. Siblings: separable and separable-tensor, w + h multiply-adds an
//   output, exact.

#include "fast/coarse_kernels.hpp"

#include <cstring>

#include "device_plan_base.hpp"
#include "dispatch.hpp"
#include "sums.hpp"

namespace convfilt::CONVFILT_BACKEND {
namespace {

constexpr int kRowsOfABlock = 128;  // of the picture; more share nodes less often, and wait more

/// All weights in one buffer, each array from a multiple of 16 bytes on.
class WeightList {
 public:
  /// Where they begin, in fours.
  int add(const std::vector<float>& weights) {
    const int at = int(floats_.size()) / 4;
    floats_.insert(floats_.end(), weights.begin(), weights.end());
    floats_.resize(std::size_t(ceil_div(int(floats_.size()), 4)) * 4);
    return at;
  }
  const std::vector<float>& floats() const { return floats_; }

 private:
  std::vector<float> floats_;
};

/// Where an axis' weights lie, in fours.
struct AxisWeights {
  int line, line_steps, coarse, coarse_steps, down, down_in_threes, back_in_threes;
};

int steps_of(const std::vector<float>& line) {
  return ceil_div(int(line.size()) + kSumsAThread - 1, 4);
}

int add_line(WeightList& list, const std::vector<float>& line) {
  std::vector<float> padded(4 * std::size_t(steps_of(line)) + kSumsAThread);
  std::copy(line.begin(), line.end(), padded.begin() + kSumsAThread - 1);
  return list.add(padded);
}

int add_in_threes(WeightList& list, const std::vector<float>& spline, int step) {
  std::vector<float> threes;
  for (int t = 0; t < step; ++t) {
    for (int n = kCoarseOrder - 1; n >= 0; --n) threes.push_back(spline[t + n * step]);
    threes.push_back(0);
  }
  return list.add(threes);
}

AxisWeights add_axis(WeightList& list, const CoarseAxis& axis) {
  return {add_line(list, axis.line),
          steps_of(axis.line),
          add_line(list, axis.coarse),
          steps_of(axis.coarse),
          list.add(axis.down),
          add_in_threes(list, axis.down, axis.step),
          add_in_threes(list, axis.back, axis.step)};
}

float sum_of(const std::vector<float>& weights) {
  double sum = 0;
  for (float w : weights) sum += w;
  return float(sum);
}

class CoarsePlan : public DevicePlan {
 public:
  CoarsePlan(const Problem& problem, const PlanOptions& options)
      : DevicePlan(problem, options, {}), mask_(prepare_coarse(problem)) {
    WeightList list;
    x_ = add_axis(list, mask_.x);
    y_ = add_axis(list, mask_.y);
    const std::size_t bytes = list.floats().size() * sizeof(float);
    hold(weights_, bytes);
    upload_rows(weights_.data(), bytes, reinterpret_cast<const std::byte*>(list.floats().data()),
                bytes, bytes, 1, stream_);
    stream_.synchronize();  // the list has been read
  }

 protected:
  void filter(const DevicePlane& in, const DevicePlane& out, Shift shift) override {
    const int left = shift.x - problem_.mask.anchor_x, top = shift.y - problem_.mask.anchor_y;
    with_depth(problem_.depth, [&](auto depth) {
      using T = typename decltype(depth)::type;
      const T sample = ghost_sample<T>(problem_);
      const float ghost = float(double(sample) - mask_.centre);
      sum_rows(in.view<const T>(), ghost, left, top, out.width, out.height);
      sum_columns_of_nodes(in.view<const T>(), ghost, left, top, out.width, out.height);
      interpolate(out.view<T>());
    });
  }

  std::size_t scratch_bytes(int in_height, int out_width, int out_height) const override {
    const Sizes n =
        sizes(out_width + int(mask_.x.line.size()) - 1, in_height, out_width, out_height);
    std::size_t bytes = 0;
    for (const Size& size : n.all) bytes += plane_bytes(roomy(size.width), size.height, 4);
    return bytes;
  }

  void allocate_scratch(int in_height, int out_width, int out_height) override {
    shape_all(out_width + int(mask_.x.line.size()) - 1, in_height, out_width, out_height);
  }

 private:
  struct Size {
    int width, height;
  };
  enum Name { kRows, kRowsTurned, kFineX, kColumns, kColumnsTurned, kFineY, kBothDown, kBoth };
  static constexpr int kPlanes = 8;
  struct Sizes {
    Size all[kPlanes];
  };

  // Rows of whole fours and whole kSumsAThread, which kernels write.
  static int roomy(int width) { return ceil_div(width, kSumsAThread) * kSumsAThread; }

  Sizes sizes(int in_width, int in_height, int out_width, int out_height) const {
    const int in_x = mask_.x.in_nodes(out_width), in_y = mask_.y.in_nodes(out_height);
    const int out_x = mask_.x.out_nodes(out_width), out_y = mask_.y.out_nodes(out_height);
    return {{{in_width, in_y},
             {out_y, in_width},
             {out_width, out_y},
             {in_x, in_height},
             {out_height, in_x},
             {out_x, out_height},
             {out_y, in_x},
             {out_x, out_y}}};
  }

  void shape_all(int in_width, int in_height, int out_width, int out_height) {
    const Sizes n = sizes(in_width, in_height, out_width, out_height);
    for (int k = 0; k < kPlanes; ++k) {
      shape(planes_[k], roomy(n.all[k].width), n.all[k].height, sizeof(float));
      used_[k] = n.all[k];
    }
  }

  /// A plane's used part.
  PlaneView<float> plane(Name name) const {
    PlaneView<float> view = planes_[name].plane.template view<float>();
    view.width = used_[name].width;
    view.height = used_[name].height;
    return view;
  }
  static PlaneView<const float> read(const PlaneView<float>& plane) {
    return {plane.data, plane.width, plane.height, plane.stride};
  }
  const Four<float>* weights(int at) const {
    return reinterpret_cast<const Four<float>*>(weights_.data()) + at;
  }

  template <class S>
  void decimate_rows(const PlaneView<const S>& in, Name to, const CoarseAxis& axis,
                     const AxisWeights& from, int first, float ghost, float centre) {
    const PlaneView<float> nodes = plane(to);
    zero(nodes, stream_);
    const int cells = max(2, kRowsOfABlock / axis.step);  // 2: at most two blocks share a node
    const dim3 grid(ceil_div(in.width, kCoarseColumns * kCoarseThreads),
                    ceil_div(nodes.height + kCoarseOrder - 1, cells));
    launch(grid, dim3(kCoarseThreads), stream_, decimate_rows_kernel<S>, in, nodes,
           Cells{first, axis.step, problem_.border, ghost}, cells, centre,
           weights(from.down_in_threes));
  }

  void sum_columns(Name from, Name to, int line, int steps, int first, Border border, float ghost) {
    const PlaneView<float> in = plane(from), out = plane(to);
    const dim3 grid(ceil_div(in.width, kNodeColumns),
                    ceil_div(out.width, kSumsAThread * kNodeRows));
    launch(grid, dim3(kNodeColumns, kNodeRows), stream_, sum_columns_kernel, read(in), out,
           PaddedLine{weights(line), steps}, first, border, ghost);
  }

  /// As sum_columns, of nodes; beyond their ends are only weights of 0.
  void sum_nodes(Name from, Name to, const AxisWeights& axis) {
    sum_columns(from, to, axis.coarse, axis.coarse_steps, 0, Border::replicate, 0);
  }

  // A and C.
  template <class T>
  void sum_rows(const PlaneView<const T>& in, float ghost, int left, int top, int out_width,
                int out_height) {
    shape_all(in.width, in.height, out_width, out_height);
    decimate_rows(in, kRows, mask_.y, y_, top + mask_.y.first, ghost, float(mask_.centre));
    sum_nodes(kRows, kRowsTurned, y_);
    const float ghost_row = ghost * sum_of(mask_.y.down) * sum_of(mask_.y.coarse);
    sum_columns(kRowsTurned, kFineX, x_.line, x_.line_steps, left, problem_.border, ghost_row);
    decimate_rows(read(plane(kRowsTurned)), kBothDown, mask_.x, x_, left + mask_.x.first, ghost_row,
                  0.0f);
    sum_nodes(kBothDown, kBoth, x_);
  }

  // B.
  template <class T>
  void sum_columns_of_nodes(const PlaneView<const T>& in, float ghost, int left, int top, int,
                            int) {
    const PlaneView<float> nodes = plane(kColumns);
    const Cells grid{left + mask_.x.first, mask_.x.step, problem_.border, ghost};
    const dim3 blocks(ceil_div(nodes.width, kNodeColumns),
                      ceil_div(in.height, kNodeRows * kRowsAThread));
    const dim3 block(kNodeColumns, kNodeRows);
    constexpr int kWide = int(16 / sizeof(T));
    if (mask_.x.step % kWide == 0) {
      launch(blocks, block, stream_, decimate_columns_kernel<T, kWide>, in, nodes, grid,
             float(mask_.centre), weights(x_.down));
    } else {
      launch(blocks, block, stream_, decimate_columns_kernel<T, 4>, in, nodes, grid,
             float(mask_.centre), weights(x_.down));
    }
    sum_columns(kColumns, kColumnsTurned, y_.line, y_.line_steps, top, problem_.border,
                ghost * sum_of(mask_.x.down));
    sum_nodes(kColumnsTurned, kFineY, x_);
  }

  template <class T>
  void interpolate(const PlaneView<T>& out) {
    PlaneView<float> fine_x = plane(kFineX);
    fine_x.width = roomy(fine_x.width);
    const Grids grids{
        read(fine_x), read(plane(kBoth)),         read(plane(kFineY)),       mask_.x.step,
        mask_.y.step, weights(x_.back_in_threes), weights(y_.back_in_threes)};
    const int cells = max(1, kRowsOfABlock / mask_.y.step);
    const dim3 grid(ceil_div(out.width, kCoarseColumns * kCoarseThreads),
                    ceil_div(out.height, cells * mask_.y.step));
    const Mask& mask = problem_.mask;
    const FloatFinish end{float(mask_.scale), float(mask.offset + mask_.centre * gain(mask))};
    launch(grid, dim3(kCoarseThreads), stream_, interpolate_kernel<T>, grids, out, cells, end);
  }

  const CoarseMask mask_;
  AxisWeights x_{}, y_{};
  DeviceBuffer weights_;
  OwnedPlane planes_[kPlanes];
  Size used_[kPlanes] = {};
};

std::string refuses(const Problem& problem, const Tuning&) {
  return coarse_refuses(problem);
}

std::unique_ptr<Plan> prepare(const Problem& problem, const PlanOptions& options) {
  return std::make_unique<CoarsePlan>(problem, options);
}

}  // namespace

extern const Implementation coarse{
    "coarse", "smooth masks of rank 1 on every d-th row and column, whatever their size",
    Family::transform, refuses, prepare};

}  // namespace convfilt::CONVFILT_BACKEND
