/// Filters in floats, and pictures with alpha.
///
/// A transparent pixel's colour must not bleed into its neighbours: colours are filtered
/// premultiplied, c * a, as f32 and in the picture's sample units, and divided by the alpha of the
/// result. Products of 8-bit samples are exact in it, and all strategies of a family give the same
/// f32 bytes.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "src/filter/filter.hpp"
#include "src/filter/mask_work.hpp"

namespace convfilt {

/// The operation on a picture's samples as floats.
struct Response {
  Mask mask;                   ///< without an offset
  double offset = 0;           ///< a colour, so that it is added behind the division by alpha
  bool filters_alpha = false;  ///< else alpha is kept
};

/// Filters the picture in floats. Where it has alpha, colours are premultiplied; the result's are 0
/// where alpha is not above 0. The alpha of the result is rounded and saturated.
class FloatWork final : public Work {
 public:
  FloatWork(const Shape& in, Response response, const Place& place);

  /// Names its problem in the convolver's report, if it takes bands.
  void note_problem() const;

  const Choice& choice() const { return mask_.choice(); }

  /// Takes the whole picture, since others do.
  void keep_whole(const std::string& why);

  Needs needs(int rows) const override;
  std::unique_ptr<Worker> make_worker() const override;

 private:
  class FloatWorker;

  MaskWork work_by(double border_value, const Place& place) const;
  int band_step() const;

  Response response_;
  Convolver& convolver_;
  std::optional<MaskWork> alpha_;  ///< for alpha alone, if a whole picture's is filtered
  MaskWork mask_;
};

/// Begins on a picture with alpha. `opaque` is the filter, which gets the picture without alpha for
/// the rows of the result for which all rows under the mask are opaque; the rest goes by
/// `response`. `text` is for the convolver's report.
std::unique_ptr<Work> with_alpha(const Filter& opaque, const Shape& in, Response response,
                                 const Place& place, std::string text);

/// The 3 colours of a BGRA picture.
Image without_alpha(const Image& image, int threads);

}  // namespace convfilt
