/// The program that a student's kernel becomes on a GPU: it runs the kernel on some pictures, one
/// after the other, and may time it. It is compiled by nvcc together with student.hpp, as
/// runner.cpp is by the host compiler.
///
///   device BLOCK_X BLOCK_Y BLOCK_Z SHARED_BYTES JOBS FIRST ORDINAL
///
/// JOBS has a line for each picture, GRID_X GRID_Y GRID_Z REPEATS DATA RESULT, with DATA and
/// RESULT as runner.cpp has them, FIRST is the number of the line to begin with, and ORDINAL that
/// of the device. Standard output gets for each picture a line `begin NUMBER`, then what was seen,
/// then `end NUMBER`:
///
///   outside_write CELL    a write of out beyond the picture
///   device WHY            what CUDA says before the kernel has run; nothing follows
///   error WHY             what it says of the kernel; nothing follows, since the device is lost to
///                         this process
///   ms TIME...            REPEATS times of the kernel in milliseconds, after some to warm up;
///                         fewer of a slow one
///   copy TIME...          REPEATS of a copy of the picture's bytes on the device
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "src/lab/try/runtime/mask_array.hpp"

#include <student.hpp>

namespace lesson_device {
namespace {

constexpr std::size_t kGuard = std::size_t{1} << 16;  ///< samples on each side of a picture
constexpr int kWarmups = 3;
constexpr double kBudgetMs = 2000;  ///< of a slow kernel's timed runs

bool has_launched = false;

void check(cudaError_t error) {
  if (error != cudaSuccess) throw std::runtime_error(cudaGetErrorString(error));
}

/// A picture on the device with guards around it, which hold NaN.
class Guarded {
 public:
  explicit Guarded(std::size_t samples) : samples_(samples) {
    check(cudaMalloc(&all_, (samples + 2 * kGuard) * sizeof(float)));
    std::vector<float> guards(samples + 2 * kGuard, std::numeric_limits<float>::quiet_NaN());
    check(cudaMemcpy(all_, guards.data(), guards.size() * sizeof(float), cudaMemcpyHostToDevice));
  }
  Guarded(const Guarded&) = delete;
  Guarded& operator=(const Guarded&) = delete;
  ~Guarded() { cudaFree(all_); }

  float* begin() const { return all_ + kGuard; }

  void set(const std::vector<float>& samples) const {
    check(cudaMemcpy(begin(), samples.data(), samples_ * sizeof(float), cudaMemcpyHostToDevice));
  }

  /// With its guards.
  std::vector<float> all() const {
    std::vector<float> all(samples_ + 2 * kGuard);
    check(cudaMemcpy(all.data(), all_, all.size() * sizeof(float), cudaMemcpyDeviceToHost));
    return all;
  }

