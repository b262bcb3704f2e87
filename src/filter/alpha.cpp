#include "src/filter/alpha.hpp"

#include <algorithm>
#include <atomic>
#include <limits>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "src/base/errors.hpp"
#include "src/filter/bands.hpp"
#include "src/filter/mask_work.hpp"
#include "src/picture/sample_type.hpp"

namespace convfilt {
namespace {

constexpr int kColours = 3, kPixel = 4;  // BGR, BGRA

/// Where the alpha of a row lies.
struct AlphaRow {
  const float* first;
  int step;  ///< from pixel to pixel
};

/// Copies the colours of a row.
template <class T>
void copy_colours(const T* from, int width, T* to) {
  for (int x = 0; x < width; ++x, from += kPixel, to += kColours) std::copy_n(from, kColours, to);
}

/// Alpha as a sample, rounded and saturated to 0..opaque; NaN becomes 0.
template <class T>
T to_alpha(float alpha) {
  constexpr double kFull = std::is_same_v<T, float> ? 1 : double(std::numeric_limits<T>::max());
  return alpha > 0 ? to_sample<T>(std::min(double(alpha), kFull)) : T(0);
}

/// Stores a row of `Count` channels, divided by alpha, in the picture's from channel `first` on.
template <int Count, class T>
void store_divided(const float* values, AlphaRow alpha, double offset, int width, int first,
                   T* to) {
  const float* a = alpha.first;
  for (int x = 0; x < width; ++x, values += Count, a += alpha.step, to += kPixel) {
    for (int c = 0; c < std::min(Count, kColours); ++c)
      to[first + c] = to_sample<T>(*a > 0 ? double(values[c]) / double(*a) + offset : 0.0);
    to[kColours] = to_alpha<T>(*a);
  }
}

/// Filters the picture in floats. Where it has alpha, colours are premultiplied; the result's are 0
/// where alpha is not above 0. The alpha of the result is rounded and saturated.
class FloatWork final : public Work {
 public:
  /// `whole` is the picture's problem. If the mask does not filter alpha, it is kept.
  FloatWork(const Problem& whole, bool filters_alpha, const Place& place)
      : Work(whole, place.why_whole),
        offset_(whole.mask.offset),
        filters_alpha_(filters_alpha),
        convolver_(place.convolver),
        alpha_(filters_alpha ? std::optional(work_by(whole, full_range(in.depth), place))
                             : std::nullopt),
        mask_(work_by(whole, place.border_value * full_range(in.depth), place)) {
    if (mask_.is_whole()) keep_whole(mask_.why_whole);
  }

  /// Names its problem in the convolver's report, if it takes bands.
  void note_problem() const {
    if (!is_whole()) convolver_.note(mask_.problem());
  }

  const Choice& choice() const { return mask_.choice(); }

  /// Takes the whole picture, since others do.
  void keep_whole(const std::string& why) {
    why_whole = mask_.why_whole = why;
    if (alpha_) alpha_->why_whole = why;
  }

  Needs needs(int rows) const override {
    constexpr std::int64_t kFloat = sizeof(float);
    if (!is_whole()) {
      // The picture's floats, the response, and a plan's rows of them.
      const std::int64_t samples = std::int64_t{in.width} * in.channels;
      return {kFloat * samples * (std::min(band_step(), rows) + window.height) * 3};
    }
    const std::int64_t result = kFloat * out.width * out.height;
    return {kFloat * in.width * in.height + result * (alpha_ ? 2 : 1),
            mask_.plan_bytes() + (alpha_ ? alpha_->plan_bytes() : 0)};
  }

  std::unique_ptr<Worker> make_worker() const override {
    return std::make_unique<FloatWorker>(*this);
  }

 private:
  class FloatWorker final : public Worker {
   public:
    explicit FloatWorker(const FloatWork& work) : work_(work), mask_(work.mask_.make_worker()) {}

    void push(BandView<const std::byte> in, BandView<std::byte> out) override {
      if (work_.is_whole()) return push_planes(in, out);
      const int step = work_.band_step();
      for (int y = 0; y < out.height; y += step)
        filter(in, rows_of(out, y, std::min(step, out.height - y)), 0, in.channels, nullptr);
    }

   private:
    /// Strategies that take whole pictures pair or group channels, each in its own way, so that
    /// they get one channel at a time.
    void push_planes(BandView<const std::byte> in, BandView<std::byte> out) {
      Image alpha;
      if (work_.alpha_) {
        work_.alpha_->make_worker()->push(
            floats_of(in, out, kColours, 1),
            room_for({out.width, out.height, 1, Depth::f32}, out.top, alpha));
      }
      for (int c = 0; c < kColours; ++c) filter(in, out, c, 1, alpha.empty() ? nullptr : &alpha);
      floats_ = {};
      response_ = {};
    }

