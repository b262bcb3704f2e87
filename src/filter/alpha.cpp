#include "src/filter/alpha.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>
#include <utility>

#include "kernels/contract/border.hpp"
#include "src/base/errors.hpp"
#include "src/filter/rows.hpp"
#include "src/picture/sample_type.hpp"

namespace convfilt {
namespace {

constexpr int kColours = 3, kPixel = 4;  // BGR, BGRA

Shape with_channels(Shape shape, int channels) {
  shape.channels = channels;
  return shape;
}

/// Alpha as a sample, rounded and saturated to 0..opaque; NaN becomes 0.
template <class T>
T to_alpha(float alpha) {
  constexpr double kFull = std::is_same_v<T, float> ? 1 : double(std::numeric_limits<T>::max());
  return alpha > 0 ? to_sample<T>(std::min(double(alpha), kFull)) : T(0);
}

/// What responses at row y become, before they are divided by alpha.
std::vector<double> combined(const std::vector<Image>& responses,
                             const std::vector<double>& divisors, int y) {
  const auto row = [y](const Image& response) { return row_of<float>(response.view(), y); };
  const std::size_t samples =
      std::size_t(responses[0].width()) * std::size_t(responses[0].channels());
  std::vector<double> values(samples);
  const float* response = row(responses[0]);
  if (divisors.empty()) {
    std::copy_n(response, samples, values.begin());
    return values;
  }
  for (std::size_t x = 0; x < samples; ++x) values[x] = std::abs(response[x] / divisors[0]);
  for (std::size_t i = 1; i < responses.size(); ++i) {
    response = row(responses[i]);
    for (std::size_t x = 0; x < samples; ++x) {
      const double other = response[x] / divisors[i];
      values[x] = std::sqrt(values[x] * values[x] + other * other);
    }
  }
  return values;
}

/// Copies colours of a row of `Count` channels to the picture's, from channel `first` on.
template <int Count, class T>
void store_divided(const double* values, const float* alpha, double offset, int width, int first,
                   T* to) {
  for (int x = 0; x < width; ++x, values += Count, to += kPixel) {
    for (int c = 0; c < std::min(Count, kColours); ++c)
      to[first + c] = to_sample<T>(alpha[x] > 0 ? values[c] / double(alpha[x]) + offset : 0.0);
    to[kColours] = to_alpha<T>(alpha[x]);
  }
}

}  // namespace

class FloatWork::FloatWorker final : public Worker {
 public:
  explicit FloatWorker(const FloatWork& work)
      : work_(work), rows_(work.rows_), responses_(work.rows_.size()) {}

  void push(PictureView<const std::byte> in, PictureView<std::byte> out, int) override {
    if (work_.is_whole()) return push_planes(in, out);
    const int halo = in.height - out.height, step = work_.band_step();
    for (int y = 0; y < out.height; y += step) {
      const int rows = std::min(step, out.height - y);
      filter(rows_of(in, y, rows + halo), rows_of(out, y, rows), 0, in.channels, nullptr);
    }
  }

 private:
  bool has_alpha() const { return work_.in.channels == kPixel; }

  /// Strategies that take whole pictures pair or group channels, each in its own way, so that they
  /// get one channel at a time.
  void push_planes(PictureView<const std::byte> in, PictureView<std::byte> out) {
    Image alpha;
    if (!work_.alpha_.empty()) {
      take(in, kColours, 1);
      fit(alpha, out, 1);
      MaskRows(work_.alpha_[0]).push(std::as_const(floats_).view(), alpha.view());
    }
    for (int c = 0; c < std::min(in.channels, kColours); ++c)
      filter(in, out, c, 1, alpha.empty() ? nullptr : &alpha);
    floats_ = {};
    for (Image& response : responses_) response = {};
  }

