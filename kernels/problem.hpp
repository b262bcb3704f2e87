/// The question without the pixels: what is to be convolved with what, and how the edges behave.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace convfilt {

/// The type of a sample: 8 or 16 bits unsigned, or a 32-bit float (nominal range 0..1).
enum class Depth { u8, u16, f32 };

/// The rule for ghost cells, the samples outside the image (letters: the image, abcd).
enum class Border {
  replicate,   ///< aaa|abcd|ddd
  constant,    ///< vvv|abcd|vvv, with v = Problem::border_value
  reflect,     ///< cba|abcd|dcb
  reflect101,  ///< dcb|abcd|cba
  wrap,        ///< bcd|abcd|abc
};

/// Which outputs there are, in columns for a mask of w columns. The same holds for rows.
enum class Mode {
  same,   ///< one for each sample of the picture
  valid,  ///< those whose mask lies inside: width - w + 1
  full,   ///< those whose mask touches the picture: width + w - 1
};

inline constexpr Depth kDepths[] = {Depth::u8, Depth::u16, Depth::f32};
inline constexpr Border kBorders[] = {Border::replicate, Border::constant, Border::reflect,
                                      Border::reflect101, Border::wrap};
inline constexpr Mode kModes[] = {Mode::same, Mode::valid, Mode::full};

std::string_view name_of(Depth depth);
std::string_view name_of(Border border);
std::string_view name_of(Mode mode);

/// Bytes of one sample.
std::size_t size_of(Depth depth);

/// The largest value of an integer depth, or 1 for f32, whose nominal range is 0..1.
double full_range(Depth depth);

/// A picture in host memory, or in that of a device for Plan::run_resident; channels interleaved.
/// `Byte` is std::byte or const std::byte. The problem that goes with the picture says the depth.
template <class Byte>
struct PictureView {
  Byte* data = nullptr;
  int width = 0, height = 0, channels = 1;
  std::ptrdiff_t pitch = 0;  ///< bytes between rows

  Byte* row(int y) const { return data + y * pitch; }
  template <class B = Byte>
  requires(!std::is_const_v<B>) operator PictureView<const B>() const {
    return {data, width, height, channels, pitch};
  }
};

/// Weights as the mask file says them. They apply as written (correlation):
///   out(x,y) = offset + 1/divisor * sum over i, j of weight(i,j) * in(x + i - anchor_x, y + j -
///   anchor_y)
/// Weights that are integers over a common divisor are kept as such. box3, for example, is nine 1s
/// and a divisor of 9. The integer arithmetic of 8-bit pictures is then exact.
struct Mask {
  std::string name;
  int width = 0, height = 0;       ///< 1..kMaxMaskSide each
  int anchor_x = 0, anchor_y = 0;  ///< the weight on the output sample; inside the mask
  std::vector<double> weights;     ///< row-major, width * height, finite
  double divisor = 1;              ///< finite, positive
  double offset = 0;               ///< added at the end, in the picture's own sample units

  double weight(int i, int j) const { return weights[std::size_t(j) * width + i]; }
};

inline constexpr int kMaxMaskSide = 1025;

/// Whether both masks give every picture the same result: all but their names is equal.
bool filter_alike(const Mask& a, const Mask& b);

/// Makes a mask of these weights with the default anchor (width / 2, height / 2), rounded down.
Mask make_mask(std::string name, int width, int height, std::vector<double> weights,
               double divisor = 1, double offset = 0);

/// The mask, with its anchor, turned by 180 degrees. Correlation with it is true convolution with
/// `mask`.
Mask flipped(const Mask& mask);

/// The sum of the values, and that of their magnitudes, from the first to the last.
template <class Values>
double total_of(const Values& values) {
  double sum = 0;
  for (const double v : values) sum += v;
  return sum;
}
template <class Values>
double magnitude(const Values& values) {
  double sum = 0;
  for (const double v : values) sum += std::abs(v);
  return sum;
}

/// The sum of weights / divisor, which a constant picture of ones becomes before the offset is
/// added.
inline double gain(const Mask& mask) {
  return total_of(mask.weights) / mask.divisor;
}

/// The sum of |weights| / divisor, which is a factor in every error bound.
inline double absolute_gain(const Mask& mask) {
  return magnitude(mask.weights) / mask.divisor;
}

struct Problem {
  int width = 0, height = 0, channels = 1;  ///< the picture's, in pixels
  Depth depth = Depth::u8;
  Border border = Border::replicate;
  double border_value = 0;  ///< for Border::constant, in sample units, for all channels
  Mask mask;
  Mode mode = Mode::same;

  /// For f32 pictures. Take the largest magnitude under the mask, at each place of the mask, and of
  /// these the least: the contrast is the picture's largest magnitude divided by that, or more
  /// (contrast_of). Errors of transforms grow with it. 0: not known, so samples may be infinite or
  /// NaN. Infinity: some are, or sums of them may overflow.
  double contrast = 0;

  /// The size of the result in pixels. It is below 1 with Mode::valid where the mask is larger than
  /// the picture.
  int out_width() const { return outputs(width, mask.width); }
  int out_height() const { return outputs(height, mask.height); }

  /// Output (x, y) sums weight(i, j) * in(x + i - lead_x, y + j - lead_y). With Mode::same these
  /// are the anchor.
  int lead_x() const { return lead(mask.anchor_x, mask.width); }
  int lead_y() const { return lead(mask.anchor_y, mask.height); }

 private:
  int outputs(int samples, int side) const {
    return mode == Mode::same    ? samples
           : mode == Mode::valid ? samples - side + 1
                                 : samples + side - 1;
  }
  int lead(int anchor, int side) const {
    return mode == Mode::same ? anchor : mode == Mode::valid ? 0 : side - 1;
  }
};

/// Why there is no output at all; empty when there is.
std::string mode_refuses(const Problem& problem);

/// One line, e.g. "640x427x3 u8, mask gaussian5 5x5, border replicate".
std::string to_string(const Problem& problem);

}  // namespace convfilt
