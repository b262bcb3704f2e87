// The peer of convfilt's commands: a plain OpenCV program; and the truth that both are held
// against.
//
// clang-format off
//   opencv_filter blur|sharpen IN OUT SIGMA        imread, GaussianBlur (and a weighted sum), imwrite
//   opencv_filter edge IN OUT 0                    the length of Sobel's two responses
//   opencv_filter luma|threshold|canny IN OUT SIGMA     GaussianBlur of grey, and the same, or from 40 on; or Canny
//   opencv_filter motion|disk IN OUT FILE          filter2D with the mask in that file, its sum first
//   opencv_filter mask IN OUT SIDE                 filter2D with mask_of(SIDE)
//   opencv_filter folder WORKERS WHAT SIGMA OUT FILES...   many files, one a worker; OpenCV's own threads are off
//   opencv_filter weights SIDE                     prints the same mask, for the others
//   opencv_filter distance IN RESULT SIGMA         largest distance, in steps, of RESULT from the
//                                                  untruncated Gaussian of IN
//   opencv_filter difference A B                   mean difference of two pictures, in steps
// clang-format on

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <opencv2/imgcodecs.hpp>
#include <opencv2/imgproc.hpp>
#include <string>
#include <thread>
#include <vector>

namespace {

cv::Mat gradient_of(const cv::Mat& picture) {
  cv::Mat x, y, result;
  cv::Sobel(picture, x, CV_32F, 1, 0);
  cv::Sobel(picture, y, CV_32F, 0, 1);
  cv::magnitude(x, y, x);
  x.convertTo(result, CV_8U);
  return result;
}

/// A mask of no rank 1, so that nobody can take it apart; its whole weights sum to a power of 2.
cv::Mat mask_of(int side) {
  cv::Mat mask(side, side, CV_32F);
  int sum = 0;
  for (int y = 0; y < side; ++y) {
    for (int x = 0; x < side; ++x) {
      const int weight = 1 + (x * 7 + y * 13 + x * y) % 5;
      mask.at<float>(y, x) = float(weight);
      sum += weight;
    }
  }
  int whole = 1;
  while (whole < sum) whole *= 2;
  mask.at<float>(side / 2, side / 2) += float(whole - sum);
  return mask;
}

/// The mask that vips reads: its sides, its sum, an offset of 0, and its weights.
cv::Mat mask_in(const char* file) {
  std::ifstream in(file);
  int width = 0, height = 0;
  double sum = 0, offset = 0;
  in >> width >> height >> sum >> offset;
  cv::Mat mask(height, width, CV_32F);
  for (float& weight : cv::Mat_<float>(mask)) in >> weight;
  return mask;
}

int print_weights(int side) {
  const cv::Mat mask = mask_of(side);
  for (int y = 0; y < side; ++y) {
    for (int x = 0; x < side; ++x) std::printf("%s%g", x ? " " : "", double(mask.at<float>(y, x)));
    std::printf("\n");
  }
  return 0;
}

int write(const char* out, const cv::Mat& picture) {
  return cv::imwrite(out, picture, {cv::IMWRITE_JPEG_QUALITY, 90}) ? 0 : 1;
}

int filter(const std::string& what, const char* in, const char* out, const char* number) {
  const bool is_grey = what == "luma" || what == "threshold" || what == "canny";
  const cv::Mat picture = cv::imread(in, is_grey ? cv::IMREAD_GRAYSCALE : cv::IMREAD_COLOR);
  cv::Mat result;
  if (what == "mask" || what == "motion" || what == "disk") {
    const cv::Mat mask = what == "mask" ? mask_of(std::atoi(number)) : mask_in(number);
    cv::filter2D(picture, result, -1, mask / cv::sum(mask)[0], {-1, -1}, 0, cv::BORDER_REPLICATE);
  } else if (what == "edge") {
    result = gradient_of(picture);
  } else {
    cv::GaussianBlur(picture, result, {}, std::atof(number));
    if (what == "sharpen") cv::addWeighted(picture, 2, result, -1, 0, result);
    if (what == "canny") cv::Canny(result, result, 60, 120, 3, true);
    if (what == "luma" || what == "threshold") result = gradient_of(result);
    if (what == "threshold") cv::threshold(result, result, 40, 255, cv::THRESH_BINARY);
  }
  return write(out, result);
}

int folder(int workers, const std::string& what, const char* sigma, const std::string& out,
           char** begin, char** end) {
  cv::setNumThreads(1);
  std::atomic<char**> next{begin};
  std::atomic<int> failed{0};
  std::vector<std::thread> all;
  for (int i = 0; i < workers; ++i)
    all.emplace_back([&] {
      for (char** file; (file = next.fetch_add(1)) < end;) {
        const std::string in = *file, name = out + "/" + in.substr(in.rfind('/') + 1);
        failed += filter(what, in.c_str(), name.c_str(), sigma);
      }
    });
  for (std::thread& worker : all) worker.join();
  return failed;
}

int difference(const char* one, const char* other) {
  const cv::Mat a = cv::imread(one), b = cv::imread(other);
  if (a.empty() || a.size() != b.size()) return 1;
  std::printf("%.2f\n", cv::norm(a, b, cv::NORM_L1) / double(a.total() * 3));
  return 0;
}

// The truth is summed in double precision to 12 sigma, over replicated edges, first rows, then
// columns.
int distance(const char* in, const char* result_file, double sigma) {
  cv::Mat picture = cv::imread(in), result = cv::imread(result_file);
  if (picture.empty() || picture.size() != result.size()) return 1;
  const int r = int(std::ceil(12 * sigma));
  cv::Mat weights(1, 2 * r + 1, CV_64F);
  for (int i = -r; i <= r; ++i) weights.at<double>(i + r) = std::exp(-i * i / (2 * sigma * sigma));
  weights /= cv::sum(weights)[0];
  double largest = 0, peer = 0;
  cv::Mat blurred;
  cv::GaussianBlur(picture, blurred, {}, sigma, sigma, cv::BORDER_REPLICATE);
  constexpr int kRows = 500;  // at a time: 64-bit samples take eight times the memory
  for (int y = 0; y < picture.rows; y += kRows) {
    const int rows = std::min(kRows, picture.rows - y);
    const int top = std::max(0, y - r), bottom = std::min(picture.rows, y + rows + r);
    cv::Mat truth;
    cv::sepFilter2D(
        picture.rowRange(top, bottom), truth, CV_64F, weights, weights, {-1, -1}, 0,
        cv::BORDER_REPLICATE | (top > 0 || bottom < picture.rows ? cv::BORDER_ISOLATED : 0));
    truth = truth.rowRange(y - top, y - top + rows);
    const auto distance_of = [&](const cv::Mat& other) {
      cv::Mat real;
      other.rowRange(y, y + rows).convertTo(real, CV_64F);
      return cv::norm(truth, real, cv::NORM_INF);
    };
    largest = std::max(largest, distance_of(result));
    peer = std::max(peer, distance_of(blurred));
  }
  std::printf("largest distance from the untruncated Gaussian, in steps: %s %.3f, OpenCV %.3f\n",
              result_file, largest, peer);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  if (what == "folder" && argc > 6)
    return folder(std::atoi(argv[2]), argv[3], argv[4], argv[5], argv + 6, argv + argc);
  if (what == "weights" && argc == 3) return print_weights(std::atoi(argv[2]));
  if (what == "difference" && argc == 4) return difference(argv[2], argv[3]);
  if (what == "distance" && argc == 5) return distance(argv[2], argv[3], std::atof(argv[4]));
  if (argc == 5) return filter(what, argv[2], argv[3], argv[4]);
  std::fprintf(stderr, "opencv_filter: see the head of tests/bench/peers/opencv_filter.cpp\n");
  return 2;
}