  /// Filters `count` channels from `first` on. `alpha` is the result's, if a plane has it.
  void filter(PictureView<const std::byte> in, PictureView<std::byte> out, int first, int count,
              const Image* alpha) {
    take(in, first, count);
    if (work_.is_whole() && rows_.size() > 1) work_.convolver_.next_picture();
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      fit(responses_[i], out, count);
      rows_[i].push(std::as_const(floats_).view(), responses_[i].view());
    }
    with_depth(work_.out.depth, [&]<class T>(TypeTag<T>) {
      for_rows(out, threads(), [&](int y) {
        const std::vector<double> values = combined(responses_, work_.responses_.divisors, y);
        T* const to = row_of<T>(out, y);
        if (!has_alpha()) {
          if (count == out.channels) {
            for (std::size_t i = 0; i < values.size(); ++i) to[i] = to_sample<T>(values[i]);
          } else {
            for (int x = 0; x < out.width; ++x)
              to[std::ptrdiff_t(x) * out.channels + first] = to_sample<T>(values[std::size_t(x)]);
          }
          return;
        }
        std::vector<float> kept;
        const float* by = alpha ? row_of<float>(alpha->view(), y) : nullptr;
        if (!by) by = (kept = alpha_row<T>(in, out.width, y)).data();
        const double offset = work_.responses_.offset;
        if (count == 1)
          store_divided<1>(values.data(), by, offset, out.width, first, to);
        else
          store_divided<kPixel>(values.data(), by, offset, out.width, first, to);
      });
    });
  }

  /// The alpha of row y of the result that no plane has: filtered with the colours, or the
  /// picture's. What lies outside the picture is opaque.
  template <class T>
  std::vector<float> alpha_row(PictureView<const std::byte> in, int width, int y) const {
    std::vector<float> alpha(std::size_t(width), float(full_range(work_.in.depth)));
    if (work_.responses_.filters_alpha) {
      const float* from = row_of<float>(responses_[0].view(), y) + kColours;
      for (int x = 0; x < width; ++x) alpha[std::size_t(x)] = from[std::ptrdiff_t(x) * kPixel];
      return alpha;
    }
    const bool whole = work_.is_whole();
    const int left = work_.anchor_x - (whole ? work_.window.lead_x : 0);
    y += work_.anchor_y - (whole ? work_.window.lead_y : 0);
    if (y < 0 || y >= in.height) return alpha;
    const T* from = row_of<T>(in, y) + kColours;
    for (int x = std::max(0, -left); x < std::min(width, in.width - left); ++x)
      alpha[std::size_t(x)] = float(from[std::ptrdiff_t(x + left) * kPixel]);
    return alpha;
  }

  /// floats_ = `count` channels from `first` on, colours premultiplied.
  void take(PictureView<const std::byte> in, int first, int count) {
    fit(floats_, in, count);
    with_depth(work_.in.depth, [&]<class T>(TypeTag<T>) {
      for_rows(in, threads(), [&](int y) {
        const T* from = row_of<T>(in, y);
        float* to = row_of<float>(floats_.view(), y);
        if (!has_alpha() && count == in.channels) {
          std::copy_n(from, std::ptrdiff_t(in.width) * count, to);
        } else if (count == 1) {
          const bool weighted = has_alpha() && first < kColours;
          for (int x = 0; x < in.width; ++x, from += in.channels)
            to[x] = float(from[first]) * (weighted ? float(from[kColours]) : 1.0f);
        } else {
          for (int x = 0; x < in.width; ++x, from += kPixel, to += kPixel) {
            const float alpha = float(from[kColours]);
            for (int c = 0; c < kColours; ++c) to[c] = float(from[c]) * alpha;
            to[kColours] = alpha;
          }
        }
      });
    });
  }

  template <class Byte>
  static void fit(Image& floats, PictureView<Byte> view, int channels) {
    if (floats.width() != view.width || floats.height() != view.height)
      floats = Image(view.width, view.height, channels, Depth::f32);
  }

  int threads() const { return work_.is_whole() ? work_.convolver_.options().request.threads : 1; }

  const FloatWork& work_;
  std::vector<MaskRows> rows_;
  Image floats_;
  std::vector<Image> responses_;
};

FloatWork::FloatWork(const Shape& in, Responses responses, const Place& place)
    : Work(place.convolver.problem_of(in, responses.masks[0], place.border_value), place.why_whole),
      responses_(std::move(responses)),
      convolver_(place.convolver) {
  const double full = in.channels == kPixel ? full_range(in.depth) : 1;
  const Shape plane{in.width, in.height, 1, Depth::f32};
  const int runs = std::min(in.channels, kColours) * int(responses_.masks.size()) +
                   (responses_.filters_alpha ? 1 : 0);
  const auto rows_by = [&](const Mask& mask, double border_value) -> MaskRows {
    return {convolver_.problem_of(plane, mask, border_value), in.channels, runs, place};
  };
  if (responses_.filters_alpha) alpha_.push_back(rows_by(responses_.masks[0], full));
  for (const Mask& mask : responses_.masks)
    rows_.push_back(rows_by(mask, place.border_value * full));
  for (const MaskRows& rows : rows_)
    if (!rows.why_whole.empty()) keep_whole(rows.why_whole);
}

