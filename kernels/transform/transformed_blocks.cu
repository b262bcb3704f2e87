// The frequency form of overlap-add and in-parts: batches of blocks go through the FFT.
//
//   S samples of a block and P weights of a part lie in frames of F >= S + P - 1, so that no
//   outputs wrap onto others. The outputs from the block's first sample on lie at the frame's
//   front, and the outputs left of it lie at the frame's end.
//
//       samples  [ block: S    | 0 ... 0 ]  ->  X    Y[p] = sum over the pairs (i, j) of
//       weights  [ part: P | 0 ...     0 ]  ->  M           X[j] * conj(M[i])
//       outputs  [ S of them   | ? | P-1 ]  <-  Y[p]        where i + q * j = p
//
//   A part with fewer weights has zeros before them, so that all products of an interval have the
//   same outputs. With --part, frames hold whole parts, so that masks of any size find the spectra
//   of blocks that others left (SharedTransforms).
//
//   Per output: 1 global read, 5 log2(F^2) * F^2 / S^2 operations for transforms there and back,
//   e.g. 80 at 9x9 (F = 128), and 4 * F^2 / S^2 for each part of the mask.

#include <algorithm>
#include <any>
#include <memory>
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
/// The intervals of a batch, which are those of a launch, row by row, from number `begin` on.
struct Batch {
  Intervals on_x, on_y;
  int begin;

  CONVFILT_HD int x(int n) const { return on_x.interval((begin + n) % on_x.count); }
  CONVFILT_HD int y(int n) const { return on_y.interval((begin + n) / on_x.count); }
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

/// Loads the blocks that begin a batch's intervals into frames, if their blocks are its intervals.
template <class T, Border B>
__global__ void load_blocks_kernel(PlaneView<const T> in, Frames frames, T ghost, Batch batch) {
  const int n = blockIdx.z;
  const int col = blockIdx.x * blockDim.x + threadIdx.x;
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (col >= frames.columns || row >= frames.rows) return;

  // Load one sample of the block. Zeros lie behind it, and beyond the samples that outputs need.
  const Intervals &on_x = batch.on_x, &on_y = batch.on_y;
  const int x = on_x.blocks_of(batch.x(n)).first * on_x.axis.block + col;
  const int y = on_y.blocks_of(batch.y(n)).first * on_y.axis.block + row;
  const bool inside =
      col < on_x.axis.block && row < on_y.axis.block && x < on_x.samples && y < on_y.samples;
  frames.at(n, col, row) =
      inside ? float(load<B>(in, on_x.origin + x, on_y.origin + y, ghost)) : 0.0f;
}

__global__ void sum_products_kernel(SpectrumGrid blocks, SpectrumGrid parts, Batch batch,
                                    Complex* sums) {
  const int n = blockIdx.y;
  const int k = blockIdx.x * kProductThreads + threadIdx.x;
  if (k >= blocks.length) return;

  // Sum over the pairs that reach the interval.
  Complex sum{0, 0};
  const int px = batch.x(n), py = batch.y(n);
  const Interval across = batch.on_x.blocks_of(px), down = batch.on_y.blocks_of(py);
  for (int y = down.first; y < down.first + down.count; ++y) {
    for (int x = across.first; x < across.first + across.count; ++x) {
      const int part_x = px - batch.on_x.axis.ratio() * x,
                part_y = py - batch.on_y.axis.ratio() * y;
      const Complex term = product(blocks.at(x, y, k), conjugate(parts.at(part_x, part_y, k)));
      sum = {sum.x + term.x, sum.y + term.y};
    }
  }
  sums[std::ptrdiff_t(n) * blocks.length + k] = sum;
}

enum class Add { alone, atomically, in_private };

/// Adds the outputs of each interval, or stores them in the private buffer of its division.
template <Add kHow>
__global__ void add_blocks_kernel(Frames frames, PlaneView<float> sums, Batch batch) {
  const Intervals &on_x = batch.on_x, &on_y = batch.on_y;
  const int n = blockIdx.z, px = batch.x(n), py = batch.y(n);
  const int place_x = blockIdx.x * blockDim.x + threadIdx.x;
  const int place_y = blockIdx.y * blockDim.y + threadIdx.y;
  const int x = on_x.output(px) + place_x, y = on_y.output(py) + place_y;
  const int height = sums.height / (on_x.divisions * on_y.divisions);
  const int buffer = on_y.division(py) * on_x.divisions + on_x.division(px);
  const PlaneView<float> own = sums.rows(buffer * height, height);
  if (place_x >= on_x.axis.reach() || place_y >= on_y.axis.reach() || !contains(own, x, y)) return;

  // The outputs left of a block's first sample and above it lie at the frame's end.
  const int col = place_x - (on_x.axis.weights() - 1), row = place_y - (on_y.axis.weights() - 1);
  const float sum =
      frames.at(n, col < 0 ? col + frames.columns : col, row < 0 ? row + frames.rows : row);
  if constexpr (kHow == Add::atomically) {
    atomic_add(own.row(y)[x], sum);
  } else if constexpr (kHow == Add::in_private) {
    own.row(y)[x] = sum;
  } else {
    own.row(y)[x] += sum;
  }
}

/// The spectra of all blocks of a plane, for plans of other masks that cut it alike.
struct KeptSpectra {
  struct Cut {
    int picture, device;
    Interval sides[5];  ///< picture, frame, block, origin and samples, along both axes
    Border border;
    double ghost;
    bool operator==(const Cut&) const = default;
  };
  std::optional<Cut> cut;
  DeviceBuffer spectra;
};

std::size_t round_up(int count, int batch) {
  return std::size_t(ceil_div(count, batch)) * batch;
}

template <class T>
class TransformedBlocksPlan : public ScheduledPlan<T, FloatFinish> {
  using Base = ScheduledPlan<T, FloatFinish>;
  using Base::schedule_;

