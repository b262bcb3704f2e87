/// The colours that a picture's samples stand for: labels of files, and ICC profiles, by lcms2.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "kernels/contract/plane_view.hpp"
#include "kernels/problem.hpp"
#include "src/picture/bytes.hpp"
#include "src/picture/colour_label.hpp"

namespace convfilt {

struct Metadata;

/// From a sample of sRGB (IEC 61966-2-1) to light, and back; both from 0 to 1.
inline double light_of_srgb(double code) {
  return code <= 0.04045 ? code / 12.92 : std::pow((code + 0.055) / 1.055, 2.4);
}
inline double srgb_of_light(double light) {
  return light <= 0.0031308 ? 12.92 * light : 1.055 * std::pow(light, 1 / 2.4) - 0.055;
}

/// A curve between samples and light, both from 0 to 1, and beyond where floats are.
struct ToneCurve {
  std::function<double(double)> light, code;
};

/// The curve of a channel (blue, green, red; 0 of grey), as the metadata tell it. Without a label
/// whole samples are sRGB, and floats light already: then it is empty. `note` says what became of a
/// profile or label that has no curve; it may stay empty.
ToneCurve curve_of(const Metadata& metadata, Depth depth, int channel, std::string* note);

/// The weights of blue, green and red in luma, which is the Y of JFIF (ITU-R BT.601) in every
/// format, in thousandths.
inline constexpr int kLumaShares[] = {114, 587, 299};
inline constexpr int kLumaWhole = 1000;

using LumaShares = std::array<double, 3>;
inline constexpr LumaShares kLuma{.114, .587, .299};

/// The luma of a pixel in blue, green and red, in the units of its samples.
template <class T>
double luma_of(const T* pixel, const LumaShares& shares = kLuma) {
  return shares[0] * double(pixel[0]) + shares[1] * double(pixel[1]) + shares[2] * double(pixel[2]);
}

/// The weights of blue, green and red in the luminance of their light, as the metadata tell;
/// without primaries those of ITU-R BT.709.
LumaShares luminance_shares(const Metadata& metadata);

/// The codes that a profile has beside its curves, as those of high dynamic range do.
std::optional<ColourLabel::Codes> codes_in(const Bytes& icc);

/// Whether lcms2 can open it.
bool is_profile(const Bytes& icc);

/// Whether a profile is for grey pictures, or for red, green and blue.
bool profile_is_grey(const Bytes& icc);
bool profile_is_rgb(const Bytes& icc);

/// The profile for pictures of so many channels, alpha included: itself, or one of the same curve
/// where it is for grey pictures and these are in colours, or the reverse. Empty where there is
/// none.
Bytes profile_for(const Bytes& icc, int channels);

/// A profile that says what the label says; empty where none can, or where there is nothing to say.
Bytes profile_of(const ColourLabel& label, int channels);

/// The label's codes. An sRGB chunk, and the gamma 1/2.2 that old programs wrote for it, mean sRGB.
std::optional<ColourLabel::Codes> codes_of(const ColourLabel& label);

/// Whether samples without any label, or profile, mean the same.
bool says_nothing(const ColourLabel& label, Depth depth);
bool profile_says_nothing(const Bytes& icc, Depth depth);

/// In a few words, for messages.
std::string words_of(const ColourLabel& label);

/// From the colours that the metadata tell to those of pictures of a result's depth without a
/// label: sRGB, or its light in floats. Samples stay of their depth. What is brighter than the
/// white of sRGB is cut off. Several threads may call it.
class ColourConversion {
 public:
  /// Throws std::invalid_argument where the metadata tell no colours that can be converted.
  ColourConversion(const Metadata& metadata, Depth depth, int channels, Depth result);

  void operator()(PictureView<const std::byte> from, PictureView<std::byte> to) const;

 private:
  std::shared_ptr<void> transform_;
};

}  // namespace convfilt
