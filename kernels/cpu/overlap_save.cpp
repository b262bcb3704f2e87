/// Strategy `overlap-save` on the CPU: transform/overlap_save.cu's blocks, one after another.
///
/// Idea: a block's samples, spectrum and outputs stay in a core's second cache from the picture to
/// the result; columns are multiplied by the mask's spectrum between their two transforms, where
/// they lie. The kernels' own source goes over all blocks with one step before the next begins.
///
/// Cost per output: two transforms' 8.5 log4(columns * rows) operations, times columns * rows /
/// kept, whatever the mask's size.
///
/// Blocks have the least transform work of all of at most kLargestSide; thin ones, those in the
/// spatial domain, and those within a limit of memory are left to the kernels' own source.
#include <algorithm>
#include <memory>
#include <new>
#include <vector>

#include "cpu/cpu_plans.hpp"
#include "cpu/fft_lines.hpp"
#include "cpu/sample_rows.hpp"
#include "cpu/source_rows.hpp"
#include "cpu/tiled_plan.hpp"
#include "dispatch.hpp"
#include "fft_size.hpp"
#include "implementation.hpp"
#include "transform/overlap_save.hpp"

namespace convfilt {

namespace host {
extern const Implementation overlap_save;
}

namespace cpu {
namespace {

constexpr int kRows = 2 * kFftLines;      // transformed together, as real and imaginary parts
constexpr int kLargestSide = 1024;        // a spectrum of 4 MB
constexpr int kOperationsPerSample = 64;  // there and back

/// What a thread works in.
template <class T>
struct BlockWorker {
  RowBuffer<T> gathered, finished;
  RowBuffer<float> rows;
  RowBuffer<Complex> spectrum;  ///< one row: all rows behind each other
  FftLines one, other;
};

std::vector<Tile> tiles_of(const Problem& problem, const Tiling& tiling) {
  std::vector<Tile> tiles;
  for (int k = 0; k < tiling.tiles(); ++k) {
    const int x = tiling.x(k), y = tiling.y(k);
    tiles.push_back({x, std::min(x + tiling.kept_columns, problem.out_width()), y,
                     std::min(y + tiling.kept_rows, problem.out_height())});
  }
  return tiles;
}

template <class T>
class BlocksPlan final : public TiledPlan<BlockWorker<T>> {
  using Worker = BlockWorker<T>;

 public:
  BlocksPlan(const Problem& problem, const PlanOptions& options, const Tiling& tiling)
      : TiledPlan<Worker>(problem, tiles_of(problem, tiling), kOperationsPerSample, options),
        source_(problem, problem.lead_x(), problem.mask.width - 1 - problem.lead_x()),
        row_(good_fft_size(tiling.columns)),
        column_(good_fft_rows(tiling.rows)),
        mask_width_(problem.mask.width),
        mask_height_(problem.mask.height),
        lead_y_(problem.lead_y()),
        end_{1, float(problem.mask.offset)} {
    transform_mask(problem.mask);
  }

 private:
  int half() const { return row_.length() / 2 + 1; }
  int groups() const { return (half() + kFftLines - 1) / kFftLines; }

  std::unique_ptr<Worker> make_worker(int) const override {
    auto worker = std::make_unique<Worker>();
    worker->gathered = RowBuffer<T>(1, std::size_t(row_.length()) * this->channels_);
    worker->finished = RowBuffer<T>(1, std::size_t(row_.length()));
    worker->rows = RowBuffer<float>(kRows, std::size_t(row_.length()));
    worker->spectrum = RowBuffer<Complex>(1, std::size_t(half()) * column_.length());
    const std::size_t floats = std::max(row_.floats(), column_.floats());
    worker->one = hwy::AllocateAligned<float>(floats);
    worker->other = hwy::AllocateAligned<float>(floats);
    if (!worker->one || !worker->other) throw std::bad_alloc();
    return worker;
  }

  void filter_tile(Worker& worker, const Tile& tile, PictureView<const std::byte> in,
                   PictureView<std::byte> out) const override {
    for (int channel = 0; channel < this->channels_; ++channel) {
      const int rows = tile.y1 - tile.y0 + mask_height_ - 1;
      transform_rows(worker, rows, [&](int row, float* to) {
        const int n = tile.x1 - tile.x0 + mask_width_ - 1;
        const T* samples =
            source_.row(in, tile.x0, tile.x1, tile.y0 - lead_y_ + row, worker.gathered.row(0));
        for (int x = 0; x < n; ++x) to[x] = float(samples[x * this->channels_ + channel]);
        std::fill(to + n, to + row_.length(), 0.0f);
      });
      for (int group = 0; group < groups(); ++group) {
        float* const lines = transformed_columns(worker, group, rows);
        float* const free = lines == worker.one.get() ? worker.other.get() : worker.one.get();
        column_.multiply_conjugate_swapped(mask_.get() + group * column_.floats(), lines);
        columns_from_lines(column_.run(lines, free), true, tile.y1 - tile.y0, columns_of(group),
                           half(), spectrum(worker, 0, group));
      }
      keep(worker, tile, channel, out);
    }
  }

