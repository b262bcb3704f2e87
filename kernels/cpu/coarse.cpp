/// Strategy `coarse` on the CPU: the sums of coarse.cu, in rows of vectors.
///
/// Idea: sums that run down columns on a GPU run along turned rows here. In these, 32 rows of the
/// picture lie side by side (coarse_rows.hpp), so that every sum is a sum of whole vectors. The
/// planes between the steps hold every d-th row or column of the whole picture, in floats.
///
/// Cost per sample: 3 + 3 multiply-adds onto the grids, (w + h) / d at full length, 6 back.
///
/// Samples are floats less the centre, and chains of sums end where mask.hpp says, so the bound
/// that is proven there holds.
#include <algorithm>
#include <chrono>
#include <memory>
#include <vector>

#include "kernels/backend/host/parallel.hpp"
#include "kernels/coarse/mask.hpp"
#include "kernels/contract/dispatch.hpp"
#include "kernels/cpu/coarse_rows.hpp"
#include "kernels/cpu/plans.hpp"
#include "kernels/cpu/row_buffer.hpp"
#include "kernels/plan/source_rows.hpp"

namespace convfilt {

namespace coarse {
namespace {

constexpr int kRows = kLineStep;  // rows of the picture that are turned together
constexpr int kStrip = 512;       // pixels of a cell's rows that stay in the second-level cache
constexpr int kNodes = 32;        // whose turned samples stay there
constexpr int kBetween = 512;  // samples of interpolated rows whose weights stay in the first one
static_assert(kStrip % kSlack == 0, "what is written beyond a strip would be another thread's");
static_assert(kNodes % kNodesAtOnce == 0 && kBetween % kSlack == 0);
constexpr int kMultiplyAddsPerSample = 32;

using FloatRows = cpu::RowBuffer<float>;

std::vector<float*> rows_of(const FloatRows& rows, int first, int count) {
  std::vector<float*> all;
  for (int k = 0; k < count; ++k) all.push_back(rows.row(first + k));
  return all;
}

template <class T>
class RowsPlan final : public Plan {
 public:
  RowsPlan(const Problem& problem, const PlanOptions& options)
      : problem_(problem),
        mask_(fit_mask(problem)),
        channels_(problem.channels),
        width_(problem.out_width()),
        height_(problem.out_height()),
        in_x_(mask_.x.in_nodes(width_)),
        in_y_(mask_.y.in_nodes(height_)),
        out_x_(mask_.x.out_nodes(width_)),
        out_y_(mask_.y.out_nodes(height_)),
        left_(problem.lead_x() - mask_.x.first),
        columns_(std::max((in_x_ + kOrder - 1 + kNodesAtOnce) * mask_.x.step,
                          width_ + problem.mask.width - 1 - mask_.x.first)),
        source_(problem, left_, columns_ - left_ - width_),
        threads_(cpu::threads_for(
            std::int64_t(width_) * height_ * channels_ * kMultiplyAddsPerSample, options.threads)) {
    places_ = cpu::RowBuffer<std::int32_t>(1, row_length());
    back_ = FloatRows(kOrder, row_length());
    for (int x = 0; x < width_; ++x) {
      for (int c = 0; c < channels_; ++c) {
        const int at = x * channels_ + c;
        places_.row(0)[at] = x / mask_.x.step * channels_ + c;
        for (int k = 0; k < kOrder; ++k)
          back_.row(k)[at] = mask_.x.back[x % mask_.x.step + (kOrder - 1 - k) * mask_.x.step];
      }
    }
    // What vectors compute beyond the row's end is not used, but they have places there, too.
    std::fill_n(places_.row(0) + row_length(), kSlack, places_.row(0)[row_length() - 1]);
  }

  Timing run(PictureView<const std::byte> in, PictureView<std::byte> out) override {
    const auto start = std::chrono::steady_clock::now();
    allocate();
    rows_of_nodes(in);
    between_rows();
    columns_of_nodes(in);
    interpolate(out);
    const std::chrono::duration<double, std::milli> spent =
        std::chrono::steady_clock::now() - start;
    Timing timing;
    timing.kernel_ms = spent.count();
    return timing;
  }

  std::int64_t host_bytes() const override {
    const std::int64_t columns = std::int64_t{columns_} * channels_, rows = height_ + kRows;
    const std::int64_t turned = std::int64_t{in_x_ + kNodesAtOnce} * channels_;
    const std::int64_t samples = (in_y_ + out_y_) * columns + out_y_ * std::int64_t(row_length()) +
                                 turned * (std::max(in_height(), out_y_) + kRows) +
                                 std::int64_t{in_x_} * channels_ * rows +
                                 std::int64_t{threads_} * 2 * kLineStep *
                                     std::max(turned_length(), out_x_ * channels_ + kSlack);
    return samples * std::int64_t(sizeof(float));
  }

