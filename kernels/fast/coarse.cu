// coarse: smooth masks of rank 1, on grids of every d-th row and column (Unser, Aldroubi and Eden,
// "B-spline signal processing", 1993; Gordon's blending of two one-way interpolations, 1971).
//
//   Of a row f and a column g, both smooth over d samples, s and t are what a coarse grid can do:
//   samples onto the grid by a B-spline, few sums there, back by a B-spline. Where f and g end they
//   are wrong, by 1e-3 to 2e-2. But f t + s g - s t is wrong by (f - s)(g - t) alone, the product:
//
//        picture --y--> rows of nodes --f--> A ------+
//           |                 |                      |      out = A in y, plus B in x,
//           |                 +---x, s--> C ---------+            less C in both
//           +-----x--> columns of nodes --g--> B ----+
//
//   f runs at full length over every d-th row, g over every d-th column: (w + h) / d multiply-adds
//   an output. d grows with the mask: whatever a Gaussian's sigma, some 14 in 8 bits, and 30 to 70
//   in the others. Global reads: 2, and some 6 / d of floats.
//   Siblings: separable and separable-tensor, w + h multiply-adds an output, exact.

#include <algorithm>
#include <array>

#include "device_plan_base.hpp"
#include "dispatch.hpp"
#include "fast/coarse_back.hpp"
#include "fast/coarse_columns.hpp"
#include "fast/coarse_down8.hpp"
#include "fast/coarse_weights.hpp"
#include "sums.hpp"

namespace convfilt::CONVFILT_BACKEND {
namespace {

constexpr int kRowsOfABlock = 128;  // of the picture: more share nodes less often, and wait more
constexpr int kFewestCells = 2;     // of a block, so that no node is shared by three

float sum_of(const std::vector<float>& weights) {
  double sum = 0;
  for (float w : weights) sum += w;
  return float(sum);
}

constexpr int kMostSide = 1 << 18;  // so that a grid's y stays within 65,535

/// Three channels are taken as they lie; others as planes.
InputLimits limits_of(const Problem& problem) {
  return {.width = kMostSide, .height = kMostSide, .interleaved = problem.channels == 3};
}

struct Size {
  int width, height;
};

class CoarsePlan : public DevicePlan {
 public:
  CoarsePlan(const Problem& problem, const PlanOptions& options)
      : DevicePlan(problem, options, limits_of(problem)), mask_(prepare_coarse(problem)) {
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
    with_depth(problem_.depth, [&](auto depth) {
      using T = typename decltype(depth)::type;
      if (step() == 3) {
        filter_as<T, 3>(in.view<const T>(), out.view<T>(), shift);
      } else {
        filter_as<T, 1>(in.view<const T>(), out.view<T>(), shift);
      }
    });
  }

  std::size_t scratch_bytes(int in_height, int out_width, int out_height) const override {
    std::size_t bytes = 0;
    for (const Size& size :
         sizes(most_in(out_width / step()), in_height, out_width / step(), out_height)) {
      bytes += plane_bytes(roomy(size.width), size.height, sizeof(float));
    }
    return bytes;
  }

  void allocate_scratch(int in_height, int out_width, int out_height) override {
    shape_all(most_in(out_width / step()), in_height, out_width / step(), out_height);
  }

 private:
  /// In the order of coarse.cu's head; `turned`: rows are columns.
  enum Name { kRows, kRowsTurned, kFineX, kColumns, kColumnsTurned, kFineY, kBothTurned, kBoth };
  static constexpr int kPlanes = 8;

  int most_in(int out_width) const { return out_width + problem_.mask.width - 1; }

  /// Rows have room for whole fours, and whole kSumsAThread, which kernels write.
  static int roomy(int width) { return ceil_div(width, kSumsAThread) * kSumsAThread; }

