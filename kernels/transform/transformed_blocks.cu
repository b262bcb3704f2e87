// The frequency form of overlap-add and in-parts: batches of blocks go through the FFT.
//
//   S samples of a block and P weights of a part lie in frames of F >= S + P - 1, so that no
//   outputs wrap onto others. The outputs from the block's first sample on lie at the frame's
//   front, and the outputs left of it lie at the frame's end.
//
//       samples  [ block: S    | 0 ... 0 ]  ->  X    Y[k] = sum over parts m of
//       weights  [ part: P | 0 ...     0 ]  ->  M           X[k + m] * conj(M[m])
//       outputs  [ S of them   | ? | P-1 ]  <-  Y[k]
//
//   Where q = S / P parts go into a block, part m = q * a + n reaches outputs n * P further left
//   than block b - a has them. So each n has its own Y, summed over a.
//
//   Per output: 1 global read, 5 log2(F^2) * F^2 / S^2 operations for transforms there and back,
//   e.g. 80 at 9x9 (F = 128), and 4 * F^2 / S^2 for each part of the mask.

#include <algorithm>
#include <optional>
#include <vector>

#include "kernels/contract/dispatch.hpp"
#include "kernels/plan/sums.hpp"
#include "kernels/transform/block_plans.hpp"
#include "kernels/transform/correlation.hpp"
#include "kernels/transform/grid.hpp"

namespace convfilt::CONVFILT_BACKEND::transform {

using namespace convfilt::transform;
namespace {

constexpr int kProductThreads = 256;
/// The blocks of a batch, which are those of a step from the step's block number `begin` on.
struct Batch {
  int first_x, first_y, stride_x, stride_y, columns, begin;

  CONVFILT_HD int x(int n) const { return first_x + (begin + n) % columns * stride_x; }
  CONVFILT_HD int y(int n) const { return first_y + (begin + n) / columns * stride_y; }
};

/// The frames that the transforms of a batch read and write. Each holds a block's samples and
/// zeros, or the block's outputs.
struct Frames {
  float* data;
  int columns, rows;

  CONVFILT_HD float& at(int n, int col, int row) const {
    return data[(std::ptrdiff_t(n) * rows + row) * columns + col];
  }
};

/// The half spectra of a grid of blocks or parts, `length` numbers each.
struct SpectrumGrid {
  const Complex* data;
  int columns, rows, length;

