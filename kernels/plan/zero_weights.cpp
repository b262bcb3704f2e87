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

/// Whether samples under weights of 0 may reach results, or terms of a mask turn an infinity to
/// NaN.
bool spreads(const Problem& problem, Family family) {
  if (problem.depth != Depth::f32 || family == Family::transform) return false;
  if (problem.contrast > 0 && std::isfinite(problem.contrast)) return false;
  const Mask& mask = problem.mask;
  return std::ranges::count(mask.weights, 0) > 0 ||
         (family == Family::separable && separable_taps(problem) > mask.width + mask.height);
}

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
      : problem_(problem), ghost_(std::size_t(problem.channels), ghost_sample<float>(problem)) {
    if (border_alpha && problem.channels == 4) ghost_[3] = float(*border_alpha);
    for (const MaskPart<float>& part : prepare_mask<float>(problem.mask).parts()) {
      for (int j = 0; j < part.height; ++j) {
        MaskRow row{part.dy + j + problem.mask.anchor_y - problem.lead_y(), {}};
        for (int i = 0; i < part.width; ++i)
          if (const float weight = part.weight(i, j); weight != 0)
            row.taps.push_back({part.dx + i + problem.mask.anchor_x - problem.lead_x(), weight});
        if (!row.taps.empty()) rows_.push_back(std::move(row));
      }
      finish_ = part.finish;
    }
  }

  /// Computes the outputs anew that are not finite.
  void mend(BandView<const std::byte> in, BandView<std::byte> out, int threads) const {
    const int samples = out.width * out.channels;
    const auto mend_row = [&](int y) {
      auto* const to = reinterpret_cast<float*>(out.row(y));
      if (!has_not_finite(to, samples)) return;
      for (int x = 0; x < samples; ++x)
        if (!std::isfinite(to[x]))
          finish(finish_, sum_at(in, x / out.channels, out.top + y, x % out.channels), to[x]);
    };
    if (threads != 1) threads = cpu::threads_for(std::int64_t{samples} * out.height, threads);
    if (threads == 1)
      for (int y = 0; y < out.height; ++y) mend_row(y);
    else
      cpu::parallel_for(out.height, threads, [&](int, int y) { mend_row(y); });
  }

 private:
  struct Tap {
    int dx;
    float weight;
  };
  struct MaskRow {
    int dy;
    std::vector<Tap> taps;
  };

  float sum_at(BandView<const std::byte> in, int x, int y, int channel) const {
    float sum = 0;
    for (const MaskRow& row : rows_) {
      const int at = row_index(in, y + row.dy, problem_.border, problem_.height);
      const auto* const samples = at < 0 ? nullptr : reinterpret_cast<const float*>(in.row(at));
      float chain = 0;
      for (const auto& [dx, weight] : row.taps) {
        const int column = border_index(problem_.border, x + dx, problem_.width);
        const float sample = samples && column >= 0
                                 ? samples[std::ptrdiff_t(column) * in.channels + channel]
                                 : ghost_[std::size_t(channel)];
        chain = multiply_add(weight, sample, chain);
      }
      sum += chain;
      if (std::isnan(sum)) break;
    }
    return sum;
  }

  const Problem problem_;
  std::vector<float> ghost_;
  std::vector<MaskRow> rows_;
  FloatFinish finish_;
};

class MendedPlan final : public Plan {
 public:
  MendedPlan(const Problem& problem, int threads, std::unique_ptr<Plan> plan)
      : zeros_(problem), threads_(threads), plan_(std::move(plan)) {}

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
  }
  std::vector<double> time_resident(PictureView<const std::byte> in, int repeats) override {
    return plan_->time_resident(in, repeats);
  }
  std::int64_t host_bytes() const override { return plan_->host_bytes(); }
  Counts counts() const override { return plan_->counts(); }

 private:
  const ZeroWeights zeros_;
  const int threads_;
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

std::unique_ptr<Plan> without_zero_weights(const Problem& problem, Family family, int threads,
                                           std::unique_ptr<Plan> plan) {
  if (!spreads(problem, family)) return plan;
  return std::make_unique<MendedPlan>(problem, threads, std::move(plan));
}

std::unique_ptr<Worker> bands_without_zero_weights(const Problem& problem, Family family,
                                                   std::optional<double> border_alpha,
                                                   std::unique_ptr<Worker> worker) {
  if (!spreads(problem, family)) return worker;
  return std::make_unique<MendedWorker>(problem, border_alpha, std::move(worker));
}

}  // namespace convfilt
