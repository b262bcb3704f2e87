/// The planes between the steps of coarse.cu, and how far beside the picture its kernels read.
#pragma once

#include <algorithm>
#include <array>
#include <utility>

#include "kernels/coarse/sums.hpp"
#include "kernels/plan/device_plan.hpp"

namespace convfilt::CONVFILT_BACKEND::coarse {

using namespace convfilt::coarse;

constexpr int kAlignedPixels = 16;  // makes the margin whole pieces of 16 bytes at any depth
constexpr int kMostSide = 1 << 18;  // keeps a grid's y within 65,535

/// The number of pixels that nodes reach: before the picture's first pixel, and in all.
struct Reach {
  int before, all;
  int behind(int in_width) const { return std::max(0, all - before - in_width); }
  int margin() const { return ceil_div(before, kAlignedPixels) * kAlignedPixels; }
};
/// The reach if pixel `left` lies under the mask's first column for output 0.
inline Reach reach_of(const Axis& x, int left, int out_width) {
  return {-(left + x.first), (x.in_nodes(out_width) + kOrder - 1) * x.step};
}

/// Three channels stay interleaved; other numbers of channels are filtered as planes.
inline InputLimits limits_of(const Problem& problem, const Axis& x) {
  const int samples = problem.channels == 3 ? 3 : 1;
  const Reach whole = reach_of(x, -problem.lead_x(), problem.out_width());
  // A piece carries its halo. None reaches further behind that than a piece of a single output.
  const Reach piece = reach_of(x, 0, 1);
  const int sides = std::max(whole.margin() + whole.behind(problem.width),
                             piece.margin() + piece.behind(problem.mask.width));
  return {.width = kMostSide,
          .height = kMostSide,
          .interleaved = samples == 3,
          .sides = int(sides * samples * size_of(problem.depth)) + 16};
}

class Planes : public DevicePlan {
 protected:
  Planes(const Problem& problem, const PlanOptions& options, FittedMask mask)
      : DevicePlan(problem, options, limits_of(problem, mask.x)), mask_(std::move(mask)) {}

  std::size_t scratch_bytes(int, int out_width, int out_height) const override {
    std::size_t bytes = 0;
    for (const Size& size : sizes(most_in(out_width / step()), out_width / step(), out_height))
      bytes += plane_bytes(padded(size.width), size.height, sizeof(float));
    return bytes;
  }

  void allocate_scratch(int, int out_width, int out_height) override {
    shape_all(most_in(out_width / step()), out_width / step(), out_height);
  }

  int margin(Shift shift) const override {
    return reach(shift, 1).margin() * step() * int(size_of(problem_.depth));
  }

  /// The planes in the order of coarse.cu's head. Turned planes are transposed.
  enum Name { kRows, kRowsTurned, kFineX, kColumns, kColumnsTurned, kFineY, kBothTurned, kBoth };
  static constexpr int kPlanes = 8;

  /// The most columns of a piece that has out_width columns of outputs.
  int most_in(int out_width) const { return out_width + problem_.mask.width - 1; }
  Reach reach(Shift shift, int out_width) const {
    return reach_of(mask_.x, shift.x - problem_.mask.anchor_x, out_width);
  }

  /// A row's width with room for the whole fours and whole kSumsAThread that kernels write.
  static int padded(int width) { return ceil_div(width, kSumsAThread) * kSumsAThread; }

  struct Size {
    int width, height;
  };

  /// The planes' sizes with all channels. Channels are interleaved in a row of kRows, so they are
  /// interleaved rows of kRowsTurned. In the other planes they lie one below the other.
  std::array<Size, kPlanes> sizes(int in_width, int out_width, int out_height) const {
    const int in_x = mask_.x.in_nodes(out_width), in_y = mask_.y.in_nodes(out_height);
    const int out_x = mask_.x.out_nodes(out_width), out_y = mask_.y.out_nodes(out_height);
    const int n = step();
    return {{{in_width * n, in_y},
             {out_y, reach_of(mask_.x, 0, out_width).all * n},
             {out_width, out_y * n},
             {in_x, (out_height + problem_.mask.height - 1) * n},
             {out_height, in_x * n},
             {out_x, out_height * n},
             {out_y, in_x * n},
             {out_x, out_y * n}}};
  }

  void shape_all(int in_width, int out_width, int out_height) {
    used_ = sizes(in_width, out_width, out_height);
    for (int k = 0; k < kPlanes; ++k) {
      const std::size_t before = planes_[k].buffer.size();
      shape(planes_[k], padded(used_[k].width), used_[k].height, sizeof(float));
      // Columns beyond those in use are read with their neighbours. They meet weights of 0, so they
      // must not be NaN.
      if (planes_[k].buffer.size() > before) clear_plane(Name(k));
    }
  }

  /// The part of a plane that is in use.
  PlaneView<float> plane(Name name) const {
    PlaneView<float> view = planes_[name].plane.template view<float>();
    view.width = used_[name].width;
    return view;
  }
  /// The first channel of a plane whose channels lie one below the other. next_of() is the number
  /// of floats from one channel to the next.
  PlaneView<float> first_of(Name name) const {
    return plane(name).rows(0, used_[name].height / step());
  }
  std::ptrdiff_t next_of(Name name) const {
    const PlaneView<float> first = first_of(name);
    return first.height * first.stride;
  }
  void clear_plane(Name name) {
    const DevicePlane& all = planes_[name].plane;
    clear(all.data, std::size_t(all.pitch) * all.height, stream_);
  }

  const FittedMask mask_;

 private:
  OwnedPlane planes_[kPlanes];
  std::array<Size, kPlanes> used_{};
};

}  // namespace convfilt::CONVFILT_BACKEND::coarse
