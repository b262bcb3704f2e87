#include "src/filter/mapped.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <utility>

#include "src/base/errors.hpp"
#include "src/filter/outer.hpp"
#include "src/picture/colour.hpp"
#include "src/picture/sample_type.hpp"
#include "src/picture/transfer_curve.hpp"

namespace convfilt {
namespace {

void refuse_alpha(const Shape& in, const char* option) {
  if (in.channels == 4)
    throw UsageError(std::string(option) +
                     ": the picture has alpha; write it without first, e.g. convfilt apply "
                     "identity IN colours.ppm");
}

std::unique_ptr<Work> begin_output(const Filter& inner, const Shape& in, const Place& place,
                                   bool absolute) {
  refuse_alpha(in, "--output");
  // Light and float samples have a range of 1, and luma has its picture's.
  const bool is_light = place.unit != 1 || place.picture_depth == Depth::f32;
  const double middle = is_light ? 0.5 : std::floor(full_range(place.picture_depth) / 2) + 1;
  std::unique_ptr<Work> work = inner.begin({in.width, in.height, in.channels, Depth::f32}, place);
  const int channels = work->out.channels;
  const auto enter = [=](const auto* row, int width, float* floats) {
    enter_as_floats(in, row, width, floats);
  };
  const auto leave = [=]<class T>(const OuterRow<T>& row) {
    for (std::ptrdiff_t i = 0; i < std::ptrdiff_t(row.width) * channels; ++i) {
      const double value = row.response[i];
      row.to[i] = to_sample<T>(absolute ? std::abs(value) : middle + value / 2);
    }
  };
  return std::make_unique<OuterWork<decltype(enter), decltype(leave)>>(
      in, channels, place, std::move(work), enter, leave);
}

std::unique_ptr<Work> begin_luma(const Filter& inner, const Shape& in, const Place& place) {
  refuse_alpha(in, "--luma");
  if (in.channels == 1) return inner.begin(in, place);
  std::unique_ptr<Work> work = inner.begin({in.width, in.height, 1, Depth::f32}, place);
  if (work->out.channels != 1)
    throw UsageError(
        "--luma: the result of this recipe is in colours; leave out --luma, or --direction=hue");
  const auto enter = [shares = place.luma](const auto* from, int width, float* luma) {
    for (int x = 0; x < width; ++x, from += 3) luma[x] = float(luma_of(from, shares));
  };
  const auto leave = [keeps_lightness = inner.keeps_lightness()]<class T>(const OuterRow<T>& row) {
    if (!keeps_lightness) {
      for (int x = 0; x < row.width; ++x) row.to[x] = to_sample<T>(row.response[x]);
      return;
    }
    for (std::ptrdiff_t i = 0; i < std::ptrdiff_t(row.width) * 3; ++i)
      row.to[i] = to_sample<T>(double(row.from[i]) + double(row.response[i / 3]) -
                               double(row.floats[i / 3]));
  };
  return std::make_unique<OuterWork<decltype(enter), decltype(leave)>>(
      in, inner.keeps_lightness() ? 3 : 1, place, std::move(work), enter, leave);
}

std::unique_ptr<Work> begin_light(const Filter& inner, const Shape& in, const Place& place) {
  std::string note;
  const Metadata metadata = place.metadata ? *place.metadata : Metadata{};
  const auto curve = std::make_shared<const TransferCurve>(metadata, in.depth, in.channels, &note);
  Place inside = place;
  inside.unit /= full_range(in.depth);
  inside.luma = luminance_shares(metadata);
  inside.border_value = curve->linear(place.border_value);
  std::unique_ptr<Work> work = inner.begin({in.width, in.height, in.channels, Depth::f32}, inside);
  const int channels = work->out.channels;
  if (channels > in.channels)
    throw UsageError("--linear: hues are not amounts of light; leave it out");
  const auto enter = [=](const auto* row, int width, float* light) {
    curve->to_linear(reinterpret_cast<const std::byte*>(row), width, in.channels, light);
  };
  const auto leave = [=]<class T>(const OuterRow<T>& row) {
    curve->from_linear(row.response, row.width, channels, reinterpret_cast<std::byte*>(row.to));
  };
  auto outer = std::make_unique<OuterWork<decltype(enter), decltype(leave)>>(
      in, channels, place, std::move(work), enter, leave);
  outer->note = note;
  return outer;
}

std::unique_ptr<Work> begin_depth(const Filter& inner, const Shape& in, const Place& place,
                                  Depth depth) {
  if (in.depth == depth) {
    std::unique_ptr<Work> work = inner.begin(in, place);
    work->two_levels = false;  // else the result might get fewer bits than are asked for
    return work;
  }
  const double range = full_range(in.depth), result_range = full_range(depth);
  Place inside = place;
  inside.unit /= range;
  inside.border_value /= range;
  std::unique_ptr<Work> work = inner.begin({in.width, in.height, in.channels, Depth::f32}, inside);
  const int channels = work->out.channels;
  const auto enter = [=](const auto* row, int width, float* floats) {
    for (std::ptrdiff_t i = 0; i < std::ptrdiff_t(width) * in.channels; ++i)
      floats[i] = float(double(row[i]) / range);
  };
  const auto leave = [=]<class T>(const OuterRow<T>& row) {
    with_depth(depth, [&]<class R>(TypeTag<R>) {
      R* to = reinterpret_cast<R*>(row.to);
      for (std::ptrdiff_t i = 0; i < std::ptrdiff_t(row.width) * channels; ++i)
        to[i] = to_sample<R>(double(row.response[i]) * result_range);
    });
  };
  auto outer = std::make_unique<OuterWork<decltype(enter), decltype(leave)>>(
      in, channels, place, std::move(work), enter, leave);
  outer->out.depth = depth;
  return outer;
}

/// A work around another on the same pictures. `push` makes bands by the other's worker, and puts
/// back what shall stay.
class KeepingWork final : public Work {
 public:
  using Push = std::function<void(const Work& work, Worker& inner, BandView<const std::byte> in,
                                  BandView<std::byte> out)>;

