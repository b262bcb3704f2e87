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

#include "kernels/contract/dispatch.hpp"
#include "kernels/transform/block_kernels.hpp"
#include "kernels/transform/block_spectra.hpp"

namespace convfilt::CONVFILT_BACKEND {
namespace {

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

 private:
  Frames frames() const { return {as<float>(frames_), frame_.columns, frame_.rows}; }

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

}  // namespace convfilt::CONVFILT_BACKEND
