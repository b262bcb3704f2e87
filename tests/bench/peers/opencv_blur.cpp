// The peer of `convfilt blur`: a plain OpenCV program; and the truth that both are held against.
//
// clang-format off
//   opencv_blur make FROM TO.jpg             a 12-megapixel photograph: FROM enlarged, with noise
//   opencv_blur blur IN OUT SIGMA            imread, GaussianBlur, imwrite
//   opencv_blur distance IN RESULT SIGMA     largest distance, in steps, of RESULT from the
//                                            untruncated Gaussian of IN
// clang-format on

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <opencv2/imgcodecs.hpp>
#include <opencv2/imgproc.hpp>
#include <string>
#include <vector>

namespace {

int make(const char* from, const char* to) {
  cv::Mat small = cv::imread(from), large, noise(3000, 4000, CV_8UC3);
  cv::resize(small, large, noise.size(), 0, 0, cv::INTER_CUBIC);
  cv::theRNG().state = 1;
  cv::randu(noise, cv::Scalar::all(0),
            cv::Scalar::all(8));  // sensors have noise, enlarged pictures none
  cv::add(large, noise, large);
  return cv::imwrite(to, large, {cv::IMWRITE_JPEG_QUALITY, 92}) ? 0 : 1;
}

int blur(const char* in, const char* out, double sigma) {
  const cv::Mat picture = cv::imread(in);
  cv::Mat blurred;
  cv::GaussianBlur(picture, blurred, {}, sigma);
  return cv::imwrite(out, blurred) ? 0 : 1;
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
  if (what == "make" && argc == 4) return make(argv[2], argv[3]);
  if (what == "blur" && argc == 5) return blur(argv[2], argv[3], std::atof(argv[4]));
  if (what == "distance" && argc == 5) return distance(argv[2], argv[3], std::atof(argv[4]));
  std::fprintf(stderr, "opencv_blur: see the head of tests/bench/peers/opencv_blur.cpp\n");
  return 2;
}