 private:
  std::size_t row_length() const { return std::size_t(width_) * channels_; }
  /// The most samples of a row that are turned together, and what vectors may write behind them.
  int turned_length() const { return (kNodes + kOrder - 1) * mask_.x.step * channels_ + kSlack; }
  int in_height() const { return height_ + problem_.mask.height - 1; }
  static int groups_of(int rows) { return (rows + kRows - 1) / kRows; }
  Between between() const {
    return {places_.row(0), {back_.row(0), back_.row(1), back_.row(2)}, channels_, mask_.x.step};
  }

  void allocate() {
    if (allocated_) return;
    const std::size_t samples = std::size_t(columns_) * channels_;
    const int lines = in_x_ + kNodesAtOnce;
    nodes_ = FloatRows(in_y_, samples);
    smooth_ = FloatRows(out_y_, samples);
    fine_x_ = FloatRows(out_y_, row_length());
    turned_ = FloatRows(lines * channels_, std::size_t(std::max(in_height(), out_y_)) + kRows);
    fine_y_ = FloatRows(in_x_ * channels_, std::size_t(height_) + kRows);
    allocated_ = true;
  }

  /// `pixels` of the columns_ pixels of row y, ghost cells included, from the one at `first` on.
  const T* row_of(PictureView<const std::byte> in, int y, int first, int pixels, T* buffer) const {
    return source_.row(in, first, first + pixels - (columns_ - width_), y, buffer);
  }

  /// Brings rows onto the grid in x, and leaves them turned. row(y, first, pixels, buffer) gives
  /// pixels of row y, which may lie in the buffer.
  template <class Sample, class Row>
  void turned_nodes(int rows, float centre, const RowLoops<Sample>& loops, Row row) {
    struct Worker {
      cpu::RowBuffer<Sample> gathered;
      Lines<Sample> lines;
    };
    const int step = mask_.x.step;
    std::vector<Worker> workers(std::size_t(std::max(threads_, 1)));
    cpu::parallel_for(groups_of(rows), threads_, [&](int worker, int group) {
      Worker& own = workers[std::size_t(worker)];
      if (!own.lines) {
        own.gathered = cpu::RowBuffer<Sample>(kRows, std::size_t(turned_length()));
        own.lines = hwy::AllocateAligned<Sample>(std::size_t(turned_length()) * kLineStep);
        if (!own.lines) throw std::bad_alloc();
      }
      for (int node = 0; node < in_x_; node += kNodes) {
        const int nodes = std::min(kNodes, in_x_ - node);
        const int pixels =
            ((nodes + kNodesAtOnce - 1) / kNodesAtOnce * kNodesAtOnce + kOrder - 1) * step;
        const Sample* samples[kRows];
        for (int r = 0; r < kRows; ++r)
          samples[r] =
              row(std::min(group * kRows + r, rows - 1), node * step, pixels, own.gathered.row(r));
        loops.lines_from_rows(samples, pixels * channels_, own.lines.get());
        loops.nodes_of_lines(mask_.x.down, own.lines.get(), centre, channels_, step, nodes,
                             turned_.row(node * channels_) + group * kRows, turned_stride());
      }
    });
  }

  std::ptrdiff_t turned_stride() const { return turned_.row(1) - turned_.row(0); }

  // Makes rows of nodes from all columns, sums them by the coarse line in y, and then by the line
  // at full length in x.
  void rows_of_nodes(PictureView<const std::byte> in) {
    const int step = mask_.y.step;
    cpu::parallel_for((columns_ + kStrip - 1) / kStrip, threads_, [&](int, int strip) {
      const int first = strip * kStrip, count = std::min(kStrip, columns_ - first);
      cpu::RowBuffer<T> gathered(step, std::size_t(count) * channels_);
      std::vector<const T*> rows(std::size_t(step), nullptr);
      for (int node = 0; node < in_y_; ++node)
        std::fill_n(nodes_.row(node) + first * channels_, count * channels_, 0.0f);
      for (int cell = 0; cell < in_y_ + kOrder - 1; ++cell) {
        const int top = mask_.y.first - problem_.lead_y() + cell * step;
        for (int t = 0; t < step; ++t)
          rows[std::size_t(t)] = row_of(in, top + t, first, count, gathered.row(t));
        float* nodes[kOrder];
        for (int k = 0; k < kOrder; ++k) {
          const int node = cell - (kOrder - 1) + k;
          nodes[k] = node >= 0 && node < in_y_ ? nodes_.row(node) + first * channels_ : nullptr;
        }
        loops_.add_cell(mask_.y.down, rows.data(), float(mask_.centre), step, count * channels_,
                        nodes);
      }
    });
    cpu::parallel_for(out_y_, threads_, [&](int, int node) {
      const auto rows = rows_of(nodes_, node, int(mask_.y.coarse.size()));
      loops_.sum_across(mask_.y.coarse, rows.data(), columns_ * channels_, smooth_.row(node));
      loops_.sum_along(mask_.x.line, smooth_.row(node) - mask_.x.first * channels_, channels_,
                       width_ * channels_, fine_x_.row(node));
    });
  }

