// coarse: smooth masks of rank 1, on grids of every d-th row and column (Unser, Aldroubi and Eden,
// "B-spline signal processing", 1993; Gordon's blending of two one-way interpolations, 1971).
//
//   The mask is a row f times a column g, both smooth over d samples. On a coarse grid s and t do
//   nearly the same: a B-spline brings samples onto the grid, a few sums follow, and a B-spline
//   interpolates. Where f and g end, s and t are wrong by 1e-3 to 2e-2. But f t + s g - s t is
//   wrong only by the product of the two errors, (f - s)(g - t):
//
//        picture --y--> rows of nodes --f--> A ------+
//           |                 |                      |      out = A in y, plus B in x,
//           |                 +---x, s--> C ---------+            less C in both
//           +-----x--> columns of nodes --g--> B ----+
//
//   f runs at full length over every d-th row, g over every d-th column: (w + h) / d multiply-adds
//   an output. d grows with the mask, so a Gaussian of any sigma takes some 14 of them in 8 bits,
//   and 30 to 70 at other depths. Global reads per output: 2 samples, and some 6 / d floats.
//   Siblings: separable and separable-tensor take w + h multiply-adds an output, and are exact.

#include <algorithm>
#include <array>
#include <bit>
#include <utility>
#include <vector>

#include "kernels/coarse/interpolate.hpp"
#include "kernels/coarse/node_columns.hpp"
#include "kernels/coarse/node_rows.hpp"
#include "kernels/coarse/sums.hpp"
#include "kernels/contract/dispatch.hpp"
#include "kernels/plan/device_plan.hpp"
#include "kernels/plan/side_samples.hpp"

