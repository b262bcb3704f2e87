/// Luma of a pixel.
#pragma once

namespace convfilt {

/// The weights of ITU-R BT.709 for blue, green and red, in ten thousandths.
inline constexpr int kLumaShares[] = {722, 7152, 2126};

inline double luma_share(int channel) {
  return kLumaShares[channel] / 1e4;
}

/// The luma of a pixel in blue, green and red, in the units of its samples.
template <class T>
double luma_of(const T* pixel) {
  const auto share = [&](int channel) { return luma_share(channel) * double(pixel[channel]); };
  return share(0) + share(1) + share(2);
}

}  // namespace convfilt
