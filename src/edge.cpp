#include "edge.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "alpha.hpp"
#include "errors.hpp"
#include "make_masks.hpp"
#include "mask_file.hpp"
#include "sample_type.hpp"
#include "suggest.hpp"

namespace convfilt {
namespace {

const EdgeMethod& find_method(const std::string& name) {
  std::vector<std::string> names;
  for (const EdgeMethod& method : kEdgeMethods) {
    if (method.name == name) return method;
    names.emplace_back(method.name);
  }
  throw UsageError(unknown_name("edge method", name, names));
}

/// Writes channel `channel` of `out` from the responses: squared, divided, summed, rooted.
/// `alpha` is the plane that colours were multiplied by, or null.
void store_length(std::span<const Image> responses, std::span<const Mask> masks, const Image* alpha,
                  int channel, Image& out) {
  std::vector<double> length(std::size_t(out.width()));
  for_sample_type(out.depth(), [&]<class T>(T) {
    for (int y = 0; y < out.height(); ++y) {
      const float* first = row_of<float>(responses[0].view(), y);
      const double first_divisor = masks[0].divisor;
      for (int x = 0; x < out.width(); ++x) length[x] = std::abs(first[x] / first_divisor);
      if (responses.size() == 2) {
        const float* second = row_of<float>(responses[1].view(), y);
        const double second_divisor = masks[1].divisor;
        for (int x = 0; x < out.width(); ++x) {
          const double other = second[x] / second_divisor;
          length[x] = std::sqrt(length[x] * length[x] + other * other);
        }
      }
      if (alpha) {
        const float* a = row_of<float>(alpha->view(), y);
        for (int x = 0; x < out.width(); ++x) length[x] = a[x] > 0 ? length[x] / a[x] : 0;
      }
      T* to = row_of<T>(out.view(), y) + channel;
      for (int x = 0; x < out.width(); ++x) to[x * out.channels()] = to_sample<T>(length[x]);
    }
  });
}

}  // namespace

std::vector<Mask> edge_masks(const EdgeOptions& options) {
  const EdgeMethod& method = find_method(options.method);
  if (options.direction != "x" && options.direction != "y" && options.direction != "both")
    throw UsageError(unknown_name("direction", options.direction, {"x", "y", "both"}));
  if (method.second.empty() && options.direction != "both")
    throw UsageError("--direction=" + options.direction + ": " + options.method +
                     " has one mask for all directions; leave --direction out");
  if (options.sigma && !method.first.empty())
    throw UsageError("--sigma: only --method=log has one; to smooth before " + options.method +
                     ", blur the picture first");

  std::vector<Mask> masks;
  if (method.first.empty()) masks.push_back(log_mask(options.sigma.value_or(kDefaultLogSigma)));
  if (!method.first.empty() && options.direction != "y")
    masks.push_back(load_mask(std::string(method.first)));
  if (!method.second.empty() && options.direction != "x")
    masks.push_back(load_mask(std::string(method.second)));
  return masks;
}

Image find_edges(const Image& in, std::span<const Mask> masks, Convolver& convolver) {
  convolver.check_border_value(in.depth());
  const bool weighted = !is_opaque(in);
  const int colours = colour_channels(in);
  const int runs = colours * int(masks.size());
  const double border_value =
      convolver.options().border_value * (weighted ? opaque(in.depth()) : 1);

  Image out = Image::like(in);
  std::optional<Image> alpha;
  if (in.has_alpha()) {
    alpha = plane_of(in, colours);
    store_alpha(*alpha, out);
  }
  for (int c = 0; c < colours; ++c) {
    const Image plane = weighted ? premultiplied_plane(in, c) : plane_of(in, c);
    std::vector<Image> responses;
    for (const Mask& mask : masks) {
      // Whole weights over whole samples sum exactly in f32; the divisor waits for double
      // precision.
      Mask whole = mask;
      whole.divisor = 1;
      whole.offset = 0;
      responses.push_back(convolver.convolve_plane(plane, whole, border_value, runs));
    }
    store_length(responses, masks, weighted ? &*alpha : nullptr, c, out);
  }
  return out;
}

}  // namespace convfilt
