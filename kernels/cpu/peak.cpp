#include "kernels/cpu/peak.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <string>
#include <thread>

#include "kernels/backend/host/parallel.hpp"
#include "kernels/cpu/vector_targets.hpp"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/peak.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace convfilt::cpu {
namespace HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

// The chains side by side hide the latency of two units, and still fit 16 registers.
constexpr int kChains = 12;

/// Runs that many rounds of kChains vectors and returns the number of operations. `sink` keeps the
/// compiler from leaving them out.
double multiply_adds(std::int64_t rounds, float* sink) {
  const hn::ScalableTag<float> df;
  using Vector = hn::Vec<decltype(df)>;
  const Vector factor = hn::Set(df, 0.999f), addend = hn::Set(df, 0.001f);
  Vector sums[kChains];
  CONVFILT_UNROLL_ALL
  for (int k = 0; k < kChains; ++k) sums[k] = hn::Set(df, float(k));
  for (std::int64_t round = 0; round < rounds; ++round) {
    CONVFILT_UNROLL_ALL
    for (int k = 0; k < kChains; ++k) sums[k] = hn::MulAdd(sums[k], factor, addend);
  }
  Vector sum = sums[0];
  CONVFILT_UNROLL_ALL
  for (int k = 1; k < kChains; ++k) sum = hn::Add(sum, sums[k]);
  *sink = hn::GetLane(hn::SumOfLanes(df, sum));
  return 2.0 * double(rounds) * kChains * double(hn::Lanes(df));
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace convfilt::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace convfilt::cpu {
namespace {

HWY_EXPORT(multiply_adds);

using Clock = std::chrono::steady_clock;

constexpr int kTries = 3;                     // the best one counts
constexpr std::int64_t kRounds = 10'000'000;  // take some 30 ms, far longer than a thread's start

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

}  // namespace

double measure_fp32_peak(int threads) {
  const int count = threads_or_all(threads);
  std::vector<float> sinks(std::size_t(count) * 16);  // a cache line each
  double best = 0;
  for (int attempt = 0; attempt < kTries; ++attempt) {
    std::vector<double> operations(static_cast<std::size_t>(count));
    const Clock::time_point start = Clock::now();
    parallel_for(count, count, [&](int, int index) {
      operations[std::size_t(index)] =
          HWY_DYNAMIC_DISPATCH(multiply_adds)(kRounds, &sinks[std::size_t(index) * 16]);
    });
    const double seconds = seconds_since(start);
    double sum = 0;
    for (const double part : operations) sum += part;
    best = std::max(best, sum / seconds);
  }
  return best;
}

std::vector<double> time_copy(std::size_t bytes, int threads, int repeats) {
  // There are more parts than threads, so that a thread which is held up does not hold up all.
  constexpr std::size_t kPart = 1 << 20;
  const std::vector<char> from(bytes, 'x');
  std::vector<char> to(bytes);  // is zeroed, so that the system has given its pages
  const int parts = int((bytes + kPart - 1) / kPart);
  std::vector<double> times;
  constexpr int kWarmups = 1;
  for (int k = 0; k < repeats + kWarmups; ++k) {
    const Clock::time_point start = Clock::now();
    parallel_for(parts, threads_or_all(threads), [&](int, int index) {
      const std::size_t first = std::size_t(index) * kPart;
      std::memcpy(to.data() + first, from.data() + first, std::min(kPart, bytes - first));
    });
    if (k >= kWarmups) times.push_back(1e3 * seconds_since(start));
  }
  return times;
}

const char* name() {
  static const auto& found = *new const std::string([] {
    std::ifstream facts("/proc/cpuinfo");
    for (std::string line; std::getline(facts, line);) {
      const std::size_t colon = line.find(": ");
      if (line.starts_with("model name") && colon != line.npos) return line.substr(colon + 2);
    }
    return std::string("CPU");
  }());
  return found.c_str();
}

}  // namespace convfilt::cpu

// As it is loaded, Highway 1.0 measures how fine its timer is, which takes longer than the rest of
// a start. The timer is used nowhere here, so the loader gets this answer first.
namespace hwy::platform {
std::uint64_t TimerResolution() {
  return 1;
}
}  // namespace hwy::platform
#endif
