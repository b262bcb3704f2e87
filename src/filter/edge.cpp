#include "src/filter/edge.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <type_traits>
#include <utility>

#include "kernels/cpu/gradient_rows.hpp"
#include "kernels/plan/edges.hpp"
#include "src/base/errors.hpp"
#include "src/base/source_text.hpp"
#include "src/base/suggest.hpp"
#include "src/filter/alpha.hpp"
#include "src/filter/alpha_bands.hpp"
#include "src/filter/rows.hpp"
#include "src/mask/file.hpp"
#include "src/mask/make.hpp"
#include "src/picture/sample_type.hpp"

namespace convfilt {
namespace {

const EdgeMethod& find_method(const std::string& name) {
  std::vector<std::string> names;
  for (const EdgeMethod& method : kEdgeMethods) {
    if (method.name == name) return method;
    names.emplace_back(method.name);
  }
  throw UsageError(unknown_name("edge method", name, names));
}

/// length = |response| / divisor for a row.
void start_length(const float* response, double divisor, std::vector<double>& length) {
  for (std::size_t x = 0; x < length.size(); ++x) length[x] = std::abs(response[x] / divisor);
}

/// length = the hypotenuse of itself and another response.
void extend_length(const float* response, double divisor, std::vector<double>& length) {
  for (std::size_t x = 0; x < length.size(); ++x) {
    const double other = response[x] / divisor;
    length[x] = std::sqrt(length[x] * length[x] + other * other);
  }
}

/// Writes channel `channel` of `out`. `alpha` is the plane that colours were multiplied by, or
/// null.
void store_length(std::span<const Image> responses, std::span<const Mask> masks, const Image* alpha,
                  int channel, int threads, Image& out) {
  const PictureView<std::byte> target = out.view();
  with_depth(out.depth(), [&]<class T>(TypeTag<T>) {
    for_rows(responses[0], threads, [&](int y) {
      std::vector<double> length(std::size_t(target.width));
      start_length(row_of<float>(responses[0].view(), y), masks[0].divisor, length);
      for (std::size_t i = 1; i < responses.size(); ++i)
        extend_length(row_of<float>(responses[i].view(), y), masks[i].divisor, length);
      const float* a = alpha ? row_of<float>(alpha->view(), y) : nullptr;
      T* to = row_of<T>(target, y) + channel;
      for (std::size_t x = 0; x < length.size(); ++x) {
        const double straight = !a ? length[x] : a[x] > 0 ? length[x] / a[x] : 0;
        to[x * std::size_t(target.channels)] = to_sample<T>(straight);
      }
    });
  });
}

/// Edges of pictures without alpha, all masks in one pass over each band.
class EdgeBands final : public BandFilter {
 public:
  EdgeBands(const Problem& whole, const Shape& picture, std::vector<BandPlans> plans,
            std::vector<double> divisors)
      : BandFilter(whole), plans_(std::move(plans)), divisors_(std::move(divisors)) {
    in.depth = out.depth = picture.depth;
  }

  std::unique_ptr<Worker> make_worker() const override {
    return std::make_unique<EdgeWorker>(plans_, divisors_, in.depth);
  }

 private:
  class EdgeWorker final : public Worker {
   public:
    EdgeWorker(const std::vector<BandPlans>& plans, const std::vector<double>& divisors,
               Depth depth)
        : plans_(plans), divisors_(divisors), depth_(depth), responses_(plans.size()) {}

    void filter(PictureView<const std::byte> in, PictureView<std::byte> out) override {
      // Floats and responses of so few rows stay in the second-level cache.
      constexpr std::ptrdiff_t kFloats = 1 << 18;
      const int halo = in.height - out.height;
      const int step = int(std::max<std::ptrdiff_t>(
          kFloats / (samples_of(in) * std::ptrdiff_t(plans_.size() + 1)), 8));
      for (int y = 0; y < out.height; y += step) {
        const int rows = std::min(step, out.height - y);
        filter_rows(rows_of(in, y, rows + halo), rows_of(out, y, rows));
      }
    }