 private:
  std::size_t samples_;
  float* all_ = nullptr;
};

struct Event {
  Event() { check(cudaEventCreate(&event)); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  ~Event() { cudaEventDestroy(event); }
  cudaEvent_t event = nullptr;
};

template <class Run>
double ms_of(const Run& run) {
  const Event start, stop;
  check(cudaEventRecord(start.event));
  run();
  check(cudaEventRecord(stop.event));
  check(cudaDeviceSynchronize());
  float ms = 0;
  check(cudaEventElapsedTime(&ms, start.event, stop.event));
  return double(ms);
}

/// How many runs of that many milliseconds fit the budget: three at the least.
int runs_within(double budget_ms, double ms, int most) {
  const double fit = ms > 0 ? budget_ms / ms : most;
  return fit >= most ? most : fit < 3 ? 3 : int(fit);
}

/// Prints the milliseconds of each run. Runs follow each other without waiting.
template <class Run>
void print_times(const char* name, int repeats, const Run& run) {
  const std::size_t runs = std::size_t(repeats + kWarmups);
  std::vector<Event> starts(runs), stops(runs);
  for (std::size_t k = 0; k < runs; ++k) {
    check(cudaEventRecord(starts[k].event));
    run();
    check(cudaEventRecord(stops[k].event));
  }
  check(cudaDeviceSynchronize());
  std::printf("\n%s", name);
  for (std::size_t k = kWarmups; k < runs; ++k) {
    float ms = 0;
    check(cudaEventElapsedTime(&ms, starts[k].event, stops[k].event));
    std::printf(" %.6f", double(ms));
  }
  std::printf("\n");
}

struct Job {
  int grid_x = 0, grid_y = 0, grid_z = 0, repeats = 0;
  char data[1024] = {}, result[1024] = {};
};

void run(const Job& job, dim3 block, std::size_t shared_bytes) {
  const convfilt::lesson::TrialData data = convfilt::lesson::read_trial(job.data);
  const LessonNumbers& lesson_numbers = data.numbers;
  const std::vector<float>&weights = data.weights, &picture = data.picture;
  const std::size_t samples = lesson_samples(lesson_numbers, true);

  const Guarded in_memory(picture.size()), out_memory(samples), mask_memory(weights.size());
  in_memory.set(picture);
  const float unset =
      lesson_numbers.lesson_clears_out ? 0.0f : std::numeric_limits<float>::infinity();
  out_memory.set(std::vector<float>(samples, unset));
  mask_memory.set(weights);
#ifdef LESSON_MASK
  const std::vector<float> array =
      convfilt::lesson::array_of<decltype(LESSON_MASK)>(weights, lesson_numbers);
  check(cudaMemcpyToSymbol(LESSON_MASK, array.data(), sizeof(LESSON_MASK)));
#endif
  float *lesson_in = in_memory.begin(), *lesson_out = out_memory.begin(),
        *lesson_mask = mask_memory.begin();
  const auto launch = [&] {
    has_launched = true;
    LESSON_KERNEL<<<dim3(job.grid_x, job.grid_y, job.grid_z), block, shared_bytes>>>(
        LESSON_ARGUMENTS);
    check(cudaGetLastError());
  };
  launch();
  check(cudaDeviceSynchronize());
  const std::vector<float> all = out_memory.all();
  for (std::size_t i = 0; i < all.size(); ++i)
    if ((i < kGuard || i >= kGuard + samples) && !std::isnan(all[i])) {
      std::printf("\noutside_write %lld\n", (long long)i - (long long)kGuard);
      break;
    }
  std::FILE* result = std::fopen(job.result, "wb");
  if (!result || std::fwrite(all.data() + kGuard, sizeof(float), samples, result) != samples ||
      std::fclose(result) != 0)
    throw std::runtime_error("the result cannot be written");

  if (job.repeats == 0) return;
  const int repeats = runs_within(kBudgetMs, ms_of(launch), job.repeats);
  print_times("ms", repeats, launch);
  print_times("copy", job.repeats, [&] {
    check(cudaMemcpyAsync(lesson_out, lesson_in, std::min(samples, picture.size()) * sizeof(float),
                          cudaMemcpyDeviceToDevice));
  });
}

}  // namespace
}  // namespace lesson_device

int main(int argc, char** argv) {
  if (argc != 8) return 2;
  try {
    lesson_device::check(cudaSetDevice(std::atoi(argv[7])));
    const dim3 block(unsigned(std::atol(argv[1])), unsigned(std::atol(argv[2])),
                     unsigned(std::atol(argv[3])));
    const std::size_t shared_bytes = std::size_t(std::atol(argv[4]));
    std::FILE* jobs = std::fopen(argv[5], "r");
    if (!jobs) throw std::runtime_error("there are no jobs");
    const int first = std::atoi(argv[6]);
    lesson_device::Job job;
    for (int number = 0; std::fscanf(jobs, "%d %d %d %d %1023s %1023s", &job.grid_x, &job.grid_y,
                                     &job.grid_z, &job.repeats, job.data, job.result) == 6;
         ++number) {
      if (number < first) continue;
      lesson_device::has_launched = false;
      std::printf("\nbegin %d\n", number);
      std::fflush(stdout);
      lesson_device::run(job, block, shared_bytes);
      std::printf("\nend %d\n", number);
      std::fflush(stdout);
    }
    std::fclose(jobs);
  } catch (const std::exception& error) {
    std::printf("\n%s %s\n", lesson_device::has_launched ? "error" : "device", error.what());
    return 1;
  }
  return 0;
}
