// Edges on a device: how strongly brightness changes (registry.hpp).

#include <cmath>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "kernels/plan/edges.hpp"
#include "kernels/plan/joint_plan.hpp"

namespace convfilt::CONVFILT_BACKEND {
namespace {

using Thin = EdgeAnswers::Thin;

template <class T>
__global__ void luma_kernel(PlaneView<const T> colours, EdgeAnswers how, PlaneView<float> lumas) {
  const int x = blockIdx.x * kBlockColumns + threadIdx.x;
  const int y = blockIdx.y * kBlockRows + threadIdx.y;
  if (x >= lumas.width || y >= lumas.height) return;
  const T* const pixel = colours.row(y) + 3 * std::ptrdiff_t(x);
  lumas.row(y)[x] = float(how.luma[0] * double(pixel[how.blue]) + how.luma[1] * double(pixel[1]) +
                          how.luma[2] * double(pixel[2 - how.blue]));
}

/// The responses to all masks.
struct Responses {
  PlaneView<const float> first;
  std::ptrdiff_t next;  ///< floats from a mask's to the next one's

  CONVFILT_DEVICE double at(int mask, int x, int y) const {
    return double(first.row(y)[mask * next + x]);
  }
};

CONVFILT_DEVICE inline double joined(Join join, double answer, double response) {
  switch (join) {
    case Join::length: return sqrt(answer * answer + response * response);
    case Join::sum: return answer + response;
    case Join::first_strongest: return fabs(response) > fabs(answer) ? response : answer;
    default: return answer < response ? response : answer;
  }
}

CONVFILT_DEVICE inline double answer_at(const EdgeAnswers& how, const Responses& responses, int x,
                                        int y) {
  const auto response = [&](int k) {
    return responses.at(k, x, y) / how.divisors[k] + how.offsets[k];
  };
  double answer = response(0);
  if (how.join == Join::length) answer = fabs(answer);
  if (how.join == Join::compass && !(answer > 0)) answer = 0;
  for (int k = 1; k < how.masks; ++k) answer = joined(how.join, answer, response(k));
  return answer;
}

/// The answer as a sample.
template <class T>
CONVFILT_DEVICE inline void store(const EdgeAnswers& how, double answer, T& out) {
  if (how.has_threshold) answer = answer >= how.threshold ? 255 : 0;
  if constexpr (std::is_same_v<T, float>)
    out = float(answer);
  else
    out = to_byte(answer);
}

/// Rows from `first` on.
template <class T>
__global__ void answers_kernel(Responses responses, EdgeAnswers how, PlaneView<T> out, int first) {
  const int x = blockIdx.x * kBlockColumns + threadIdx.x;
  const int y = first + blockIdx.y * kBlockRows + threadIdx.y;
  if (x < out.width && y < out.height) store(how, answer_at(how, responses, x, y), out.row(y)[x]);
}

/// To the right, and downwards.
struct Slope {
  double x, y;
};

CONVFILT_DEVICE inline Slope slope_at(const EdgeAnswers& how, const Responses& responses, int x,
                                      int y) {
  const auto at = [&](int k) { return responses.at(k, x, y) / how.divisors[k]; };
  if (how.thin == Thin::compass) {
    int best = 0;
    for (int k = 1; k < how.masks; ++k)
      if (at(k) > at(best)) best = k;
    // Counter-clockwise from the right, by eighths of a turn.
    const auto sign = [](int eighth) {
      eighth &= 7;
      return eighth < 2 || eighth == 7 ? 1 : eighth > 2 && eighth < 6 ? -1 : 0;
    };
    return {double(sign(best)), double(sign(best + 2))};
  }
  if (how.masks > 1) return {at(0), at(1)};
  return how.is_down ? Slope{0, at(0)} : Slope{at(0), 0};
}

CONVFILT_DEVICE inline bool opposite(double a, double b) {
  return (a < 0 && b > 0) || (a > 0 && b < 0);
}

/// The jump from `before` to `behind` by way of `here`, where the response crosses 0 there; at
/// least `jump`.
CONVFILT_DEVICE inline double jump_at(double before, double here, double behind, double jump) {
  if (opposite(here, before) && fabs(here) < fabs(before)) jump = max(jump, fabs(here - before));
  if (opposite(here, behind) && fabs(here) <= fabs(behind)) jump = max(jump, fabs(here - behind));
  if (here == 0 && opposite(before, behind)) jump = max(jump, fabs(before - behind));
  return jump;
}

/// `step` samples make a pixel. `answers` has no data where edges are zero crossings.
template <class T>
__global__ void thin_kernel(Responses responses, EdgeAnswers how, PlaneView<const float> answers,
                            int step, PlaneView<T> out, int first) {
  const int x = blockIdx.x * kBlockColumns + threadIdx.x;
  const int y = first + blockIdx.y * kBlockRows + threadIdx.y;
  if (x >= out.width || y >= out.height) return;
  // of(the pixel dx to the right and dy below); 0 outside the picture.
  const auto beside = [&](int dx, int dy, auto of) {
    const int i = x + dx * step, j = y + dy;
    return i >= 0 && i < out.width && j >= 0 && j < out.height ? of(i, j) : 0.0;
  };
  double answer = 0;
  if (how.thin == Thin::crossings) {
    const auto response = [&](int i, int j) { return responses.at(0, i, j) / how.divisors[0]; };
    for (int down = 0; down < 2; ++down)
      answer = jump_at(beside(down - 1, -down, response), response(x, y),
                       beside(1 - down, down, response), answer);
  } else {
    const auto found = [&](int i, int j) { return double(answers.row(j)[i]); };
    answer = found(x, y);
    const Slope slope = slope_at(how, responses, x, y);
    constexpr double kTangent = 1.41421356237309504880 - 1;  // of 22.5 degrees
    int dx = 1, dy = 1;
    if (fabs(slope.y) <= kTangent * fabs(slope.x))
      dy = 0;
    else if (fabs(slope.x) < kTangent * fabs(slope.y))
      dx = 0;
    else if ((slope.x < 0) != (slope.y < 0))
      dy = -1;
    if (!(answer > beside(-dx, -dy, found) && answer >= beside(dx, dy, found))) answer = 0;
  }
  store(how, answer, out.row(y)[x]);
}

class EdgePlan final : public JointPlan {
 public:
  EdgePlan(std::vector<std::unique_ptr<Plan>> plans, const EdgeAnswers& how,
           const PlanOptions& options)
      : JointPlan(std::move(plans), how.of_floats ? sizeof(float) : 1, options),
        how_(how),
        transforms_(options.transforms) {
    how_.masks = int(plans_.size());
  }

