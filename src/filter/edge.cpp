#include "src/filter/edge.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "src/base/errors.hpp"
#include "src/base/suggest.hpp"
#include "src/filter/alpha.hpp"
#include "src/filter/rows.hpp"
#include "src/mask/file.hpp"
#include "src/mask/make.hpp"
#include "src/picture/sample_type.hpp"

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

/// length = |response| / divisor for a row.
void start_length(const float* response, double divisor, std::vector<double>& length) {
  for (std::size_t x = 0; x < length.size(); ++x) length[x] = std::abs(response[x] / divisor);
}

/// length = the hypotenuse of itself and another response.
void extend_length(const float* response, double divisor, std::vector<double>& length) {
  for (std::size_t x = 0; x < length.size(); ++x) {
    const double other = response[x] / divisor;
    length[x] = std::sqrt(length[x] * length[x] + other * other);
  }
}

/// Writes channel `channel` of `out`. `alpha` is the plane that colours were multiplied by, or
/// null.
void store_length(std::span<const Image> responses, std::span<const Mask> masks, const Image* alpha,
                  int channel, int threads, Image& out) {
  const PictureView<std::byte> target = out.view();
  with_depth(out.depth(), [&]<class T>(TypeTag<T>) {
    for_rows(responses[0], threads, [&](int y) {
      std::vector<double> length(std::size_t(target.width));
      start_length(row_of<float>(responses[0].view(), y), masks[0].divisor, length);
      for (std::size_t i = 1; i < responses.size(); ++i)
        extend_length(row_of<float>(responses[i].view(), y), masks[i].divisor, length);
      const float* a = alpha ? row_of<float>(alpha->view(), y) : nullptr;
      T* to = row_of<T>(target, y) + channel;
      for (std::size_t x = 0; x < length.size(); ++x) {
        const double straight = !a ? length[x] : a[x] > 0 ? length[x] / a[x] : 0;
        to[x * std::size_t(target.channels)] = to_sample<T>(straight);
      }
    });
  });
}

/// What the runs are for, for -v.
std::string description(int colours, bool weighted, std::span<const Mask> masks) {
  std::vector<std::string> names;
  for (const Mask& mask : masks) names.push_back(mask.name);
  return "edges of " + std::to_string(colours) +
         (colours == 1 ? " channel" : " channels, one after another") + " in f32" +
         (weighted ? ", premultiplied by alpha" : "") + ", with " + listed(names);
}

}  // namespace

std::vector<Mask> edge_masks(const EdgeOptions& options) {
  const EdgeMethod& method = find_method(options.method);
  const std::vector<std::string> directions(std::begin(kDirections), std::end(kDirections));
  if (std::find(directions.begin(), directions.end(), options.direction) == directions.end())
    throw UsageError(unknown_name("direction", options.direction, directions));
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
  const ConvolverOptions& options = convolver.options();
  convolver.check_border_value(in.depth());
  const bool weighted = !is_opaque(in);
  const int threads = options.request.threads;
  const int colours = colour_channels(in);
  const int runs = colours * int(masks.size());
  convolver.describe(description(colours, weighted, masks));
  const double border_value = options.border_value * (weighted ? opaque(in.depth()) : 1);

  // Whole weights over whole samples sum exactly in f32; the divisor waits for double precision.
  std::vector<Mask> whole(masks.begin(), masks.end());
  for (Mask& mask : whole) {
    mask.divisor = 1;
    mask.offset = 0;
  }

  Image out = convolver.result_like(in, masks[0]);
  Image alpha, plane = plane_like(in);
  std::vector<Image> responses;
  for (const Mask& mask : masks) responses.push_back(convolver.result_like(plane, mask));
  if (in.has_alpha()) {
    take_plane(in, colours, threads, plane);
    const Convolver::Offset from = convolver.offset_of(masks[0]);
    alpha = moved(plane, from.x, from.y, responses[0], float(opaque(in.depth())));
    store_alpha(alpha, threads, out);
  }
  for (int c = 0; c < colours; ++c) {
    if (weighted)
      take_premultiplied(in, c, threads, plane);
    else
      take_plane(in, c, threads, plane);
    for (std::size_t i = 0; i < masks.size(); ++i)
      convolver.run(plane, whole[i], border_value, runs, responses[i]);
    store_length(responses, masks, weighted ? &alpha : nullptr, c, threads, out);
  }
  return out;
}

}  // namespace convfilt