namespace convfilt::CONVFILT_BACKEND::coarse {

using namespace convfilt::coarse;
namespace {

constexpr int kRowsOfABlock = 128;  // higher blocks share fewer nodes, but wait longer
constexpr int kFewestCells = 2;     // in a block, so that no three blocks share a node
constexpr int kCellsAlone = 8;  // in a block; from here on reading two more is cheaper than sharing
constexpr int kApart = 64;      // bytes between a row's nodes from which on strips are faster
constexpr int kStripPixels = 1024;  // in a warp's rows; with fewer, more warps read cells twice

float sum_of(const std::vector<float>& weights) {
  return float(total_of(weights));
}

// The weights of a fitted mask, in the order in which the kernels read them.

/// All weights in one buffer, in which each array begins at a multiple of 16 bytes.
class WeightList {
 public:
  /// Adds an array, and returns where it begins, in fours.
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

/// Where the arrays of an axis begin, in fours, and the steps of its lines.
struct AxisWeights {
  int line, line_steps, coarse, coarse_steps, down, down_bytes, down_in_threes, back_in_threes;
};

/// PaddedLine::steps of a line.
int steps_of(const std::vector<float>& line) {
  return ceil_div(int(line.size()) + kSumsAThread - 1, 4);
}

/// Adds the weights of a PaddedLine.
int add_line(WeightList& list, const std::vector<float>& line) {
  // The line is one step longer, since fours are loaded a step before they are used.
  std::vector<float> padded(4 * std::size_t(steps_of(line) + 1) + kSumsAThread);
  std::copy(line.begin(), line.end(), padded.begin() + kSumsAThread - 1);
  return list.add(padded);
}

/// Adds a B-spline as SplineWeights.
int add_in_threes(WeightList& list, const std::vector<float>& spline, int step) {
  std::vector<float> threes;
  for (int t = 0; t < step; ++t) {
    for (int n = kOrder - 1; n >= 0; --n) threes.push_back(spline[t + n * step]);
    threes.push_back(0);
  }
  return list.add(threes);
}

/// Adds the ByteWeights of the B-spline that brings samples onto the grid, in the bits of floats.
int add_bytes(WeightList& list, const Axis& axis) {
  std::vector<float> bits;
  for (std::size_t t = 0; t < axis.down.size(); t += 4) {
    ByteWeights four{};
    for (int k = 0; k < 4; ++k) {
      const auto whole = std::uint32_t(axis.down[t + k] / axis.down_unit);
      four.upper |= whole >> 8 << (8 * k);
      four.lower |= (whole & 255) << (8 * k);
    }
    bits.push_back(std::bit_cast<float>(four.upper));
    bits.push_back(std::bit_cast<float>(four.lower));
  }
  return list.add(bits);
}

AxisWeights add_axis(WeightList& list, const Axis& axis) {
  return {add_line(list, axis.line),
          steps_of(axis.line),
          add_line(list, axis.coarse),
          steps_of(axis.coarse),
          list.add(axis.down),
          add_bytes(list, axis),
          add_in_threes(list, axis.down, axis.step),
          add_in_threes(list, axis.back, axis.step)};
}

// The planes between the steps, and how far beside the picture kernels read.

constexpr int kAlignedPixels = 16;  // makes the margin whole pieces of 16 bytes at any depth
constexpr int kMostSide = 1 << 18;  // keeps a grid's y within 65,535

/// The number of pixels that nodes reach: before the picture's first pixel, and in all.
struct Reach {
  int before, all;
  int behind(int in_width) const { return std::max(0, all - before - in_width); }
  int margin() const { return ceil_div(before, kAlignedPixels) * kAlignedPixels; }
};
/// The reach if pixel `left` lies under the mask's first column for output 0.
Reach reach_of(const Axis& x, int left, int out_width) {
  return {-(left + x.first), (x.in_nodes(out_width) + kOrder - 1) * x.step};
}

/// Three channels stay interleaved; other numbers of channels are filtered as planes.
InputLimits limits_of(const Problem& problem, const Axis& x) {
  const int samples = problem.channels == 3 ? 3 : 1;
  const Reach whole = reach_of(x, -problem.lead_x(), problem.out_width());
  // A piece carries its halo. None reaches further behind that than a piece of a single output.
  const Reach piece = reach_of(x, 0, 1);
  const int sides = std::max(whole.margin() + whole.behind(problem.width),
                             piece.margin() + piece.behind(problem.mask.width));
  return {.width = kMostSide,
          .height = kMostSide,
          .interleaved = samples == 3,
          .sides = int(sides * samples * size_of(problem.depth)) + 16};
}

class Planes : public DevicePlan {
 protected:
  Planes(const Problem& problem, const PlanOptions& options, FittedMask mask)
      : DevicePlan(problem, options, limits_of(problem, mask.x)), mask_(std::move(mask)) {}

  std::size_t scratch_bytes(int, int out_width, int out_height) const override {
    std::size_t bytes = 0;
    for (const Size& size : sizes(most_in(out_width / step()), out_width / step(), out_height))
      bytes += plane_bytes(padded(size.width), size.height, sizeof(float));
    return bytes;
  }

  void allocate_scratch(int, int out_width, int out_height) override {
    shape_all(most_in(out_width / step()), out_width / step(), out_height);
  }

  int margin(Shift shift) const override {
    return reach(shift, 1).margin() * step() * int(size_of(problem_.depth));
  }

  /// The planes in the order of coarse.cu's head. Turned planes are transposed.
  enum Name { kRows, kRowsTurned, kFineX, kColumns, kColumnsTurned, kFineY, kBothTurned, kBoth };
  static constexpr int kPlanes = 8;

  /// The most columns of a piece that has out_width columns of outputs.
  int most_in(int out_width) const { return out_width + problem_.mask.width - 1; }
  Reach reach(Shift shift, int out_width) const {
    return reach_of(mask_.x, shift.x - problem_.mask.anchor_x, out_width);
  }

  /// A row's width with room for the whole fours and whole kSumsAThread that kernels write.
  static int padded(int width) { return ceil_div(width, kSumsAThread) * kSumsAThread; }

  struct Size {
    int width, height;
  };