 public:
  TransformedBlocksPlan(const Problem& problem, const PlanOptions& options,
                        const BlockSchedule& schedule)
      : Base(problem, options, {1, float(problem.mask.offset)}, schedule),
        frame_{good_fft_size(schedule.x.frame()), good_fft_rows(schedule.y.frame()), 1},
        parts_(schedule.x.parts() * schedule.y.parts()),
        ghost_(ghost_sample<T>(problem)) {}

 protected:
  std::size_t scratch_bytes(int in_height, int out_width, int out_height) const override {
    const int batch = batch_for(out_width, out_height);
    // Planes share nothing but with other plans, for which each has spectra of its own.
    const std::size_t planes = this->options_.transforms ? std::size_t(this->planes()) : 1;
    const std::size_t spectra =
        batch + planes * kept_spectra(out_width, out_height, batch) + round_up(parts_, batch);
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
    if (const std::size_t bytes = kept_bytes(out_width, out_height); !this->options_.transforms)
      this->hold(blocks_.spectra, bytes);
    if (mask_.size() == 0) transform_mask();
  }

  bool starts_at_zero() const override { return !schedule_.divided; }

  void add_up(const DevicePlane& in, const PlaneView<float>& sums, Shift shift) override {
    const Interval all_x{0, schedule_.x.weights()}, all_y{0, schedule_.y.weights()};
    const Complex* blocks = nullptr;
    for (int step = 0; step < this->steps(); ++step) {
      const auto on = this->launch_of(in, sums, shift, step, all_x, all_y);
      if (step == 0 && keeps_blocks()) blocks = spectra_of_blocks(in, sums, on.x, on.y);
      for_batches({on.x, on.y, 0}, [&](const Batch& batch, int n) {
        if (keeps_blocks()) {
          sum_products(blocks, batch, n);
        } else {
          load_blocks(in, batch, n);
          fft_->forward(as<float>(frames_), as<Complex>(spectra_));
          multiply_conjugate(as<Complex>(spectra_), as<Complex>(mask_), batch_of(n), this->stream_);
        }
        fft_->inverse(as<Complex>(spectra_), as<float>(frames_));
        const auto kernel = schedule_.divided  ? add_blocks_kernel<Add::in_private>
                            : schedule_.atomic ? add_blocks_kernel<Add::atomically>
                                               : add_blocks_kernel<Add::alone>;
        launch_over(schedule_.x.reach(), schedule_.y.reach(), n, this->stream_, kernel, frames(),
                    sums, batch);
      });
    }
  }

 private:
  std::size_t length() const { return frame_.frequencies(); }
  Blocks batch_of(int n) const { return {frame_.columns, frame_.rows, n}; }
  Frames frames() const { return {as<float>(frames_), frame_.columns, frame_.rows}; }

  /// Every block's spectrum is kept where several intervals need it, or other masks do.
  bool keeps_blocks() const { return parts_ > 1 || this->options_.transforms; }

  int batch_for(int out_width, int out_height) const {
    return schedule_.batch(int(frame_.samples()), out_width, out_height, keeps_blocks());
  }

  std::size_t kept_bytes(int out_width, int out_height) const {
    return kept_spectra(out_width, out_height, batch_) * length() * sizeof(Complex);
  }

  std::size_t kept_spectra(int out_width, int out_height, int batch) const {
    return keeps_blocks()
               ? round_up(schedule_.x.most_blocks(out_width) * schedule_.y.most_blocks(out_height),
                          batch)
               : 0;
  }

  void zero_rows(float* data, int columns, int rows) const {
    const PlaneView<float> all{data, columns, rows, columns};
    for_row_chunks(rows, [&](int first, int n) { zero(all.rows(first, n), this->stream_); });
  }

  /// Transforms all parts of the mask, a batch at a time, once for each plan.
  void transform_mask() {
    this->hold(mask_, round_up(parts_, batch_) * length() * sizeof(Complex));
    for (int begin = 0; begin < parts_; begin += batch_) {
      const std::vector<float> padded =
          framed_parts(this->problem_.mask, schedule_, begin, batch_, frame_.columns, frame_.rows);
      this->hold_copy(frames_, padded);
      fft_->forward(as<float>(frames_), as<Complex>(mask_) + begin * length());
      this->stream_.synchronize();  // `padded` must live until it has been read
    }
  }

