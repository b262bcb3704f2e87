// The frequency form of overlap-add and in-parts: a batch of blocks at a time through the FFT.
//
//   S samples of a block and P weights of a part fill a frame of F >= S + P - 1, so that
//   nothing wraps: outputs from the block's first sample on lie at the frame's front, those
//   left of it at its end.
//
//       samples  [ block: S    | 0 ... 0 ]  ->  X    Y[k] = sum over parts m of
//       weights  [ part: P | 0 ...     0 ]  ->  M           X[k + m] * conj(M[m])
//       outputs  [ S of them   | ? | P-1 ]  <-  Y[k]
//
//   Per output: 1 global read, 5 log2(F^2) * F^2 / S^2 operations for transforms there and back,
//   e.g. 80 at 9x9 (F = 128), and 4 * F^2 / S^2 for each part of the mask.

#include <optional>

#include "adding_plan.hpp"
#include "block_kernels.hpp"
#include "dispatch.hpp"

namespace convfilt::CONVFILT_BACKEND {
namespace {

constexpr int kBatchSamples = 1 << 22;  // 16 MB: a batch and its spectra fit in an L2 cache
constexpr int kMaxBatch = 65535;        // a grid's y and z

template <class U>
U* as(const DeviceBuffer& buffer) {
  return reinterpret_cast<U*>(buffer.data());
}

std::size_t round_up(int count, int batch) {
  return std::size_t(ceil_div(count, batch)) * batch;
}

template <class T>
class TransformedBlocksPlan : public AddingPlan<T, FloatFinish> {
  using Base = AddingPlan<T, FloatFinish>;

 public:
  TransformedBlocksPlan(const Problem& problem, const PlanOptions& options,
                        const BlockSchedule& schedule)
      : Base(problem, options, {1, float(problem.mask.offset)}),
        schedule_(schedule),
        block_{schedule.x.block, schedule.y.block},
        frame_{Fft::good_size(schedule.x.block + schedule.x.part - 1),
               Fft::good_size(schedule.y.block + schedule.y.part - 1), 1},
        parts_(schedule.x.parts() * schedule.y.parts()),
        ghost_(ghost_sample<T>(problem)) {}

 protected:
  void add_up(const DevicePlane& in, const PlaneView<float>& sums, Shift shift) override {
    const auto& [x, y, atomic] = schedule_;
    const int blocks_x = x.blocks(sums.width), blocks_y = y.blocks(sums.height);
    if (parts_ > 1) {
      for_batches({0, 0, 1, 1, blocks_x, 0}, blocks_x * blocks_y, [&](const Batch& batch, int n) {
        load_blocks(in, sums, shift, batch, n);
        fft_->forward(as<float>(frames_), as<Complex>(blocks_) + batch.begin * length());
      });
    }
    for (int step = 0; step < x.steps * y.steps; ++step) {
      const Interval on_x = x.blocks_of_step(sums.width, {0, x.part}, step % x.steps);
      const Interval on_y = y.blocks_of_step(sums.height, {0, y.part}, step / x.steps);
      const Batch blocks{on_x.first, on_y.first, x.steps, y.steps, on_x.count, 0};
      for_batches(blocks, on_x.count * on_y.count, [&](const Batch& batch, int n) {
        if (parts_ > 1) {
          sum_products({as<Complex>(blocks_), blocks_x, blocks_y, int(length())}, batch, n);
        } else {
          load_blocks(in, sums, shift, batch, n);
          fft_->forward(as<float>(frames_), as<Complex>(spectra_));
          multiply_conjugate(as<Complex>(spectra_), as<Complex>(mask_), batch_of(n), this->stream_);
        }
        fft_->inverse(as<Complex>(spectra_), as<float>(frames_));
        add_blocks(sums, batch, n);
      });
    }
  }

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
      batch_ = 0;  // until all is there: memory may be short
      fft_.reset();
      fft_.emplace(frame_.columns, frame_.rows, batch, this->stream_);
      this->hold(frames_, batch_of(batch).samples() * sizeof(float));
      this->hold(spectra_, batch_of(batch).frequencies() * sizeof(Complex));
      this->hold(workspace_, fft_->workspace_bytes());
      fft_->use_workspace(workspace_.data());
      // Whole batches are transformed, also where fewer blocks than that are left.
      zero_rows(as<float>(frames_), frame_.columns, frame_.rows * batch);
      zero_rows(as<float>(spectra_), 2 * frame_.half(), frame_.rows * batch);
      batch_ = batch;
    }
    this->hold(blocks_, kept_spectra(out_width, out_height, batch_) * length() * sizeof(Complex));
    if (mask_.size() == 0) transform_mask();
  }

