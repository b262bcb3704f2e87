// Parts of Huffman codes, walked side by side (walk.hpp).

#include "kernels/huffman/walk.hpp"

#include <algorithm>

#include "kernels/backend/launch.hpp"

namespace convfilt::CONVFILT_BACKEND {
namespace {

using huffman::Codes, huffman::kCoefficients, huffman::Scan, huffman::Step;

constexpr int kThreads = 128;
constexpr std::uint32_t kPartBytes = 256;
/// Of 58 photographs 51 settle in 8 rounds, and all in 16. A round in which nothing changes costs a
/// launch.
constexpr int kRounds = 32;

/// Between two symbols.
struct Place {
  std::uint32_t bit = 0;
  std::uint16_t block = 0;        ///< of the unit
  std::uint16_t coefficient = 0;  ///< the next of that block

  CONVFILT_HD bool operator==(const Place& other) const {
    return bit == other.bit && block == other.block && coefficient == other.coefficient;
  }
};

/// A scan in the device's memory. The segment behind the last has the number of all parts.
struct DeviceScan {
  const std::uint32_t* words;
  const Codes* codes;
  const Scan::Segment* segments;
  int segment_count, first_segment;  ///< the latter among those of all scans, as are parts
  std::uint32_t parts, first_part;
  int blocks;
  Scan::Tables tables[Scan::kMostBlocks];
};

/// What is known of the parts of all scans.
struct Parts {
  Place* begins;
  Place* ends[2];         ///< of this round and the one before
  std::uint32_t* blocks;  ///< that end in it
  std::uint32_t* faults;  ///< whether it has no codes
};

struct Walked {
  Place end;
  std::uint32_t blocks = 0;
  bool has_fault = false;
};

/// Walks until the bit `end`, or so many blocks.
CONVFILT_DEVICE Walked walk(const DeviceScan& scan, Place at, std::uint32_t end,
                            std::uint32_t most_blocks) {
  const auto swapped = [&](std::uint32_t word) {
    const std::uint32_t w = scan.words[word];
    return std::uint64_t(w << 24 | (w & 0xFF00) << 8 | (w >> 8 & 0xFF00) | w >> 24);
  };
  std::uint32_t word = at.bit / 32;
  std::uint64_t window = (swapped(word) << 32 | swapped(word + 1)) << at.bit % 32;
  int ready = 64 - int(at.bit % 32);
  word += 2;
  Walked walked;
  while (at.bit < end && walked.blocks < most_blocks) {
    if (ready < 32) {
      window |= swapped(word++) << (32 - ready);
      ready += 32;
    }
    const Scan::Tables tables = scan.tables[at.block];
    const Codes& codes = scan.codes[at.coefficient == 0 ? tables.dc : tables.ac];
    Step step = codes.next(std::uint32_t(window >> 48));
    if (at.coefficient + step.reaches > kCoefficients) {
      walked.has_fault = true;
      step = {1, Step::kAll, 0};
    }
    window <<= step.bits;
    ready -= step.bits;
    at.bit += step.bits;
    at.coefficient = std::uint16_t(at.coefficient + step.advances);
    if (at.coefficient < kCoefficients) continue;
    at.coefficient = 0;
    at.block = std::uint16_t(at.block + 1 < scan.blocks ? at.block + 1 : 0);
    ++walked.blocks;
  }
  walked.end = at;
  return walked;
}

/// The number of the segment that has the part.
CONVFILT_DEVICE int segment_of(const DeviceScan& scan, std::uint32_t part) {
  int first = 0, behind = scan.segment_count;
  while (behind - first > 1) {
    const int middle = (first + behind) / 2;
    (scan.segments[middle].first_part <= part ? first : behind) = middle;
  }
  return first;
}

__global__ void settle_kernel(const DeviceScan* scans, Parts parts, int round) {
  const DeviceScan& scan = scans[blockIdx.y];
  const std::uint32_t part = blockIdx.x * kThreads + threadIdx.x;
  if (part >= scan.parts) return;
  const int number = segment_of(scan, part);
  const Scan::Segment& segment = scan.segments[number];
  const std::uint32_t i = scan.first_part + part, in_segment = part - segment.first_part;
  const std::uint32_t bit = 8 * (segment.begin + in_segment * kPartBytes);
  Place begin{bit};
  if (in_segment > 0 && round > 0) begin = parts.ends[(round - 1) % 2][i - 1];
  const bool is_same = round > 0 && begin == parts.begins[i];
  parts.begins[i] = begin;
  if (part + 1 == scan.segments[number + 1].first_part) return;  // the last: end_kernel
  if (is_same) {
    parts.ends[round % 2][i] = parts.ends[(round - 1) % 2][i];
    return;
  }
  const Walked walked = walk(scan, begin, bit + 8 * kPartBytes, ~std::uint32_t{0});
  parts.ends[round % 2][i] = walked.end;
  parts.blocks[i] = walked.blocks;
  parts.faults[i] = walked.has_fault;
}

/// Adds the blocks of all parts but the last of a segment.
__global__ void add_kernel(const DeviceScan* scans, Parts parts, std::uint32_t* blocks,
                           std::uint32_t* faults) {
  const DeviceScan& scan = scans[blockIdx.y];
  const std::uint32_t part = blockIdx.x * kThreads + threadIdx.x;
  if (part >= scan.parts) return;
  const int number = segment_of(scan, part);
  const std::uint32_t i = scan.first_part + part;
  constexpr int kLast = (kRounds - 1) % 2;
  if (part > scan.segments[number].first_part && !(parts.begins[i] == parts.ends[kLast][i - 1]))
    atomic_add(faults[blockIdx.y], std::uint32_t{1});
  if (part + 1 == scan.segments[number + 1].first_part) return;
  if (parts.faults[i] != 0) atomic_add(faults[blockIdx.y], std::uint32_t{1});
  atomic_add(blocks[scan.first_segment + number], parts.blocks[i]);
}

/// Walks over the last part of each segment, which must have the blocks that are left.
__global__ void end_kernel(const DeviceScan* scans, Parts parts, const std::uint32_t* blocks,
                           std::uint32_t* faults) {
  const DeviceScan& scan = scans[blockIdx.y];
  const int number = blockIdx.x * kThreads + threadIdx.x;
  if (number >= scan.segment_count || faults[blockIdx.y] != 0) return;
  const Scan::Segment& segment = scan.segments[number];
  const std::uint32_t done = blocks[scan.first_segment + number], end = 8 * segment.end;
  const std::uint32_t left = segment.blocks - done;
  const std::uint32_t last = scan.first_part + scan.segments[number + 1].first_part - 1;
  bool holds = done <= segment.blocks;
  if (holds) {
    const Walked walked = walk(scan, parts.begins[last], end, left);
    holds = !walked.has_fault && walked.blocks == left && walked.end.coefficient == 0 &&
            walked.end.bit <= end && end - walked.end.bit < 8;
  }
  if (!holds) atomic_add(faults[blockIdx.y], std::uint32_t{1});
}

/// Lays arrays out one behind the other.
class Layout {
 public:
  static constexpr std::size_t kAlignment = 256;
  static constexpr std::size_t aligned(std::size_t bytes) {
    return (bytes + kAlignment - 1) / kAlignment * kAlignment;
  }

