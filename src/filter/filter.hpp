/// An operation on a picture, as a value. A picture passes in bands of rows, so that it is decoded,
/// filtered and encoded at the same time and need not lie in memory as a whole, unless its border
/// wraps or the file holds it turned. Where a strategy takes whole pictures, the picture is the
/// only band.
///
/// A band of the result needs some more rows of the picture. Ghost cells are the plans' affair:
/// kernels/plan/source_rows.hpp.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kernels/plan/band.hpp"
#include "src/filter/convolver.hpp"
#include "src/filter/shape.hpp"
#include "src/picture/colour.hpp"
#include "src/picture/metadata.hpp"
#include "src/picture/region.hpp"

namespace convfilt {

/// Where a filter begins: on the machine, and inside which other filters.
struct Place {
  Convolver& convolver;
  double border_value = 0;  ///< in the units of the samples that the filter gets
  double unit = 1;          ///< what samples were multiplied by, so that offsets of masks are, too
  Depth picture_depth = Depth::u8;  ///< the file's
  const Metadata* metadata = nullptr;
  std::string why_whole{};      ///< why the picture must not be cut; empty = it may be
  bool keeps_channels = false;  ///< whether a grey result takes all the picture's channels
  /// The weights of blue, green and red in luma: in luminance where samples are light.
  LumaShares luma = kLuma;
};

class MaskWork;

/// A filter that has begun on a picture.
class Work {
 public:
  /// Takes shapes, window and border of the whole picture's problem.
  Work(const Problem& whole, std::string why_whole);
  virtual ~Work() = default;

  Shape in, out;
  Window window;
  Border border;
  int offset_x, offset_y;         ///< from a pixel of the result to that of the picture it replaces
  std::string why_whole;          ///< why the picture is not cut into bands; empty where it is
  std::string note{};             ///< what to tell about the picture
  std::vector<Region> regions{};  ///< outside of which no pixel changes; empty: all may change
  bool knows_nodata = false;      ///< whether what its file names no data is left out, and stays
  bool two_levels = false;        ///< whether all samples of the result are 0 or the full range

  bool is_whole() const { return !why_whole.empty(); }

  /// Whether the first band may need the last rows.
  bool wraps() const { return border == Border::wrap && window.height > 1; }

  /// Bytes of memory beside input and output.
  struct Needs {
    std::int64_t buffers = 0;  ///< for a band of so many rows, so far as they grow with the width
    std::int64_t plans = 0;
  };
  virtual Needs needs(int /*rows*/) const { return {}; }

  /// A worker filters bands on one thread, or a whole picture on the threads that plans take.
  /// Several threads may ask for workers at once; a whole picture has one.
  virtual std::unique_ptr<Worker> make_worker() const = 0;

  /// Of a whole picture: a work in bands whose result complete() turns into this one's. Null where
  /// there is none.
  virtual const Work* in_bands() const { return nullptr; }
  virtual void complete(PictureView<std::byte> /*result*/) const {}

  /// Puts a work around that work in bands, in its place.
  using Around = std::function<std::unique_ptr<Work>(std::unique_ptr<Work> bands)>;
  virtual void enclose(const Around&) {}

  /// The works of single masks of which it consists; empty where there is more to it.
  virtual std::vector<const MaskWork*> mask_works() const { return {}; }

  /// Call it behind the last band: it completes the convolver's report.
  virtual void finish() const {}
};

/// A worker that calls a function, for works whose bands need nothing that stays.
class FunctionWorker final : public Worker {
 public:
  using Push = std::function<void(BandView<const std::byte> in, BandView<std::byte> out)>;
  explicit FunctionWorker(Push push) : push_(std::move(push)) {}
  void push(BandView<const std::byte> in, BandView<std::byte> out) override { push_(in, out); }

 private:
  Push push_;
};

class Filter : public std::enable_shared_from_this<Filter> {
 public:
  virtual ~Filter() = default;

  /// Its kind and all parameters that decide a byte. No other filter has the same text.
  virtual std::string text() const = 0;

  /// The masks that it applies.
  virtual std::vector<Mask> masks() const = 0;

  /// The mask, where the filter is nothing else.
  virtual const Mask* only_mask() const { return nullptr; }

  /// The filters that it applies one after the other; empty where it is one.
  virtual std::vector<std::shared_ptr<const Filter>> steps() const { return {}; }

  /// Whether the result is like the picture, as a sharpened one is, so that a response of luma
  /// changes the colours. Edges are a picture of their own.
  virtual bool keeps_lightness() const = 0;

  /// Whether it takes luma of pictures in colours by itself.
  virtual bool takes_luma() const { return false; }

  /// Whether all that it takes of pictures in colours is luma, and its result is grey.
  virtual bool needs_only_luma() const { return false; }

  /// Whether all that it takes of pictures in colours is luma, and all that it changes, too.
  virtual bool keeps_chroma() const { return false; }

  /// Chooses strategies for pictures of this shape. Throws UsageError and DeviceError as choose()
  /// does.
  virtual std::unique_ptr<Work> begin(const Shape& in, const Place& place) const = 0;

  /// Why it cannot filter pictures that lie on a device; empty where it can.
  virtual std::string resident_refuses() const { return ""; }

  /// A plan for 8-bit pictures, grey or in red, green and blue, that lie on the convolver's device,
  /// with the same bytes but for roundings of transforms. Throws as begin() does.
  ResidentPlan resident(const Shape& in, Convolver& convolver) const;

  /// The same for pictures of bytes, or of floats in units of bytes. `blue` is that colour's
  /// channel. Where resident_refuses() has a reason, it must not be called.
  virtual ResidentPlan device_plan(const Shape& in, const Place& place, int blue) const = 0;

  /// Such plans that are kept; each holds device memory, some pictures' worth.
  virtual std::size_t most_resident() const { return 8; }
};

using FilterPtr = std::shared_ptr<const Filter>;

/// Begins on a picture whose file tells these colours (null: none). Throws as
/// Filter::begin() and Convolver::check_border_value() do.
std::unique_ptr<Work> begin(const Filter& filter, const Shape& in, Convolver& convolver,
                            const Metadata* metadata = nullptr);

/// The filter's text with all else of the options that decides a byte of its results. Two filters
/// with one text give every picture the same bytes; the journal of a run keeps its hash.
std::string describe(const Filter& filter, const ConvolverOptions& options);

/// A mask in the text of a filter; unlike masks have unlike words.
std::string text_of(const Mask& mask);

}  // namespace convfilt
