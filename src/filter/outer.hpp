/// Filters around filters: what they share.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "kernels/cpu/float_rows.hpp"
#include "src/base/errors.hpp"
#include "src/filter/bands.hpp"
#include "src/filter/filter.hpp"
#include "src/picture/sample_type.hpp"

namespace convfilt {

/// A filter around another.
class OuterFilter final : public Filter {
 public:
  using Begin = std::function<std::unique_ptr<Work>(const Filter& inner, const Shape& in,
                                                    const Place& place)>;

  OuterFilter(std::string text, FilterPtr inner, Begin begin, bool keeps_chroma = false)
      : text_(std::move(text)),
        inner_(std::move(inner)),
        begin_(std::move(begin)),
        keeps_chroma_(keeps_chroma) {}

  std::string text() const override { return text_ + " of " + inner_->text(); }
  std::vector<Mask> masks() const override { return inner_->masks(); }
  bool keeps_lightness() const override { return inner_->keeps_lightness(); }
  bool keeps_chroma() const override { return keeps_chroma_; }
  std::unique_ptr<Work> begin(const Shape& in, const Place& place) const override {
    return begin_(*inner_, in, place);
  }
  std::string resident_refuses() const override {
    return "--linear, --luma, --keep-hidden, --nodata, --region, --output, --depth, and "
           "--threshold and "
           "--halo-limit of sharpen are computed on the CPU";
  }
  ResidentPlan device_plan(const Shape&, const Place&, int) const override {
    throw UsageError(resident_refuses());
  }

 private:
  const std::string text_;
  const FilterPtr inner_;
  const Begin begin_;
  const bool keeps_chroma_;
};

/// Copies a row of samples to floats; alpha then goes from 0 to 1.
template <class T>
void enter_as_floats(const Shape& in, const T* row, int width, float* floats) {
  constexpr int kAlpha = 3;
  const std::ptrdiff_t samples = std::ptrdiff_t(width) * in.channels;
  if constexpr (std::is_same_v<T, std::uint8_t>)
    cpu::widen_row(row, int(samples), floats);
  else
    std::copy_n(row, samples, floats);
  const float full = float(full_range(in.depth));
  for (std::ptrdiff_t i = kAlpha; in.channels > kAlpha && i < samples; i += in.channels)
    floats[i] /= full;
}

/// A row of a result. The picture's rows begin at its left side, not at the first pixel that is
/// replaced.
template <class T>
struct OuterRow {
  const float* response;
  int width;                     ///< of the response
  BandView<const std::byte> in;  ///< the picture
  int y;                         ///< in the picture, of the row that is replaced
  const T* from;                 ///< that row
  const float* floats;           ///< and what it entered as
  T* to;                         ///< the result's row, in the result's depth
};

/// A work around another, which gets pictures of floats. Enter makes a row of floats, and Leave a
/// row of the result.
template <class Enter, class Leave>
class OuterWork final : public Work {
 public:
  OuterWork(const Shape& in, int channels, const Place& place, std::unique_ptr<Work> inner,
            Enter enter, Leave leave)
      : Work(*inner),
        threads_(is_whole() ? place.convolver.options().request.threads : 1),
        inner_(std::move(inner)),
        enter_(std::move(enter)),
        leave_(std::move(leave)) {
    this->in = in;
    regions.clear();
    out.channels = channels;
    out.depth = in.depth;
    two_levels = false;
  }

  Needs needs(int rows) const override {
    Needs needs = inner_->needs(rows);
    Shape floats = inner_->in, response = inner_->out;
    if (!is_whole()) {
      floats.height = rows + window.height;
      response.height = rows;
    }
    needs.buffers += bytes_of(floats) + bytes_of(response);
    return needs;
  }

  void finish() const override { inner_->finish(); }
  std::vector<const MaskWork*> mask_works() const override { return inner_->mask_works(); }

  std::unique_ptr<Worker> make_worker() const override {
    return std::make_unique<OuterWorker>(*this);
  }

 private:
  class OuterWorker final : public Worker {
   public:
    explicit OuterWorker(const OuterWork& work) : work_(work), inner_(work.inner_->make_worker()) {}

    void push(BandView<const std::byte> in, BandView<std::byte> out) override {
      const Shape& inside = work_.inner_->in;
      with_depth(work_.in.depth, [&]<class T>(TypeTag<T>) {
        const auto floats = converted(work_, in, out, work_.threads_, inside.channels, Depth::f32,
                                      made_, [&](const std::byte* from, std::byte* to) {
                                        work_.enter_(reinterpret_cast<const T*>(from), in.width,
                                                     reinterpret_cast<float*>(to));
                                      });
        const BandView<std::byte> response = room_for(
            {out.width, out.height, work_.inner_->out.channels, Depth::f32}, out.top, response_);
        inner_->push(floats, response);
        for_rows(out, work_.threads_, [&](int y) {
          // With Mode::full, results outside the picture replace none of its rows.
          const int from = std::clamp(out.top + y + work_.offset_y, in.top, in.top + in.height - 1);
          const int at = std::clamp(from - floats.top, 0, floats.height - 1);
          work_.leave_(OuterRow<T>{row_of<float>(response, y), out.width, in, from,
                                   row_of<T>(in, from - in.top), row_of<float>(floats, at),
                                   row_of<T>(out, y)});
        });
      });
    }

   private:
    const OuterWork& work_;
    std::unique_ptr<Worker> inner_;
    Image made_{}, response_{};  // kept for the next band
  };

  int threads_;
  std::unique_ptr<Work> inner_;
  Enter enter_;
  Leave leave_;
};

}  // namespace convfilt