  /// Of all channels, side by side in the first, below each other in the others. In pixels.
  std::array<Size, kPlanes> sizes(int in_width, int in_height, int out_width,
                                  int out_height) const {
    const int in_x = mask_.x.in_nodes(out_width), in_y = mask_.y.in_nodes(out_height);
    const int out_x = mask_.x.out_nodes(out_width), out_y = mask_.y.out_nodes(out_height);
    const int n = step();
    return {{{in_width * n, in_y},
             {out_y, in_width * n},
             {out_width, out_y * n},
             {in_x, in_height * n},
             {out_height, in_x * n},
             {out_x, out_height * n},
             {out_y, in_x * n},
             {out_x, out_y * n}}};
  }

  void shape_all(int in_width, int in_height, int out_width, int out_height) {
    used_ = sizes(in_width, in_height, out_width, out_height);
    for (int k = 0; k < kPlanes; ++k)
      shape(planes_[k], roomy(used_[k].width), used_[k].height, sizeof(float));
  }

  /// A plane's used part.
  PlaneView<float> plane(Name name) const {
    PlaneView<float> view = planes_[name].plane.template view<float>();
    view.width = used_[name].width;
    return view;
  }
  /// One channel of those that lie below each other.
  PlaneView<float> channel_of(Name name, int channel) const {
    const int height = used_[name].height / step();
    return plane(name).rows(channel * height, height);
  }
  static PlaneView<const float> read(const PlaneView<float>& plane) {
    return {plane.data, plane.width, plane.height, plane.stride};
  }
  const Four<float>* weights(int at) const {
    return reinterpret_cast<const Four<float>*>(weights_.data()) + at;
  }

  ByteLine byte_line(const CoarseAxis& axis, const AxisWeights& at) const {
    return {reinterpret_cast<const ByteWeights*>(weights(at.down_bytes)), axis.down_unit,
            float(mask_.centre * sum_of(axis.down))};
  }

  template <class S>
  void decimate_rows(const PlaneView<const S>& in, const PlaneView<float>& nodes, const Cells& grid,
                     int cells, float centre, const AxisWeights& axis) {
    zero(nodes, stream_);
    const dim3 blocks(ceil_div(in.width, 4 * kCoarseThreads),
                      ceil_div(nodes.height + kCoarseOrder - 1, cells));
    if constexpr (std::is_same_v<S, std::uint8_t>) {
      launch(blocks, dim3(kCoarseThreads), stream_, decimate_rows8_kernel, in, nodes, grid, cells,
             ghost_sample<S>(problem_), byte_line(mask_.y, axis));
    } else {
      launch(blocks, dim3(kCoarseThreads), stream_, decimate_rows_kernel<S>, in, nodes, grid, cells,
             centre, weights(axis.down_in_threes));
    }
  }

  void sum_columns(const PlaneView<float>& in, const PlaneView<float>& out, int line, int steps,
                   int first, Border border, float ghost) {
    // Beyond an int the plane would take 128 GiB.
    const int threads = in.width * ceil_div(out.width, kSumsAThread);
    launch(dim3(ceil_div(threads, kSumThreads)), dim3(kSumThreads), stream_, sum_columns_kernel,
           read(in), out, PaddedLine{weights(line), steps}, first, border, ghost);
  }

  /// As sum_columns, of nodes; beyond their ends are only weights of 0.
  void sum_nodes(const PlaneView<float>& in, const PlaneView<float>& out, const AxisWeights& axis) {
    sum_columns(in, out, axis.coarse, axis.coarse_steps, 0, Border::replicate, 0);
  }

