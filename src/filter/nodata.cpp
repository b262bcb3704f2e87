#include "src/filter/nodata.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "kernels/backend/host/parallel.hpp"
#include "src/base/errors.hpp"
#include "src/base/numbers.hpp"
#include "src/base/source_text.hpp"
#include "src/filter/bands.hpp"
#include "src/filter/chain.hpp"
#include "src/filter/outer.hpp"
#include "src/picture/codecs/tiff/tags.hpp"
#include "src/picture/sample_type.hpp"

namespace convfilt {
namespace {

/// Texts of floats in files have more digits than the samples.
template <class T>
bool is_nodata(T sample, double value) {
  const T nodata = T(value);
  return sample == nodata || (sample != sample && nodata != nodata);
}

/// The sample next to one, for results that equal it by chance.
template <class T>
T beside(T value) {
  if constexpr (std::is_integral_v<T>) {
    return T(value == std::numeric_limits<T>::max() ? value - 1 : value + 1);
  } else {
    if (value == 0) return T(0x1p-100);  // arithmetic with denormals takes long
    const T above = std::nextafter(value, HUGE_VALF);
    return std::isfinite(above) ? above : std::nextafter(value, -HUGE_VALF);
  }
}

std::optional<double> number_in(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return number_of_word<double>(text);
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
        worker->push(made<T, float>(in, out, Depth::f32, from,
                                    [&](const T* row, float* floats) {
                                      for (std::ptrdiff_t i = 0; i < samples; ++i)
                                        floats[i] =
                                            is_nodata(row[i], work_.value_) ? 0 : value_of(row[i]);
                                    }),
                     room_for({out.width, out.height, work_.in.channels, Depth::f32}, out.top, to));
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
        if (is_inside && is_nodata(from[i + left], work_.value_)) continue;
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

/// Puts samples without data into the result of a work, and takes their value from all others.
class FilledWork final : public Work {
 public:
  enum class Part {
    all,    ///< before the work, samples without data are filled
    marks,  ///< the same, but a mark stands for no data until the result is complete
    end,    ///< nothing is filled; marks of the work become samples without data
  };

  /// Where luma is taken, a pixel lacks data where all its channels do, else each by itself.
  FilledWork(std::unique_ptr<Work> inner, Part part, double value, bool takes_luma,
             const Place& place)
      : Work(*inner),
        inner_(std::move(inner)),
        part_(part),
        value_(value),
        mark_(kMark * full_range(place.picture_depth)),
        takes_luma_(takes_luma),
        threads_(is_whole() ? place.convolver.options().request.threads : 1) {
    two_levels = false;
    if (part == Part::end) return;
    const int left = window.lead_x + offset_x, above = window.lead_y + offset_y;
    reach_ = std::max({left, window.width - 1 - left, above, window.height - 1 - above});
    window = {window.width + 2 * reach_, window.height + 2 * reach_, window.lead_x + reach_,
              window.lead_y + reach_};
  }

  Needs needs(int rows) const override {
    Needs needs = inner_->needs(rows);
    if (part_ == Part::end) return needs;
    const int filled = is_whole() ? in.height : rows + inner_->window.height;
    const int distances =
        is_whole() ? std::min(in.height, block() * cpu::threads_or_all(threads_)) : filled;
    needs.buffers += bytes_of({in.width, filled, in.channels, in.depth}) +
                     bytes_of({in.width, distances, in.channels, Depth::f32});
    return needs;
  }

  const Work* in_bands() const override { return inner_->in_bands(); }
  void enclose(const Around& around) override {
    inner_->enclose(around);
    Work::operator=(*inner_);
  }
  void finish() const override { inner_->finish(); }

  void complete(PictureView<std::byte> picture) const override {
    inner_->complete(picture);
    with_depth(out.depth, [&]<class T>(TypeTag<T>) {
      const T mark = to_sample<T>(mark_), value = T(value_), next = beside(value);
      for_rows(picture, threads_, [&](int y) {
        T* to = row_of<T>(picture, y);
        for (std::ptrdiff_t i = 0; i < std::ptrdiff_t(picture.width) * picture.channels; ++i)
          to[i] = to[i] == mark ? value : to[i] == value ? next : to[i];
      });
    });
  }

  std::unique_ptr<Worker> make_worker() const override {
    return std::make_unique<FilledWorker>(*this);
  }

 private:
  /// A share of the range that no edge has before it is followed, and none has behind it.
  static constexpr double kMark = 0.75;

  bool by_pixel() const { return takes_luma_ || in.channels != out.channels; }
  /// Rows of a whole picture that are filled at once.
  int block() const { return std::max(64, 2 * reach_); }

  class FilledWorker final : public Worker {
   public:
    explicit FilledWorker(const FilledWork& work)
        : work_(work), inner_(work.inner_->make_worker()) {}

    void push(BandView<const std::byte> in, BandView<std::byte> out) override {
      with_depth(work_.in.depth, [&]<class T>(TypeTag<T>) {
        inner_->push(work_.part_ == Part::end ? in : filled<T>(in, out), out);
        for_rows(out, work_.threads_, [&](int row) { end_row<T>(in, out, row); });
      });
    }

   private:
    using Lacks = std::vector<std::uint8_t>;  ///< whether samples, or pixels, have no data

    int each_in() const { return work_.by_pixel() ? work_.in.channels : 1; }

    template <class T>
    void take(const T* row, std::ptrdiff_t count, std::uint8_t* lacks) const {
      const double value = work_.value_;
      const int each = each_in();
      if (each == 1)
        for (std::ptrdiff_t i = 0; i < count; ++i) lacks[i] = is_nodata(row[i], value);
      else
        for (std::ptrdiff_t i = 0; i < count; ++i, row += each)
          lacks[i] = std::all_of(row, row + each, [&](T own) { return is_nodata(own, value); });
    }

    template <class T>
    void end_row(BandView<const std::byte> in, BandView<std::byte> out, int row) const {
      static thread_local Lacks lacks;
      const int each = work_.by_pixel() ? out.channels : 1, step = out.channels / each;
      const std::ptrdiff_t count = std::ptrdiff_t(out.width) * step,
                           left = std::ptrdiff_t(work_.offset_x) * step,
                           first = std::max<std::ptrdiff_t>(0, -left),
                           end = std::min(count, std::ptrdiff_t(in.width) * step - left);
      lacks.assign(std::size_t(count), 0);
      const int y = out.top + row + work_.offset_y;
      if (y >= in.top && y < in.top + in.height && first < end)
        take(row_of<T>(in, y - in.top) + (first + left) * each_in(), end - first,
             &lacks[std::size_t(first)]);
      const bool is_mark = work_.part_ == Part::marks;
      const T value = T(work_.value_), put = is_mark ? to_sample<T>(work_.mark_) : value,
              next = is_mark ? value : beside(value);
      T* to = row_of<T>(out, row);
      const auto finish = [&](T& sample, bool is) {
        sample = is ? put : sample == value ? next : sample;
      };
      if (each == 1)
        for (std::ptrdiff_t i = 0; i < count; ++i) finish(to[i], lacks[std::size_t(i)]);
      else
        for (std::ptrdiff_t i = 0; i < count * each; ++i)
          finish(to[i], lacks[std::size_t(i / each)]);
    }

    /// The rows that `out` needs, filled.
    template <class T>
    BandView<const std::byte> filled(BandView<const std::byte> in, BandView<std::byte> out) {
      int first = 0, end = work_.in.height;
      if (!work_.is_whole()) {
        const Window& window = work_.inner_->window;
        first = std::max(first, out.top - window.lead_y);
        end = std::min(end, out.top - window.lead_y + out.height + window.height - 1);
      }
      const BandView<std::byte> view =
          room_for({in.width, end - first, in.channels, work_.in.depth}, first, filled_);
      const int block = work_.is_whole() ? work_.block() : view.height;
      cpu::parallel_for((view.height - 1) / block + 1, cpu::threads_or_all(work_.threads_),
                        [&](int, int part) {
                          const int top = part * block;
                          fill<T>(in, rows_of(view, top, std::min(block, view.height - top)));
                        });
      return view;
    }

    /// Of the nearest samples with data the first counts, from above, then from the left.
    template <class T>
    void fill(BandView<const std::byte> in, BandView<std::byte> to) const {
      const int each = each_in(), step = in.channels / each, reach = work_.reach_;
      const std::ptrdiff_t count = std::ptrdiff_t(in.width) * step;
      const Border border = work_.border == Border::wrap ? Border::wrap : Border::constant;
      const auto row_at = [&](int y) {
        y = border_index(border, y, work_.in.height);
        return y < 0 ? nullptr : row_of<T>(in, y - in.top);
      };
      Lacks lacks(std::size_t(count), 0);
      bool any = false;
      for (int row = 0; row < to.height; ++row) {
        std::memcpy(to.row(row), row_at(to.top + row), std::size_t(count * each) * sizeof(T));
        if (any) continue;
        take(row_of<T>(to, row), count, lacks.data());
        any = std::memchr(lacks.data(), 1, lacks.size());
      }
      if (!any) return;
      // In each column, how far down the nearest row with data is.
      constexpr int kFar = std::numeric_limits<int>::max() / 2;
      std::vector<int> distances(std::size_t(count * to.height)), far(lacks.size());
      for (const int way : {1, -1}) {
        std::ranges::fill(far, kFar);
        for (int k = -reach; k < to.height; ++k) {
          const int row = way > 0 ? k : to.height - 1 - k;
          const T* from = row_at(to.top + row);
          if (!from) continue;
          take(from, count, lacks.data());
          for (std::size_t i = 0; i < far.size(); ++i) far[i] = lacks[i] ? far[i] + 1 : 0;
          if (k < 0) continue;
          int* own = &distances[std::size_t(count * row)];
          for (std::size_t i = 0; i < far.size(); ++i)
            own[i] = way > 0 ? -far[i] : far[i] < -own[i] ? far[i] : own[i];
        }
      }
      for (int row = 0; row < to.height; ++row) {
        const int* down = &distances[std::size_t(count * row)];
        bool is_far[3] = {};  // none was found for the sample before
        for (std::ptrdiff_t i = 0; i < count; ++i) {
          const int channel = int(i % step);
          bool& none = is_far[channel];
          if (down[i] == 0) {
            none = false;
            continue;
          }
          std::int64_t least = kFar;
          int best_x = 0, best_y = 0;
          for (std::int64_t k = none ? reach : 0; k <= reach && k * k <= least; ++k)
            for (const std::int64_t across : {-k, k}) {
              const int x = border_index(border, int(i / step + across), in.width);
              const int dy = x < 0 ? kFar : down[std::ptrdiff_t(x) * step + channel];
              const std::int64_t squares = k * k + std::int64_t{dy} * dy;
              if (std::abs(dy) > reach || squares > least || (squares == least && dy >= best_y))
                continue;
              least = squares;
              best_x = x;
              best_y = dy;
            }
          none = least == kFar;
          T* put = row_of<T>(to, row) + i * each;
          if (none)
            std::fill_n(put, each, T(0));
          else
            std::copy_n(
                row_at(to.top + row + best_y) + (std::ptrdiff_t(best_x) * step + channel) * each,
                each, put);
        }
      }
    }

    const FilledWork& work_;
    std::unique_ptr<Worker> inner_;
    Image filled_;  // kept for the next band
  };

  std::unique_ptr<Work> inner_;
  Part part_;
  double value_, mark_;
  bool takes_luma_;
  int threads_, reach_ = 0;
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

std::unique_ptr<Work> begin_scaled(const Filter& inner, const Shape& in, const Place& place,
                                   double value, bool border_lacks) {
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

/// `steps` is the filter with each of its steps without samples that have no data; null where the
/// filter is none of several.
std::unique_ptr<Work> begin_nodata(const Filter& inner, const Filter* steps, const Shape& in,
                                   Place place, const Nodata& nodata) {
  using Part = FilledWork::Part;
  if (in.channels == 4)
    throw UsageError("--nodata: alpha tells which pixels of the picture count; leave it out");
  const Metadata none;
  const Metadata& metadata = place.metadata ? *place.metadata : none;
  const auto lacking = value_for(nodata, metadata, place.picture_depth);
  if (!lacking) {
    std::unique_ptr<Work> work = inner.begin(in, place);
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
  const auto around = [&](std::unique_ptr<Work> work, Part part) {
    return std::make_unique<FilledWork>(std::move(work), part, value, has_luma(inner), place);
  };
  std::unique_ptr<Work> work;
  if (steps) {
    work = steps->begin(in, place);
    if (!work->in_bands()) work = around(std::move(work), Part::end);
  } else if (inner.only_mask()) {
    work = around(begin_scaled(inner, in, place, value, border_lacks), Part::end);
  } else {
    if (border_lacks) place.border_value = 0;
    work = inner.begin(in, place);
    if (work->border == Border::wrap && place.why_whole.empty()) {
      place.why_whole = "the nearest samples with data are sought across the border";
      work = inner.begin(in, place);
    }
    Part part = Part::all;
    work->enclose([&](std::unique_ptr<Work> marks) {
      part = Part::end;
      return around(std::move(marks), Part::marks);
    });
    work = around(std::move(work), part);
  }
  const auto named = sample_without_data(metadata, place.picture_depth);
  work->knows_nodata = !named || Nodata{named} == Nodata{value};
  return work;
}

}  // namespace

bool has_luma(const Filter& filter) {
  return filter.takes_luma() ||
         std::ranges::any_of(filter.steps(), [](const FilterPtr& step) { return has_luma(*step); });
}

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
  std::vector<FilterPtr> each = filter->steps();
  for (FilterPtr& step : each) step = without_nodata(step, nodata);
  const FilterPtr steps = each.empty() ? nullptr : chain(std::move(each));
  char text[64] = "without the file's nodata";
  if (nodata.value) std::snprintf(text, sizeof text, "without %.17g", *nodata.value);
  return std::make_shared<OuterFilter>(text, std::move(filter),
                                       [nodata, steps](auto& inner, auto& in, auto& place) {
                                         return begin_nodata(inner, steps.get(), in, place, nodata);
                                       });
}

}  // namespace convfilt