  // Subtracts from those rows what both coarse lines together give.
  void between_rows() {
    turned_nodes(out_y_, 0, row_loops<float>(), [&](int row, int first, int, float*) {
      return smooth_.row(row) + first * channels_;
    });
    cpu::parallel_for(groups_of(out_y_), threads_, [&](int, int group) {
      Lines<float> lines;
      FloatRows both = columns_to_rows(turned_, group * kRows, lines);
      for (int r = 0; r < kRows && group * kRows + r < out_y_; ++r)
        loops_.subtract_nodes(between(), both.row(r), width_ * channels_,
                              fine_x_.row(group * kRows + r));
    });
  }

  /// Sums kRows numbers of each turned row by the coarse line in x, and turns them back into rows.
  FloatRows columns_to_rows(const FloatRows& turned, int first, Lines<float>& lines) const {
    const int length = out_x_ * channels_, taps = int(mask_.x.coarse.size());
    if (!lines) lines = hwy::AllocateAligned<float>(std::size_t(length) * kLineStep + kSlack);
    if (!lines) throw std::bad_alloc();
    std::vector<const float*> rows(mask_.x.coarse.size());
    for (int at = 0; at < length; ++at) {
      for (int k = 0; k < taps; ++k) rows[std::size_t(k)] = turned.row(at + k * channels_) + first;
      loops_.sum_across(mask_.x.coarse, rows.data(), kRows,
                        lines.get() + std::ptrdiff_t(at) * kLineStep);
    }
    FloatRows to(kRows, std::size_t(length));
    loops_.rows_from_lines(lines.get(), length, to.row(1) - to.row(0), to.row(0));
    return to;
  }

  // Makes columns of nodes from all rows, as turned rows, and sums them by the line at full length
  // in y.
  void columns_of_nodes(PictureView<const std::byte> in) {
    turned_nodes(in_height(), float(mask_.centre), loops_,
                 [&](int row, int first, int pixels, T* buffer) {
                   return row_of(in, row - problem_.lead_y(), first, pixels, buffer);
                 });
    cpu::parallel_for(in_x_ * channels_, threads_, [&](int, int row) {
      loops_.sum_along(mask_.y.line, turned_.row(row), 1, height_, fine_y_.row(row));
    });
  }

  void interpolate(PictureView<std::byte> out) {
    const FloatFinish end{float(mask_.scale),
                          float(problem_.mask.offset + mask_.centre * gain(problem_.mask))};
    const int step = mask_.y.step, n = width_ * channels_;
    cpu::parallel_for(groups_of(height_), threads_, [&](int, int group) {
      Lines<float> lines;
      const FloatRows columns = columns_to_rows(fine_y_, group * kRows, lines);
      T last[kBetween];  // a row's end, since whole vectors are written
      for (int begin = 0; begin < n; begin += kBetween) {
        const int stop = std::min(begin + kBetween, n);
        for (int r = 0; r < kRows && group * kRows + r < height_; ++r) {
          const int y = group * kRows + r, place = y % step;
          const float back[kOrder] = {mask_.y.back[place + 2 * step], mask_.y.back[place + step],
                                      mask_.y.back[place]};
          const float* rows[kOrder];
          for (int k = 0; k < kOrder; ++k) rows[k] = fine_x_.row(y / step + k);
          T* const to = reinterpret_cast<T*>(out.row(y)) + begin;
          loops_.interpolate_row(back, rows, between(), columns.row(r), end, begin, stop,
                                 stop < n ? to : last);
          if (stop == n) std::copy_n(last, n - begin, to);
        }
      }
    });
  }

  const RowLoops<T> loops_ = row_loops<T>();
  const Problem problem_;
  const FittedMask mask_;
  const int channels_, width_, height_;    ///< the result's
  const int in_x_, in_y_, out_x_, out_y_;  ///< nodes before and after the coarse lines
  const int left_, columns_;               ///< pixels of a row before output 0, and in all
  const SourceRows<T> source_;
  const int threads_;
  cpu::RowBuffer<std::int32_t> places_;
  FloatRows back_;
  FloatRows nodes_, smooth_, fine_x_, turned_, fine_y_;
  bool allocated_ = false;
};

}  // namespace
}  // namespace coarse

std::unique_ptr<Plan> prepare_cpu_coarse(const Problem& problem, const PlanOptions& options) {
  return with_depth(problem.depth, [&]<class T>(TypeTag<T>) -> std::unique_ptr<Plan> {
    return std::make_unique<coarse::RowsPlan<T>>(problem, options);
  });
}

}  // namespace convfilt
