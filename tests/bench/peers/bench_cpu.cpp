// How fast the CPU strategies are, beside OpenCV and a memcpy of the same bytes, in one program.
//
// Each case first compares the bytes of a small picture with the scalar reference. Then the
// contenders take turns, so that a busy machine slows all of them alike; the figure is the median.
#include <hwy/targets.h>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <opencv2/core.hpp>
#include <opencv2/imgproc.hpp>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "kernels/cpu/plans.hpp"
#include "tests/support/reference.hpp"

namespace convfilt {
namespace {

constexpr int kWidth = 4000, kHeight = 3000, kChannels = 3;  // 12 megapixels

int cv_type(Depth depth) {
  const int plain = depth == Depth::u8 ? CV_8U : depth == Depth::u16 ? CV_16U : CV_32F;
  return CV_MAKETYPE(plain, kChannels);
}

cv::Mat random_picture(int width, int height, Depth depth) {
  cv::Mat picture(height, width, cv_type(depth));
  cv::randu(picture, 0, depth == Depth::f32 ? 1 : full_range(depth) + 1);
  return picture;
}

PictureView<std::byte> view(cv::Mat& m) {
  return {reinterpret_cast<std::byte*>(m.data), m.cols, m.rows, m.channels(),
          std::ptrdiff_t(m.step)};
}

std::vector<double> gaussian(double sigma) {
  const int radius = int(std::ceil(4 * sigma));
  std::vector<double> weights;
  double sum = 0;
  for (int i = -radius; i <= radius; ++i) weights.push_back(std::exp(-i * i / (2 * sigma * sigma)));
  for (double w : weights) sum += w;
  for (double& w : weights) w /= sum;
  return weights;
}

Mask gaussian_mask(double sigma) {
  const auto line = gaussian(sigma);
  std::vector<double> weights;
  for (double c : line) {
    for (double r : line) weights.push_back(c * r);
  }
  return make_mask("gaussian", int(line.size()), int(line.size()), weights);
}

Mask random_mask(int side) {
  std::mt19937 random(unsigned(side) * 7919u);
  std::vector<double> weights(std::size_t(side) * std::size_t(side));
  double sum = 0;
  for (double& w : weights) sum += w = std::uniform_real_distribution<>(0, 1)(random);
  for (double& w : weights) w /= sum;
  return make_mask("random", side, side, weights);
}

using Prepare = std::unique_ptr<Plan> (*)(const Problem&, const PlanOptions&);
using Reference = void (*)(const Problem&, PictureView<const std::byte>, PictureView<std::byte>);

void check(Problem p, Prepare prepare, Reference reference) {
  p.width = 67;
  p.height = 41;
  cv::Mat in = random_picture(p.width, p.height, p.depth);
  cv::Mat want = in.clone(), got = in.clone();
  reference(p, view(in), view(want));
  prepare(p, {})->run(view(in), view(got));
  for (int y = 0; y < p.height; ++y) {
    if (std::memcmp(want.ptr(y), got.ptr(y), std::size_t(p.width) * want.elemSize()) != 0) {
      throw std::runtime_error("bytes differ from the reference: " + to_string(p));
    }
  }
}

double milliseconds(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
      .count();
}

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + std::ptrdiff_t(values.size() / 2),
                   values.end());
  return values[values.size() / 2];
}

void compare(const std::string& name, const Mask& mask, Depth depth, bool separable, int threads,
             int repeats, const std::function<void(const cv::Mat&, cv::Mat&)>& opencv) {
  Problem p;
  p.width = kWidth;
  p.height = kHeight;
  p.channels = kChannels;
  p.depth = depth;
  p.mask = mask;
  const Prepare prepare = separable ? prepare_cpu_separable : prepare_cpu_direct;
  check(p, prepare, separable ? reference::separable : reference::direct);

  cv::Mat in = random_picture(kWidth, kHeight, depth);
  cv::Mat out = in.clone(), copy = in.clone();
  const auto plan = prepare(p, PlanOptions{.threads = threads});
  std::vector<double> ours, theirs, copies;
  for (int i = 0; i <= repeats; ++i) {
    const double a = milliseconds([&] { plan->run(view(in), view(out)); });
    const double b = milliseconds([&] { opencv(in, copy); });
    const double c =
        milliseconds([&] { std::memcpy(copy.data, in.data, in.total() * in.elemSize()); });
    if (i == 0) continue;  // warm-up
    ours.push_back(a);
    theirs.push_back(b);
    copies.push_back(c);
  }
  const double a = median(ours), b = median(theirs), c = median(copies);
  std::printf("%-22s %9.2f %9.2f %9.2f %9.2f %9.2f\n", name.c_str(), a, b, c, b / a, a / c);
  std::fflush(stdout);
}

void run(int threads, const std::string& only) {
  cv::setNumThreads(threads);
  std::printf("%dx%dx%d, %d threads, %s\n", kWidth, kHeight, kChannels, threads,
              hwy::TargetName(hwy::SupportedTargets() & -hwy::SupportedTargets()));
  std::printf("%-22s %9s %9s %9s %9s %9s\n", "case", "convfilt", "OpenCV", "memcpy", "times",
              "/memcpy");
  const auto wanted = [&](const std::string& name) { return name.find(only) != std::string::npos; };
  for (const Depth depth : {Depth::u8, Depth::u16, Depth::f32}) {
    const std::string depth_name(name_of(depth));
    for (const double sigma : {2.0, 40.0}) {
      const std::string name = depth_name + " gaussian " + std::to_string(int(sigma));
      if (!wanted(name)) continue;
      compare(name, gaussian_mask(sigma), depth, true, threads, sigma < 10 ? 21 : 3,
              [&](const cv::Mat& in, cv::Mat& out) {
                cv::GaussianBlur(in, out, {}, sigma, sigma, cv::BORDER_REPLICATE);
              });
    }
    for (const int side : {3, 5, 9, 15}) {
      const std::string name =
          depth_name + " direct " + std::to_string(side) + "x" + std::to_string(side);
      if (!wanted(name)) continue;
      const Mask mask = random_mask(side);
      cv::Mat weights(side, side, CV_32F);
      for (int j = 0; j < side; ++j) {
        for (int i = 0; i < side; ++i) weights.at<float>(j, i) = float(mask.weight(i, j));
      }
      compare(name, mask, depth, false, threads, side < 9 ? 9 : 5,
              [&](const cv::Mat& in, cv::Mat& out) {
                cv::filter2D(in, out, -1, weights, {-1, -1}, 0, cv::BORDER_REPLICATE);
              });
    }
  }
}

}  // namespace
}  // namespace convfilt

// bench_cpu [THREADS [PART OF A CASE'S NAME [HIGHWAY TARGET BIT]]]
int main(int argc, char** argv) {
  try {
    if (argc > 3) hwy::SetSupportedTargetsForTest(std::int64_t(1) << std::atoi(argv[3]));
    convfilt::run(argc > 1 ? std::atoi(argv[1]) : cv::getNumThreads(), argc > 2 ? argv[2] : "");
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "%s\n", failure.what());
    return 1;
  }
  return 0;
}
