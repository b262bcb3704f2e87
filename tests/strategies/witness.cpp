/// OpenCV as a witness that the oracle means by mask, anchor, offset and border what everyone
/// means.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <opencv2/imgproc.hpp>
#include <vector>

#include "tests/support/cases.hpp"
#include "tests/support/masks/sample_masks.hpp"
#include "tests/support/oracle.hpp"

namespace convfilt::test {
namespace {

constexpr double kAgreement = 1e-9;  // of sum of |weights| * largest sample

int cv_border(Border border) {
  switch (border) {
    case Border::replicate: return cv::BORDER_REPLICATE;
    case Border::constant: return cv::BORDER_CONSTANT;
    case Border::reflect: return cv::BORDER_REFLECT;
    case Border::reflect101: return cv::BORDER_REFLECT_101;
    case Border::wrap: break;
  }
  return cv::BORDER_WRAP;
}

cv::Mat as_mat(const Problem& p, const Picture& in) {
  cv::Mat mat(p.height, p.width, CV_64FC(p.channels));
  for (int y = 0; y < p.height; ++y) {
    for (int x = 0; x < p.width; ++x) {
      for (int c = 0; c < p.channels; ++c) mat.ptr<double>(y)[x * p.channels + c] = in.get(x, y, c);
    }
  }
  return mat;
}

cv::Mat weights_as_mat(const Mask& mask) {
  cv::Mat mat(mask.height, mask.width, CV_64F);
  for (int j = 0; j < mask.height; ++j) {
    for (int i = 0; i < mask.width; ++i) mat.at<double>(j, i) = mask.weight(i, j) / mask.divisor;
  }
  return mat;
}

bool filter2d_can(const Problem& p) {
  return p.border != Border::wrap && (p.border != Border::constant || p.border_value == 0);
}

/// filter2D's answer; borders that it lacks are added to the picture first.
cv::Mat filtered(const Problem& p, const Picture& in) {
  const Mask& mask = p.mask;
  const cv::Mat weights = weights_as_mat(mask), picture = as_mat(p, in);
  const cv::Point anchor(mask.anchor_x, mask.anchor_y);
  cv::Mat result;
  if (filter2d_can(p)) {
    cv::filter2D(picture, result, CV_64F, weights, anchor, mask.offset, cv_border(p.border));
    return result;
  }
  cv::Mat padded;
  cv::copyMakeBorder(picture, padded, mask.height, mask.height, mask.width, mask.width,
                     cv_border(p.border), cv::Scalar::all(p.border_value));
  cv::filter2D(padded, result, CV_64F, weights, anchor, mask.offset, cv::BORDER_REPLICATE);
  return result(cv::Rect(mask.width, mask.height, p.width, p.height)).clone();
}

/// The largest distance between the oracle and a witness, relative to what the sums are made of.
double distance(const Problem& p, const Picture& in, const cv::Mat& witness) {
  const auto truth = convolve(p, in);
  double furthest = 0, largest = std::max(1.0, p.border_value);
  std::size_t k = 0;
  for (int y = 0; y < p.height; ++y) {
    for (int x = 0; x < p.width; ++x) {
      for (int c = 0; c < p.channels; ++c, ++k) {
        largest = std::max(largest, std::abs(in.get(x, y, c)));
        furthest =
            std::max(furthest, std::abs(truth[k] - witness.ptr<double>(y)[x * p.channels + c]));
      }
    }
  }
  return furthest / (absolute_gain(p.mask) * largest + std::abs(p.mask.offset) + 1);
}

}  // namespace

TEST_CASE("witness: filter2D agrees with the oracle") {
  auto masks = varied_masks();
  for (const Mask& mask : small_masks()) masks.push_back(mask);
  for (const Mask& mask : large_masks()) masks.push_back(mask);
  for (const Mask& mask : masks) {
    for (Border border : kBorders) {
      for (auto [width, height] : {std::pair{1, 1}, {5, 3}, {34, 19}}) {
        for (Depth depth : kDepths) {
          if (width * height > 100 && mask.weights.size() > 1000 && depth != Depth::u8) continue;
          const Problem p{width, height, width % 3 + 1, depth, border, height == 3 ? 77.0 : 0,
                          mask};
          Picture in = Picture::of(p);
          in.fill(Fill::signed_noise, 41);
          INFO(to_string(p));
          CHECK(distance(p, in, filtered(p, in)) <= kAgreement);
        }
      }
    }
  }
}

TEST_CASE("witness: sepFilter2D agrees with the oracle on the product of its masks") {
  Random random(42);
  for (auto [width, height] : {std::pair{3, 3}, {7, 2}, {1, 9}, {12, 31}}) {
    cv::Mat row(1, width, CV_64F), column(height, 1, CV_64F);
    for (int i = 0; i < width; ++i) row.at<double>(0, i) = random.real(-1, 1);
    for (int j = 0; j < height; ++j) column.at<double>(j, 0) = random.real(-1, 1);
    std::vector<double> weights;
    for (int j = 0; j < height; ++j) {
      for (int i = 0; i < width; ++i)
        weights.push_back(row.at<double>(0, i) * column.at<double>(j, 0));
    }
    const Mask mask = anchored(make_mask("product", width, height, weights, 1, 12.5), width - 1, 0);
    for (Border border : kBorders) {
      if (border == Border::wrap) continue;
      const Problem p{23, 14, 3, Depth::u16, border, 0, mask};
      Picture in = Picture::of(p);
      in.fill(Fill::noise, 43);
      INFO(to_string(p));
      cv::Mat result;
      cv::sepFilter2D(as_mat(p, in), result, CV_64F, row, column,
                      cv::Point(mask.anchor_x, mask.anchor_y), mask.offset, cv_border(border));
      CHECK(distance(p, in, result) <= kAgreement);
    }
  }
}

}  // namespace convfilt::test
