#include "kernels/plan/zero_weights.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "kernels/backend/host/parallel.hpp"
#include "kernels/contract/arithmetic.hpp"
#include "kernels/contract/separable.hpp"

namespace convfilt {
namespace {

/// Whether one of the samples is infinite or NaN. Adding 1 to the exponent carries it into the
/// sign.
bool has_not_finite(const float* samples, int count) {
  using Words = std::uint32_t __attribute__((vector_size(16)));
  constexpr int kWords = 4;
  constexpr std::uint32_t kMagnitude = 0x7fffffff, kOne = 0x00800000, kSign = 0x80000000;
  Words all{}, some{};
  for (; count >= kWords; count -= kWords, samples += kWords) {
    std::memcpy(&some, samples, sizeof some);
    all |= (some & kMagnitude) + kOne;
  }
  some = Words{};
  std::memcpy(&some, samples, std::size_t(count) * sizeof *samples);
  all |= (some & kMagnitude) + kOne;
  return ((all[0] | all[1] | all[2] | all[3]) & kSign) != 0;
}

class ZeroWeights {
 public:
  explicit ZeroWeights(const Problem& problem, std::optional<double> border_alpha = {})
      : border_(problem.border), height_(problem.height), mask_(taps_but_zero(problem)) {
    const float ghost = ghost_sample<float>(problem);
    for (int c = 0; c < problem.channels; ++c) {
      const bool is_alpha = border_alpha && c == 3;
      sums_.push_back({mask_.taps.data(), int(mask_.taps.size()), problem.border, problem.width,
                       problem.channels, is_alpha ? float(*border_alpha) : ghost});
    }
  }
  ZeroWeights(const ZeroWeights&) = delete;

  /// Computes the outputs anew that are not finite.
  void mend(BandView<const std::byte> in, BandView<std::byte> out, int threads) const {
    const int samples = out.width * out.channels;
    const auto row_at = [&](int y) {
      const int at = row_index(in, y, border_, height_);
      return at < 0 ? nullptr : reinterpret_cast<const float*>(in.row(at));
    };
    const auto mend_row = [&](int y) {
      auto* const to = reinterpret_cast<float*>(out.row(y));
      if (!has_not_finite(to, samples)) return;
      for (int x = 0; x < samples; ++x) {
        const int channel = x % out.channels;
        if (!std::isfinite(to[x]))
          finish(mask_.finish,
                 sums_[std::size_t(channel)].at(x / out.channels, out.top + y, channel, row_at),
                 to[x]);
      }
    };
    if (threads != 1) threads = cpu::threads_for(std::int64_t{samples} * out.height, threads);
    if (threads == 1)
      for (int y = 0; y < out.height; ++y) mend_row(y);
    else
      cpu::parallel_for(out.height, threads, [&](int, int y) { mend_row(y); });
  }

 private:
  const Border border_;
  const int height_;
  const MaskTaps mask_;
  std::vector<SumOfTaps> sums_;  ///< of each channel
};

class MendedPlan final : public Plan {
 public:
  MendedPlan(const Problem& problem, int threads, bool is_on_cpu, std::unique_ptr<Plan> plan)
      : zeros_(problem), threads_(threads), is_on_cpu_(is_on_cpu), plan_(std::move(plan)) {}

  Timing run(PictureView<const std::byte> in, PictureView<std::byte> out) override {
    Timing timing = plan_->run(in, out);
    const auto start = std::chrono::steady_clock::now();
    zeros_.mend(in, out, threads_);
    timing.kernel_ms +=
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
    return timing;
  }
  void run_resident(PictureView<const std::byte> in, PictureView<std::byte> out,
                    void* stream) override {
    plan_->run_resident(in, out, stream);
    if (is_on_cpu_) zeros_.mend(in, out, threads_);
  }
  std::vector<double> time_resident(PictureView<const std::byte> in, int repeats) override {
    return plan_->time_resident(in, repeats);
  }
  std::int64_t host_bytes() const override { return plan_->host_bytes(); }
  Counts counts() const override { return plan_->counts(); }

 private:
  const ZeroWeights zeros_;
  const int threads_;
  const bool is_on_cpu_;
  const std::unique_ptr<Plan> plan_;
};

class MendedWorker final : public Worker {
 public:
  MendedWorker(const Problem& problem, std::optional<double> border_alpha,
               std::unique_ptr<Worker> worker)
      : zeros_(problem, border_alpha), worker_(std::move(worker)) {}

  void push(BandView<const std::byte> in, BandView<std::byte> out) override {
    worker_->push(in, out);
    zeros_.mend(in, out, 1);
  }

 private:
  const ZeroWeights zeros_;
  const std::unique_ptr<Worker> worker_;
};

}  // namespace

bool takes_zero_weights(const Problem& problem, Family family) {
  if (problem.depth != Depth::f32 || family == Family::transform) return false;
  if (problem.contrast > 0 && std::isfinite(problem.contrast)) return false;
  const Mask& mask = problem.mask;
  return std::ranges::count(mask.weights, 0) > 0 ||
         (family == Family::separable && separable_taps(problem) > mask.width + mask.height);
}

MaskTaps taps_but_zero(const Problem& problem) {
  const Mask& mask = problem.mask;
  const PreparedMask<float> prepared = prepare_mask<float>(mask);
  MaskTaps all{{}, prepared.finish};
  for (const MaskPart<float>& part : prepared.parts()) {
    for (int j = 0; j < part.height; ++j) {
      bool begins = true;
      for (int i = 0; i < part.width; ++i) {
        if (part.weight(i, j) == 0) continue;
        all.taps.push_back({part.dx + i + mask.anchor_x - problem.lead_x(),
                            part.dy + j + mask.anchor_y - problem.lead_y(), part.weight(i, j),
                            begins});
        begins = false;
      }
    }
  }
  return all;
}

std::unique_ptr<Plan> without_zero_weights(const Problem& problem, Family family, int threads,
                                           bool is_on_cpu, std::unique_ptr<Plan> plan) {
  if (!takes_zero_weights(problem, family)) return plan;
  return std::make_unique<MendedPlan>(problem, threads, is_on_cpu, std::move(plan));
}

std::unique_ptr<Worker> bands_without_zero_weights(const Problem& problem, Family family,
                                                   std::optional<double> border_alpha,
                                                   std::unique_ptr<Worker> worker) {
  if (!takes_zero_weights(problem, family)) return worker;
  return std::make_unique<MendedWorker>(problem, border_alpha, std::move(worker));
}

}  // namespace convfilt
