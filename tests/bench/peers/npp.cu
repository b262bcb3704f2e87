// NPP's filters beside a device copy of the same bytes, in one run, and checked against a slow sum
// on the CPU: what convfilt's kernel times are compared with. tests/bench/peers/gpu.sh builds it:
//
//   nvcc -O3 -std=c++17 -arch=native npp.cu -lnppif -lnppc -o npp && ./npp [SIDE [MASK_SIDE...]]
//
// A line a figure: peer, depth, channels, mask side, time in device copies, largest difference from
// the sum (in steps, or for f32 in 1e-6 of sum |w| times max |in|). Fails where one is too large.

#include <cuda_runtime.h>
#include <npp.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <random>
#include <type_traits>
#include <vector>

namespace {

constexpr int kRepeats = 21, kWarmups = 3, kFewRepeats = 3;
constexpr double kSlowMs = 20;  // above this, few repeats must do
constexpr int kCrop = 24;       // pixels a side that the CPU computes, in the corner and the middle

template <class Status>
void check(Status status, const char* what) {
  if (int(status) == 0) return;
  std::fprintf(stderr, "npp: %s fails with %d\n", what, int(status));
  std::exit(1);
}
#define CHECK(call) check((call), #call)

/// The median time of runs, which do not wait for each other, as convfilt's do not.
double median_ms(const std::function<void()>& work) {
  const auto timed = [&](int repeats) {
    std::vector<cudaEvent_t> starts(std::size_t(repeats) + kWarmups), stops(starts.size());
    for (std::size_t k = 0; k < starts.size(); ++k) {
      CHECK(cudaEventCreate(&starts[k]));
      CHECK(cudaEventCreate(&stops[k]));
      CHECK(cudaEventRecord(starts[k]));
      work();
      CHECK(cudaEventRecord(stops[k]));
    }
    CHECK(cudaDeviceSynchronize());
    std::vector<float> times;
    for (std::size_t k = 0; k < starts.size(); ++k) {
      float ms = 0;
      CHECK(cudaEventElapsedTime(&ms, starts[k], stops[k]));
      if (k >= kWarmups) times.push_back(ms);
      CHECK(cudaEventDestroy(starts[k]));
      CHECK(cudaEventDestroy(stops[k]));
    }
    std::nth_element(times.begin(), times.begin() + times.size() / 2, times.end());
    return double(times[times.size() / 2]);
  };
  const double few = timed(kFewRepeats);
  return few > kSlowMs ? few : timed(kRepeats);
}

NppStreamContext context() {
  NppStreamContext c{};
  CHECK(cudaGetDevice(&c.nCudaDeviceId));
  cudaDeviceProp p;
  CHECK(cudaGetDeviceProperties(&p, c.nCudaDeviceId));
  c.nMultiProcessorCount = p.multiProcessorCount;
  c.nMaxThreadsPerMultiProcessor = p.maxThreadsPerMultiProcessor;
  c.nMaxThreadsPerBlock = p.maxThreadsPerBlock;
  c.nSharedMemPerBlock = p.sharedMemPerBlock;
  c.nCudaDevAttrComputeCapabilityMajor = p.major;
  c.nCudaDevAttrComputeCapabilityMinor = p.minor;
  return c;
}

/// Any mask: full rank, weights of both signs, a sum of 1.
std::vector<float> any_mask(int side) {
  std::mt19937 random(1);
  std::vector<float> weights(std::size_t(side) * side);
  double sum = 0;
  for (float& w : weights) sum += w = float(random() % 4001) - 1500;
  for (float& w : weights) w = float(w / sum);
  return weights;
}

template <class T>
constexpr const char* depth_name() {
  return sizeof(T) == 1 ? "u8" : sizeof(T) == 2 ? "u16" : "f32";
}

/// A square picture on the device, and room for its result.
template <class T>
struct Picture {
  int side, channels;
  std::vector<T> samples;
  T *in = nullptr, *out = nullptr;
  double copy_ms = 0;