  template <class T>
  std::size_t take(std::size_t count) {
    const std::size_t at = bytes_;
    bytes_ += aligned(count * sizeof(T));
    return at;
  }
  std::size_t bytes() const { return bytes_; }

 private:
  std::size_t bytes_ = 0;
};

class Walker : public huffman::ScanWalker {
 public:
  explicit Walker(const PlanOptions& options) : stream_(options) {}

  std::vector<bool> hold(std::span<const Scan* const> scans) override {
    if (scans.empty()) return {};
    stream_.make_current();
    Layout layout;
    std::vector<DeviceScan> on_device(scans.size());
    const std::size_t scans_at = layout.take<DeviceScan>(scans.size());
    struct Places {
      std::size_t words, codes, segments;
    };
    std::vector<Places> places;
    std::uint32_t parts = 0, most_parts = 0, most_segments = 0;
    int segments = 0;
    std::vector<std::vector<Scan::Segment>> cut;  // with the one behind the last
    for (std::size_t k = 0; k < scans.size(); ++k) {
      const Scan& scan = *scans[k];
      DeviceScan& there = on_device[k];
      std::vector<Scan::Segment>& list = cut.emplace_back(scan.segments);
      std::uint32_t own = 0;
      for (Scan::Segment& segment : list) {
        segment.first_part = own;
        // The last part has what a whole number of parts leaves, too.
        own += std::max(1u, (segment.end - segment.begin) / kPartBytes);
      }
      list.emplace_back().first_part = own;
      there.segment_count = int(scan.segments.size());
      there.first_segment = segments;
      there.first_part = parts;
      there.parts = own;
      there.blocks = int(scan.blocks.size());
      std::ranges::copy(scan.blocks, there.tables);
      places.push_back({layout.take<unsigned char>(scan.data.size()),
                        layout.take<Codes>(scan.codes.size()),
                        layout.take<Scan::Segment>(list.size())});
      parts += own;
      segments += there.segment_count;
      most_parts = std::max(most_parts, own);
      most_segments = std::max(most_segments, std::uint32_t(there.segment_count));
    }
    const std::size_t begins = layout.take<Place>(parts);
    const std::size_t ends[2] = {layout.take<Place>(parts), layout.take<Place>(parts)};
    const std::size_t blocks = layout.take<std::uint32_t>(parts),
                      part_faults = layout.take<std::uint32_t>(parts);
    const std::size_t sums = layout.take<std::uint32_t>(std::size_t(segments)),
                      faults = layout.take<std::uint32_t>(scans.size());
    if (memory_.size() < layout.bytes()) {
      memory_ = DeviceBuffer();
      memory_ = DeviceBuffer(layout.bytes());
    }
    const auto at = [&]<class T>(std::size_t place, T*) {
      return reinterpret_cast<T*>(memory_.data() + place);
    };
    constexpr std::uint32_t* kNumbers = nullptr;
    constexpr Place* kPlaces = nullptr;
    for (std::size_t k = 0; k < scans.size(); ++k) {
      on_device[k].words = at(places[k].words, kNumbers);
      on_device[k].codes = at(places[k].codes, static_cast<Codes*>(nullptr));
      on_device[k].segments = at(places[k].segments, static_cast<Scan::Segment*>(nullptr));
    }
    // In the order in which the layout has them.
    uploads_.begin(memory_.data());
    upload(on_device);
    for (std::size_t k = 0; k < scans.size(); ++k) {
      upload(scans[k]->data);
      upload(scans[k]->codes);
      upload(cut[k]);
    }
    uploads_.end(stream_);
    clear(memory_.data() + sums, layout.bytes() - sums, stream_);
    const auto* const all = at(scans_at, static_cast<DeviceScan*>(nullptr));
    const Parts known{at(begins, kPlaces),
                      {at(ends[0], kPlaces), at(ends[1], kPlaces)},
                      at(blocks, kNumbers),
                      at(part_faults, kNumbers)};
    const auto grid_of = [&](std::uint32_t threads) {
      return dim3((int(threads) + kThreads - 1) / kThreads, int(scans.size()));
    };
    for (int round = 0; round < kRounds; ++round)
      launch(grid_of(most_parts), dim3(kThreads), stream_, settle_kernel, all, known, round);
    launch(grid_of(most_parts), dim3(kThreads), stream_, add_kernel, all, known, at(sums, kNumbers),
           at(faults, kNumbers));
    launch(grid_of(most_segments), dim3(kThreads), stream_, end_kernel, all, known,
           static_cast<const std::uint32_t*>(at(sums, kNumbers)), at(faults, kNumbers));
    std::vector<std::uint32_t> found(scans.size());
    const std::size_t bytes = found.size() * sizeof found[0];
    download_rows(reinterpret_cast<std::byte*>(found.data()), bytes, memory_.data() + faults, bytes,
                  bytes, 1, stream_);
    stream_.synchronize();
    std::vector<bool> holds;
    for (const std::uint32_t count : found) holds.push_back(count == 0);
    return holds;
  }

  void release() override {
    stream_.make_current();
    memory_ = DeviceBuffer();
  }

 private:
  template <class T>
  void upload(const std::vector<T>& from) {
    constexpr std::byte kNothing[Layout::kAlignment]{};
    const std::size_t bytes = from.size() * sizeof(T);
    uploads_.add(from.data(), bytes, stream_);
    uploads_.add(kNothing, Layout::aligned(bytes) - bytes, stream_);
  }

  Stream stream_;
  Uploads uploads_;
  DeviceBuffer memory_;
};

}  // namespace

std::unique_ptr<huffman::ScanWalker> make_walker(const PlanOptions& options) {
  return std::make_unique<Walker>(options);
}

}  // namespace convfilt::CONVFILT_BACKEND
