// The frequency form of overlap-add and in-parts: a batch of blocks at a time through the FFT.
//
//   A block of S samples and P weights fill a transform of F >= S + P - 1, so that nothing
//   wraps: outputs right of the block's start lie at its front, those left of it at its end.
//
//       samples  [ block: S | 0 ... 0 ]   ->  X     Y[k] = sum over parts m of
//       weights  [ part: P  | 0 ... 0 ]   ->  M            X[k + m] * conj(M[m])
//       outputs  [ S of them | ? | P-1 ]  <-  Y[k]  at k * S + 0.., and k * S - (P - 1)..
//
//   Per output: about 5 * F^2 * log2(F) / S^2 multiply-adds for two transforms, e.g. 62 at 9x9
//   (F = 128), and 2 * F^2 / S^2 for each part of the mask; 1 global read of the picture.

#include <optional>

#include "adding_plan.hpp"
#include "block_plans.hpp"
#include "dispatch.hpp"
#include "libraries.hpp"

namespace convfilt::CONVFILT_BACKEND {
namespace {

constexpr int kBatchSamples = 1 << 22;  // 16 MB, so that a batch and its spectra fit in an L2 cache
constexpr int kMaxBatch = 65535;        // a grid's z
constexpr int kProductThreads = 256;

/// Blocks of a batch: every so-many-th column and row of them, from number `begin` on.
struct Batch {
  int first_x, first_y, stride_x, stride_y, columns, begin;

  CONVFILT_HD int x(int n) const { return first_x + (begin + n) % columns * stride_x; }
  CONVFILT_HD int y(int n) const { return first_y + (begin + n) / columns * stride_y; }
};

/// Real samples of a batch, one block behind the other, zeros behind each block's own.
struct Frames {
  float* data;
  int columns, rows;

  CONVFILT_HD float& at(int n, int col, int row) const {
    return data[(std::ptrdiff_t(n) * rows + row) * columns + col];
  }
};

/// Half spectra of a grid of blocks, `length` numbers each.
struct Spectra {
  Complex* data;
  int columns, rows, length;

  CONVFILT_HD Complex& at(int x, int y, int k) const {
    return data[(std::ptrdiff_t(y) * columns + x) * length + k];
  }
};

/// S columns and rows.
struct BlockSize {
  int columns, rows;
};

template <class T, Border B>
__global__ void load_blocks_kernel(PlaneView<const T> in, Frames frames, T ghost, Batch batch,
                                   BlockSize block, BlockSize samples, int dx, int dy) {
  const int n = blockIdx.z;
  const int col = blockIdx.x * kBlockColumns + threadIdx.x;
  const int row = blockIdx.y * kBlockRows + threadIdx.y;
  if (col >= frames.columns || row >= frames.rows) return;

  // Load one sample of the block; behind it, and beyond what any output needs, are zeros.
  const int x = batch.x(n) * block.columns + col;
  const int y = batch.y(n) * block.rows + row;
  const bool inside =
      col < block.columns && row < block.rows && x < samples.columns && y < samples.rows;
  frames.at(n, col, row) = inside ? float(load<B>(in, x + dx, y + dy, ghost)) : 0.0f;
}

__global__ void sum_products_kernel(Spectra blocks, Spectra parts, Batch batch, Complex* sums) {
  const int n = blockIdx.y;
  const int k = blockIdx.x * kProductThreads + threadIdx.x;
  if (k >= blocks.length) return;

  // Sum over the parts that meet a block; where there is none, the samples are not needed.
  Complex sum{0, 0};
  for (int j = 0; j < parts.rows && batch.y(n) + j < blocks.rows; ++j) {
    for (int i = 0; i < parts.columns && batch.x(n) + i < blocks.columns; ++i) {
      const Complex term =
          product(blocks.at(batch.x(n) + i, batch.y(n) + j, k), conjugate(parts.at(i, j, k)));
      sum = {sum.x + term.x, sum.y + term.y};
    }
  }
  sums[std::ptrdiff_t(n) * blocks.length + k] = sum;
}

template <bool kAtomically>
__global__ void add_blocks_kernel(Frames frames, PlaneView<float> sums, Batch batch,
                                  BlockSize block, BlockSize part) {
  const int n = blockIdx.z;
  const int col = blockIdx.x * kBlockColumns + threadIdx.x - (part.columns - 1);
  const int row = blockIdx.y * kBlockRows + threadIdx.y - (part.rows - 1);
  const int x = batch.x(n) * block.columns + col;
  const int y = batch.y(n) * block.rows + row;
  if (col >= block.columns || row >= block.rows || !contains(sums, x, y)) return;

  // Outputs left of and above the block lie at the frame's end.
  const float sum =
      frames.at(n, col < 0 ? col + frames.columns : col, row < 0 ? row + frames.rows : row);
  if constexpr (kAtomically) {
    atomic_add(sums.row(y)[x], sum);
  } else {
    sums.row(y)[x] += sum;
  }
}

template <class T>
class TransformedBlocksPlan : public AddingPlan<T, FloatFinish> {
  using Base = AddingPlan<T, FloatFinish>;

