#include "src/picture/transfer_curve.hpp"

#include <lcms2.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <type_traits>

#include "kernels/contract/dispatch.hpp"
#include "src/picture/sample_type.hpp"

namespace convfilt {
namespace {

constexpr int kBuckets = 1 << 14;

double srgb_light(double encoded) {
  return encoded <= 0.04045 ? encoded / 12.92 : std::pow((encoded + 0.055) / 1.055, 2.4);
}

/// Floats are kept as so many steps, since no table has all of them.
int samples_of(Depth depth) {
  return depth == Depth::u8 ? 256 : 65536;
}

std::size_t bucket_of(float light) {
  return std::size_t(std::clamp(light, 0.0f, 1.0f) * float(kBuckets - 1));
}

}  // namespace

template <class Curve>
TransferCurve::Table TransferCurve::table_of(int count, Curve curve) {
  Table table;
  const double last = count - 1;
  float least = 0;  // a curve that falls would have no inverse
  for (int i = 0; i < count; ++i) {
    least = std::max(least, float(curve(i / last)));
    table.light.push_back(least);
    table.thresholds.push_back(i + 1 < count ? std::max(least, float(curve((i + 0.5) / last)))
                                             : INFINITY);
  }
  std::uint32_t sample = 0;
  for (int bucket = 0; bucket < kBuckets; ++bucket) {
    const float begin = float(bucket) / float(kBuckets - 1);
    while (table.thresholds[sample] < begin) ++sample;
    // One lower, since rounding may have put light into the bucket above.
    table.first.push_back(sample > 0 ? sample - 1 : 0);
  }
  return table;
}

TransferCurve::TransferCurve(const Metadata::Bytes& icc, Depth depth, int channels,
                             std::string* note)
    : depth_(depth) {
  const int colours = std::min(channels, 3);
  if (!icc.empty()) {
    const std::unique_ptr<void, decltype(&cmsCloseProfile)> profile(
        cmsOpenProfileFromMem(icc.data(), cmsUInt32Number(icc.size())), cmsCloseProfile);
    constexpr cmsTagSignature kColours[] = {cmsSigBlueTRCTag, cmsSigGreenTRCTag, cmsSigRedTRCTag};
    for (int c = 0; profile && c < colours; ++c) {
      const auto* const curve = static_cast<const cmsToneCurve*>(
          cmsReadTag(profile.get(), colours == 1 ? cmsSigGrayTRCTag : kColours[c]));
      if (!curve) break;
      if (depth == Depth::f32) continue;
      tables_.push_back(table_of(samples_of(depth), [curve](double encoded) {
        return double(cmsEvalToneCurveFloat(curve, float(encoded)));
      }));
    }
    if (int(tables_.size()) == colours || depth == Depth::f32) return;
    tables_.clear();
    *note = "its colour profile has no curves for --linear; sRGB's are taken";
  }
  if (depth == Depth::f32) return;
  for (int c = 0; c < colours; ++c) tables_.push_back(table_of(samples_of(depth), srgb_light));
}

void TransferCurve::to_linear(const std::byte* row, int width, int channels, float* light) const {
  const float full = float(full_range(depth_));
  with_depth(depth_, [&]<class T>(TypeTag<T>) {
    const T* from = reinterpret_cast<const T*>(row);
    if constexpr (std::is_same_v<T, float>) {
      std::copy_n(from, std::ptrdiff_t(width) * channels, light);
    } else {
      for (int x = 0; x < width; ++x)
        for (int c = 0; c < channels; ++c, ++from, ++light)
          *light = c == 3 ? float(*from) / full : tables_[std::size_t(c)].light[*from];
    }
  });
}

void TransferCurve::from_linear(const float* light, int width, int channels, std::byte* row) const {
  const double full = full_range(depth_);
  with_depth(depth_, [&]<class T>(TypeTag<T>) {
    T* to = reinterpret_cast<T*>(row);
    if constexpr (std::is_same_v<T, float>) {
      std::copy_n(light, std::ptrdiff_t(width) * channels, to);
    } else {
      for (int x = 0; x < width; ++x) {
        for (int c = 0; c < channels; ++c, ++light, ++to) {
          if (c == 3) {
            *to = *light > 0 ? to_sample<T>(double(*light) * full) : T(0);
          } else {
            const Table& table = tables_[std::size_t(c)];
            std::uint32_t sample = *light > 0 ? table.first[bucket_of(*light)] : 0;
            while (table.thresholds[sample] < *light) ++sample;
            *to = T(sample);
          }
        }
      }
    }
  });
}

double TransferCurve::linear(double sample) const {
  if (is_linear()) return sample / full_range(depth_);
  const std::vector<float>& light = tables_[0].light;
  const double last = double(light.size() - 1);
  return light[std::size_t(std::clamp(sample, 0.0, last))];
}

}  // namespace convfilt
