#include "src/filter/mapped.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "kernels/contract/dispatch.hpp"
#include "src/base/errors.hpp"
#include "src/filter/alpha.hpp"
#include "src/filter/rows.hpp"
#include "src/picture/sample_type.hpp"
#include "src/picture/transfer_curve.hpp"

namespace convfilt {
namespace {

/// Weights of blue, green and red in luma (ITU-R BT.709).
constexpr double kLuma[] = {0.0722, 0.7152, 0.2126};

using Step = std::function<Image(const Image& in, Convolver& convolver, double unit)>;

/// The samples as floats, in the same units.
Image floats_of(const Image& in, int threads) {
  Image floats(in.width(), in.height(), in.channels(), Depth::f32);
  with_depth(in.depth(), [&]<class T>(TypeTag<T>) {
    for_rows(in, threads, [&](int y) {
      std::copy_n(row_of<T>(in.view(), y), std::ptrdiff_t(in.width()) * in.channels(),
                  row_of<float>(floats.view(), y));
    });
  });
  return floats;
}

/// `middle` is that of the picture's range, in the units of what the step gets.
Step with_negative(Negative negative, double middle, Step filter) {
  return [=](const Image& in, Convolver& convolver, double unit) {
    const int threads = convolver.options().request.threads;
    Image response = filter(floats_of(in, threads), convolver, unit);
    Image out(response.width(), response.height(), response.channels(), in.depth());
    with_depth(in.depth(), [&]<class T>(TypeTag<T>) {
      for_rows(out, threads, [&](int y) {
        const float* from = row_of<float>(std::as_const(response).view(), y);
        T* to = row_of<T>(out.view(), y);
        for (std::ptrdiff_t i = 0; i < std::ptrdiff_t(out.width()) * out.channels(); ++i) {
          const double value = from[i];
          to[i] =
              to_sample<T>(negative == Negative::absolute ? std::abs(value) : middle + value / 2);
        }
      });
    });
    return out;
  };
}

double luma_of(const auto* pixel) {
  return kLuma[0] * double(pixel[0]) + kLuma[1] * double(pixel[1]) + kLuma[2] * double(pixel[2]);
}

Step with_luma(bool keeps_lightness, Step filter) {
  return [=](const Image& in, Convolver& convolver, double unit) {
    if (in.channels() == 1) return filter(in, convolver, unit);
    const int threads = convolver.options().request.threads;
    Image luma(in.width(), in.height(), 1, Depth::f32);
    with_depth(in.depth(), [&]<class T>(TypeTag<T>) {
      for_rows(in, threads, [&](int y) {
        const T* from = row_of<T>(in.view(), y);
        float* to = row_of<float>(luma.view(), y);
        for (int x = 0; x < in.width(); ++x) to[x] = float(luma_of(from + 3 * std::ptrdiff_t(x)));
      });
    });
    const Image response = filter(luma, convolver, unit);
    Image out(response.width(), response.height(), keeps_lightness ? 3 : 1, in.depth());
    with_depth(in.depth(), [&]<class T>(TypeTag<T>) {
      for_rows(out, threads, [&](int y) {
        const float* after = row_of<float>(response.view(), y);
        T* to = row_of<T>(out.view(), y);
        if (!keeps_lightness) {
          for (int x = 0; x < out.width(); ++x) to[x] = to_sample<T>(after[x]);
          return;
        }
        const float* before = row_of<float>(std::as_const(luma).view(), y);
        const T* from = row_of<T>(in.view(), y);
        for (std::ptrdiff_t i = 0; i < std::ptrdiff_t(out.width()) * 3; ++i)
          to[i] = to_sample<T>(double(from[i]) + double(after[i / 3]) - double(before[i / 3]));
      });
    });
    return out;
  };
}

Step with_light(const TransferCurve& curve, Depth depth, Step filter) {
  return [=](const Image& in, Convolver& convolver, double unit) {
    ConvolverOptions options = convolver.options();
    options.border_value = curve.linear(options.border_value);
    Convolver inner(options);
    Image out = curve.from_linear(filter(curve.to_linear(in), inner, unit / full_range(depth)));
    convolver.adopt(inner.report());
    return out;
  };
}

Image with_region(const Image& in, const Region& region, Image filtered) {
  if (region.x > in.width() - region.width || region.y > in.height() - region.height) {
    throw UsageError(
        "--region: it ends at " + std::to_string(std::int64_t{region.x} + region.width) + "," +
        std::to_string(std::int64_t{region.y} + region.height) + ", and the picture at " +
        std::to_string(in.width()) + "," + std::to_string(in.height()) + "; name pixels inside it");
  }
  if (filtered.channels() != in.channels())
    throw UsageError(
        "--region: the rest of a picture in colours cannot stay beside grey edges; leave out "
        "--luma");
  Image out = in.clone();
  const std::size_t pixel = std::size_t(in.channels()) * size_of(in.depth());
  for (int y = region.y; y < region.y + region.height; ++y) {
    std::memcpy(out.view().row(y) + std::size_t(region.x) * pixel,
                std::as_const(filtered).view().row(y) + std::size_t(region.x) * pixel,
                std::size_t(region.width) * pixel);
  }
  return out;
}

Shape floats_like(Shape shape) {
  shape.depth = Depth::f32;
  return shape;
}

Shape with_depth_of(Shape shape, const Shape& in) {
  shape.depth = in.depth;
  return shape;
}

}  // namespace

WholeNeeds needs_of_mapped(const Shape& in, const Mapping& mapping, bool keeps_lightness,
                           Convolver& convolver, const NeedsOfWhole& filter) {
  // Each step is one of those below, in the same order.
  NeedsOfWhole step = filter;
  if (mapping.negative != Negative::clamp) {
    step = [inner = step](const Shape& shape, Convolver& by) {
      const Shape floats = floats_like(shape);
      const WholeNeeds needs = inner(floats, by);
      const Shape result = with_depth_of(needs.result, shape);
      return WholeNeeds{result, needs.bytes + std::max(bytes_of(floats), bytes_of(result))};
    };
  }
  if (mapping.luma) {
    step = [inner = step, keeps_lightness](const Shape& shape, Convolver& by) {
      if (shape.channels == 1) return inner(shape, by);
      const Shape luma{shape.width, shape.height, 1, Depth::f32};
      const WholeNeeds needs = inner(luma, by);
      Shape result = with_depth_of(needs.result, shape);
      result.channels = keeps_lightness ? 3 : 1;
      return WholeNeeds{result, bytes_of(luma) + needs.bytes + bytes_of(result)};
    };
  }
  if (mapping.linear) {
    step = [inner = step](const Shape& shape, Convolver& by) {
      // Plans in another unit are another convolver's, as below.
      Convolver other(by.options());
      const WholeNeeds needs = inner(floats_like(shape), other);
      const Shape result = with_depth_of(needs.result, shape);
      return WholeNeeds{result, bytes_of(floats_like(shape)) + needs.bytes + bytes_of(result)};
    };
  }
  WholeNeeds needs = step(in, convolver);
  if (mapping.region) needs.bytes += bytes_of(in);
  return needs;
}

Image filter_mapped(const Image& in, const Header& header, const Mapping& mapping,
                    bool keeps_lightness, Convolver& convolver, const WholeFilter& filter,
                    std::string* note) {
  if (in.has_alpha() && (mapping.luma || mapping.negative != Negative::clamp)) {
    throw UsageError(
        std::string(mapping.luma ? "--luma" : "--output") +
        ": the picture has alpha; write it without first, e.g. convfilt apply identity "
        "IN colours.ppm");
  }
  convolver.check_border_value(in.depth());
  Step step = filter;
  // Light and float samples have a range of 1, and luma has its picture's.
  const double middle =
      mapping.linear || in.depth() == Depth::f32 ? 0.5 : std::floor(full_range(in.depth()) / 2) + 1;
  if (mapping.negative != Negative::clamp) step = with_negative(mapping.negative, middle, step);
  if (mapping.luma) step = with_luma(keeps_lightness, step);
  if (mapping.linear) {
    const TransferCurve curve(header.metadata.icc, in.depth(), in.channels(), note);
    step = with_light(curve, in.depth(), step);
  }
  Image out = step(in, convolver, 1);
  return mapping.region ? with_region(in, *mapping.region, std::move(out)) : std::move(out);
}

}  // namespace convfilt