void FloatWork::note_problems() const {
  for (const MaskRows& rows : rows_)
    if (!is_whole()) convolver_.note(rows.problem());
}

void FloatWork::keep_whole(const std::string& why) {
  why_whole = why;
  for (std::vector<MaskRows>* all : {&rows_, &alpha_})
    for (MaskRows& rows : *all) rows.why_whole = why;
}

/// Rows of a band that are filtered at once: their floats stay in the second-level cache.
int FloatWork::band_step() const {
  constexpr std::ptrdiff_t kFloats = 1 << 18;
  const std::ptrdiff_t samples = std::ptrdiff_t(in.width + window.width) * in.channels;
  return std::max(
      {int(kFloats / (samples * std::ptrdiff_t(rows_.size() + 1))), 2 * (window.height - 1), 8});
}

Work::Needs FloatWork::needs(int rows) const {
  constexpr std::int64_t kFloat = sizeof(float);
  const auto masks = std::int64_t(rows_.size());
  if (!is_whole()) {
    // The picture's floats, the responses, and a plan's rows of them.
    const std::int64_t samples = std::int64_t{in.width + window.width} * in.channels;
    return {kFloat * samples * (std::min(band_step(), rows) + window.height) * (masks + 2)};
  }
  const std::int64_t result = kFloat * out.width * out.height;
  Needs needs{kFloat * in.width * in.height + result * (masks + std::int64_t(alpha_.size()))};
  if (rows_.size() > 1) convolver_.next_picture();
  for (const std::vector<MaskRows>* all : {&rows_, &alpha_})
    for (const MaskRows& each : *all) needs.plans += each.plan_bytes();
  return needs;
}

std::unique_ptr<Worker> FloatWork::make_worker() const {
  return std::make_unique<FloatWorker>(*this);
}

namespace {

/// For each row of a picture with alpha whether all its pixels are opaque.
std::vector<bool> opaque_rows(PictureView<const std::byte> picture, Depth depth) {
  std::vector<bool> rows(std::size_t(picture.height), true);
  with_depth(depth, [&]<class T>(TypeTag<T>) {
    const T full = T(full_range(depth));
    for (int y = 0; y < picture.height; ++y) {
      const T* alpha = row_of<T>(picture, y) + kColours;
      bool all = true;
      for (int x = 0; x < picture.width; ++x) all &= alpha[std::ptrdiff_t(x) * kPixel] == full;
      rows[std::size_t(y)] = all;
    }
  });
  return rows;
}

class AlphaWork final : public Work {
 public:
  AlphaWork(const Problem& whole, std::unique_ptr<Work> opaque,
            std::unique_ptr<FloatWork> translucent, std::string refusal, int threads)
      : Work(whole, opaque->why_whole),
        opaque_(std::move(opaque)),
        translucent_(std::move(translucent)),
        refusal_(std::move(refusal)),
        threads_(is_whole() ? threads : 1) {}

  Needs needs(int rows) const override {
    Needs needs = opaque_->needs(rows);
    const int rows_in = is_whole() ? in.height : rows + window.height;
    needs.buffers += bytes_of({in.width, rows_in, kColours, in.depth}) +
                     bytes_of({out.width, rows, kColours, in.depth});
    if (!translucent_) return needs;
    const Needs floats = translucent_->needs(rows);
    return {std::max(needs.buffers, floats.buffers), needs.plans + floats.plans};
  }

  std::unique_ptr<Worker> make_worker() const override {
    return std::make_unique<AlphaWorker>(*this);
  }

 private:
  class AlphaWorker final : public Worker {
   public:
    explicit AlphaWorker(const AlphaWork& work)
        : work_(work),
          opaque_(work.opaque_->make_worker()),
          translucent_(work.translucent_ ? work.translucent_->make_worker() : nullptr) {}

    void push(PictureView<const std::byte> in, PictureView<std::byte> out, int y) override {
      const std::vector<bool> opaque = opaque_windows(in, out.height);
      if (work_.is_whole()) {
        // Opaque rows are written over.
        if (std::ranges::count(opaque, false) > 0) push_translucent(in, out, y);
        if (std::ranges::count(opaque, true) > 0) push_opaque(in, out, y, opaque);
        return;
      }
      const int halo = in.height - out.height;
      for (int from = 0; from < out.height;) {
        const bool is_opaque = opaque[std::size_t(from)];
        int end = from + 1;
        while (end < out.height && opaque[std::size_t(end)] == is_opaque) ++end;
        const auto source = rows_of(in, from, end - from + halo);
        const auto target = rows_of(out, from, end - from);
        if (is_opaque)
          push_opaque(source, target, y + from, {});
        else
          push_translucent(source, target, y + from);
        from = end;
      }
    }