  CONVFILT_HD Complex at(int x, int y, int k) const {
    return data[(std::ptrdiff_t(y) * columns + x) * length + k];
  }
};

struct Extent {
  int columns, rows;
};

/// Every q-th part along each axis, from one of the first q on.
struct EveryPart {
  int first_x, first_y, step_x, step_y;
};

/// A rectangle of a block's outputs. Column 0 and row 0 are those of the block's first sample, so
/// outputs of the blocks before have negative ones.
struct Stretch {
  int col, row, columns, rows;
};

/// Loads blocks into frames. `samples` is the number of samples that the outputs need, and the
/// first of them is (dx, dy) of the picture.
template <class T, Border B>
__global__ void load_blocks_kernel(PlaneView<const T> in, Frames frames, T ghost, Batch batch,
                                   Extent block, Extent samples, int dx, int dy) {
  const int n = blockIdx.z;
  const int col = blockIdx.x * kBlockColumns + threadIdx.x;
  const int row = blockIdx.y * kBlockRows + threadIdx.y;
  if (col >= frames.columns || row >= frames.rows) return;

  // Load one sample of the block. Zeros lie behind it, and beyond the samples that outputs need.
  const int x = batch.x(n) * block.columns + col;
  const int y = batch.y(n) * block.rows + row;
  const bool inside =
      col < block.columns && row < block.rows && x < samples.columns && y < samples.rows;
  frames.at(n, col, row) = inside ? float(load<B>(in, x + dx, y + dy, ghost)) : 0.0f;
}

__global__ void sum_products_kernel(SpectrumGrid blocks, SpectrumGrid parts, EveryPart every,
                                    Batch batch, Complex* sums) {
  const int n = blockIdx.y;
  const int k = blockIdx.x * kProductThreads + threadIdx.x;
  if (k >= blocks.length) return;

  // Sum over the parts that meet a block. A part beyond the last block would meet samples that no
  // output needs.
  Complex sum{0, 0};
  int part_y = every.first_y;
  for (int y = batch.y(n); part_y < parts.rows && y < blocks.rows; ++y, part_y += every.step_y) {
    int part_x = every.first_x;
    for (int x = batch.x(n); part_x < parts.columns && x < blocks.columns;
         ++x, part_x += every.step_x) {
      const Complex term = product(blocks.at(x, y, k), conjugate(parts.at(part_x, part_y, k)));
      sum = {sum.x + term.x, sum.y + term.y};
    }
  }
  sums[std::ptrdiff_t(n) * blocks.length + k] = sum;
}

/// Adds that stretch of the outputs of each block, which lie (left, above) before the block.
template <bool kAtomically>
__global__ void add_blocks_kernel(Frames frames, PlaneView<float> sums, Batch batch, Extent block,
                                  Stretch stretch, int left, int above) {
  const int n = blockIdx.z;
  const int place_x = blockIdx.x * kBlockColumns + threadIdx.x;
  const int place_y = blockIdx.y * kBlockRows + threadIdx.y;
  const int col = stretch.col + place_x, row = stretch.row + place_y;
  const int x = batch.x(n) * block.columns - left + col;
  const int y = batch.y(n) * block.rows - above + row;
  if (place_x >= stretch.columns || place_y >= stretch.rows || !contains(sums, x, y)) return;

  // The outputs left of the block and above it lie at the frame's end.
  const float sum =
      frames.at(n, col < 0 ? col + frames.columns : col, row < 0 ? row + frames.rows : row);
  if constexpr (kAtomically) {
    atomic_add(sums.row(y)[x], sum);
  } else {
    sums.row(y)[x] += sum;
  }
}

constexpr int kBatchSamples = 1 << 22;  // 16 MB, which fit in an L2 cache with their spectra
constexpr int kMaxBatch = 65535;        // the most that a grid's y and z can be

template <class U>
U* as(const DeviceBuffer& buffer) {
  return reinterpret_cast<U*>(buffer.data());
}

std::size_t round_up(int count, int batch) {
  return std::size_t(ceil_div(count, batch)) * batch;
}

/// A plan with frames, which the FFT takes a batch at a time, and with the spectra of frames and
/// mask. A derived plan fills the frames, takes them through the FFT, and adds up the outputs.
template <class T>
class BlockSpectraPlan : public AddingPlan<T, FloatFinish> {
  using Base = AddingPlan<T, FloatFinish>;

 public:
  BlockSpectraPlan(const Problem& problem, const PlanOptions& options,
                   const BlockSchedule& schedule)
      : Base(problem, options, {1, float(problem.mask.offset)}),
        schedule_(schedule),
        frame_{Fft::good_size(schedule.x.block + schedule.x.part - 1),
               Fft::good_size(schedule.y.block + schedule.y.part - 1), 1},
        parts_(schedule.x.parts() * schedule.y.parts()) {}

 protected:
  std::size_t scratch_bytes(int in_height, int out_width, int out_height) const override {
    const int batch = batch_for(out_width, out_height);
    const std::size_t spectra =
        batch + kept_spectra(out_width, out_height, batch) + round_up(parts_, batch);
    return Base::scratch_bytes(in_height, out_width, out_height) +
           batch_of(batch).samples() * sizeof(float) + spectra * length() * sizeof(Complex) +
           Fft::estimated_workspace(frame_.columns, frame_.rows, batch);
  }

  void allocate_scratch(int in_height, int out_width, int out_height) override {
    Base::allocate_scratch(in_height, out_width, out_height);
    if (const int batch = batch_for(out_width, out_height); batch > batch_) {
      batch_ = 0;  // in case what follows finds too little memory
      fft_.reset();
      fft_.emplace(frame_.columns, frame_.rows, batch, this->stream_);
      this->hold(frames_, batch_of(batch).samples() * sizeof(float));
      this->hold(spectra_, batch_of(batch).frequencies() * sizeof(Complex));
      this->hold(workspace_, fft_->workspace_bytes());
      fft_->use_workspace(workspace_.data());
      // The last batch is transformed whole, even where fewer blocks are left for it.
      zero_rows(as<float>(frames_), frame_.columns, frame_.rows * batch);
      zero_rows(as<float>(spectra_), 2 * frame_.half(), frame_.rows * batch);
      batch_ = batch;
    }
    this->hold(blocks_, kept_spectra(out_width, out_height, batch_) * length() * sizeof(Complex));
    if (mask_.size() == 0) transform_mask();
  }