  template <class T, int channels>
  void filter_as(const PlaneView<const T>& in, const PlaneView<T>& out, Shift shift) {
    const int left = shift.x - problem_.mask.anchor_x, top = shift.y - problem_.mask.anchor_y;
    const float ghost = float(ghost_sample<T>(problem_) - mask_.centre);
    shape_all(in.width / channels, in.height, out.width / channels, out.height);
    rows_of_nodes(in, left, top, ghost, channels);
    columns_of_nodes<T, channels>(in, left, top, ghost);

    const Mask& mask = problem_.mask;
    PlaneView<float> fine_x = plane(kFineX);
    fine_x.width = roomy(fine_x.width);
    const Grids grids{read(fine_x),
                      read(plane(kBoth)),
                      read(plane(kFineY)),
                      mask_.x.step,
                      mask_.y.step,
                      weights(x_.back_in_threes),
                      weights(y_.back_in_threes),
                      float(mask_.scale / kEndRange<T>),
                      float((mask.offset + mask_.centre * gain(mask)) / kEndRange<T>)};
    const int cells = std::max(1, kRowsOfABlock / mask_.y.step);
    const dim3 blocks(ceil_div(out.width / channels, 4 * kCoarseThreads),
                      ceil_div(out.height, cells * mask_.y.step));
    launch(blocks, dim3(kCoarseThreads), stream_, interpolate_kernel<T, channels>, grids, out,
           cells);
  }

  // A and C.
  template <class T>
  void rows_of_nodes(const PlaneView<const T>& in, int left, int top, float ghost, int channels) {
    const int cells = std::max(kFewestCells, kRowsOfABlock / mask_.y.step);
    decimate_rows(in, plane(kRows), {top + mask_.y.first, mask_.y.step, problem_.border, ghost},
                  cells, float(mask_.centre), y_);
    sum_nodes(plane(kRows), plane(kRowsTurned), y_);
    const float ghost_node = ghost * sum_of(mask_.y.down) * sum_of(mask_.y.coarse);
    const Cells grid{left + mask_.x.first, mask_.x.step, problem_.border, ghost_node};
    for (int c = 0; c < channels; ++c) {
      // Of rows that are columns, every third is of one channel.
      PlaneView<float> turned = plane(kRowsTurned);
      turned = {turned.row(c), turned.width, turned.height / channels, turned.stride * channels};
      sum_columns(turned, channel_of(kFineX, c), x_.line, x_.line_steps, left, problem_.border,
                  ghost_node);
      // There are few columns, so that only short blocks are many.
      decimate_rows(read(turned), channel_of(kBothTurned, c), grid, kFewestCells, 0.0f, x_);
      sum_nodes(channel_of(kBothTurned, c), channel_of(kBoth, c), x_);
    }
  }

  // B.
  template <class T, int channels>
  void columns_of_nodes(const PlaneView<const T>& in, int left, int top, float ghost) {
    constexpr int kRowsAThread = channels == 1 ? 4 : 2;  // they share weights
    const PlaneView<float> nodes = plane(kColumns);
    const dim3 blocks(ceil_div(nodes.width, kNodeColumns),
                      ceil_div(in.height, kNodeRows * kRowsAThread));
    const Cells grid{left + mask_.x.first, mask_.x.step, problem_.border, ghost};
    const dim3 block(kNodeColumns, kNodeRows);
    if constexpr (std::is_same_v<T, float>) {
      launch(blocks, block, stream_, decimate_columns_kernel<channels, kRowsAThread>, in, nodes,
             grid, weights(x_.down));
    } else {
      launch(blocks, block, stream_, decimate_bytes_kernel<T, channels, kRowsAThread>, in, nodes,
             grid, ghost_sample<T>(problem_), byte_line(mask_.x, x_));
    }
    for (int c = 0; c < channels; ++c) {
      sum_columns(channel_of(kColumns, c), channel_of(kColumnsTurned, c), y_.line, y_.line_steps,
                  top, problem_.border, ghost * sum_of(mask_.x.down));
      sum_nodes(channel_of(kColumnsTurned, c), channel_of(kFineY, c), x_);
    }
  }

  const CoarseMask mask_;
  AxisWeights x_{}, y_{};
  DeviceBuffer weights_;
  OwnedPlane planes_[kPlanes];
  std::array<Size, kPlanes> used_{};
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