   private:
    /// For each row of the result whether all rows under the mask are opaque. Those outside the
    /// picture are the border's, and a ghost cell is opaque.
    std::vector<bool> opaque_windows(PictureView<const std::byte> in, int out_height) const {
      const Window& window = work_.window;
      const std::vector<bool> rows = opaque_rows(in, work_.in.depth);
      std::vector<bool> windows(std::size_t(out_height), false);
      int run = 0;  // opaque rows up to this one
      for (int i = 0; i < out_height + window.height - 1; ++i) {
        const int y =
            work_.is_whole() ? border_index(work_.border, i - window.lead_y, in.height) : i;
        run = y < 0 || rows[std::size_t(y)] ? run + 1 : 0;
        if (i + 1 >= window.height)
          windows[std::size_t(i + 1 - window.height)] = run >= window.height;
      }
      return windows;
    }

    void push_translucent(PictureView<const std::byte> in, PictureView<std::byte> out, int y) {
      if (!translucent_) throw UsageError(work_.refusal_);
      translucent_->push(in, out, y);
    }

    /// `rows` says which rows of the result are wanted; empty = all.
    void push_opaque(PictureView<const std::byte> in, PictureView<std::byte> out, int y,
                     const std::vector<bool>& rows) {
      const Depth depth = work_.in.depth;
      const Image colours = without_alpha(in, depth, work_.threads_);
      Image filtered(out.width, out.height, kColours, depth);
      opaque_->push(colours.view(), filtered.view(), y);
      with_depth(depth, [&]<class T>(TypeTag<T>) {
        const T full = T(full_range(depth));
        for_rows(out, work_.threads_, [&](int row) {
          if (!rows.empty() && !rows[std::size_t(row)]) return;
          const T* from = row_of<T>(std::as_const(filtered).view(), row);
          T* to = row_of<T>(out, row);
          for (int x = 0; x < out.width; ++x, from += kColours, to += kPixel) {
            std::copy_n(from, kColours, to);
            to[kColours] = full;
          }
        });
      });
    }

    const AlphaWork& work_;
    std::unique_ptr<Worker> opaque_, translucent_;
  };

  std::unique_ptr<Work> opaque_;
  std::unique_ptr<FloatWork> translucent_;
  std::string refusal_;  ///< why there is no such work
  int threads_;
};

}  // namespace

std::unique_ptr<Work> with_alpha(const Filter& opaque, const Shape& in, Responses responses,
                                 const Place& place, std::string text) {
  const Problem whole = place.convolver.problem_of(in, responses.masks[0], place.border_value);
  std::unique_ptr<FloatWork> translucent;
  std::string refusal;
  Place at = place;
  try {
    translucent = std::make_unique<FloatWork>(in, std::move(responses), place);
    at.why_whole = translucent->why_whole;
  } catch (const UsageError& error) {
    // A strategy by name may take no floats, and an opaque picture has none.
    refusal = "the picture has alpha, so its colours are filtered as floats, premultiplied; " +
              std::string(error.what());
  }
  std::unique_ptr<Work> colours = opaque.begin(with_channels(in, kColours), at);
  if (translucent && colours->is_whole()) translucent->keep_whole(colours->why_whole);
  place.convolver.describe(std::move(text));
  if (translucent) translucent->note_problems();
  return std::make_unique<AlphaWork>(whole, std::move(colours), std::move(translucent),
                                     std::move(refusal), place.convolver.options().request.threads);
}

Image without_alpha(PictureView<const std::byte> picture, Depth depth, int threads) {
  Image colours(picture.width, picture.height, kColours, depth);
  with_depth(depth, [&]<class T>(TypeTag<T>) {
    for_rows(picture, threads, [&](int y) {
      const T* from = row_of<T>(picture, y);
      T* to = row_of<T>(colours.view(), y);
      for (int x = 0; x < picture.width; ++x, from += kPixel, to += kColours)
        std::copy_n(from, kColours, to);
    });
  });
  return colours;
}

}  // namespace convfilt