 public:
  TransformedBlocksPlan(const Problem& problem, const PlanOptions& options,
                        const PreparedMask<float>& mask, const BlockSchedule& schedule)
      : Base(problem, options, mask.finish),
        schedule_(schedule),
        weights_(mask.weights),
        ghost_(ghost_sample<T>(problem)),
        columns_(Fft::good_size(schedule.x.block + schedule.x.part - 1)),
        rows_(Fft::good_size(schedule.y.block + schedule.y.part - 1)),
        length_((columns_ / 2 + 1) * rows_),
        parts_(schedule.x.parts() * schedule.y.parts()) {}

 protected:
  void add_up(const DevicePlane& in, const PlaneView<float>& sums, Shift shift) override {
    const auto& [x, y, atomic] = schedule_;
    const int blocks_x = x.blocks(sums.width), blocks_y = y.blocks(sums.height);
    Complex* const spectra = as<Complex>(spectra_);
    if (parts_ > 1) {
      for_batches({0, 0, 1, 1, blocks_x, 0}, blocks_x * blocks_y, [&](const Batch& batch, int n) {
        load_blocks(in, sums, shift, batch, n);
        fft_->forward(as<float>(frames_),
                      as<Complex>(blocks_) + std::ptrdiff_t(batch.begin) * length_);
      });
    }
    for (int step = 0; step < x.steps * y.steps; ++step) {
      const Interval on_x = x.blocks_of_step(sums.width, {0, x.part}, step % x.steps);
      const Interval on_y = y.blocks_of_step(sums.height, {0, y.part}, step / x.steps);
      const Batch blocks{on_x.first, on_y.first, x.steps, y.steps, on_x.count, 0};
      for_batches(blocks, on_x.count * on_y.count, [&](const Batch& batch, int n) {
        if (parts_ > 1) {
          multiply({as<Complex>(blocks_), blocks_x, blocks_y, length_}, batch, n);
        } else {
          load_blocks(in, sums, shift, batch, n);
          fft_->forward(as<float>(frames_), spectra);
          multiply({spectra, n, 1, length_}, {0, 0, 1, 1, n, 0}, n);
        }
        fft_->inverse(spectra, as<float>(frames_));
        add_blocks(sums, batch, n);
      });
    }
  }

  std::size_t scratch_bytes(int in_height, int out_width, int out_height) const override {
    const int batch = batch_for(out_width, out_height);
    return Base::scratch_bytes(in_height, out_width, out_height) + frame_bytes() * batch +
           spectrum_bytes() *
               (batch + kept_spectra(out_width, out_height, batch) + round_up(parts_, batch)) +
           Fft::estimated_workspace(columns_, rows_, batch);
  }

  void allocate_scratch(int in_height, int out_width, int out_height) override {
    Base::allocate_scratch(in_height, out_width, out_height);
    if (const int batch = batch_for(out_width, out_height); batch > batch_) {
      batch_ = batch;
      fft_.reset();
      fft_.emplace(columns_, rows_, batch_, this->stream_);
      this->hold(frames_, frame_bytes() * batch_);
      this->hold(spectra_, spectrum_bytes() * batch_);
      this->hold(workspace_, fft_->workspace_bytes());
      fft_->use_workspace(workspace_.data());
    }
    this->hold(blocks_, spectrum_bytes() * kept_spectra(out_width, out_height, batch_));
    if (part_spectra_.size() == 0) transform_mask();
  }

 private:
  template <class U>
  static U* as(const DeviceBuffer& buffer) {
    return reinterpret_cast<U*>(buffer.data());
  }
  static std::size_t round_up(int count, int batch) {
    return std::size_t(ceil_div(count, batch)) * batch;
  }
  std::size_t frame_bytes() const { return sizeof(float) * columns_ * rows_; }
  std::size_t spectrum_bytes() const { return sizeof(Complex) * length_; }

  /// Blocks at a time: those of a step, in equal batches.
  int batch_for(int out_width, int out_height) const {
    const auto& [x, y, atomic] = schedule_;
    const int blocks = parts_ > 1 ? x.blocks(out_width) * y.blocks(out_height)
                                  : ceil_div(x.blocks(out_width), x.steps) *
                                        ceil_div(y.blocks(out_height), y.steps);
    const int most = std::clamp(kBatchSamples / (columns_ * rows_), 1, kMaxBatch);
    return ceil_div(blocks, ceil_div(blocks, most));
  }