  /// The planes' sizes with all channels. Channels are interleaved in a row of kRows, so they are
  /// interleaved rows of kRowsTurned. In the other planes they lie one below the other.
  std::array<Size, kPlanes> sizes(int in_width, int out_width, int out_height) const {
    const int in_x = mask_.x.in_nodes(out_width), in_y = mask_.y.in_nodes(out_height);
    const int out_x = mask_.x.out_nodes(out_width), out_y = mask_.y.out_nodes(out_height);
    const int n = step();
    return {{{in_width * n, in_y},
             {out_y, reach_of(mask_.x, 0, out_width).all * n},
             {out_width, out_y * n},
             {in_x, (out_height + problem_.mask.height - 1) * n},
             {out_height, in_x * n},
             {out_x, out_height * n},
             {out_y, in_x * n},
             {out_x, out_y * n}}};
  }

  void shape_all(int in_width, int out_width, int out_height) {
    used_ = sizes(in_width, out_width, out_height);
    for (int k = 0; k < kPlanes; ++k) {
      const std::size_t before = planes_[k].buffer.size();
      shape(planes_[k], padded(used_[k].width), used_[k].height, sizeof(float));
      // Columns beyond those in use are read with their neighbours. They meet weights of 0, so they
      // must not be NaN.
      if (planes_[k].buffer.size() > before) clear_plane(Name(k));
    }
  }

  /// The part of a plane that is in use.
  PlaneView<float> plane(Name name) const {
    PlaneView<float> view = planes_[name].plane.template view<float>();
    view.width = used_[name].width;
    return view;
  }
  /// The first channel of a plane whose channels lie one below the other. next_of() is the number
  /// of floats from one channel to the next.
  PlaneView<float> first_of(Name name) const {
    return plane(name).rows(0, used_[name].height / step());
  }
  std::ptrdiff_t next_of(Name name) const {
    const PlaneView<float> first = first_of(name);
    return first.height * first.stride;
  }
  void clear_plane(Name name) {
    const DevicePlane& all = planes_[name].plane;
    clear(all.data, std::size_t(all.pitch) * all.height, stream_);
  }

  const FittedMask mask_;

 private:
  OwnedPlane planes_[kPlanes];
  std::array<Size, kPlanes> used_{};
};

class GridPlan : public Planes {
 public:
  GridPlan(const Problem& problem, const PlanOptions& options, FittedMask mask)
      : Planes(problem, options, std::move(mask)),
        start_(problem.mask.offset + mask_.centre * gain(problem.mask)),
        other_(options) {
    WeightList list;
    x_ = add_axis(list, mask_.x);
    y_ = add_axis(list, mask_.y);
    hold_copy(weights_, list.floats());
    stream_.synchronize();  // the list has been read
  }

 protected:
  void filter(const DevicePlane& in, const DevicePlane& out, Shift shift) override {
    with_depth(problem_.depth, [&]<class T>(TypeTag<T>) {
      if (step() == 3) {
        filter_as<T, 3>(in.view<T>(), out.view<T>(), shift);
      } else {
        filter_as<T, 1>(in.view<T>(), out.view<T>(), shift);
      }
    });
  }

 private:
  const Four<float>* weights(int at) const { return as<const Four<float>>(weights_) + at; }

  ByteLine byte_line(const Axis& axis, const AxisWeights& at) const {
    return {reinterpret_cast<const ByteWeights*>(weights(at.down_bytes)), axis.down_unit,
            float(mask_.centre * sum_of(axis.down))};
  }