    /// Filters `count` channels from `first` on. `alpha` is the result's, if a plane has it.
    void filter(BandView<const std::byte> in, BandView<std::byte> out, int first, int count,
                const Image* alpha) {
      mask_->push(floats_of(in, out, first, count),
                  room_for({out.width, out.height, count, Depth::f32}, out.top, response_));
      with_depth(work_.out.depth, [&]<class T>(TypeTag<T>) {
        for_rows(out, threads(), [&](int y) {
          T* const to = row_of<T>(out, y);
          const AlphaRow by =
              alpha ? AlphaRow{row_of<float>(alpha->view(), y), 1} : alpha_row<T>(in, out, y);
          const float* values = row_of<float>(std::as_const(response_).view(), y);
          const double offset = work_.offset_;
          if (count == 1)
            store_divided<1>(values, by, offset, out.width, first, to);
          else
            store_divided<kPixel>(values, by, offset, out.width, first, to);
        });
      });
    }

    /// The alpha of row y of the result that no plane has: filtered with the colours, or the
    /// picture's. What lies outside the picture is opaque.
    template <class T>
    AlphaRow alpha_row(BandView<const std::byte> in, BandView<std::byte> out, int y) const {
      if (work_.filters_alpha_) return {row_of<float>(response_.view(), y) + kColours, kPixel};
      static thread_local std::vector<float> alpha;
      take_alpha<T>(work_, in, out.top + y, alpha);
      return {alpha.data(), 1};
    }