  /// Where the mask is in parts, every block's spectrum is kept, since several outputs need it.
  std::size_t kept_spectra(int out_width, int out_height, int batch) const {
    if (parts_ == 1) return 0;
    return round_up(schedule_.x.blocks(out_width) * schedule_.y.blocks(out_height), batch);
  }

  /// Calls f(batch, n) for batches of n <= batch_ blocks.
  template <class F>
  void for_batches(Batch batch, int blocks, F f) const {
    for (; batch.begin < blocks; batch.begin += batch_) {
      f(batch, std::min(batch_, blocks - batch.begin));
    }
  }

  Frames frames() const { return {as<float>(frames_), columns_, rows_}; }

  void load_blocks(const DevicePlane& in, const PlaneView<float>& sums, Shift shift,
                   const Batch& batch, int n) const {
    const Mask& mask = this->problem_.mask;
    const dim3 block(kBlockColumns, kBlockRows);
    const dim3 grid(ceil_div(columns_, kBlockColumns), ceil_div(rows_, kBlockRows), n);
    with_border(this->problem_.border, [&](auto border) {
      launch(grid, block, this->stream_, load_blocks_kernel<T, border()>, in.view<const T>(),
             frames(), ghost_, batch, BlockSize{schedule_.x.block, schedule_.y.block},
             BlockSize{sums.width + mask.width - 1, sums.height + mask.height - 1},
             shift.x - mask.anchor_x, shift.y - mask.anchor_y);
    });
  }

  void multiply(const Spectra& blocks, const Batch& batch, int n) const {
    const Spectra parts{as<Complex>(part_spectra_), schedule_.x.parts(), schedule_.y.parts(),
                        length_};
    launch(dim3(ceil_div(length_, kProductThreads), n), dim3(kProductThreads), this->stream_,
           sum_products_kernel, blocks, parts, batch, as<Complex>(spectra_));
  }

  void add_blocks(const PlaneView<float>& sums, const Batch& batch, int n) const {
    const auto& [x, y, atomic] = schedule_;
    const dim3 block(kBlockColumns, kBlockRows);
    const dim3 grid(ceil_div(x.block + x.part - 1, kBlockColumns),
                    ceil_div(y.block + y.part - 1, kBlockRows), n);
    launch(grid, block, this->stream_, atomic ? add_blocks_kernel<true> : add_blocks_kernel<false>,
           frames(), sums, batch, BlockSize{x.block, y.block}, BlockSize{x.part, y.part});
  }

  /// Once a plan. The inverse does not scale, so the weights are divided by a frame's samples.
  void transform_mask() {
    const auto& [x, y, atomic] = schedule_;
    this->hold(part_spectra_, spectrum_bytes() * round_up(parts_, batch_));
    std::vector<float> padded(std::size_t(columns_) * rows_ * batch_);
    const Frames to{padded.data(), columns_, rows_};
    for (int begin = 0; begin < parts_; begin += batch_) {
      std::fill(padded.begin(), padded.end(), 0.0f);
      for (int n = 0; n < std::min(batch_, parts_ - begin); ++n) {
        const int first_i = (begin + n) % x.parts() * x.part;
        const int first_j = (begin + n) / x.parts() * y.part;
        for (int j = first_j; j < std::min(first_j + y.part, y.side); ++j) {
          for (int i = first_i; i < std::min(first_i + x.part, x.side); ++i) {
            to.at(n, i - first_i, j - first_j) =
                float(double(weights_[std::size_t(j) * x.side + i]) / (double(columns_) * rows_));
          }
        }
      }
      const std::size_t bytes = frame_bytes() * batch_;
      upload_rows(frames_.data(), bytes, reinterpret_cast<const std::byte*>(padded.data()), bytes,
                  bytes, 1, this->stream_);
      fft_->forward(as<float>(frames_),
                    as<Complex>(part_spectra_) + std::ptrdiff_t(begin) * length_);
      this->stream_.synchronize();  // before `padded` changes
    }
  }

  const BlockSchedule schedule_;
  const std::vector<float> weights_;
  const T ghost_;
  const int columns_, rows_, length_;  ///< of a transform, and its half spectrum
  const int parts_;
  int batch_ = 0;
  std::optional<Fft> fft_;
  DeviceBuffer frames_, spectra_, workspace_, blocks_, part_spectra_;
};

}  // namespace

std::unique_ptr<Plan> make_transformed_blocks_plan(const Problem& p, const PlanOptions& options,
                                                   const BlockSchedule& schedule) {
  return with_depth(p.depth, [&](auto depth) -> std::unique_ptr<Plan> {
    using T = typename decltype(depth)::type;
    return std::make_unique<TransformedBlocksPlan<T>>(p, options, prepare_mask<float>(p.mask),
                                                      schedule);
  });
}

}  // namespace convfilt::CONVFILT_BACKEND
