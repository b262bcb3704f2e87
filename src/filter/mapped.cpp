#include "src/filter/mapped.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
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

/// Colours of clear pixels, which alpha hides, stay as they were.
class HiddenWork final : public Work {
 public:
  explicit HiddenWork(std::unique_ptr<Work> inner) : Work(*inner), inner_(std::move(inner)) {}

  Needs needs(int rows) const override { return inner_->needs(rows); }
  void finish() const override { inner_->finish(); }
  std::unique_ptr<Worker> make_worker() const override {
    const std::shared_ptr<Worker> inner = inner_->make_worker();
    return std::make_unique<FunctionWorker>([this, inner](const auto& in, const auto& out) {
      inner->push(in, out);
      keep_hidden(in, out);
    });
  }

 private:
  void keep_hidden(BandView<const std::byte> from, BandView<std::byte> to) const {
    with_depth(in.depth, [&]<class T>(TypeTag<T>) {
      for (int row = 0; row < to.height; ++row) {
        const int y = to.top + row + offset_y;
        if (y < from.top || y >= from.top + from.height) continue;
        const T* kept = row_of<T>(from, y - from.top);
        T* pixels = row_of<T>(to, row);
        for (int x = std::max(0, -offset_x); x < std::min(to.width, from.width - offset_x); ++x)
          if (pixels[std::ptrdiff_t(x) * 4 + 3] == 0)
            std::copy_n(kept + (std::ptrdiff_t(x) + offset_x) * 4, 3,
                        pixels + std::ptrdiff_t(x) * 4);
      }
    });
  }

  std::unique_ptr<Work> inner_;
};

std::unique_ptr<Work> begin_hidden(const Filter& inner, const Shape& in, const Place& place) {
  std::unique_ptr<Work> work = inner.begin(in, place);
  if (in.channels != 4 || work->out.channels != 4 || work->out.depth != in.depth) return work;
  return std::make_unique<HiddenWork>(std::move(work));
}

class RegionWork final : public Work {
 public:
  RegionWork(std::unique_ptr<Work> inner, const std::vector<Region>& all)
      : Work(*inner), inner_(std::move(inner)) {
    regions = all;
    two_levels = false;
  }

  Needs needs(int rows) const override { return inner_->needs(rows); }
  void finish() const override { inner_->finish(); }
  std::unique_ptr<Worker> make_worker() const override {
    const std::shared_ptr<Worker> inner = inner_->make_worker();
    return std::make_unique<FunctionWorker>(
        [this, inner](const auto& in, const auto& out) { push(*inner, in, out); });
  }

 private:
  void push(Worker& inner, BandView<const std::byte> from, BandView<std::byte> to) const {
    int begin = to.height, end = 0;  // the rows that hold pixels of a region
    for (const Region& region : regions) {
      begin = std::min(begin, std::max(region.y - to.top, 0));
      end = std::max(end, std::min(region.y + region.height - to.top, to.height));
    }
    // Bands have as many rows as the window.
    const int least = std::min(window.height, to.height);
    const int top = std::min(begin, to.height - least);
    if (is_whole())
      inner.push(from, to);
    else if (begin < end)
      inner.push(from, rows_of(to, top, std::max(end - top, least)));
    const std::size_t pixel = std::size_t(from.channels) * size_of(in.depth);
    for (int y = 0; y < to.height; ++y) {
      const auto keep = [&](int first, int last) {
        std::memcpy(to.row(y) + std::size_t(first) * pixel,
                    from.row(to.top + y - from.top) + std::size_t(first) * pixel,
                    std::size_t(last - first) * pixel);
      };
      int next = 0;
      for (const Span& span : spans_in_row(regions, to.top + y)) {
        keep(next, span.first);
        next = span.end;
      }
      keep(next, to.width);
    }
  }

  std::unique_ptr<Work> inner_;
};

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
  return std::make_unique<RegionWork>(std::move(work), regions);
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
