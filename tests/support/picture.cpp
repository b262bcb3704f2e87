#include "tests/support/picture.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace convfilt::test {
namespace {

constexpr std::byte kCanary{0xC5};

template <class T>
T load(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

double one_sample(Fill fill, Depth depth, double range, int x, int y, int c, Random& random) {
  const bool is_float = depth == Depth::f32;
  const double noise = is_float ? float(random.real(0, 1)) : random.integer(0, int(range));
  switch (fill) {
    case Fill::constant: return is_float ? 0.3125f : std::floor(range * 0.7);
    case Fill::checkerboard: return (x + y + c) % 2 ? range : 0;
    case Fill::impulses: return (x == 0 && y == 0) || random.below(23) == 0 ? range : 0;
    case Fill::large:
      if (!is_float) return range - random.integer(0, 2);
      return float(random.real(-1, 1) * std::pow(10.0, random.integer(0, 30)));
    case Fill::signed_noise:
      if (is_float) return float(2 * noise - 1);
      break;
    case Fill::not_finite:
      if (is_float) {
        constexpr double kInfinity = std::numeric_limits<double>::infinity();
        switch (random.below(29)) {
          case 0: return std::numeric_limits<double>::quiet_NaN();
          case 1: return kInfinity;
          case 2: return -kInfinity;
          default: break;
        }
      }
      break;
    case Fill::noise: break;
  }
  return noise;
}

}  // namespace

std::uint64_t Random::next() {
  std::uint64_t z = state_ += 0x9E3779B97F4A7C15u;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

int Random::integer(int low, int high) {
  return low + int(next() % (std::uint64_t(std::int64_t(high) - low) + 1));
}

double Random::real(double low, double high) {
  return low + (high - low) * std::ldexp(double(next() >> 11), -53);
}

std::string_view name_of(Fill fill) {
  switch (fill) {
    case Fill::noise: return "noise";
    case Fill::constant: return "constant";
    case Fill::checkerboard: return "checkerboard";
    case Fill::impulses: return "impulses";
    case Fill::signed_noise: return "signed noise";
    case Fill::large: return "large";
    case Fill::not_finite: return "not finite";
  }
  return "?";
}

Picture::Picture(int width, int height, int channels, Depth depth, int gap, int lead)
    : width_(width), height_(height), channels_(channels), depth_(depth), lead_(lead) {
  pitch_ = std::ptrdiff_t(row_bytes()) + gap;
  bytes_.assign(std::size_t(lead_ + pitch_ * (height - 1)) + row_bytes(), kCanary);
}

Picture Picture::of(const Problem& p, int gap, int lead) {
  const int size = int(size_of(p.depth));
  return Picture(p.width, p.height, p.channels, p.depth, gap * size, lead * size);
}

Picture Picture::result_of(const Problem& p, int gap, int lead) {
  const int size = int(size_of(p.depth));
  return Picture(p.out_width(), p.out_height(), p.channels, p.depth, gap * size, lead * size);
}

std::size_t Picture::row_bytes() const {
  return std::size_t(width_) * channels_ * size_of(depth_);
}

PictureView<std::byte> Picture::view() {
  return {bytes_.data() + lead_, width_, height_, channels_, pitch_};
}

PictureView<const std::byte> Picture::view() const {
  return {bytes_.data() + lead_, width_, height_, channels_, pitch_};
}

const std::byte* Picture::at(int x, int y, int c) const {
  return bytes_.data() + lead_ + y * pitch_ +
         (std::ptrdiff_t(x) * channels_ + c) * std::ptrdiff_t(size_of(depth_));
}

double Picture::get(int x, int y, int c) const {
  const std::byte* from = at(x, y, c);
  if (depth_ == Depth::u8) return load<std::uint8_t>(from);
  if (depth_ == Depth::u16) return load<std::uint16_t>(from);
  return load<float>(from);
}

void Picture::set(int x, int y, int c, double value) {
  auto* to = const_cast<std::byte*>(at(x, y, c));
  const auto store = [&](auto sample) { std::memcpy(to, &sample, sizeof sample); };
  if (depth_ == Depth::u8) {
    store(std::uint8_t(value));
  } else if (depth_ == Depth::u16) {
    store(std::uint16_t(value));
  } else {
    store(float(value));
  }
}

void Picture::fill(Fill fill, std::uint64_t seed) {
  Random random(seed);
  const double range = full_range(depth_);
  for (int y = 0; y < height_; ++y) {
    for (int x = 0; x < width_; ++x) {
      for (int c = 0; c < channels_; ++c) {
        set(x, y, c, one_sample(fill, depth_, range, x, y, c, random));
      }
    }
  }
}

bool Picture::canaries_intact() const {
  const auto intact = [&](std::ptrdiff_t first, std::ptrdiff_t last) {
    return std::all_of(bytes_.begin() + first, bytes_.begin() + last,
                       [](std::byte b) { return b == kCanary; });
  };
  if (!intact(0, lead_)) return false;
  for (int y = 0; y + 1 < height_; ++y) {
    const std::ptrdiff_t row = lead_ + y * pitch_;
    if (!intact(row + std::ptrdiff_t(row_bytes()), row + pitch_)) return false;
  }
  return true;
}

bool same_samples(const Picture& a, const Picture& b) {
  for (int y = 0; y < a.height(); ++y) {
    if (std::memcmp(a.view().row(y), b.view().row(y), a.row_bytes()) != 0) return false;
  }
  return true;
}

Place first_difference(const Picture& a, const Picture& b) {
  const std::size_t size = size_of(a.depth());
  for (int y = 0; y < a.height(); ++y) {
    for (std::size_t k = 0; k < a.row_bytes(); k += size) {
      if (std::memcmp(a.view().row(y) + k, b.view().row(y) + k, size) != 0) {
        const int sample = int(k / size);
        return {sample / a.channels(), y, sample % a.channels()};
      }
    }
  }
  return {};
}

}  // namespace convfilt::test
