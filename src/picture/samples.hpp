/// Changes of a whole picture's samples that reading and writing need.
#pragma once

#include <opencv2/core/mat.hpp>

#include "src/picture/image.hpp"

namespace convfilt {

/// Full range to full range: u16 to u8 divides by 257, f32's 0..1 becomes 0..255 or 0..65535 and
/// back, rounded to nearest and saturated.
cv::Mat to_depth(const cv::Mat& pixels, Depth depth);

/// The picture without its alpha, laid on white.
cv::Mat flattened_onto_white(const cv::Mat& bgra);

/// Divides colours by alpha, in place: premultiplied to straight. Colours of clear pixels stay.
void unpremultiply(cv::Mat* bgra);

/// Turns and mirrors a picture as EXIF's orientation 1..8 says, so that it stands upright.
cv::Mat upright(const cv::Mat& pixels, int orientation);

}  // namespace convfilt