    /// `count` channels from `first` on, colours premultiplied.
    BandView<const std::byte> floats_of(BandView<const std::byte> in, BandView<std::byte> out,
                                        int first, int count) {
      return with_depth(work_.in.depth, [&]<class T>(TypeTag<T>) {
        return converted(work_, in, out, threads(), count, Depth::f32, floats_,
                         [&](const std::byte* row, std::byte* floats) {
                           const T* from = reinterpret_cast<const T*>(row);
                           float* to = reinterpret_cast<float*>(floats);
                           if (count == 1) {
                             const bool weighted = first < kColours;
                             for (int x = 0; x < in.width; ++x, from += kPixel)
                               to[x] =
                                   float(from[first]) * (weighted ? float(from[kColours]) : 1.0f);
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

    int threads() const {
      return work_.is_whole() ? work_.convolver_.options().request.threads : 1;
    }

    const FloatWork& work_;
    std::unique_ptr<Worker> mask_;
    Image floats_, response_;
  };

  MaskWork work_by(Problem plane, double border_value, const Place& place) const {
    plane.channels = 1;
    plane.depth = Depth::f32;
    plane.border_value = border_value;
    plane.mask.offset = 0;
    return {plane, kPixel, full_range(in.depth), kColours + (filters_alpha_ ? 1 : 0), place};
  }

  /// Rows of a band that are filtered at once.
  int band_step() const { return rows_in_cache(*this, std::ptrdiff_t(in.width) * in.channels * 2); }

  double offset_;  ///< a colour, so that it is added behind the division by alpha
  bool filters_alpha_;
  Convolver& convolver_;
  std::optional<MaskWork> alpha_;  ///< for alpha alone, if a whole picture's is filtered
  MaskWork mask_;
};

/// Whether all pixels of a row with alpha are opaque.
bool is_opaque(const std::byte* row, int width, Depth depth) {
  return with_depth(depth, [&]<class T>(TypeTag<T>) {
    const T full = T(full_range(depth));
    const T* alpha = reinterpret_cast<const T*>(row) + kColours;
    bool all = true;
    for (int x = 0; x < width; ++x) all &= alpha[std::ptrdiff_t(x) * kPixel] == full;
    return all;
  });
}

class AlphaWork final : public Work {
 public:
  AlphaWork(const Problem& whole, std::unique_ptr<Work> opaque,
            std::unique_ptr<FloatWork> translucent, std::string refusal, Convolver& convolver)
      : Work(whole, opaque->why_whole),
        opaque_(std::move(opaque)),
        translucent_(std::move(translucent)),
        refusal_(std::move(refusal)),
        convolver_(convolver),
        threads_(is_whole() ? convolver.options().request.threads : 1) {}

  Needs needs(int rows) const override {
    Needs needs = opaque_->needs(rows);
    const int rows_in = is_whole() ? in.height : rows + window.height;
    needs.buffers += bytes_of({in.width, rows_in, kColours, in.depth}) +
                     bytes_of({out.width, rows, kColours, in.depth});
    if (!translucent_) return needs;
    const Needs floats = translucent_->needs(rows);
    // A worker of bands keeps the buffers of both.
    return {is_whole() ? std::max(needs.buffers, floats.buffers) : needs.buffers + floats.buffers,
            needs.plans + floats.plans};
  }

  std::unique_ptr<Worker> make_worker() const override {
    return std::make_unique<AlphaWorker>(*this);
  }

  /// The report names the choice for opaque rows. Only with a border that wraps does it name the
  /// other choice where there are none.
  void finish() const override {
    if (wraps() && !is_whole() && !had_opaque_) convolver_.report_choice(translucent_->choice());
  }

 private:
  class AlphaWorker final : public Worker {
   public:
    explicit AlphaWorker(const AlphaWork& work) : work_(work) {}

    void push(BandView<const std::byte> in, BandView<std::byte> out) override {
      const std::vector<bool> opaque = opaque_windows(in, out);
      if (work_.is_whole()) {
        // Opaque rows are written over.
        if (std::ranges::count(opaque, false) > 0) push_translucent(in, out);
        if (std::ranges::count(opaque, true) > 0) push_opaque(in, out, opaque);
        return;
      }
      for (int y = 0; y < out.height;) {
        int end = y + 1;
        while (end < out.height && opaque[std::size_t(end)] == opaque[std::size_t(y)]) ++end;
        const BandView<std::byte> rows = rows_of(out, y, end - y);
        if (opaque[std::size_t(y)])
          push_opaque(in, rows, {});
        else
          push_translucent(in, rows);
        y = end;
      }
    }

   private:
    /// For each row of the result whether all rows under the mask are opaque. Those outside the
    /// picture are the border's, and a ghost cell is opaque.
    std::vector<bool> opaque_windows(BandView<const std::byte> in, BandView<std::byte> out) const {
      const int height = work_.window.height;
      std::vector<bool> windows(std::size_t(out.height), false);
      int run = 0;  // opaque rows up to this one
      for (int i = 0; i < out.height + height - 1; ++i) {
        const int y =
            row_index(in, out.top + i - work_.window.lead_y, work_.border, work_.in.height);
        run = y < 0 || is_opaque(in.row(y), in.width, work_.in.depth) ? run + 1 : 0;
        if (i + 1 >= height) windows[std::size_t(i + 1 - height)] = run >= height;
      }
      return windows;
    }

    void push_translucent(BandView<const std::byte> in, BandView<std::byte> out) {
      if (!work_.translucent_) throw UsageError(work_.refusal_);
      if (!translucent_) translucent_ = work_.translucent_->make_worker();
      translucent_->push(in, out);
    }

    /// `rows` says which rows of the result are wanted; empty = all.
    void push_opaque(BandView<const std::byte> in, BandView<std::byte> out,
                     const std::vector<bool>& rows) {
      work_.had_opaque_ = true;
      const Depth depth = work_.in.depth;
      Image made, filtered(out.width, out.height, kColours, depth);
      const BandView<std::byte> result(filtered.view(), out.top);
      with_depth(depth, [&]<class T>(TypeTag<T>) {
        const auto colours = converted(work_, in, out, work_.threads_, kColours, depth, made,
                                       [&](const std::byte* from, std::byte* to) {
                                         copy_colours(reinterpret_cast<const T*>(from), in.width,
                                                      reinterpret_cast<T*>(to));
                                       });
        if (!opaque_) opaque_ = work_.opaque_->make_worker();
        opaque_->push(colours, result);
        const T full = T(full_range(depth));
        for_rows(out, work_.threads_, [&](int row) {
          if (!rows.empty() && !rows[std::size_t(row)]) return;
          const T* from = row_of<T>(result, row);
          T* to = row_of<T>(out, row);
          for (int x = 0; x < out.width; ++x, from += kColours, to += kPixel) {
            std::copy_n(from, kColours, to);
            to[kColours] = full;
          }
        });
      });
    }

    const AlphaWork& work_;
    std::unique_ptr<Worker> opaque_, translucent_;  ///< made when rows need them
  };

  std::unique_ptr<Work> opaque_;
  std::unique_ptr<FloatWork> translucent_;
  std::string refusal_;  ///< why there is no such work
  Convolver& convolver_;
  int threads_;
  mutable std::atomic<bool> had_opaque_ = false;
};

}  // namespace

std::unique_ptr<Work> with_alpha(const Filter& opaque, const Shape& in, const Mask& mask,
                                 bool filters_alpha, const Place& place) {
  const Problem whole = place.convolver.problem_of(in, mask, place.border_value);
  std::unique_ptr<FloatWork> translucent;
  std::string refusal;
  Place at = place;
  try {
    translucent = std::make_unique<FloatWork>(whole, filters_alpha, place);
    at.why_whole = translucent->why_whole;
  } catch (const UsageError& error) {
    // A strategy by name may take no floats, and an opaque picture has none.
    refusal = "the picture has alpha, so its colours are filtered as floats, premultiplied; " +
              std::string(error.what());
  }
  std::unique_ptr<Work> colours = opaque.begin({in.width, in.height, kColours, in.depth}, at);
  if (translucent && colours->is_whole()) translucent->keep_whole(colours->why_whole);
  place.convolver.set_job(
      "a picture with alpha: where it is opaque, as if it had none; elsewhere premultiplied by "
      "alpha, in f32");
  if (translucent) translucent->note_problem();
  return std::make_unique<AlphaWork>(whole, std::move(colours), std::move(translucent),
                                     std::move(refusal), place.convolver);
}

Image without_alpha(const Image& image, int threads) {
  Image colours(image.width(), image.height(), kColours, image.depth());
  with_depth(image.depth(), [&]<class T>(TypeTag<T>) {
    for_rows(image.view(), threads, [&](int y) {
      copy_colours(row_of<T>(image.view(), y), image.width(), row_of<T>(colours.view(), y));
    });
  });
  return colours;
}

}  // namespace convfilt
