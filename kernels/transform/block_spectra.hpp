/// What transformed_blocks.cu computes in: frames that the FFT takes a batch at a time, their
/// spectra, and the mask's.
#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include "kernels/plan/adding_plan.hpp"
#include "kernels/transform/block_plans.hpp"
#include "kernels/transform/block_schedule.hpp"
#include "kernels/transform/transform_plan.hpp"

namespace convfilt::CONVFILT_BACKEND {

inline constexpr int kBatchSamples = 1 << 22;  // 16 MB: with its spectra it fits in an L2 cache
inline constexpr int kMaxBatch = 65535;        // a grid's y and z

template <class U>
U* as(const DeviceBuffer& buffer) {
  return reinterpret_cast<U*>(buffer.data());
}

inline std::size_t round_up(int count, int batch) {
  return std::size_t(ceil_div(count, batch)) * batch;
}

/// Pictures of T. A derived plan fills frames, goes through the FFT, and adds up.
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

  std::size_t length() const { return frame_.frequencies(); }
  Blocks batch_of(int n) const { return {frame_.columns, frame_.rows, n}; }

  const BlockSchedule schedule_;
  const Blocks frame_;  ///< one
  const int parts_;
  int batch_ = 0;  ///< frames transformed at a time
  std::optional<Fft> fft_;
  DeviceBuffer frames_, spectra_;
  DeviceBuffer blocks_, mask_;  ///< spectra of the picture's blocks, and of the mask's parts

 private:
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

  void zero_rows(float* data, int columns, int rows) const {
    const PlaneView<float> all{data, columns, rows, columns};
    this->for_row_chunks(rows, [&](int first, int n) { zero(all.rows(first, n), this->stream_); });
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

  DeviceBuffer workspace_;
};

}  // namespace convfilt::CONVFILT_BACKEND