   private:
    template <class Byte>
    static PictureView<Byte> rows_of(PictureView<Byte> view, int first, int rows) {
      view.data = view.row(first);
      view.height = rows;
      return view;
    }

    void filter_rows(PictureView<const std::byte> in, PictureView<std::byte> out) {
      fit(floats_, in);
      with_depth(depth_, [&]<class T>(TypeTag<T>) {
        for (int y = 0; y < in.height; ++y)
          std::copy_n(row_of<T>(in, y), samples_of(in), row_of<float>(floats_.view(), y));
      });
      for (std::size_t i = 0; i < plans_.size(); ++i) {
        fit(responses_[i], out);
        plans_[i].for_rows(out.height).run(std::as_const(floats_).view(), responses_[i].view());
      }
      with_depth(depth_, [&]<class T>(TypeTag<T>) {
        for (int y = 0; y < out.height; ++y) store<T>(y, samples_of(out), row_of<T>(out, y));
      });
    }

    template <class Byte>
    static std::ptrdiff_t samples_of(PictureView<Byte> view) {
      return std::ptrdiff_t(view.width) * view.channels;
    }

    template <class Byte>
    static void fit(Image& floats, PictureView<Byte> view) {
      if (floats.width() != view.width || floats.height() != view.height)
        floats = Image(view.width, view.height, view.channels, Depth::f32);
    }

    template <class T>
    void store(int y, std::ptrdiff_t count, T* out) {
      const auto response = [&](std::size_t i) {
        return row_of<float>(std::as_const(responses_[i]).view(), y);
      };
      length_.resize(std::size_t(count));
      start_length(response(0), divisors_[0], length_);
      for (std::size_t i = 1; i < responses_.size(); ++i)
        extend_length(response(i), divisors_[i], length_);
      for (std::ptrdiff_t i = 0; i < count; ++i) out[i] = to_sample<T>(length_[std::size_t(i)]);
    }

    std::vector<BandPlans> plans_;
    std::vector<double> divisors_;
    Depth depth_;
    Image floats_;
    std::vector<Image> responses_;
    std::vector<double> length_;
  };

  std::vector<BandPlans> plans_;
  std::vector<double> divisors_;
};

/// The masks without divisors and offsets. Whole weights over whole samples sum exactly in f32; the
/// divisor waits for double precision.
std::vector<Mask> without_divisors(std::span<const Mask> masks) {
  std::vector<Mask> whole(masks.begin(), masks.end());
  for (Mask& mask : whole) {
    mask.divisor = 1;
    mask.offset = 0;
  }
  return whole;
}

/// Whether all masks cover the same samples.
bool reach_alike(std::span<const Mask> masks) {
  return std::ranges::all_of(masks, [&](const Mask& mask) {
    return mask.width == masks[0].width && mask.height == masks[0].height &&
           mask.anchor_x == masks[0].anchor_x && mask.anchor_y == masks[0].anchor_y;
  });
}

/// Edges of 8-bit pictures by two masks of whole weights, without floats between.
class GradientBands final : public BandFilter {
 public:
  GradientBands(const Problem& whole, std::vector<GradientTap> taps)
      : BandFilter(whole), taps_(std::move(taps)) {}

  std::unique_ptr<Worker> make_worker() const override {
    return std::make_unique<GradientWorker>(taps_);
  }

 private:
  class GradientWorker final : public Worker {
   public:
    explicit GradientWorker(const std::vector<GradientTap>& taps) : taps_(taps) {}

    void filter(PictureView<const std::byte> in, PictureView<std::byte> out) override {
      std::vector<const std::uint8_t*> rows(std::size_t(in.height - out.height + 1));
      for (int y = 0; y < out.height; ++y) {
        for (std::size_t j = 0; j < rows.size(); ++j)
          rows[j] = row_of<std::uint8_t>(in, y + int(j));
        gradient_row(taps_, rows.data(), out.width * out.channels, row_of<std::uint8_t>(out, y));
      }
    }

   private:
    const std::vector<GradientTap>& taps_;
  };

