#include "kernels/plan/device_plan.hpp"

#include <algorithm>
#include <cstdint>

#include "kernels/backend/device_errors.hpp"
#include "kernels/contract/dispatch.hpp"
#include "kernels/plan/source_rows.hpp"

namespace convfilt::CONVFILT_BACKEND {
namespace {

constexpr int kWarmups = 3;

/// This many bytes for each channel follow an input with sides, because a strip of a narrow piece
/// reads beyond its last row.
constexpr std::size_t kSideTail = 2048;

/// Windows of at most `size`, row by row, that cover the problem's outputs once.
std::vector<Window> cut(const Problem& problem, const Window& size) {
  std::vector<Window> windows;
  for (int y = 0; y < problem.out_height(); y += size.height) {
    for (int x = 0; x < problem.out_width(); x += size.width) {
      windows.push_back({x, y, std::min(size.width, problem.out_width() - x),
                         std::min(size.height, problem.out_height() - y)});
    }
  }
  return windows;
}

/// Copies the input samples that the window's outputs need, which are width + mask.width - 1 by
/// height + mask.height - 1 pixels, and fills in ghost cells. Output (x, y) of the window then sums
/// the samples from (x, y) on.
void gather_with_halo(const Problem& p, PictureView<const std::byte> in, const Window& window,
                      Staging& staging) {
  const std::size_t pixel = size_of(p.depth) * p.channels;
  staging.width = window.width + p.mask.width - 1;
  staging.height = window.height + p.mask.height - 1;
  staging.channels = p.channels;
  staging.pitch = std::ptrdiff_t(staging.width * pixel);
  staging.bytes.resize(staging.pitch * std::size_t(staging.height));

  const int left = p.lead_x(), top = window.y - p.lead_y();
  with_depth(p.depth, [&]<class T>(TypeTag<T>) {
    const SourceRows<T> source(p, left, p.mask.width - 1 - left);
    for (int row = 0; row < staging.height; ++row) {
      T* const to = reinterpret_cast<T*>(staging.bytes.data() + row * staging.pitch);
      const T* const from = source.row(in, window.x, window.x + window.width, top + row, to);
      if (from != to) std::copy_n(from, source.length(window.width), to);
    }
  });
}

/// Whether all rows begin at multiples of that many bytes.
bool begins_at(std::ptrdiff_t bytes, const DevicePlane& plane) {
  return plane.pitch % bytes == 0 && reinterpret_cast<std::uintptr_t>(plane.data) % bytes == 0;
}

}  // namespace

DevicePlan::DevicePlan(const Problem& problem, const PlanOptions& options, InputLimits limits)
    : problem_(problem), options_(options), limits_(limits), stream_(options) {}

Timing DevicePlan::run(PictureView<const std::byte> in, PictureView<std::byte> out) {
  go_home();
  reset_counts(stream_);
  Timing timing;
  const auto windows = cut(problem_, fitting_window());
  timing.bands = int(windows.size());
  for (const Window& window : windows) run_window(in, out, window, timing);
  if (!kHasOwnMemory) {  // the copies are work of the same processor
    timing.kernel_ms += timing.upload_ms + timing.download_ms;
    timing.upload_ms = timing.download_ms = 0;
  }
  return timing;
}

void DevicePlan::run_resident(PictureView<const std::byte> in, PictureView<std::byte> out,
                              void* stream) {
  const int samples = split() ? 1 : step();  // that the planes count in a pixel
  // Kernels take a pointer to bytes that they do not change for the same type as their own planes.
  const DevicePlane from{const_cast<std::byte*>(in.data), in.width * samples, in.height, in.pitch};
  const DevicePlane to{out.data, out.width * samples, out.height, out.pitch};
  const bool reads_callers = reads_directly(from), writes_callers = takes_rows(to);
  prepare_whole(split() && !(reads_callers && writes_callers));
  in_stream(stream, stream_, [&] {
    reset_counts(stream_);
    const std::size_t pixel = size_of(problem_.depth) * problem_.channels;
    callers_ = brings(from) ? from : DevicePlane{};
    if (!callers_.data && !reads_callers)
      copy_rows(own_input().data, std::size_t(own_input().pitch), in.data, std::size_t(in.pitch),
                in.width * pixel, in.height, stream_);
    filter_channels(reads_callers ? from : own_input(), writes_callers ? to : own_output(),
                    whole_shift());
    if (!writes_callers)
      copy_rows(out.data, std::size_t(out.pitch), own_output().data,
                std::size_t(own_output().pitch), out.width * pixel, out.height, stream_);
    if (options_.skips_zeros) skip_zeros_of(in, out);
  });
}

/// Leaves what run_resident() has set up.
void DevicePlan::go_home() {
  stream_.go_home();
  callers_ = {};
  is_whole_ = false;
}

/// Makes planes for the whole picture, and pictures if asked. False where they do not fit.
bool DevicePlan::take_whole(bool pictures) {
  const Window whole = whole_window();
  if (!fits(whole, problem_.width, problem_.height, pictures)) return false;
  allocate(whole, problem_.width, problem_.height, whole_shift());
  if (pictures) allocate_pictures(whole, problem_.width, problem_.height);
  return true;
}

/// Takes the memory for the whole picture. That may wait for the plan's own work, so it is not done
/// in a caller's stream, which may have much to do.
void DevicePlan::prepare_whole(bool pictures) {
  if (is_whole_ && (has_pictures_ || !pictures)) return;
  go_home();
  if (!take_whole(pictures))
    throw DeviceMemoryError("the device has too little free memory for " + to_string(problem_) +
                            " as a whole; free some, or filter it in pieces");
  is_whole_ = true;
  has_pictures_ = pictures;
}

void DevicePlan::skip_zeros_of(PictureView<const std::byte> in, PictureView<std::byte> out) {
  if (!taps_) {
    taps_ = taps_but_zero(problem_);
    if (!taps_->taps.empty()) hold_copy(taps_there_, taps_->taps);
  }
  skip_zeros(in,
             {as<const MaskTap>(taps_there_), int(taps_->taps.size()), problem_.border,
              problem_.width, problem_.channels, ghost_sample<float>(problem_)},
             taps_->finish, out, stream_);
}

std::vector<double> DevicePlan::time_resident(PictureView<const std::byte> in, int repeats) {
  if (!kHasOwnMemory) return {};
  go_home();
  if (!take_whole(split())) return {};
  if (in.data) upload(in);
  // The runs follow each other without waiting, because an idle GPU would add the time that a
  // launch takes to reach it.
  const std::size_t runs = std::size_t(repeats) + kWarmups;
  std::vector<Event> starts(runs), stops(runs);
  for (std::size_t k = 0; k < runs; ++k) {
    starts[k].record(stream_);
    filter_channels(own_input(), own_output(), whole_shift());
    stops[k].record(stream_);
  }
  std::vector<double> times;
  for (std::size_t k = kWarmups; k < runs; ++k) times.push_back(stops[k].ms_since(starts[k]));
  return times;
}

std::ptrdiff_t DevicePlan::pitch_for(std::ptrdiff_t row_bytes) const {
  // A texture over rows needs a pitch that is a multiple of 32 bytes, whatever --pitch says.
  const bool under_texture = limits_.texture && options_.tuning[Setting::texture] == kLinear;
  return options_.padded_pitch || under_texture
             ? (row_bytes + kPitchBytes - 1) / kPitchBytes * kPitchBytes
             : row_bytes;
}

Window DevicePlan::whole_window() const {
  return {0, 0, problem_.out_width(), problem_.out_height()};
}

Shift DevicePlan::whole_shift() const {
  return {problem_.mask.anchor_x - problem_.lead_x(), problem_.mask.anchor_y - problem_.lead_y()};
}

std::size_t DevicePlan::plane_bytes(int width, int height, std::size_t sample_bytes) const {
  return std::size_t(pitch_for(std::ptrdiff_t(width) * sample_bytes)) * height;
}

void DevicePlan::hold(DeviceBuffer& buffer, std::size_t bytes) {
  if (buffer.size() >= bytes) return;
  if (buffer.size() > 0) {
    stream_.synchronize();  // A run before may still use what is given back.
    textures_.clear();      // One of them may lie over that memory.
  }
  held_ -= buffer.size();
  buffer = DeviceBuffer();
  buffer = DeviceBuffer(bytes);
  held_ += bytes;
  // Only the watched block runs, so the sums of its neighbours must be numbers without them.
  if (options_.watch != Watch::nothing) clear(buffer.data(), bytes, stream_);
}

void DevicePlan::shape(OwnedPlane& owned, int width, int height, std::size_t sample_bytes) {
  hold(owned.buffer, plane_bytes(width, height, sample_bytes));
  owned.plane = {owned.buffer.data(), width, height,
                 pitch_for(std::ptrdiff_t(width) * sample_bytes)};
}

std::size_t DevicePlan::input_bytes(int width, int height) const {
  const std::ptrdiff_t row = std::ptrdiff_t(width) * size_of(problem_.depth) + limits_.sides;
  return std::size_t(pitch_for(row)) * height + (limits_.sides > 0 ? kSideTail * step() : 0);
}

void DevicePlan::shape_input(int width, int height, Shift shift) {
  const std::ptrdiff_t row = std::ptrdiff_t(width) * size_of(problem_.depth) + limits_.sides;
  const std::size_t bytes = input_bytes(width, height);
  const bool is_new = plane_in_.buffer.size() < bytes;
  hold(plane_in_.buffer, bytes);
  // Kernels read samples beside the picture that nothing else has written.
  if (is_new && (limits_.sides > 0 || limits_.padding))
    clear(plane_in_.buffer.data(), bytes, stream_);
  plane_in_.plane = {plane_in_.buffer.data() + margin(shift), width, height, pitch_for(row)};
}

std::size_t DevicePlan::bytes_for(const Window& window, int in_width, int in_height,
                                  bool pictures) const {
  const std::size_t sample = size_of(problem_.depth);
  std::size_t bytes = input_bytes(in_width * step(), in_height * planes()) +
                      planes() * plane_bytes(window.width * step(), window.height, sample) +
                      scratch_bytes(in_height, window.width * step(), window.height);
  if (limits_.texture) {
    // Arrays, by choice or for planes behind the first, which may not be aligned.
    const int arrays = options_.tuning[Setting::texture] == kArray ? planes() : planes() - 1;
    bytes += arrays * plane_bytes(in_width, in_height, sample);
  }
  if (pictures) {
    const std::size_t pixel = sample * problem_.channels;
    bytes +=
        plane_bytes(in_width, in_height, pixel) + plane_bytes(window.width, window.height, pixel);
  }
  return bytes;
}

std::int64_t DevicePlan::host_bytes() const {
  if (kHasOwnMemory) return 0;
  return std::int64_t(bytes_for(whole_window(), problem_.width, problem_.height, split()));
}

/// Whether the plan may hold that much, of which it may hold some already. CUDA is asked what is
/// free only where more is wanted, because asking takes long.
bool DevicePlan::fits(const Window& window, int in_width, int in_height, bool pictures) const {
  if (in_width > limits_.width || in_height > limits_.height) return false;
  const std::size_t bytes = bytes_for(window, in_width, in_height, pictures);
  if (options_.memory_limit) return bytes <= options_.memory_limit;
  return bytes <= held_ || bytes <= free_memory() + held_;
}

// The whole picture if it fits, else the largest band that fits, else a piece of a band.
Window DevicePlan::fitting_window() const {
  Window window = whole_window();
  if (fits(window, problem_.width, problem_.height, split())) return window;
  const int halo_x = problem_.mask.width - 1, halo_y = problem_.mask.height - 1;
  window.width = std::max(1, std::min(window.width, limits_.width - halo_x));
  window.height = std::max(1, std::min(window.height, limits_.height - halo_y));
  while (!fits(window, window.width + halo_x, window.height + halo_y, split())) {
    if (window.height > 1) {
      window.height = (window.height + 1) / 2;
    } else if (window.width > 1) {
      window.width = (window.width + 1) / 2;
    } else {
      throw DeviceMemoryError("the device has too little free memory for " + to_string(problem_) +
                              ", even in pieces; free some, or use --device=cpu");
    }
  }
  return window;
}

void DevicePlan::allocate(const Window& window, int in_width, int in_height, Shift shift) {
  const std::size_t sample = size_of(problem_.depth);
  shape_input(in_width * step(), in_height * planes(), shift);
  shape(plane_out_, window.width * step(), window.height * planes(), sample);
  allocate_scratch(in_height, window.width * step(), window.height);
}

void DevicePlan::allocate_pictures(const Window& window, int in_width, int in_height) {
  const std::size_t pixel = size_of(problem_.depth) * problem_.channels;
  shape(picture_in_, in_width, in_height, pixel);
  shape(picture_out_, window.width, window.height, pixel);
}

void DevicePlan::upload(PictureView<const std::byte> in) {
  const DevicePlane& to = own_input();
  upload_rows(to.data, std::size_t(to.pitch), in.data, std::size_t(in.pitch),
              in.width * size_of(problem_.depth) * problem_.channels, in.height, stream_);
}

/// Whether a caller's rows may be read and written as if they were the plan's own. split_channels()
/// and merge_channels() touch samples alone. Kernels also touch what lies behind a row in its last
/// sixteen bytes, which belongs to the caller's other pictures, so that without planes only rows of
/// whole sixteens will do.
bool DevicePlan::takes_rows(const DevicePlane& plane) const {
  const auto sample = std::ptrdiff_t(size_of(problem_.depth));
  if (split()) return begins_at(sample, plane);
  constexpr std::ptrdiff_t kSixteen = sizeof(Bytes16);
  return begins_at(kSixteen, plane) && plane.width * sample % kSixteen == 0;
}

bool DevicePlan::reads_directly(const DevicePlane& in) const {
  if (split()) return takes_rows(in);
  return takes_rows(in) && limits_.sides == 0 && !limits_.padding && !limits_.texture;
}

/// Whether filter() copies a caller's rows to the plan's own, together with their ghost cells.
bool DevicePlan::brings(const DevicePlane& in) const {
  return limits_.brings_rows && !split() && begins_at(size_of(problem_.depth), in);
}

/// Filters a picture, or a plane where the channels stay together.
void DevicePlan::filter_channels(const DevicePlane& in, const DevicePlane& out, Shift shift) {
  if (!split()) return filter(in, out, shift);
  const int channels = problem_.channels;
  split_channels(problem_.depth, in, channels, plane_in_.plane, stream_);
  filter_planes(plane_in_.plane, plane_out_.plane, channels, shift);
  merge_channels(problem_.depth, plane_out_.plane, out, channels, stream_);
}

void DevicePlan::filter_planes(const DevicePlane& in, const DevicePlane& out, int planes,
                               Shift shift) {
  for (int plane = 0; plane < planes; ++plane)
    filter(in.part(plane, planes), out.part(plane, planes), shift);
}

void DevicePlan::run_window(PictureView<const std::byte> in, PictureView<std::byte> out,
                            const Window& window, Timing& timing) {
  const std::size_t pixel = size_of(problem_.depth) * problem_.channels;
  const bool whole = window.width == problem_.out_width() && window.height == problem_.out_height();
  Shift shift = whole_shift();
  if (!whole) {
    gather_with_halo(problem_, in, window, staging_);
    in = staging_.view();
    shift = {problem_.mask.anchor_x, problem_.mask.anchor_y};
  }
  allocate(window, in.width, in.height, shift);
  if (split()) allocate_pictures(window, in.width, in.height);

  Event start, uploaded, filtered, downloaded;
  start.record(stream_);
  upload(in);
  uploaded.record(stream_);
  filter_channels(own_input(), own_output(), shift);
  filtered.record(stream_);
  download_rows(out.row(window.y) + window.x * pixel, std::size_t(out.pitch), own_output().data,
                std::size_t(own_output().pitch), window.width * pixel, window.height, stream_);
  downloaded.record(stream_);
  timing.download_ms += downloaded.ms_since(filtered);
  timing.kernel_ms += filtered.ms_since(uploaded);
  timing.upload_ms += uploaded.ms_since(start);
}

}  // namespace convfilt::CONVFILT_BACKEND