 private:
  std::size_t length() const { return frame_.frequencies(); }
  Blocks batch_of(int n) const { return {frame_.columns, frame_.rows, n}; }
  void zero_rows(float* data, int columns, int rows) const {
    const PlaneView<float> all{data, columns, rows, columns};
    this->for_row_chunks(rows, [&](int first, int n) { zero(all.rows(first, n), this->stream_); });
  }
  Frames frames() const { return {as<float>(frames_), frame_.columns, frame_.rows}; }

  /// How many blocks at a time: those of a step, or all of an in-parts picture, in equal batches.
  int batch_for(int out_width, int out_height) const {
    const auto& [x, y, atomic] = schedule_;
    const int apart_x = parts_ > 1 ? 1 : x.steps, apart_y = parts_ > 1 ? 1 : y.steps;
    const int blocks =
        ceil_div(x.blocks(out_width), apart_x) * ceil_div(y.blocks(out_height), apart_y);
    const int most = std::clamp(int(kBatchSamples / frame_.samples()), 1, kMaxBatch);
    return ceil_div(blocks, ceil_div(blocks, most));
  }

  /// Under a mask in parts every block's spectrum is kept, since several outputs need it.
  std::size_t kept_spectra(int out_width, int out_height, int batch) const {
    const auto& [x, y, atomic] = schedule_;
    return parts_ > 1 ? round_up(x.blocks(out_width) * y.blocks(out_height), batch) : 0;
  }

  /// Calls f(batch, n) for batches of n <= batch_ blocks.
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
    const dim3 block(kBlockColumns, kBlockRows);
    const dim3 grid(ceil_div(frame_.columns, kBlockColumns), ceil_div(frame_.rows, kBlockRows), n);
    with_border(this->problem_.border, [&](auto border) {
      launch(grid, block, this->stream_, load_blocks_kernel<T, border()>, in.view<const T>(),
             frames(), ghost_, batch, block_, samples, shift.x - mask.anchor_x,
             shift.y - mask.anchor_y);
    });
  }

  void sum_products(const SpectrumGrid& blocks, const Batch& batch, int n) const {
    const SpectrumGrid parts{as<Complex>(mask_), schedule_.x.parts(), schedule_.y.parts(),
                             int(length())};
    const dim3 grid(ceil_div(int(length()), kProductThreads), n);
    launch(grid, dim3(kProductThreads), this->stream_, sum_products_kernel<Complex>, blocks, parts,
           batch, as<Complex>(spectra_));
  }

  void add_blocks(const PlaneView<float>& sums, const Batch& batch, int n) const {
    const Extent part{schedule_.x.part, schedule_.y.part};
    const dim3 block(kBlockColumns, kBlockRows);
    const dim3 grid(ceil_div(block_.columns + part.columns - 1, kBlockColumns),
                    ceil_div(block_.rows + part.rows - 1, kBlockRows), n);
    launch(grid, block, this->stream_,
           schedule_.atomic ? add_blocks_kernel<true> : add_blocks_kernel<false>, frames(), sums,
           batch, block_, part);
  }

  /// Once a plan: all parts of the mask, a batch at a time.
  void transform_mask() {
    this->hold(mask_, round_up(parts_, batch_) * length() * sizeof(Complex));
    for (int begin = 0; begin < parts_; begin += batch_) {
      const std::vector<float> padded =
          framed_parts(this->problem_.mask, schedule_, begin, batch_, frame_.columns, frame_.rows);
      const std::size_t bytes = padded.size() * sizeof(float);
      upload_rows(frames_.data(), bytes, reinterpret_cast<const std::byte*>(padded.data()), bytes,
                  bytes, 1, this->stream_);
      fft_->forward(as<float>(frames_), as<Complex>(mask_) + begin * length());
      this->stream_.synchronize();  // before `padded` goes
    }
  }

  const BlockSchedule schedule_;
  const Extent block_;
  const Blocks frame_;  ///< one
  const int parts_;
  const T ghost_;
  int batch_ = 0;
  std::optional<Fft> fft_;
  DeviceBuffer frames_, spectra_, workspace_;
  DeviceBuffer blocks_, mask_;  ///< spectra of the picture's blocks, and of the mask's parts
};

}  // namespace

std::unique_ptr<Plan> make_transformed_blocks_plan(const Problem& p, const PlanOptions& options,
                                                   const BlockSchedule& schedule) {
  return with_depth(p.depth, [&](auto depth) -> std::unique_ptr<Plan> {
    using T = typename decltype(depth)::type;
    return std::make_unique<TransformedBlocksPlan<T>>(p, options, schedule);
  });
}

}  // namespace convfilt::CONVFILT_BACKEND