  int columns_of(int group) const { return std::min(kFftLines, half() - group * kFftLines); }

  Complex* spectrum(Worker& worker, int row, int group) const {
    return worker.spectrum.row(0) + std::ptrdiff_t(row) * half() + group * kFftLines;
  }

  /// The spectra of rows that load(row, where) gives.
  template <class Load>
  void transform_rows(Worker& worker, int rows, Load load) const {
    const std::ptrdiff_t stride = worker.rows.row(1) - worker.rows.row(0);
    for (int first = 0; first < rows; first += kRows) {
      const int count = std::min(kRows, rows - first);
      for (int r = 0; r < count; ++r) load(first + r, worker.rows.row(r));
      float* const lines = worker.one.get();
      lines_from_rows(worker.rows.row(0), stride, count, row_.length(), 0, lines);
      lines_from_rows(worker.rows.row(kFftLines), stride, count - kFftLines, row_.length(),
                      kFftPart, lines);
      split_spectra(row_.run(lines, worker.other.get()), row_.length(), count,
                    spectrum(worker, first, 0));
    }
  }

  /// A group of columns, of which only so many rows are not 0. Returns one of the worker's arrays.
  float* transformed_columns(Worker& worker, int group, int rows) const {
    float* const lines = worker.one.get();
    lines_from_columns(spectrum(worker, 0, group), half(), columns_of(group), rows, false, lines);
    std::fill(lines + std::ptrdiff_t(rows) * kFftStep, lines + column_.floats(), 0.0f);
    return column_.run(lines, worker.other.get());
  }

  /// The outputs of a block, from its rows' spectra.
  void keep(Worker& worker, const Tile& tile, int channel, PictureView<std::byte> out) const {
    const int height = tile.y1 - tile.y0, width = tile.x1 - tile.x0;
    const std::ptrdiff_t stride = worker.rows.row(1) - worker.rows.row(0);
    for (int first = 0; first < height; first += kRows) {
      const int rows = std::min(kRows, height - first);
      join_spectra(spectrum(worker, first, 0), rows, row_.length(), worker.one.get());
      const float* const lines = row_.run(worker.one.get(), worker.other.get());
      rows_from_lines(lines, kFftPart, row_.length(), std::min(rows, kFftLines), stride,
                      worker.rows.row(0));
      rows_from_lines(lines, 0, row_.length(), rows - kFftLines, stride,
                      worker.rows.row(kFftLines));
      for (int r = 0; r < rows; ++r) {
        finish_row(end_, worker.rows.row(r), width, worker.finished.row(0));
        T* const to = this->template output_row<T>(out, tile, tile.y0 + first + r) + channel;
        for (int x = 0; x < width; ++x) to[x * this->channels_] = worker.finished.row(0)[x];
      }
    }
  }

  // Undoes the transforms' scale as well, where sums are not large yet.
  void transform_mask(const Mask& mask) {
    mask_ = hwy::AllocateAligned<float>(groups() * column_.floats());
    if (!mask_) throw std::bad_alloc();
    const auto worker = make_worker(0);
    const double scale = 1 / (mask.divisor * row_.length() * column_.length());
    transform_rows(*worker, mask.height, [&](int row, float* to) {
      std::fill(to, to + row_.length(), 0.0f);
      for (int i = 0; i < mask.width; ++i) to[i] = float(mask.weight(i, row) * scale);
    });
    for (int group = 0; group < groups(); ++group) {
      const float* const lines = transformed_columns(*worker, group, mask.height);
      std::copy_n(lines, column_.floats(), mask_.get() + group * column_.floats());
    }
  }

  SourceRows<T> source_;
  LineFft row_, column_;
  int mask_width_, mask_height_, lead_y_;
  FloatFinish end_;
  FftLines mask_;  ///< its spectrum: groups of columns
};

}  // namespace
}  // namespace cpu

std::unique_ptr<Plan> prepare_cpu_overlap_save(const Problem& problem, const PlanOptions& options) {
  const Tiling tiling = overlap_save_tiling(problem, options.tuning, problem.out_width(),
                                            problem.out_height(), cpu::kLargestSide);
  const bool thin = tiling.rows < cpu::kRows || tiling.columns < cpu::kRows;
  const bool large = std::max(tiling.rows, tiling.columns) > 2 * cpu::kLargestSide;
  const bool little = options.memory_limit > 0;
  if (options.tuning[Setting::domain] == kSpatial || thin || large || little) {
    return host::overlap_save.prepare(problem, options);
  }
  return with_depth(problem.depth, [&](auto depth) -> std::unique_ptr<Plan> {
    return std::make_unique<cpu::BlocksPlan<typename decltype(depth)::type>>(problem, options,
                                                                             tiling);
  });
}

}  // namespace convfilt