  template <class T, int channels>
  void filter_as(const PlaneView<T>& in, const PlaneView<T>& out, Shift shift) {
    const int width = in.width / channels;
    shape_all(width, out.width / channels, out.height);
    const int top = shift.y - problem_.mask.anchor_y;
    const float ghost = float(ghost_sample<T>(problem_) - mask_.centre);
    const Reach beside = reach(shift, out.width / channels);
    const Stream& other = other_.begin(stream_);
    write_sides<T, WideSides>(in, ghost_sample<T>(problem_), problem_.border, channels,
                              beside.margin() * channels, beside.behind(width) * channels, other);
    columns_of_nodes<T, channels>(
        {in.data - beside.before * channels, beside.all * channels, in.height, in.stride}, top,
        ghost, other);
    rows_of_nodes<T>(in, top, ghost);
    smooth_rows(beside.before, ghost);
    other_.end(stream_);
    sum_nodes();

    PlaneView<float> fine_x = plane(kFineX);
    fine_x.width = padded(fine_x.width);
    const Grids grids{fine_x,
                      plane(kBoth),
                      plane(kFineY),
                      mask_.x.step,
                      mask_.y.step,
                      weights(x_.back_in_threes),
                      weights(y_.back_in_threes),
                      float(mask_.scale / kEndRange<T>),
                      float(start_ / kEndRange<T>)};
    const int cells = std::max(1, kRowsOfABlock / mask_.y.step);
    const dim3 blocks(ceil_div(out.width / channels, 4 * kWalkThreads),
                      ceil_div(out.height, cells * mask_.y.step));
    launch(blocks, dim3(kWalkThreads), stream_, interpolate_kernel<T, channels>, grids, out, cells);
  }

  // Brings the picture's rows onto the grid.
  template <class T>
  void rows_of_nodes(const PlaneView<const T>& in, int top, float ghost) {
    const PlaneView<float> nodes = plane(kRows);
    const int cells = std::max(kFewestCells, kRowsOfABlock / mask_.y.step);
    const bool shared = cells < kCellsAlone;
    if (shared) clear_plane(kRows);
    const Cells grid{top + mask_.y.first, mask_.y.step, problem_.border, ghost, cells, shared};
    const dim3 blocks(ceil_div(in.width, 4 * kWalkThreads),
                      ceil_div(nodes.height + (shared ? kOrder - 1 : 0), cells));
    const auto launch_rows = [&](auto level, auto down) {
      launch(blocks, dim3(kWalkThreads), stream_, decimate_rows_kernel<T>, in, nodes, grid, level,
             down);
    };
    if constexpr (std::is_same_v<T, std::uint8_t>) {
      launch_rows(ghost_sample<T>(problem_), byte_line(mask_.y, y_));
    } else {
      launch_rows(float(mask_.centre), weights(y_.down_in_threes));
    }
  }

  // Brings the picture's columns onto the grid, together with the ghost cells at its sides.
  template <class T, int channels>
  void columns_of_nodes(const PlaneView<const T>& in, int top, float ghost, const Stream& stream) {
    constexpr int kRowsAThread = channels == 1 ? 4 : 2;  // rows of a thread share weights
    const PlaneView<float> nodes = plane(kColumns);
    int bytes = 16;
    while (bytes >= int(4 * sizeof(T)) &&
           (mask_.x.step * sizeof(T) % bytes != 0 || !lies_at_multiples_of(bytes, in)))
      bytes /= 2;
    if (bytes < int(4 * sizeof(T))) bytes = 0;
    const RowGrid grid{mask_.x.step, top, problem_.border, ghost * sum_of(mask_.x.down), bytes};
    const dim3 block(kNodeColumns, kNodeRows);
    const dim3 blocks(ceil_div(nodes.width, kNodeColumns),
                      ceil_div(nodes.height / channels, kNodeRows * kRowsAThread));
    const auto launch_columns = [&](auto down) {
      const bool apart = mask_.x.step * channels * int(sizeof(T)) >= kApart;
      if (apart && mask_.x.step % kPixelsAtOnce<T> == 0 && lies_at_multiples_of(16, in)) {
        using S = Strip<channels>;
        const int count = std::max(4, kStripPixels / mask_.x.step / 4 * 4);
        PlaneView<const T> whole = in;
        constexpr int kInPiece = 16 / int(sizeof(T));
        whole.width = ceil_div(in.width, kInPiece) * kInPiece;
        launch_shared(dim3(ceil_div(nodes.width, count * kStripWarps),
                           ceil_div(nodes.height / channels, S::kRows)),
                      dim3(kStripLanes, kStripWarps), kStripWarps * S::kWords * 4, stream,
                      decimate_strips_kernel<T, channels>, whole, nodes, grid, count, down);
        return;
      }
      launch(blocks, block, stream, decimate_columns_kernel<T, channels, kRowsAThread>, in, nodes,
             grid, down);
    };
    if constexpr (std::is_same_v<T, float>) {
      launch_columns(weights(x_.down));
    } else {
      launch_columns(byte_line(mask_.x, x_));
    }
  }

