#include "src/filter/alpha_bands.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "src/filter/alpha.hpp"
#include "src/picture/sample_type.hpp"

namespace convfilt {
namespace {

constexpr int kColours = 3, kPixel = 4;

template <class Byte>
PictureView<Byte> rows_of(PictureView<Byte> view, int first, int rows) {
  view.data = view.row(first);
  view.height = rows;
  return view;
}

/// Output rows at a time, of those that are not opaque. Floats of so few stay in the second-level
/// cache.
int translucent_step(int width, int halo) {
  constexpr std::ptrdiff_t kFloats = 1 << 18;
  return std::max({int(kFloats / (std::ptrdiff_t(width) * kPixel * 2)), 2 * halo, 8});
}

class AlphaBands final : public BandFilter {
 public:
  AlphaBands(const Problem& whole, std::unique_ptr<BandFilter> colours,
             std::function<std::unique_ptr<TranslucentRows>()> make_translucent)
      : BandFilter(whole),
        colours_(std::move(colours)),
        make_translucent_(std::move(make_translucent)) {}

  std::unique_ptr<Worker> make_worker() const override {
    return std::make_unique<AlphaWorker>(in.depth, colours_->make_worker(), make_translucent_());
  }

  std::int64_t bytes_of_worker() const override {
    // Its floats, and what becomes of them: colours and alpha, and a plan's rows of each.
    constexpr std::int64_t kCopies = 3;
    const int halo = window.height - 1;
    return kCopies * std::int64_t(sizeof(float)) * kPixel * (in.width + window.width) *
           (translucent_step(in.width + window.width, halo) + halo);
  }

 private:
  class AlphaWorker final : public Worker {
   public:
    AlphaWorker(Depth depth, std::unique_ptr<Worker> colours,
                std::unique_ptr<TranslucentRows> translucent)
        : depth_(depth), colours_(std::move(colours)), translucent_(std::move(translucent)) {}

    void filter(PictureView<const std::byte> in, PictureView<std::byte> out) override {
      const int halo = in.height - out.height;
      const std::vector<bool> opaque = opaque_windows(opaque_rows(in, depth_), halo + 1);
      for (int y = 0; y < out.height;) {
        int end = y + 1;
        while (end < out.height && opaque[std::size_t(end)] == opaque[std::size_t(y)]) ++end;
        const auto source = rows_of(in, y, end - y + halo);
        const auto target = rows_of(out, y, end - y);
        if (opaque[std::size_t(y)])
          filter_opaque(source, target);
        else
          filter_translucent(source, target);
        y = end;
      }
    }

   private:
    void filter_opaque(PictureView<const std::byte> in, PictureView<std::byte> out) {
      Image colours(in.width, in.height, kColours, depth_);
      Image filtered(out.width, out.height, kColours, depth_);
      with_depth(depth_, [&]<class T>(TypeTag<T>) {
        for (int y = 0; y < in.height; ++y) {
          const T* from = row_of<T>(in, y);
          T* to = row_of<T>(colours.view(), y);
          for (int x = 0; x < in.width; ++x, from += kPixel, to += kColours)
            std::copy_n(from, kColours, to);
        }
      });
      colours_->filter(std::as_const(colours).view(), filtered.view());
      with_depth(depth_, [&]<class T>(TypeTag<T>) {
        const T full = T(opaque(depth_));
        for (int y = 0; y < out.height; ++y) {
          const T* from = row_of<T>(std::as_const(filtered).view(), y);
          T* to = row_of<T>(out, y);
          for (int x = 0; x < out.width; ++x, from += kColours, to += kPixel) {
            std::copy_n(from, kColours, to);
            to[kColours] = full;
          }
        }
      });
    }

    void filter_translucent(PictureView<const std::byte> in, PictureView<std::byte> out) {
      const int halo = in.height - out.height;
      const int step = translucent_step(in.width, halo);
      for (int y = 0; y < out.height; y += step) {
        const int rows = std::min(step, out.height - y);
        filter_floats(rows_of(in, y, rows + halo), rows_of(out, y, rows));
      }
    }

    void filter_floats(PictureView<const std::byte> in, PictureView<std::byte> out) {
      if (floats_.width() != in.width || floats_.height() != in.height)
        floats_ = Image(in.width, in.height, kPixel, Depth::f32);
      with_depth(depth_, [&]<class T>(TypeTag<T>) {
        for (int y = 0; y < in.height; ++y) {
          const T* from = row_of<T>(in, y);
          float* to = row_of<float>(floats_.view(), y);
          for (int x = 0; x < in.width; ++x, from += kPixel, to += kPixel) {
            const float alpha = float(from[kColours]);
            for (int c = 0; c < kColours; ++c) to[c] = float(from[c]) * alpha;
            to[kColours] = alpha;
          }
        }
      });
      translucent_->filter(std::as_const(floats_).view(), out);
    }

    Depth depth_;
    std::unique_ptr<Worker> colours_;
    std::unique_ptr<TranslucentRows> translucent_;
    Image floats_;
  };

  std::unique_ptr<BandFilter> colours_;
  std::function<std::unique_ptr<TranslucentRows>()> make_translucent_;
};

}  // namespace

std::unique_ptr<BandFilter> alpha_bands(
    const Problem& whole, std::unique_ptr<BandFilter> colours,
    std::function<std::unique_ptr<TranslucentRows>()> make_translucent) {
  return std::make_unique<AlphaBands>(whole, std::move(colours), std::move(make_translucent));
}

}  // namespace convfilt