  Picture(int side, int channels)
      : side(side), channels(channels), samples(std::size_t(side) * side * channels) {
    std::mt19937 random(1);
    for (T& sample : samples) {
      if constexpr (std::is_same_v<T, float>)
        sample = float(random() >> 8) * 0x1p-24f;
      else
        sample = T(random() >> 16);
    }
    CHECK(cudaMalloc(&in, bytes()));
    CHECK(cudaMalloc(&out, bytes()));
    CHECK(cudaMemcpy(in, samples.data(), bytes(), cudaMemcpyHostToDevice));
    copy_ms =
        median_ms([&] { CHECK(cudaMemcpyAsync(out, in, bytes(), cudaMemcpyDeviceToDevice)); });
  }
  ~Picture() {
    cudaFree(in);
    cudaFree(out);
  }
  std::size_t bytes() const { return samples.size() * sizeof(T); }
  int step() const { return int(side * channels * sizeof(T)); }

  /// The largest difference of what lies in `out` from the sum. The mask counts as it is or turned,
  /// whichever fits better, since documents of filters differ in that.
  double difference(const std::vector<float>& mask, int mask_side) const {
    std::vector<T> result(samples.size());
    CHECK(cudaMemcpy(result.data(), out, bytes(), cudaMemcpyDeviceToHost));
    double gain = 0;
    for (const float w : mask) gain += std::abs(w);
    const double largest = std::is_same_v<T, float> ? 1 : double(T(-1));
    const double unit = std::is_same_v<T, float> ? 1e-6 * gain : 1;
    double least = INFINITY;
    for (const bool turned : {false, true}) {
      double off = 0;
      for (const int origin : {0, side / 2}) {
        for (int k = 0; k < kCrop * kCrop * channels; ++k) {
          const int c = k % channels, x = origin + k / channels % kCrop;
          const int y = origin + k / channels / kCrop;
          double sum = 0;
          for (int j = 0; j < mask_side; ++j) {
            for (int i = 0; i < mask_side; ++i) {
              const int from_x = std::clamp(x + i - mask_side / 2, 0, side - 1);
              const int from_y = std::clamp(y + j - mask_side / 2, 0, side - 1);
              const int at = j * mask_side + i;
              sum += double(mask[std::size_t(turned ? mask_side * mask_side - 1 - at : at)]) *
                     double(samples[(std::size_t(from_y) * side + from_x) * channels + c]);
            }
          }
          if (!std::is_same_v<T, float>) sum = std::clamp(sum, 0.0, largest);
          const double got = double(result[(std::size_t(y) * side + x) * channels + c]);
          off = std::max(off, std::abs(got - sum) / unit);
        }
      }
      least = std::min(least, off);
    }
    return least;
  }
};

int g_wrong = 0;

template <class T>
void tell(const char* peer, const Picture<T>& picture, int mask_side, double ms,
          const std::vector<float>& mask, double allowed) {
  const double off = picture.difference(mask, mask_side);
  std::printf("%s,%s,%d,%d,%.3f,%.3f\n", peer, depth_name<T>(), picture.channels, mask_side,
              ms / picture.copy_ms, off);
  std::fflush(stdout);
  if (off <= allowed) return;
  ++g_wrong;
  std::fprintf(stderr, "npp: %s %s %d channels %dx%d: off by %g, more than %g\n", peer,
               depth_name<T>(), picture.channels, mask_side, mask_side, off, allowed);
}

NppiMaskSize mask_size(int side) {
  switch (side) {
    case 3: return NPP_MASK_SIZE_3_X_3;
    case 5: return NPP_MASK_SIZE_5_X_5;
    case 7: return NPP_MASK_SIZE_7_X_7;
    case 9: return NPP_MASK_SIZE_9_X_9;
    case 11: return NPP_MASK_SIZE_11_X_11;
    case 13: return NPP_MASK_SIZE_13_X_13;
    default: return NPP_MASK_SIZE_15_X_15;
  }
}

/// The weights of NPP's Gaussian of that side, which are what one bright sample in the dark
/// becomes. The sigma is not what NPP's documentation says.
std::vector<float> gaussian(int side, const NppStreamContext& stream) {
  constexpr int kSide = 64, kMiddle = kSide / 2;
  std::vector<float> samples(kSide * kSide);
  samples[kMiddle * kSide + kMiddle] = 1;
  const std::size_t bytes = samples.size() * sizeof(float);
  float *in, *out;
  CHECK(cudaMalloc(&in, bytes));
  CHECK(cudaMalloc(&out, bytes));
  CHECK(cudaMemcpy(in, samples.data(), bytes, cudaMemcpyHostToDevice));
  CHECK(nppiFilterGaussBorder_32f_C1R_Ctx(in, kSide * sizeof(float), {kSide, kSide}, {0, 0}, out,
                                          kSide * sizeof(float), {kSide, kSide}, mask_size(side),
                                          NPP_BORDER_REPLICATE, stream));
  CHECK(cudaMemcpy(samples.data(), out, bytes, cudaMemcpyDeviceToHost));
  CHECK(cudaFree(in));
  CHECK(cudaFree(out));
  std::vector<float> weights;
  for (int k = 0; k < side * side; ++k)
    weights.push_back(samples[std::size_t(kMiddle - side / 2 + k / side) * kSide + kMiddle -
                              side / 2 + k % side]);
  return weights;
}

/// `filter` and `gauss` are NPP's functions for that depth and number of channels.
template <class T, class Filter, class Gauss>
void measure(int side, int channels, const std::vector<int>& mask_sides, Filter filter,
             Gauss gauss) {
  const Picture<T> picture(side, channels);
  const NppStreamContext stream = context();
  const NppiSize size{side, side};
  // NPP cuts fractions off, after sums in single precision.
  const double allowed = std::is_same_v<T, float> ? 10 : sizeof(T) == 2 ? 1.1 : 1.01;
  for (const int mask_side : mask_sides) {
    const std::vector<float> weights = any_mask(mask_side);
    float* mask;
    CHECK(cudaMalloc(&mask, weights.size() * sizeof(float)));
    CHECK(cudaMemcpy(mask, weights.data(), weights.size() * sizeof(float), cudaMemcpyHostToDevice));
    const double ms = median_ms([&] {
      CHECK(filter(picture.in, picture.step(), size, NppiPoint{0, 0}, picture.out, picture.step(),
                   size, mask, NppiSize{mask_side, mask_side},
                   NppiPoint{mask_side / 2, mask_side / 2}, NPP_BORDER_REPLICATE, stream));
    });
    tell("NPP FilterBorder", picture, mask_side, ms, weights, allowed);
    CHECK(cudaFree(mask));
    if (mask_side > 15 || mask_side < 3 || mask_side % 2 == 0) continue;
    const double gauss_ms = median_ms([&] {
      CHECK(gauss(picture.in, picture.step(), size, NppiPoint{0, 0}, picture.out, picture.step(),
                  size, mask_size(mask_side), NPP_BORDER_REPLICATE, stream));
    });
    tell("NPP FilterGaussBorder", picture, mask_side, gauss_ms, gaussian(mask_side, stream),
         allowed);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const int side = argc > 1 ? std::max(256, std::atoi(argv[1])) : 8192;
  std::vector<int> masks;
  for (int k = 2; k < argc; ++k) masks.push_back(std::max(1, std::atoi(argv[k])));
  if (masks.empty()) masks = {3, 5, 7, 9, 15, 31, 63};
  measure<Npp8u>(side, 1, masks, nppiFilterBorder32f_8u_C1R_Ctx, nppiFilterGaussBorder_8u_C1R_Ctx);
  measure<Npp8u>(side, 3, masks, nppiFilterBorder32f_8u_C3R_Ctx, nppiFilterGaussBorder_8u_C3R_Ctx);
  measure<Npp16u>(side, 1, masks, nppiFilterBorder32f_16u_C1R_Ctx,
                  nppiFilterGaussBorder_16u_C1R_Ctx);
  measure<Npp16u>(side, 3, masks, nppiFilterBorder32f_16u_C3R_Ctx,
                  nppiFilterGaussBorder_16u_C3R_Ctx);
  measure<Npp32f>(side, 1, masks, nppiFilterBorder_32f_C1R_Ctx, nppiFilterGaussBorder_32f_C1R_Ctx);
  measure<Npp32f>(side, 3, masks, nppiFilterBorder_32f_C3R_Ctx, nppiFilterGaussBorder_32f_C3R_Ctx);
  return g_wrong == 0 ? 0 : 1;
}