  std::vector<GradientTap> taps_;
};

/// Edges of premultiplied rows: all masks, and alpha kept.
class EdgeTranslucent final : public TranslucentRows {
 public:
  EdgeTranslucent(std::vector<BandPlans> plans, std::vector<double> divisors, const Mask& mask,
                  Depth depth)
      : plans_(std::move(plans)),
        divisors_(std::move(divisors)),
        anchor_x_(mask.anchor_x),
        anchor_y_(mask.anchor_y),
        depth_(depth),
        responses_(plans_.size()) {}

  void filter(PictureView<const std::byte> in, PictureView<std::byte> out) override {
    for (std::size_t i = 0; i < plans_.size(); ++i) {
      Image& response = responses_[i];
      if (response.width() != out.width || response.height() != out.height)
        response = Image(out.width, out.height, out.channels, Depth::f32);
      plans_[i].for_rows(out.height).run(in, response.view());
    }
    length_.resize(std::size_t(out.width) * std::size_t(out.channels));
    with_depth(depth_, [&]<class T>(TypeTag<T>) {
      for (int y = 0; y < out.height; ++y) {
        const auto row = [&](std::size_t i) {
          return row_of<float>(std::as_const(responses_[i]).view(), y);
        };
        start_length(row(0), divisors_[0], length_);
        for (std::size_t i = 1; i < responses_.size(); ++i)
          extend_length(row(i), divisors_[i], length_);
        const float* alpha =
            row_of<float>(in, y + anchor_y_) + std::ptrdiff_t(anchor_x_) * out.channels + 3;
        T* to = row_of<T>(out, y);
        const double* length = length_.data();
        for (int x = 0; x < out.width; ++x, alpha += 4, length += 4, to += 4) {
          for (int c = 0; c < 3; ++c)
            to[c] = to_sample<T>(*alpha > 0 ? length[c] / double(*alpha) : 0);
          to[3] = to_alpha<T>(*alpha);
        }
      }
    });
  }

