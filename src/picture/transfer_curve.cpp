#include "src/picture/transfer_curve.hpp"

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <utility>

#include "kernels/contract/dispatch.hpp"
#include "src/picture/sample_type.hpp"

namespace convfilt {
namespace {

constexpr int kBuckets = 1 << 14;

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
  for (int bucket = 0; bucket < kBuckets + 2; ++bucket) {
    const float begin = std::min(1.0f, float(bucket) / float(kBuckets - 1));
    while (table.thresholds[sample] < begin) ++sample;
    // One lower, since rounding may have put light into the bucket above.
    table.first.push_back(sample > 0 ? sample - 1 : 0);
  }
  return table;
}

TransferCurve::TransferCurve(const Metadata& metadata, Depth depth, int channels, std::string* note)
    : depth_(depth) {
  for (int c = 0; c < std::min(channels, 3); ++c) {
    ToneCurve curve = curve_of(metadata, depth, c, note);
    if (!curve.light) {  // all colours have curves, or none
      curves_.clear();
      tables_.clear();
      return;
    }
    if (depth == Depth::f32)
      curves_.push_back(std::move(curve));
    else
      tables_.push_back(table_of(depth == Depth::u8 ? 256 : 65536, curve.light));
  }
}

void TransferCurve::to_linear(const std::byte* row, int width, int channels, float* light) const {
  const float full = float(full_range(depth_));
  with_depth(depth_, [&]<class T>(TypeTag<T>) {
    const T* from = reinterpret_cast<const T*>(row);
    if constexpr (std::is_same_v<T, float>) {
      convert(from, width, channels, &ToneCurve::light, light);
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
      convert(light, width, channels, &ToneCurve::code, to);
    } else {
      for (int x = 0; x < width; ++x) {
        for (int c = 0; c < channels; ++c, ++light, ++to) {
          if (c == 3) {
            *to = *light > 0 ? to_sample<T>(double(*light) * full) : T(0);
          } else {
            *to = *light > 0 ? T(tables_[std::size_t(c)].nearest(*light)) : T(0);
          }
        }
      }
    }
  });
}

/// Curves that are steep, as those of high dynamic range, have many samples in the darkest buckets.
std::uint32_t TransferCurve::Table::nearest(float value) const {
  const std::size_t bucket = bucket_of(value);
  std::uint32_t sample = first[bucket], end = first[bucket + 2] + 2;
  constexpr std::uint32_t kFew = 32;
  if (end - sample > kFew) {
    const auto begin = thresholds.begin();
    return std::uint32_t(
        std::lower_bound(begin + sample,
                         begin + std::min<std::ptrdiff_t>(end, std::ssize(thresholds) - 1), value) -
        begin);
  }
  while (thresholds[sample] < value) ++sample;
  return sample;
}

void TransferCurve::convert(const float* from, int width, int channels,
                            std::function<double(double)> ToneCurve::*way, float* to) const {
  if (curves_.empty()) return void(std::copy_n(from, std::ptrdiff_t(width) * channels, to));
  for (int x = 0; x < width; ++x)
    for (int c = 0; c < channels; ++c, ++from, ++to)
      *to = c == 3 ? *from : float((curves_[std::size_t(c)].*way)(double(*from)));
}

double TransferCurve::linear(double sample) const {
  if (!curves_.empty()) return curves_[0].light(sample);
  if (is_linear()) return sample / full_range(depth_);
  const std::vector<float>& light = tables_[0].light;
  const double last = double(light.size() - 1);
  return light[std::size_t(std::clamp(sample, 0.0, last))];
}

}  // namespace convfilt