  /// The spectra of all blocks of a plane, which another plan may have left.
  const Complex* spectra_of_blocks(const DevicePlane& in, const PlaneView<float>& sums,
                                   const Intervals& x, const Intervals& y) {
    SharedTransforms* const shared = this->options_.transforms.get();
    const Problem& p = this->problem_;
    const int height = sums.height / schedule_.buffers();
    // Windows of plans may differ, so that only whole planes are alike.
    const bool shares = shared && sums.width == p.out_width() && height == p.out_height();
    KeptSpectra& kept = shares ? next_plane_of(*shared) : blocks_;
    const KeptSpectra::Cut cut{shares ? picture_ : 0,
                               this->options_.device,
                               {{in.width, in.height},
                                {frame_.columns, frame_.rows},
                                {x.axis.block, y.axis.block},
                                {x.origin, y.origin},
                                {x.samples, y.samples}},
                               p.border,
                               double(ghost_)};
    if (shares && kept.cut == cut) {
      ++shared->found;
      return as<Complex>(kept.spectra);
    }
    if (kept.cut && kept.cut->device != cut.device) kept.spectra = DeviceBuffer();
    kept.cut.reset();
    this->hold(kept.spectra, kept_bytes(sums.width, height));
    transform_blocks(in, x, y, as<Complex>(kept.spectra));
    if (shared) ++shared->made;
    if (shares) kept.cut = cut;
    return as<Complex>(kept.spectra);
  }

  /// Where plans keep the spectra of the plane that this one filters next.
  KeptSpectra& next_plane_of(SharedTransforms& shared) {
    using Planes = std::vector<KeptSpectra>;
    if (!std::any_cast<std::shared_ptr<Planes>>(&shared.kept))
      shared.kept = std::make_shared<Planes>();
    Planes& planes = **std::any_cast<std::shared_ptr<Planes>>(&shared.kept);
    if (picture_ != shared.picture()) plane_ = 0;
    picture_ = shared.picture();
    if (plane_ == planes.size()) planes.emplace_back();
    return planes[plane_++];
  }

  /// Transforms all blocks, each once.
  void transform_blocks(const DevicePlane& in, Intervals x, Intervals y, Complex* spectra) {
    for (Intervals* on : {&x, &y}) {
      on->axis.part = on->axis.side;
      on->axis.apart = on->axis.block;
      on->first = on->step = 0;
      on->every = 1;
      on->count = on->blocks();
    }
    for_batches({x, y, 0}, [&](const Batch& batch, int n) {
      load_blocks(in, batch, n);
      fft_->forward(as<float>(frames_), spectra + batch.begin * length());
    });
  }

  /// Calls f(batch, n) for batches of n <= batch_ intervals each.
  template <class F>
  void for_batches(Batch batch, F f) const {
    const int all = batch.on_x.count * batch.on_y.count;
    for (; batch.begin < all; batch.begin += batch_) f(batch, std::min(batch_, all - batch.begin));
  }

  void load_blocks(const DevicePlane& in, const Batch& batch, int n) const {
    with_border(this->problem_.border, [&](auto border) {
      launch_over(frame_.columns, frame_.rows, n, this->stream_, load_blocks_kernel<T, border()>,
                  in.view<const T>(), frames(), ghost_, batch);
    });
  }

  void sum_products(const Complex* spectra, const Batch& batch, int n) const {
    const int frequencies = int(length());
    const SpectrumGrid blocks{spectra, batch.on_x.blocks(), batch.on_y.blocks(), frequencies};
    const SpectrumGrid parts{as<Complex>(mask_), schedule_.x.parts(), schedule_.y.parts(),
                             frequencies};
    const dim3 grid(ceil_div(frequencies, kProductThreads), n);
    launch(grid, dim3(kProductThreads), this->stream_, sum_products_kernel, blocks, parts, batch,
           as<Complex>(spectra_));
  }

  const Blocks frame_;  ///< a single frame
  const int parts_;
  const T ghost_;
  int batch_ = 0;  ///< frames that are transformed at a time
  std::optional<Fft> fft_;
  DeviceBuffer frames_, spectra_, mask_, workspace_;  ///< mask_: spectra of the mask's parts
  KeptSpectra blocks_;                                ///< of a plane that no other plan has
  int picture_ = -1;                                  ///< the latest that was shared
  std::size_t plane_ = 0;                             ///< how many of its planes this plan has had
};

}  // namespace

std::unique_ptr<Plan> make_transformed_blocks_plan(const Problem& p, const PlanOptions& options,
                                                   const BlockSchedule& schedule) {
  return with_depth(p.depth, [&]<class T>(TypeTag<T>) -> std::unique_ptr<Plan> {
    return std::make_unique<TransformedBlocksPlan<T>>(p, options, schedule);
  });
}

}  // namespace convfilt::CONVFILT_BACKEND::transform