 private:
  void filter(PictureView<const std::byte> in, PictureView<std::byte> out) override {
    how_.of_floats ? find<float>(in, out) : find<std::uint8_t>(in, out);
  }

  template <class T>
  void find(PictureView<const std::byte> in, PictureView<std::byte> out) {
    const int planes = how_.of_luma ? 1 : in.channels;
    responses_.shape(out.width, out.height, planes, sizeof(float), how_.masks);
    const dim3 block(kBlockColumns, kBlockRows);
    PictureView<const std::byte> picture = in;
    if (how_.of_luma || !how_.of_floats) {
      floats_.shape(in.width, in.height, planes, sizeof(float));
      picture = floats_.view;
    }
    const auto samples = samples_of<const T>(in);
    if (how_.of_luma) {
      const auto lumas = samples_of<float>(floats_.view);
      for_launches(lumas.width, lumas.height, [&](dim3 grid, int first, int rows) {
        launch(grid, block, stream_, luma_kernel<T>, samples.rows(first, rows), how_,
               lumas.rows(first, rows));
      });
    } else if constexpr (!std::is_same_v<T, float>) {
      to_floats(samples, samples_of<float>(floats_.view), stream_);
    }
    if (transforms_) transforms_->next_picture();
    PictureView<std::byte> response = responses_.view;
    for (const std::unique_ptr<Plan>& plan : plans_) {
      queue(*plan, picture, response);
      response.data += responses_.next();
    }
    const Responses all{samples_of<const float>(responses_.view),
                        responses_.next() / std::ptrdiff_t(sizeof(float))};
    const auto results = samples_of<T>(out);
    const bool has_answers = how_.thin != Thin::none && how_.thin != Thin::crossings;
    if (has_answers) answers_.shape(out.width, out.height, planes, sizeof(float));
    const auto answers = has_answers ? samples_of<float>(answers_.view) : PlaneView<float>{};
    if (has_answers) {
      EdgeAnswers before_threshold = how_;
      before_threshold.has_threshold = false;
      for_launches(results.width, results.height, [&](dim3 grid, int first, int) {
        launch(grid, block, stream_, answers_kernel<float>, all, before_threshold, answers, first);
      });
    }
    for_launches(results.width, results.height, [&](dim3 grid, int first, int) {
      if (how_.thin == Thin::none)
        launch(grid, block, stream_, answers_kernel<T>, all, how_, results, first);
      else
        launch(grid, block, stream_, thin_kernel<T>, all, how_, answers, planes, results, first);
    });
  }

  EdgeAnswers how_;
  const std::shared_ptr<SharedTransforms> transforms_;  ///< of the plans
  OwnPicture floats_, responses_, answers_;
};

}  // namespace

std::unique_ptr<Plan> make_edge_plan(std::vector<std::unique_ptr<Plan>> responses,
                                     const EdgeAnswers& how, const PlanOptions& options) {
  return std::make_unique<EdgePlan>(std::move(responses), how, options);
}

}  // namespace convfilt::CONVFILT_BACKEND
