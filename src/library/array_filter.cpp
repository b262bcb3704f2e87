#include "src/library/array_filter.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>

#include "kernels/backend/host/parallel.hpp"
#include "src/base/errors.hpp"
#include "src/filter/bands.hpp"
#include "src/picture/sample_type.hpp"

namespace convfilt {
namespace {

constexpr int kColours = 3;

/// Whether the array is rows of samples that lie side by side, in the filter's order.
template <class Byte>
bool is_plain(const ArrayView<Byte>& array, const Shape& shape, bool swaps) {
  const auto sample = std::ptrdiff_t(size_of(shape.depth));
  const auto is_aligned = [&](std::ptrdiff_t bytes) { return bytes % sample == 0; };
  return (array.channel == sample || shape.channels == 1) &&
         (array.pixel == sample * shape.channels || shape.width == 1) &&
         !(swaps && shape.channels >= kColours) && is_aligned(array.row) &&
         is_aligned(std::ptrdiff_t(reinterpret_cast<std::uintptr_t>(array.data)));
}

template <class Byte>
PictureView<Byte> plain_view(const ArrayView<Byte>& array, const Shape& shape) {
  return {array.data, shape.width, shape.height, shape.channels, array.row};
}

template <class Byte>
ArrayView<Byte> array_of(const PictureView<Byte>& view, Depth depth) {
  const auto sample = std::ptrdiff_t(size_of(depth));
  return {view.data, view.pitch, sample * view.channels, sample};
}

/// Copies a picture of that shape. `swaps`: blue and red change places, where there are both.
void copy(const Shape& shape, bool swaps, const ArrayView<const std::byte>& from,
          const ArrayView<std::byte>& to) {
  std::ptrdiff_t from_at[4], to_at[4];
  for (int c = 0; c < shape.channels; ++c) {
    const bool swapped = swaps && shape.channels >= kColours && c < kColours;
    from_at[c] = from.channel * (swapped ? kColours - 1 - c : c);
    to_at[c] = to.channel * c;
  }
  with_depth(shape.depth, [&]<class T>(TypeTag<T>) {
    for (int y = 0; y < shape.height; ++y) {
      const std::byte* source = from.data + y * from.row;
      std::byte* sink = to.data + y * to.row;
      for (int x = 0; x < shape.width; ++x, source += from.pixel, sink += to.pixel)
        for (int c = 0; c < shape.channels; ++c)
          std::memcpy(sink + to_at[c], source + from_at[c], sizeof(T));
    }
  });
}

/// Copies rows first..end-1 of an array into a band.
BandView<const std::byte> gathered(ArrayView<const std::byte> array, Shape shape, bool swaps,
                                   int first, int end, Image& made) {
  shape.height = end - first;
  const BandView<std::byte> band = room_for(shape, first, made);
  array.data += first * array.row;
  copy(shape, swaps, array, array_of<std::byte>(band, shape.depth));
  return band;
}

/// Copies a band to its rows of an array.
void scatter(BandView<const std::byte> band, Shape shape, bool swaps, ArrayView<std::byte> array) {
  shape.height = band.height;
  array.data += band.top * array.row;
  copy(shape, swaps, array_of<const std::byte>(band, shape.depth), array);
}

}  // namespace

ArrayFilter::ArrayFilter(FilterPtr filter, const Mapping& mapping, const Shape& in,
                         ConvolverOptions options, ChannelOrder order, std::optional<int> gpu)
    : filter_(mapped(filter, mapping)),
      convolver_(std::move(options)),
      in_(in),
      swaps_(order == ChannelOrder::rgb && (mapping.luma || has_luma(*filter))) {
  convolver_.check_border_value(in.depth);
  if (!gpu) {
    work_ = begin(*filter_, in, convolver_);
    out_ = work_->out;
  } else if (const Mask* mask = filter_->only_mask()) {
    if (in.channels > kColours)
      throw UsageError("on a GPU, pictures have 1 or 3 channels; alpha is filtered on the host");
    const ConvolverOptions& how = convolver_.options();
    const Problem problem = convolver_.problem_of(in, *mask, how.border_value);
    const Choice choice = choose(problem, 1, how.request, this_machine());
    resident_ = {choice,
                 choice.strategy->prepare(problem, choice.device, plan_options(choice, how)),
                 {problem.out_width(), problem.out_height(), in.channels, in.depth}};
  } else {
    if (in.depth != Depth::u8 || in.channels > kColours)
      throw UsageError(
          "on a GPU, this filter takes u8 pictures of 1 or 3 channels; copy others to the host");
    if (const std::string why = filter_->resident_refuses(); !why.empty()) throw UsageError(why);
    resident_ = filter_->device_plan(in, {convolver_, convolver_.options().border_value},
                                     order == ChannelOrder::rgb ? 2 : 0);
  }
  if (gpu) out_ = resident_.result;
  const Choice& choice = gpu ? resident_.choice : convolver_.report().choice;
  if (choice.strategy)
    text_ = std::string(choice.strategy->name) + " on " + std::string(name_of(choice.device));
}

void ArrayFilter::run(ArrayView<const std::byte> in, ArrayView<std::byte> out) {
  if (!work_) throw UsageError("the plan is for pictures on a GPU; make one for host memory");
  if (work_->is_whole() || (work_->wraps() && !is_plain(in, in_, swaps_)))
    run_whole(in, out);
  else
    run_bands(*work_, in, out, swaps_);
}

void ArrayFilter::run_whole(ArrayView<const std::byte> in, ArrayView<std::byte> out) {
  Image plain_in, plain_out;
  if (!is_plain(in, in_, swaps_)) {
    gathered(in, in_, swaps_, 0, in_.height, plain_in);
    in = array_of(std::as_const(plain_in).view(), in_.depth);
  }
  ArrayView<std::byte> result = out;
  const bool is_result = is_plain(out, out_, swaps_);
  if (!is_result) {
    plain_out = Image(out_.width, out_.height, out_.channels, out_.depth);
    result = array_of(plain_out.view(), out_.depth);
  }
  if (!work_->is_whole()) {
    run_bands(*work_, in, result, false);
  } else if (const Work* bands = work_->in_bands()) {
    run_bands(*bands, in, result, false);
    work_->complete(plain_view(result, out_));
  } else {
    work_->make_worker()->push(plain_view(in, in_), plain_view(result, out_));
  }
  if (!is_result) scatter(BandView<const std::byte>(plain_view(result, out_)), out_, swaps_, out);
}

void ArrayFilter::run_bands(const Work& work, ArrayView<const std::byte> in,
                            ArrayView<std::byte> out, bool swaps) {
  // Each thread gets some bands. A low band would take as long for the rows that its neighbours
  // have, too, and a high one much memory where its samples lie apart and are gathered.
  constexpr std::int64_t kMostBytes = std::int64_t{1} << 22, kLeastBytes = std::int64_t{1} << 15;
  constexpr int kBandsPerThread = 4;
  const bool plain_in = is_plain(in, in_, swaps), plain_out = is_plain(out, out_, swaps);
  const std::int64_t row_bytes = bytes_of({in_.width, 1, in_.channels, in_.depth});
  const std::int64_t worth = row_bytes * out_.height / kLeastBytes + 1;
  const int threads =
      int(std::min<std::int64_t>(worth, cpu::threads_or_all(convolver_.options().request.threads)));
  const int least = std::max({2 * work.window.height, int(kLeastBytes / row_bytes), 1});
  const int most = std::max(least, int(kMostBytes / row_bytes));
  const int rows = std::clamp(out_.height / (threads * kBandsPerThread), least, most);
  const int bands = std::max(1, out_.height / rows);
  std::vector<Image> ins(std::size_t(std::min(threads, bands))), outs(ins.size());
  if (workers_.size() < ins.size()) workers_.resize(ins.size());
  cpu::parallel_for(bands, int(ins.size()), [&](int thread, int index) {
    std::unique_ptr<Worker>& worker = workers_[std::size_t(thread)];
    if (!worker) worker = work.make_worker();
    const int first = index * rows, end = index + 1 == bands ? out_.height : first + rows;
    BandView<const std::byte> from(plain_view(in, in_));
    if (!plain_in) {
      const int needed = first - work.window.lead_y;
      from = gathered(in, in_, swaps, std::max(0, needed),
                      std::min(in_.height, needed + end - first + work.window.height - 1),
                      ins[std::size_t(thread)]);
    }
    if (plain_out)
      return worker->push(from, rows_of(BandView(plain_view(out, out_)), first, end - first));
    const BandView<std::byte> to = room_for({out_.width, end - first, out_.channels, out_.depth},
                                            first, outs[std::size_t(thread)]);
    worker->push(from, to);
    scatter(to, out_, swaps, out);
  });
}

void ArrayFilter::run_on_gpu(ArrayView<const std::byte> in, ArrayView<std::byte> out,
                             void* stream) {
  if (!resident_.plan) throw UsageError("the plan is for host memory; make one for the GPU");
  const auto lies_well = [](const auto& array, const Shape& shape) {
    const auto row = std::ptrdiff_t(bytes_of({shape.width, 1, shape.channels, shape.depth}));
    return is_plain(array, shape, false) && (array.row >= row || shape.height == 1);
  };
  if (!lies_well(in, in_) || !lies_well(out, out_))
    throw UsageError(
        "on a GPU, pixels and channels lie side by side, and rows one behind the other; copy the "
        "picture first");
  resident_.plan->run_resident(plain_view(in, in_), plain_view(out, out_), stream);
}

}  // namespace convfilt
