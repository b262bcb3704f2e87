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
static_assert(kStrip % kSlack == 0, "what is written beyond a strip would be another thread's");
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
                                 std::int64_t{threads_} * 2 * columns * (kRows + kLineStep);
    return samples * std::int64_t(sizeof(float));
  }

 private:
  std::size_t row_length() const { return std::size_t(width_) * channels_; }
  int in_height() const { return height_ + problem_.mask.height - 1; }
  static int groups_of(int rows) { return (rows + kRows - 1) / kRows; }
  Between between() const {
    return {places_.row(0), {back_.row(0), back_.row(1), back_.row(2)}, channels_};
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

  /// Loads `pixels` of the columns_ pixels of row y, ghost cells included, as floats less the
  /// centre.
  void load_row(PictureView<const std::byte> in, int y, int first, int pixels, T* buffer,
                float* out) const {
    const T* samples = source_.row(in, first, first + pixels - (columns_ - width_), y, buffer);
    loops_.centre_row(samples, pixels * channels_, float(mask_.centre), out);
  }

  /// Calls f(lines, first row) for each group of kRows rows, turned. load(row, buffer, to) loads a
  /// row.
  template <class Load, class F>
  void for_lines(int rows, Load load, F f) {
    struct Worker {
      cpu::RowBuffer<T> gathered;
      FloatRows rows;
      Lines lines;
    };
    const int length = columns_ * channels_;
    std::vector<Worker> workers(std::size_t(std::max(threads_, 1)));
    cpu::parallel_for(groups_of(rows), threads_, [&](int worker, int group) {
      Worker& own = workers[std::size_t(worker)];
      if (!own.lines) {
        own.gathered = cpu::RowBuffer<T>(1, std::size_t(length));
        own.rows = FloatRows(kRows, std::size_t(length));
        own.lines = hwy::AllocateAligned<float>(std::size_t(length) * kLineStep);
        if (!own.lines) throw std::bad_alloc();
      }
      const int first = group * kRows, count = std::min(kRows, rows - first);
      for (int r = 0; r < count; ++r) load(first + r, own.gathered.row(0), own.rows.row(r));
      const std::ptrdiff_t stride = own.rows.row(1) - own.rows.row(0);
      for (int part = 0; part < kLineStep; part += kLinePart)
        loops_.lines_from_rows(own.rows.row(part), stride, count - part, length,
                               own.lines.get() + part);
      f(own.lines.get(), first);
    });
  }

  std::ptrdiff_t turned_stride() const { return turned_.row(1) - turned_.row(0); }

  // Makes rows of nodes from all columns, sums them by the coarse line in y, and then by the line
  // at full length in x.
  void rows_of_nodes(PictureView<const std::byte> in) {
    const int step = mask_.y.step;
    cpu::parallel_for((columns_ + kStrip - 1) / kStrip, threads_, [&](int, int strip) {
      const int first = strip * kStrip, count = std::min(kStrip, columns_ - first);
      cpu::RowBuffer<T> gathered(1, std::size_t(count) * channels_);
      FloatRows rows(step, std::size_t(count) * channels_);
      const std::vector<float*> cell_rows = rows_of(rows, 0, step);
      for (int node = 0; node < in_y_; ++node)
        std::fill_n(nodes_.row(node) + first * channels_, count * channels_, 0.0f);
      for (int cell = 0; cell < in_y_ + kOrder - 1; ++cell) {
        const int top = mask_.y.first - problem_.lead_y() + cell * step;
        for (int t = 0; t < step; ++t)
          load_row(in, top + t, first, count, gathered.row(0), rows.row(t));
        float* nodes[kOrder];
        for (int k = 0; k < kOrder; ++k) {
          const int node = cell - (kOrder - 1) + k;
          nodes[k] = node >= 0 && node < in_y_ ? nodes_.row(node) + first * channels_ : nullptr;
        }
        loops_.add_cell(mask_.y.down, cell_rows.data(), step, count * channels_, nodes);
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
    const int length = columns_ * channels_;
    for_lines(
        out_y_, [&](int row, T*, float* to) { std::copy_n(smooth_.row(row), length, to); },
        [&](const float* lines, int first) {
          loops_.nodes_of_lines(mask_.x.down, lines, channels_, mask_.x.step, in_x_,
                                turned_.row(0) + first, turned_stride());
        });
    cpu::parallel_for(groups_of(out_y_), threads_, [&](int, int group) {
      Lines lines;
      FloatRows both = columns_to_rows(turned_, group * kRows, lines);
      for (int r = 0; r < kRows && group * kRows + r < out_y_; ++r)
        loops_.subtract_nodes(between(), both.row(r), width_ * channels_,
                              fine_x_.row(group * kRows + r));
    });
  }

  /// Sums kRows numbers of each turned row by the coarse line in x, and turns them back into rows.
  FloatRows columns_to_rows(const FloatRows& turned, int first, Lines& lines) const {
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
    const std::ptrdiff_t stride = to.row(1) - to.row(0);
    for (int part = 0; part < kLineStep; part += kLinePart)
      loops_.rows_from_lines(lines.get() + part, length, kLines, stride, to.row(part));
    return to;
  }

  // Makes columns of nodes from all rows, as turned rows, and sums them by the line at full length
  // in y.
  void columns_of_nodes(PictureView<const std::byte> in) {
    for_lines(
        in_height(),
        [&](int row, T* buffer, float* to) {
          load_row(in, row - problem_.lead_y(), 0, columns_, buffer, to);
        },
        [&](const float* lines, int first) {
          loops_.nodes_of_lines(mask_.x.down, lines, channels_, mask_.x.step, in_x_,
                                turned_.row(0) + first, turned_stride());
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
      Lines lines;
      const FloatRows columns = columns_to_rows(fine_y_, group * kRows, lines);
      FloatRows sums(1, row_length());
      cpu::RowBuffer<T> finished(1, row_length());
      for (int r = 0; r < kRows && group * kRows + r < height_; ++r) {
        const int y = group * kRows + r, place = y % step;
        const float back[kOrder] = {mask_.y.back[place + 2 * step], mask_.y.back[place + step],
                                    mask_.y.back[place]};
        const auto rows = rows_of(fine_x_, y / step, kOrder);
        loops_.interpolate_row(back, rows.data(), between(), columns.row(r), n, sums.row(0));
        loops_.finish_row(end, sums.row(0), n, finished.row(0));
        std::copy_n(finished.row(0), n, reinterpret_cast<T*>(out.row(y)));
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
