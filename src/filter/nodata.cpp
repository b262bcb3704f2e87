#include "src/filter/nodata.hpp"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <memory>
#include <utility>

#include "src/base/errors.hpp"
#include "src/base/source_text.hpp"
#include "src/filter/bands.hpp"
#include "src/filter/outer.hpp"
#include "src/picture/codecs/tiff/tags.hpp"
#include "src/picture/sample_type.hpp"

namespace convfilt {
namespace {

template <class T>
bool is_nodata(T sample, double value) {
  return double(sample) == value;
}

/// Texts of floats in files have more digits than the samples.
bool is_nodata(float sample, double value) {
  return std::isnan(value) ? std::isnan(sample) : sample == float(value);
}

std::optional<double> number_in(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// The sums that a mask makes: of samples, 0 for those without data, and of 1 for each with data.
class NodataWork final : public Work {
 public:
  struct Inner {
    std::unique_ptr<Work> own, samples, share;
  };

  NodataWork(Inner inner, const Mask& mask, double value, bool border_lacks, const Place& place)
      : Work(*inner.own),
        inner_(std::move(inner)),
        value_(value),
        border_lacks_(border_lacks),
        sum_(gain(mask)),
        offset_(mask.offset * place.unit),
        threads_(is_whole() ? place.convolver.options().request.threads : 1) {
    for (const double weight : mask.weights) size_ += std::abs(weight / mask.divisor);
    knows_nodata = true;
  }

  Needs needs(int rows) const override {
    const int rows_in = is_whole() ? in.height : rows + window.height;
    Needs all{bytes_of({in.width, rows_in, in.channels, in.depth}) +
                  2 * bytes_of({in.width, rows_in, in.channels, Depth::f32}) +
                  2 * bytes_of({out.width, rows, in.channels, Depth::f32}),
              0};
    for (const Work* work : {inner_.own.get(), inner_.samples.get(), inner_.share.get()}) {
      const auto [buffers, plans] = work->needs(rows);
      all.buffers += buffers;
      all.plans += plans;
    }
    return all;
  }

  void finish() const override { inner_.own->finish(); }
  std::unique_ptr<Worker> make_worker() const override {
    return std::make_unique<NodataWorker>(*this);
  }

 private:
  class NodataWorker final : public Worker {
   public:
    explicit NodataWorker(const NodataWork& work)
        : work_(work), own_(work.inner_.own->make_worker()) {}

    void push(BandView<const std::byte> in, BandView<std::byte> out) override {
      with_depth(work_.in.depth, [&]<class T>(TypeTag<T>) { push_samples<T>(in, out); });
    }

   private:
    template <class T>
    void push_samples(BandView<const std::byte> in, BandView<std::byte> out) {
      const std::ptrdiff_t samples = std::ptrdiff_t(in.width) * work_.in.channels;
      std::atomic<bool> lacks = work_.border_lacks_;
      own_->push(made<T, T>(in, out, work_.in.depth, whole_,
                            [&](const T* from, T* to) {
                              bool any = false;
                              for (std::ptrdiff_t i = 0; i < samples; ++i) {
                                const bool is = is_nodata(from[i], work_.value_);
                                to[i] = is ? T(0) : from[i];
                                any |= is;
                              }
                              if (any) lacks = true;
                            }),
                 out);
      if (!lacks) return;
      const auto sums = [&](const Work& work, std::unique_ptr<Worker>& worker, Image& from,
                            Image& to, auto value_of) {
        if (!worker) worker = work.make_worker();
        if (to.width() != out.width || to.height() != out.height)
          to = Image(out.width, out.height, work_.in.channels, Depth::f32);
        worker->push(made<T, float>(in, out, Depth::f32, from,
                                    [&](const T* row, float* floats) {
                                      for (std::ptrdiff_t i = 0; i < samples; ++i)
                                        floats[i] =
                                            is_nodata(row[i], work_.value_) ? 0 : value_of(row[i]);
                                    }),
                     BandView<std::byte>(to.view(), out.top));
      };
      sums(*work_.inner_.samples, samples_, floats_, sums_, [](T value) { return float(value); });
      sums(*work_.inner_.share, share_, floats_, shares_, [](T) { return 1.0f; });
      for_rows(out, work_.threads_, [&](int row) { renew<T>(in, out, row); });
    }

    template <class T, class To, class Body>
    BandView<const std::byte> made(BandView<const std::byte> in, BandView<std::byte> out,
                                   Depth depth, Image& room, const Body& body) {
      return converted(work_, in, out, work_.threads_, work_.in.channels, depth, room,
                       [&](const std::byte* from, std::byte* to) {
                         body(reinterpret_cast<const T*>(from), reinterpret_cast<To*>(to));
                       });
    }

    /// Puts in what the mask's own sums are not right for.
    template <class T>
    void renew(BandView<const std::byte> in, BandView<std::byte> out, int row) const {
      constexpr double kRounding = 1e-6, kLeast = 1e-3;
      const int channels = work_.in.channels, y = out.top + row + work_.offset_y;
      const bool has_row = y >= in.top && y < in.top + in.height;
      const T* from = has_row ? row_of<T>(in, y - in.top) : nullptr;
      const float* sums = row_of<float>(sums_.view(), row);
      const float* shares = row_of<float>(shares_.view(), row);
      T* to = row_of<T>(out, row);
      const std::ptrdiff_t left = std::ptrdiff_t(work_.offset_x) * channels,
                           end = std::ptrdiff_t(in.width) * channels;
      for (std::ptrdiff_t i = 0; i < std::ptrdiff_t(out.width) * channels; ++i) {
        const bool is_inside = has_row && i + left >= 0 && i + left < end;
        if (is_inside && is_nodata(from[i + left], work_.value_)) {
          to[i] = from[i + left];
          continue;
        }
        const double share = shares[i], missing = work_.sum_ - share;
        if (std::abs(missing) <= kRounding * work_.size_) continue;
        const bool can_scale =
            std::abs(work_.sum_) > kLeast * work_.size_ && std::abs(share) > kLeast * work_.size_;
        const double own = is_inside ? double(from[i + left]) : 0;
        to[i] = to_sample<T>(
            (can_scale ? double(sums[i]) * work_.sum_ / share : double(sums[i]) + own * missing) +
            work_.offset_);
      }
    }

    const NodataWork& work_;
    std::unique_ptr<Worker> own_, samples_, share_;
    Image whole_, floats_, sums_, shares_;  // kept for the next band
  };

  Inner inner_;
  double value_;
  bool border_lacks_;
  double sum_;
  double size_ = 0;  ///< the sum of the weights' sizes
  double offset_;
  int threads_;
};

/// The sample that lacks data; nothing where the picture can have none.
std::optional<double> value_for(const Nodata& nodata, const Metadata& metadata, Depth depth) {
  std::optional<double> number = nodata.value;
  if (!number) number = number_in(nodata_of(metadata.exif));
  if (!number) return std::nullopt;
  const double sample = *number * metadata.stored.scale + metadata.stored.offset;
  if (depth == Depth::f32) return sample;
  const bool is_one = sample >= 0 && sample <= full_range(depth) && sample == std::floor(sample);
  return is_one ? std::optional(sample) : std::nullopt;
}

std::unique_ptr<Work> begin_nodata(const Filter& inner, const Shape& in, const Place& place,
                                   const Nodata& nodata) {
  if (in.channels == 4)
    throw UsageError("--nodata: alpha tells which pixels of the picture count; leave it out");
  const auto lacking = value_for(nodata, place.metadata ? *place.metadata : Metadata{}, in.depth);
  if (!lacking) {
    std::unique_ptr<Work> work = inner.begin(in, place);
    work->knows_nodata = true;
    if (work->note.empty())
      work->note = nodata.value
                       ? "it cannot hold the value of --nodata, so all samples count"
                       : "it names no value for no data that it can hold, so all samples count";
    return work;
  }
  const double value = *lacking;
  const bool border_lacks = place.convolver.options().border == Border::constant &&
                            with_depth(in.depth, [&]<class T>(TypeTag<T>) {
                              return is_nodata(T(place.border_value), value);
                            });
  const Shape floats{in.width, in.height, in.channels, Depth::f32};
  Place own = place, samples = place, share = place;
  samples.unit = share.unit = 0;  // an offset is added at the end
  samples.border_value = border_lacks ? 0 : place.border_value;
  share.border_value = border_lacks ? 0 : 1;
  NodataWork::Inner works;
  const auto begin = [&] {
    works.samples = inner.begin(floats, samples);
    works.share = inner.begin(floats, share);
    works.own = inner.begin(in, own);
  };
  begin();
  for (const Work* work : {works.samples.get(), works.share.get(), works.own.get()})
    if (work->is_whole() && own.why_whole.empty())
      own.why_whole = samples.why_whole = share.why_whole = work->why_whole;
  if (!own.why_whole.empty()) begin();
  return std::make_unique<NodataWork>(std::move(works), *inner.only_mask(), value, border_lacks,
                                      place);
}

}  // namespace

std::optional<double> sample_without_data(const Metadata& metadata, Depth depth) {
  return value_for({}, metadata, depth);
}

bool Nodata::operator==(const Nodata& other) const {
  if (value.has_value() != other.value.has_value()) return false;
  return !value || *value == *other.value || (std::isnan(*value) && std::isnan(*other.value));
}

Nodata nodata_in(const std::string& word) {
  if (word == "auto") return {};
  if (const auto value = number_in(word)) return {value};
  throw UsageError("--nodata: " + in_quotes(word) + " is no sample; write a number, nan or auto");
}

FilterPtr without_nodata(FilterPtr filter, const Nodata& nodata) {
  if (!filter->only_mask())
    throw UsageError(
        "--nodata: only filters of one mask can leave samples out (blur, sharpen, and "
        "apply with a single mask)");
  char text[64] = "without the file's nodata";
  if (nodata.value) std::snprintf(text, sizeof text, "without %.17g", *nodata.value);
  return std::make_shared<OuterFilter>(text, std::move(filter),
                                       [nodata](auto& inner, auto& in, auto& place) {
                                         return begin_nodata(inner, in, place, nodata);
                                       });
}

}  // namespace convfilt