  std::size_t length() const { return frame_.frequencies(); }
  Blocks batch_of(int n) const { return {frame_.columns, frame_.rows, n}; }

  const BlockSchedule schedule_;
  const Blocks frame_;  ///< a single frame
  const int parts_;
  int batch_ = 0;  ///< frames that are transformed at a time
  std::optional<Fft> fft_;
  DeviceBuffer frames_, spectra_;
  DeviceBuffer blocks_, mask_;  ///< spectra of the picture's blocks, and of the mask's parts

 private:
  /// The size of equal batches for the blocks of a step, or for all blocks where the mask is cut.
  int batch_for(int out_width, int out_height) const {
    const auto& [x, y, atomic] = schedule_;
    const int apart_x = parts_ > 1 ? 1 : x.steps, apart_y = parts_ > 1 ? 1 : y.steps;
    const int blocks =
        ceil_div(x.blocks(out_width), apart_x) * ceil_div(y.blocks(out_height), apart_y);
    const int most = std::clamp(int(kBatchSamples / frame_.samples()), 1, kMaxBatch);
    return ceil_div(blocks, ceil_div(blocks, most));
  }

  /// Where the mask is cut, every block's spectrum is kept, since several rows of pairs need it.
  std::size_t kept_spectra(int out_width, int out_height, int batch) const {
    const auto& [x, y, atomic] = schedule_;
    return parts_ > 1 ? round_up(x.blocks(out_width) * y.blocks(out_height), batch) : 0;
  }

  void zero_rows(float* data, int columns, int rows) const {
    const PlaneView<float> all{data, columns, rows, columns};
    this->for_row_chunks(rows, [&](int first, int n) { zero(all.rows(first, n), this->stream_); });
  }

  /// Transforms all parts of the mask, a batch at a time, once for each plan.
  void transform_mask() {
    this->hold(mask_, round_up(parts_, batch_) * length() * sizeof(Complex));
    for (int begin = 0; begin < parts_; begin += batch_) {
      const std::vector<float> padded =
          framed_parts(this->problem_.mask, schedule_, begin, batch_, frame_.columns, frame_.rows);
      const std::size_t bytes = padded.size() * sizeof(float);
      upload_rows(frames_.data(), bytes, reinterpret_cast<const std::byte*>(padded.data()), bytes,
                  bytes, 1, this->stream_);
      fft_->forward(as<float>(frames_), as<Complex>(mask_) + begin * length());
      this->stream_.synchronize();  // `padded` must live until it has been read
    }
  }

  DeviceBuffer workspace_;
};

template <class T>
class TransformedBlocksPlan : public BlockSpectraPlan<T> {
  using Base = BlockSpectraPlan<T>;
  using Base::batch_, Base::batch_of, Base::blocks_, Base::fft_, Base::frame_, Base::frames_,
      Base::length, Base::mask_, Base::parts_, Base::schedule_, Base::spectra_;

 public:
  TransformedBlocksPlan(const Problem& problem, const PlanOptions& options,
                        const BlockSchedule& schedule)
      : Base(problem, options, schedule),
        block_{schedule.x.block, schedule.y.block},
        ghost_(ghost_sample<T>(problem)) {}

 protected:
  void add_up(const DevicePlane& in, const PlaneView<float>& sums, Shift shift) override {
    const auto& [x, y, atomic] = schedule_;
    if (parts_ > 1) {
      blocks_x_ = x.blocks(sums.width);
      blocks_y_ = y.blocks(sums.height);
      for_batches(
          {0, 0, 1, 1, blocks_x_, 0}, blocks_x_ * blocks_y_, [&](const Batch& batch, int n) {
            load_blocks(in, sums, shift, batch, n);
            fft_->forward(as<float>(frames_), as<Complex>(blocks_) + batch.begin * length());
          });
    }
    for (int down = 0; down < y.interleaved(); ++down) {
      for (int across = 0; across < x.interleaved(); ++across) {
        add_rows(in, sums, shift, {across, down, x.interleaved(), y.interleaved()});
      }
    }
  }