  /// A job from `in` to the plane `to`, whose channels lie below each other.
  ColumnJob job(const PlaneView<float>& in, std::ptrdiff_t next_in, Name to, int line, int steps,
                int first) const {
    ColumnJob job{in,          first_of(to), next_in,
                  next_of(to), step(),       PaddedLine{weights(line), steps},
                  first,       true,         in.width};
    job.in.width = padded(in.width);
    return job;
  }
  ColumnJob nodes_job(Name from, Name to, const AxisWeights& axis) const {
    return job(first_of(from), next_of(from), to, axis.coarse, axis.coarse_steps, 0);
  }

  /// Sums rows of nodes by the coarse line in y, and writes them transposed, with the ghost cells
  /// at their sides.
  void smooth_rows(int before, float ghost) {
    ColumnJob rows = job(plane(kRows), 0, kRowsTurned, y_.coarse, y_.coarse_steps, 0);
    rows.in = plane(kRows);
    rows.out = plane(kRowsTurned);
    rows.channels = 1;
    rows.pairs = false;
    rows.columns = rows.out.height;
    rows.before = before * step();
    rows.samples = step();
    rows.border = problem_.border;
    rows.ghost = ghost * sum_of(mask_.y.down) * sum_of(mask_.y.coarse);
    run_sums(stream_, rows, nullptr, nullptr);
  }

  // Makes A, B and C of this file's head. The long sums run in one launch.
  void sum_nodes() {
    const int n = step();
    // Every n-th row of the turned plane belongs to one channel.
    PlaneView<float> turned = plane(kRowsTurned);
    const std::ptrdiff_t next = turned.stride;
    turned = {turned.data, turned.width, turned.height / n, turned.stride * n};
    const ColumnJob a = job(turned, next, kFineX, x_.line, x_.line_steps, -mask_.x.first);
    const ColumnJob b =
        job(first_of(kColumns), next_of(kColumns), kColumnsTurned, y_.line, y_.line_steps, 0);
    const NodeJob nodes{turned,       first_of(kBothTurned), next, next_of(kBothTurned), n,
                        mask_.x.step, weights(x_.down)};
    run_sums(stream_, a, &b, &nodes);

    const ColumnJob c = nodes_job(kBothTurned, kBoth, x_);
    run_sums(stream_, nodes_job(kColumnsTurned, kFineY, x_), &c, nullptr);
  }

  const double start_;  ///< what sums start from; a large mask's gain takes long to compute
  AxisWeights x_{}, y_{};
  DeviceBuffer weights_;
  SideStream other_;
};

std::string refuses(const Problem& problem, const Tuning&) {
  return convfilt::coarse::refuses(problem);
}

std::unique_ptr<Plan> prepare(const Problem& problem, const PlanOptions& options) {
  return std::make_unique<GridPlan>(problem, options, fit_mask(problem));
}

// Counts a row and a column, whatever the step of the grid is.
double multiply_adds(const Problem& problem) {
  return problem.mask.width + problem.mask.height;
}

}  // namespace

extern const Strategy strategy{
    .name = "coarse",
    .summary = "smooth masks of rank 1 on every d-th row and column, whatever their size",
    .family = Family::transform,
    .refuses = refuses,
    .make_plan = prepare,
    .multiply_adds = multiply_adds,
};

}  // namespace convfilt::CONVFILT_BACKEND::coarse
