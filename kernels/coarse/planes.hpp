/// The planes of coarse.cu, and how far beside the picture its kernels read.
#pragma once

#include <algorithm>
#include <array>
#include <utility>

#include "kernels/coarse/sums.hpp"
#include "kernels/plan/device_plan_base.hpp"

namespace convfilt::CONVFILT_BACKEND {

constexpr int kAlignedPixels = 16;  // the margin is whole 16 bytes of any depth
constexpr int kMostSide = 1 << 18;  // so that a grid's y stays within 65,535

/// Pixels of an input of that width that nodes reach: before the first and in all, from `left` on
/// being under the mask's first column for output 0.
struct Reach {
  int before, all;
  int behind(int in_width) const { return std::max(0, all - before - in_width); }
  int margin() const { return ceil_div(before, kAlignedPixels) * kAlignedPixels; }
};
inline Reach reach_of(const CoarseAxis& x, int left, int out_width) {
  return {-(left + x.first), (x.in_nodes(out_width) + kCoarseOrder - 1) * x.step};
}

/// Three channels are taken as they lie; others as planes.
inline InputLimits limits_of(const Problem& problem, const CoarseAxis& x) {
  const int samples = problem.channels == 3 ? 3 : 1;
  const Reach whole = reach_of(x, -problem.lead_x(), problem.out_width());
  // Of a piece, which has its halo: of no width does more lie behind.
  const Reach piece = reach_of(x, 0, 1);
  const int sides = std::max(whole.margin() + whole.behind(problem.width),
                             piece.margin() + piece.behind(problem.mask.width));
  return {.width = kMostSide,
          .height = kMostSide,
          .interleaved = samples == 3,
          .sides = int(sides * samples * size_of(problem.depth)) + 16};
}

class CoarsePlanes : public DevicePlan {
 protected:
  CoarsePlanes(const Problem& problem, const PlanOptions& options, CoarseMask mask)
      : DevicePlan(problem, options, limits_of(problem, mask.x)), mask_(std::move(mask)) {}

  std::size_t scratch_bytes(int, int out_width, int out_height) const override {
    std::size_t bytes = 0;
    for (const Size& size : sizes(most_in(out_width / step()), out_width / step(), out_height))
      bytes += plane_bytes(roomy(size.width), size.height, sizeof(float));
    return bytes;
  }

  void allocate_scratch(int, int out_width, int out_height) override {
    shape_all(most_in(out_width / step()), out_width / step(), out_height);
  }

  int margin(Shift shift) const override {
    return reach(shift, 1).margin() * step() * int(size_of(problem_.depth));
  }

  /// In the order of coarse.cu's head; `turned`: rows are columns.
  enum Name { kRows, kRowsTurned, kFineX, kColumns, kColumnsTurned, kFineY, kBothTurned, kBoth };
  static constexpr int kPlanes = 8;

  int most_in(int out_width) const { return out_width + problem_.mask.width - 1; }
  Reach reach(Shift shift, int out_width) const {
    return reach_of(mask_.x, shift.x - problem_.mask.anchor_x, out_width);
  }

  /// Rows have room for whole fours, and whole kSumsAThread, which kernels write.
  static int roomy(int width) { return ceil_div(width, kSumsAThread) * kSumsAThread; }

  struct Size {
    int width, height;
  };

  /// Of all channels, side by side in kRows and the rows of kRowsTurned, below each other in the
  /// others. In pixels.
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
      shape(planes_[k], roomy(used_[k].width), used_[k].height, sizeof(float));
      // Columns beyond those used are read with their neighbours, and then weigh nothing.
      if (planes_[k].buffer.size() > before) clear_plane(Name(k));
    }
  }

  /// A plane's used part.
  PlaneView<float> plane(Name name) const {
    PlaneView<float> view = planes_[name].plane.template view<float>();
    view.width = used_[name].width;
    return view;
  }
  /// The first channel of those that lie below each other, and how far the next is.
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

  const CoarseMask mask_;

 private:
  OwnedPlane planes_[kPlanes];
  std::array<Size, kPlanes> used_{};
};

}  // namespace convfilt::CONVFILT_BACKEND
