/// Pictures for tests: interleaved, with canaries around every row, filled by a fixed seed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "kernels/problem.hpp"

namespace convfilt::test {

/// splitmix64: the same numbers with every compiler and library.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next();
  int integer(int low, int high);  ///< low..high, both included
  double real(double low, double high);
  std::size_t below(std::size_t n) { return std::size_t(next() % n); }

 private:
  std::uint64_t state_;
};

/// What a test picture shows.
enum class Fill {
  noise,         ///< every value of an integer depth; 0..1 for f32
  constant,      ///< one value everywhere
  checkerboard,  ///< 0 and full range by turns: the largest sums
  impulses,      ///< single bright samples, one of them in a corner
  signed_noise,  ///< f32: -1..1; integers: as noise
  large,         ///< the upper end: integers near full range, f32 of both signs up to 1e30
  not_finite,    ///< f32: noise with some NaN and infinities; integers: as noise
};

inline constexpr Fill kFills[] = {Fill::noise,     Fill::constant,     Fill::checkerboard,
                                  Fill::impulses,  Fill::signed_noise, Fill::large,
                                  Fill::not_finite};

std::string_view name_of(Fill fill);

/// An owned picture. The buffer ends with the last row's last sample, so that AddressSanitizer sees
/// the first byte too many; `gap` bytes between rows and `lead` bytes before the first hold
/// canaries.
class Picture {
 public:
  Picture(int width, int height, int channels, Depth depth, int gap = 0, int lead = 0);

  /// Has the shape and depth of the problem's input, or its result; gap and lead are in samples.
  static Picture of(const Problem& problem, int gap = 0, int lead = 0);
  static Picture result_of(const Problem& problem, int gap = 0, int lead = 0);

  PictureView<std::byte> view();
  PictureView<const std::byte> view() const;

  /// All bytes, the canaries' included, in which view() lies.
  std::vector<std::byte>& bytes() { return bytes_; }

  int width() const { return width_; }
  int height() const { return height_; }
  int channels() const { return channels_; }
  Depth depth() const { return depth_; }
  std::size_t row_bytes() const;
  std::size_t samples() const { return std::size_t(width_) * height_ * channels_; }

  double get(int x, int y, int c) const;

  /// Integer depths: the value must be one of the depth.
  void set(int x, int y, int c, double value);

  void fill(Fill fill, std::uint64_t seed);
  bool canaries_intact() const;

 private:
  const std::byte* at(int x, int y, int c) const;

  int width_, height_, channels_;
  Depth depth_;
  std::ptrdiff_t lead_, pitch_;
  std::vector<std::byte> bytes_;
};

/// Whether all samples have the same bytes; gaps do not matter.
bool same_samples(const Picture& a, const Picture& b);

/// The sample's place where two pictures first differ.
struct Place {
  int x = 0, y = 0, c = 0;
};
Place first_difference(const Picture& a, const Picture& b);

}  // namespace convfilt::test