 private:
  /// Adds the sums over every q-th part, or those of the only part.
  void add_rows(const DevicePlane& in, const PlaneView<float>& sums, Shift shift,
                const EveryPart& every) {
    const auto& [x, y, atomic] = schedule_;
    const int left = every.first_x * x.part, above = every.first_y * y.part;
    if (left >= x.side || above >= y.side) return;
    for (int step = 0; step < x.steps * y.steps; ++step) {
      const Interval on_x = x.blocks_of_step(sums.width, {left, x.part}, step % x.steps);
      const Interval on_y = y.blocks_of_step(sums.height, {above, y.part}, step / x.steps);
      const Batch blocks{on_x.first, on_y.first, x.steps, y.steps, on_x.count, 0};
      for_batches(blocks, on_x.count * on_y.count, [&](const Batch& batch, int n) {
        if (parts_ > 1) {
          sum_products(batch, n, every);
        } else {
          load_blocks(in, sums, shift, batch, n);
          fft_->forward(as<float>(frames_), as<Complex>(spectra_));
          multiply_conjugate(as<Complex>(spectra_), as<Complex>(mask_), batch_of(n), this->stream_);
        }
        fft_->inverse(as<Complex>(spectra_), as<float>(frames_));
        for (int d = 0; d < x.divisions * y.divisions; ++d) {
          add_blocks(sums, batch, n, x.division(d % x.divisions, x.part),
                     y.division(d / x.divisions, y.part), left, above);
        }
      });
    }
  }

  Frames frames() const { return {as<float>(frames_), frame_.columns, frame_.rows}; }

  /// Calls f(batch, n) for batches of n <= batch_ blocks each.
  template <class F>
  void for_batches(Batch batch, int blocks, F f) const {
    for (; batch.begin < blocks; batch.begin += batch_) {
      f(batch, std::min(batch_, blocks - batch.begin));
    }
  }

  void load_blocks(const DevicePlane& in, const PlaneView<float>& sums, Shift shift,
                   const Batch& batch, int n) const {
    const Mask& mask = this->problem_.mask;
    const Extent samples{sums.width + mask.width - 1, sums.height + mask.height - 1};
    const dim3 grid = grid_over(frame_.columns, frame_.rows, n);
    with_border(this->problem_.border, [&](auto border) {
      launch(grid, block_of_threads(), this->stream_, load_blocks_kernel<T, border()>,
             in.view<const T>(), frames(), ghost_, batch, block_, samples, shift.x - mask.anchor_x,
             shift.y - mask.anchor_y);
    });
  }

  void sum_products(const Batch& batch, int n, const EveryPart& every) const {
    const int frequencies = int(length());
    const SpectrumGrid blocks{as<Complex>(blocks_), blocks_x_, blocks_y_, frequencies};
    const SpectrumGrid parts{as<Complex>(mask_), schedule_.x.parts(), schedule_.y.parts(),
                             frequencies};
    const dim3 grid(ceil_div(frequencies, kProductThreads), n);
    launch(grid, dim3(kProductThreads), this->stream_, sum_products_kernel, blocks, parts, every,
           batch, as<Complex>(spectra_));
  }

  void add_blocks(const PlaneView<float>& sums, const Batch& batch, int n, Interval columns,
                  Interval rows, int left, int above) const {
    if (columns.count == 0 || rows.count == 0) return;
    const Stretch stretch{columns.first - (schedule_.x.part - 1),
                          rows.first - (schedule_.y.part - 1), columns.count, rows.count};
    launch(grid_over(columns.count, rows.count, n), block_of_threads(), this->stream_,
           schedule_.atomic ? add_blocks_kernel<true> : add_blocks_kernel<false>, frames(), sums,
           batch, block_, stretch, left, above);
  }

  int blocks_x_ = 0, blocks_y_ = 0;  ///< whose spectra are kept, where the mask is cut
  const Extent block_;
  const T ghost_;
};

}  // namespace

std::unique_ptr<Plan> make_transformed_blocks_plan(const Problem& p, const PlanOptions& options,
                                                   const BlockSchedule& schedule) {
  return with_depth(p.depth, [&](auto depth) -> std::unique_ptr<Plan> {
    using T = typename decltype(depth)::type;
    return std::make_unique<TransformedBlocksPlan<T>>(p, options, schedule);
  });
}

}  // namespace convfilt::CONVFILT_BACKEND::transform