  KeepingWork(std::unique_ptr<Work> inner, Push push)
      : Work(*inner), inner_(std::move(inner)), push_(std::move(push)) {}

  Needs needs(int rows) const override { return inner_->needs(rows); }
  void finish() const override { inner_->finish(); }
  std::unique_ptr<Worker> make_worker() const override {
    const std::shared_ptr<Worker> inner = inner_->make_worker();
    return std::make_unique<FunctionWorker>(
        [this, inner](const auto& in, const auto& out) { push_(*this, *inner, in, out); });
  }

 private:
  std::unique_ptr<Work> inner_;
  Push push_;
};

/// Colours of clear pixels, which alpha hides, stay as they were.
void push_hidden(const Work& work, Worker& inner, BandView<const std::byte> in,
                 BandView<std::byte> out) {
  inner.push(in, out);
  with_depth(work.in.depth, [&]<class T>(TypeTag<T>) {
    for (int row = 0; row < out.height; ++row) {
      const int y = out.top + row + work.offset_y;
      if (y < in.top || y >= in.top + in.height) continue;
      const T* from = row_of<T>(in, y - in.top);
      T* to = row_of<T>(out, row);
      const int left = work.offset_x;
      for (int x = std::max(0, -left); x < std::min(out.width, in.width - left); ++x)
        if (to[std::ptrdiff_t(x) * 4 + 3] == 0)
          std::copy_n(from + (std::ptrdiff_t(x) + left) * 4, 3, to + std::ptrdiff_t(x) * 4);
    }
  });
}

std::unique_ptr<Work> begin_hidden(const Filter& inner, const Shape& in, const Place& place) {
  std::unique_ptr<Work> work = inner.begin(in, place);
  if (in.channels != 4 || work->out.channels != 4 || work->out.depth != in.depth) return work;
  return std::make_unique<KeepingWork>(std::move(work), push_hidden);
}

/// Pixels outside all regions stay as they are.
void push_regions(const Work& work, Worker& inner, BandView<const std::byte> in,
                  BandView<std::byte> out) {
  int begin = out.height, end = 0;  // the rows that hold pixels of a region
  for (const Region& region : work.regions) {
    begin = std::min(begin, std::max(region.y - out.top, 0));
    end = std::max(end, std::min(region.y + region.height - out.top, out.height));
  }
  // Bands have as many rows as the window.
  const int least = std::min(work.window.height, out.height);
  const int top = std::min(begin, out.height - least);
  if (work.is_whole())
    inner.push(in, out);
  else if (begin < end)
    inner.push(in, rows_of(out, top, std::max(end - top, least)));
  const std::size_t pixel = std::size_t(in.channels) * size_of(work.in.depth);
  for (int y = 0; y < out.height; ++y) {
    const auto keep = [&](int first, int last) {
      std::memcpy(out.row(y) + std::size_t(first) * pixel,
                  in.row(out.top + y - in.top) + std::size_t(first) * pixel,
                  std::size_t(last - first) * pixel);
    };
    int next = 0;
    for (const Span& span : spans_in_row(work.regions, out.top + y)) {
      keep(next, span.first);
      next = span.end;
    }
    keep(next, out.width);
  }
}

std::unique_ptr<Work> begin_region(const Filter& inner, const Shape& in, const Place& place,
                                   const std::vector<Region>& regions) {
  for (const Region& region : regions) {
    if (region.x <= in.width - region.width && region.y <= in.height - region.height) continue;
    throw UsageError("--region: " + region.text() + " ends at " +
                     std::to_string(std::int64_t{region.x} + region.width) + "," +
                     std::to_string(std::int64_t{region.y} + region.height) +
                     ", and the picture at " + std::to_string(in.width) + "," +
                     std::to_string(in.height) + "; name pixels inside it");
  }
  Place inside = place;
  inside.keeps_channels = true;
  std::unique_ptr<Work> work = inner.begin(in, inside);
  if (work->out.channels > in.channels)
    throw UsageError("--region: hues need colours, and the picture is grey; leave it out");
  if (work->out.channels < in.channels)
    throw UsageError(
        "--region: the rest of a picture in colours cannot stay beside grey edges; leave out "
        "--luma");
  work = std::make_unique<KeepingWork>(std::move(work), push_regions);
  work->regions = regions;
  work->two_levels = false;
  return work;
}

}  // namespace

FilterPtr mapped(FilterPtr filter, const Mapping& mapping) {
  const bool needs_luma = mapping.luma && !filter->takes_luma();
  if (mapping.nodata) filter = without_nodata(std::move(filter), *mapping.nodata);
  const auto around = [&](std::string text, OuterFilter::Begin begin) {
    filter = std::make_shared<OuterFilter>(std::move(text), std::move(filter), std::move(begin));
  };
  if (mapping.negative != Negative::clamp) {
    const bool absolute = mapping.negative == Negative::absolute;
    around(absolute ? "size" : "centred response", [absolute](auto& inner, auto& in, auto& place) {
      return begin_output(inner, in, place, absolute);
    });
  }
  if (needs_luma) {
    const bool keeps_chroma = filter->keeps_lightness() && !mapping.nodata;
    filter = std::make_shared<OuterFilter>("luma", std::move(filter), begin_luma, keeps_chroma);
  }
  if (mapping.linear) around("light", begin_light);
  if (mapping.keep_hidden) around("hidden", begin_hidden);
  if (const auto& depth = mapping.depth)
    around(std::string(name_of(*depth)), [depth = *depth](auto& inner, auto& in, auto& place) {
      return begin_depth(inner, in, place, depth);
    });
  if (!mapping.regions.empty()) {
    // Neither their order nor a repetition decides a byte.
    std::vector<Region> regions = mapping.regions;
    std::ranges::sort(regions);
    const auto repeated = std::ranges::unique(regions);
    regions.erase(repeated.begin(), repeated.end());
    std::string text = "region";
    for (const Region& region : regions) text += " " + region.text();
    around(text, [regions](auto& inner, auto& in, auto& place) {
      return begin_region(inner, in, place, regions);
    });
  }
  return filter;
}

}  // namespace convfilt