 private:
  std::vector<BandPlans> plans_;
  std::vector<double> divisors_;
  int anchor_x_, anchor_y_;
  Depth depth_;
  std::vector<Image> responses_;
  std::vector<double> length_;
};

/// What the runs are for, for -v.
std::string description(int colours, bool weighted, std::span<const Mask> masks) {
  std::vector<std::string> names;
  for (const Mask& mask : masks) names.push_back(mask.name);
  return "edges of " + std::to_string(colours) + (colours == 1 ? " channel" : " channels") +
         " in f32" + (weighted ? ", premultiplied by alpha" : "") + ", with " + listed(names);
}

}  // namespace

std::vector<Mask> edge_masks(const EdgeOptions& options) {
  const EdgeMethod& method = find_method(options.method);
  const std::vector<std::string> directions(std::begin(kDirections), std::end(kDirections));
  if (std::find(directions.begin(), directions.end(), options.direction) == directions.end())
    throw UsageError(unknown_name("direction", options.direction, directions));
  if (method.second.empty() && options.direction != "both")
    throw UsageError("--direction=" + options.direction + ": " + options.method +
                     " has one mask for all directions; leave --direction out");
  if (options.sigma && !method.first.empty())
    throw UsageError("--sigma: only --method=log has one; to smooth before " + options.method +
                     ", blur the picture first");

  std::vector<Mask> masks;
  if (method.first.empty()) masks.push_back(log_mask(options.sigma.value_or(kDefaultLogSigma)));
  if (!method.first.empty() && options.direction != "y")
    masks.push_back(load_mask(std::string(method.first)));
  if (!method.second.empty() && options.direction != "x")
    masks.push_back(load_mask(std::string(method.second)));
  return masks;
}

namespace {

/// Fills `out`. Where the picture has alpha, colours are premultiplied, and divided at the end.
void take_edges(const Image& in, std::span<const Mask> masks, Convolver& convolver, Image& out) {
  const ConvolverOptions& options = convolver.options();
  const bool weighted = in.has_alpha();
  const int threads = options.request.threads;
  const int colours = colour_channels(in);
  const int runs = colours * int(masks.size());
  convolver.describe(description(colours, weighted, masks));
  const double border_value = options.border_value * (weighted ? opaque(in.depth()) : 1);

  const std::vector<Mask> whole = without_divisors(masks);

  Image alpha, plane = plane_like(in);
  std::vector<Image> responses;
  for (const Mask& mask : masks) responses.push_back(convolver.result_like(plane, mask));
  if (weighted) {
    take_plane(in, colours, threads, plane);
    const Convolver::Offset from = convolver.offset_of(masks[0]);
    alpha = moved(plane, from.x, from.y, responses[0], float(opaque(in.depth())));
    store_alpha(alpha, threads, out);
  }
  for (int c = 0; c < colours; ++c) {
    take_premultiplied(in, c, threads, plane);
    if (masks.size() > 1) convolver.next_picture();
    for (std::size_t i = 0; i < masks.size(); ++i)
      convolver.run(plane, whole[i], border_value, runs, responses[i]);
    store_length(responses, masks, weighted ? &alpha : nullptr, c, threads, out);
  }
}

}  // namespace

Image find_edges(const Image& in, std::span<const Mask> masks, Convolver& convolver) {
  const ConvolverOptions& options = convolver.options();
  convolver.check_border_value(in.depth());
  Image out = convolver.result_like(in, masks[0]);
  if (!in.has_alpha()) {
    take_edges(in, masks, convolver, out);
    return out;
  }
  // Masks may reach differently far; what is opaque under the highest is opaque under all.
  std::vector<bool> rows(std::size_t(out.height()), true);
  for (const Mask& mask : masks) {
    const Window window = window_of(convolver.problem_of(shape_of(in), mask, 0));
    const std::vector<bool> under = opaque_windows(in, window, options.border, out.height());
    for (std::size_t y = 0; y < rows.size(); ++y) rows[y] = rows[y] && under[y];
  }
  if (std::ranges::count(rows, false) > 0) take_edges(in, masks, convolver, out);
  if (std::ranges::count(rows, true) > 0) {
    const Image colours = without_alpha(in, options.request.threads);
    Image edges = convolver.result_like(colours, masks[0]);
    take_edges(colours, masks, convolver, edges);
    put_opaque_rows(edges, rows, out);
  }
  return out;
}

WholeNeeds needs_of_edges(const Shape& in, std::span<const Mask> masks, Convolver& convolver) {
  const ConvolverOptions& options = convolver.options();
  convolver.check_border_value(in.depth);
  if (masks.size() > 1) convolver.next_picture();
  WholeNeeds needs{convolver.result_of(in, masks[0])};
  needs.bytes = bytes_of(needs.result);
  const bool has_alpha = in.channels == 4;
  const Shape plane{in.width, in.height, 1, Depth::f32};
  needs.bytes += bytes_of(plane);
  for (const Mask& mask : without_divisors(masks)) {
    needs.bytes += bytes_of(convolver.result_of(plane, mask));
    // With alpha there are border values of premultiplied and of opaque pixels.
    for (const double unit : {1.0, opaque(in.depth)}) {
      if (unit != 1 && !has_alpha) continue;
      needs.bytes += convolver.plan_bytes(plane, mask, options.border_value * unit,
                                          std::min(in.channels, 3) * int(masks.size()));
    }
  }
  if (!has_alpha) return needs;
  const Shape colours{in.width, in.height, 3, in.depth};
  needs.bytes += bytes_of(convolver.result_of(plane, masks[0])) + bytes_of(colours) +
                 bytes_of(convolver.result_of(colours, masks[0]));
  return needs;
}

std::unique_ptr<BandFilter> edges_in_bands(const Shape& in, std::span<const Mask> masks,
                                           Convolver& convolver) {
  const ConvolverOptions& options = convolver.options();
  convolver.check_border_value(in.depth);
  const std::vector<Mask> whole = without_divisors(masks);
  if (!reach_alike(whole)) return convolver.keep_whole("its masks reach differently far");
  std::unique_ptr<BandFilter> opaque_picture;
  if (in.channels == 4) {
    Shape colours = in;
    colours.channels = 3;
    opaque_picture = edges_in_bands(colours, masks, convolver);
    if (!opaque_picture) return nullptr;
  }
  const double border_value = options.border_value * (in.channels == 4 ? opaque(in.depth) : 1);
  convolver.describe(description(std::min(in.channels, 3), in.channels == 4, masks));

  PlanOptions how;
  how.threads = 1;
  how.tuning = options.request.tuning;
  std::vector<BandPlans> plans;
  std::vector<double> divisors;
  const Shape plane{in.width, in.height, 1, Depth::f32};
  Problem problem;
  for (std::size_t i = 0; i < whole.size(); ++i) {
    problem = convolver.problem_of(plane, whole[i], border_value);
    if (const std::string refusal = mode_refuses(problem); !refusal.empty())
      throw UsageError("mask " + in_quotes(masks[i].name) + ": " + refusal);
    const Choice& choice =
        convolver.choice_for(plane, whole[i], border_value, in.channels * int(masks.size()));
    if (!convolver.suits_bands(choice, problem)) return nullptr;
    convolver.note(problem);
    problem.channels = in.channels;
    plans.emplace_back(*choice.strategy, problem, how);
    divisors.push_back(masks[i].divisor);
  }
  if (in.channels == 4) {
    return alpha_bands(convolver.problem_of(in, whole[0], options.border_value),
                       std::move(opaque_picture),
                       [plans, divisors, mask = whole[0], depth = in.depth] {
                         return std::make_unique<EdgeTranslucent>(plans, divisors, mask, depth);
                       });
  }
  if (in.depth == Depth::u8 && divisors == std::vector<double>{1, 1}) {
    problem.depth = in.depth;
    std::vector<GradientTap> taps = gradient_taps(whole[0], whole[1], in.channels);
    if (!taps.empty()) return std::make_unique<GradientBands>(problem, std::move(taps));
  }
  return std::make_unique<EdgeBands>(problem, in, std::move(plans), std::move(divisors));
}

ResidentWork resident_edges(std::vector<Mask> masks) {
  return {[masks](const Shape& in, const Convolver& convolver) {
            if (!reach_alike(masks)) throw UsageError("its masks reach differently far");
            if (masks.size() > 2) throw UsageError("it has more than two masks");
            convolver.check_border_value(in.depth);
            return convolver.result_of(in, masks[0]);
          },
          [masks](const Shape& in, Convolver& convolver) {
            const ConvolverOptions& options = convolver.options();
            const Shape plane{in.width, in.height, 1, Depth::f32};
            const int runs = in.channels * int(masks.size());
            ResidentPlan made;
            std::vector<std::unique_ptr<Plan>> responses;
            std::vector<double> divisors;
            const auto transforms =
                masks.size() > 1 ? std::make_shared<SharedTransforms>() : nullptr;
            for (const Mask& mask : without_divisors(masks)) {
              const Choice choice = convolver.choice_for(plane, mask, options.border_value, runs);
              if (choice.device == DeviceKind::cpu ||
                  (!responses.empty() && choice.device != made.choice.device))
                throw UsageError("strategy '" + std::string(choice.strategy->name) +
                                 "' is not for this device");
              Problem problem = convolver.problem_of(plane, mask, options.border_value);
              problem.channels = in.channels;
              PlanOptions how = plan_options(choice, options);
              how.transforms = transforms;
              responses.push_back(choice.strategy->prepare(problem, choice.device, how));
              if (responses.size() == 1) made.choice = choice;
            }
            for (const Mask& mask : masks) divisors.push_back(mask.divisor);
            PlanOptions how = plan_options(made.choice, options);
            how.transforms = transforms;
            made.plan =
                make_edge_plan(made.choice.device, std::move(responses), std::move(divisors), how);
            return made;
          },
          2};  // A plan holds floats for the picture and for each response, and the masks' plans.
}

}  // namespace convfilt
