/// Strategy `separable` on the CPU: a row pass, then a column pass, for masks of rank 1 to 3.
///
/// A strip of columns is walked from top to bottom, as in cpu/direct.cpp, but the ring holds rows
/// of row sums: the plane between the passes exists only as far as the mask reaches. For 8 bits the
/// row pass multiplies pairs or fours of pixels and leaves pairs of rows, which the column pass
/// multiplies.
/// A row of the ring holds the row sums of all terms, one term behind the other.
///
/// Cost per sample: width / 2 + height / 2 pair multiply-adds a term for 8 bits, width + height
/// fused multiply-adds for the others.
///
/// kernels/contract/separable.hpp defines the bytes: row sums are finished to RowResultOf<T>; for
/// floats a row is one chain from zero, left to right, and a column one chain from zero, top to
/// bottom. The row pass takes a ghost row of Border::constant like any other, which gives
/// ghost_row_result.
#include <type_traits>

#include "kernels/contract/dispatch.hpp"
#include "kernels/contract/separable.hpp"
#include "kernels/cpu/float_rows.hpp"
#include "kernels/cpu/integer_rows.hpp"
#include "kernels/cpu/plans.hpp"
#include "kernels/cpu/source_rows.hpp"
#include "kernels/cpu/tiled_plan.hpp"

namespace convfilt {
namespace cpu {
namespace {

// A band is at least four heights of the mask high, because it computes the row sums of height - 1
// rows that another band computes, too.
constexpr int kLeastBandMasks = 4;

TileCost tile_cost(const Problem& problem, std::size_t terms, int slots) {
  const std::int64_t bytes_per_pixel = std::int64_t(terms) * slots * 4 * problem.channels;
  return {kShareOfSecondCache, bytes_per_pixel, 0, kLeastBandMasks * problem.mask.height};
}

// A row has one pixel more on the right than the mask reaches, which is the last pair's partner.
template <class T>
SourceRows<T> source_rows(const Problem& problem, std::optional<double> border_alpha = {}) {
  return {problem, problem.lead_x(), problem.mask.width - problem.lead_x(), border_alpha};
}

template <class T>
std::int64_t multiply_adds(const SeparableMask<T>& mask) {
  return std::int64_t(mask.terms.size()) * (mask.width() + mask.height());
}

// Samples from one term to the next in a row of the ring. Behind each term's samples there is room
// for what vectors write beyond their end.
std::size_t term_pitch(std::size_t samples) {
  return (samples + kSlack + 63) / 64 * 64;
}

struct IntegerWorker {
  RowBuffer<std::uint8_t> gathered;
  RowBuffer<std::int32_t> pixel_pairs;  // pixel pairs of an even and an odd row
  std::size_t pitch;                    // from term to term in the ring
  Ring<std::int32_t> ring;              // row sums, in pairs of rows
  std::vector<Place> places;            // where the taps lie in the ring
  std::vector<const std::int32_t*> sources;
};

class IntegerPlan final : public TiledPlan<IntegerWorker> {
 public:
  IntegerPlan(const Problem& problem, const PlanOptions& options,
              const SeparableMask<std::uint8_t>& mask)
      : IntegerPlan(problem, options, mask, column_taps(mask)) {}

 private:
  struct RowPass {
    RowTaps taps;
    VectorFinish finish;
  };

  // Here the terms count as neighbouring columns of one mask, whose places lie a sample apart.
  // make_worker() then puts them a term's pitch apart.
  static IntegerTaps column_taps(const SeparableMask<std::uint8_t>& mask) {
    std::vector<std::int32_t> weights;
    for (int j = 0; j < mask.height(); ++j) {
      for (const auto& term : mask.terms) weights.push_back(term.column.weights[std::size_t(j)]);
    }
    return taps_on_row_pairs(weights, int(mask.terms.size()), mask.height(), 1, 2);
  }

  IntegerPlan(const Problem& problem, const PlanOptions& options,
              const SeparableMask<std::uint8_t>& mask, IntegerTaps columns)
      : TiledPlan(problem, tile_cost(problem, mask.terms.size(), columns.slots),
                  multiply_adds(mask), options),
        rows_(source_rows<std::uint8_t>(problem)),
        columns_(std::move(columns)),
        finish_(mask.terms.back().column.finish),
        lead_y_(problem.lead_y()) {
    for (const auto& term : mask.terms) {
      row_passes_.push_back(
          {RowTaps(term.row.weights, problem.channels), VectorFinish(term.row.finish)});
      wants_pairs_ = wants_pairs_ || !row_pass_takes_bytes(row_passes_.back().taps);
    }
  }

  std::unique_ptr<IntegerWorker> make_worker(int pixels) const override {
    const std::size_t length = rows_.length(pixels);
    const std::size_t pitch = term_pitch(std::size_t(pixels) * std::size_t(channels_));
    auto worker = std::make_unique<IntegerWorker>();
    worker->gathered = RowBuffer<std::uint8_t>(2, length);
    if (wants_pairs_) worker->pixel_pairs = RowBuffer<std::int32_t>(2, length);
    worker->pitch = pitch;
    worker->ring = Ring<std::int32_t>(columns_.slots, row_passes_.size() * pitch);
    for (const Place& place : columns_.places) {
      worker->places.push_back({place.slot, place.offset * int(pitch)});
    }
    return worker;
  }

  void filter_tile(IntegerWorker& worker, const Tile& tile, BandView<const std::byte> in,
                   BandView<std::byte> out) const override {
    const int n = samples(tile);
    sweep(
        tile.y0, tile.y1, 2, 2, columns_.slots,
        [&](int slot) { pass_two_rows(worker, tile, in, slot); },
        [&](int y, int first) {
          worker.ring.resolve(worker.places, first, worker.sources);
          std::uint8_t* const output[2] = {output_row<std::uint8_t>(out, tile, y),
                                           output_row<std::uint8_t>(out, tile, y + 1)};
          filter_rows(columns_, worker.sources.data(), n, finish_, output);
        });
  }

  void pass_two_rows(IntegerWorker& worker, const Tile& tile, BandView<const std::byte> in,
                     int slot) const {
    const int n = samples(tile), length = int(rows_.length(tile.x1 - tile.x0));
    const int y = tile.y0 - lead_y_ + 2 * slot;
    TwoRows rows{};
    for (int half = 0; half < 2; ++half) {
      rows.bytes[half] = rows_.row(in, tile.x0, tile.x1, y + half, worker.gathered.row(half));
      if (!wants_pairs_) continue;
      std::int32_t* const made = worker.pixel_pairs.row(half);
      make_pairs(rows.bytes[half], rows.bytes[half] + channels_, length - channels_, made);
      rows.pairs[half] = made;
    }
    std::int32_t* row_sums = worker.ring.row(slot);
    for (const auto& [taps, finish] : row_passes_) {
      pass_rows(taps, rows, n, finish, row_sums);
      row_sums += worker.pitch;
    }
  }

  SourceRows<std::uint8_t> rows_;
  std::vector<RowPass> row_passes_;
  bool wants_pairs_ = false;
  IntegerTaps columns_;
  VectorFinish finish_;
  int lead_y_;
};

template <class T>
struct FloatWorker {
  RowBuffer<T> gathered;
  RowBuffer<float> widened;
  std::size_t pitch;          // from term to term in the ring
  Ring<float> ring;           // row sums
  std::vector<Place> places;  // all rows of the first term in the ring, then those of the next
  std::vector<const float*> sources;
};

template <class T>
class FloatPlan final : public TiledPlan<FloatWorker<T>> {
 public:
  FloatPlan(const Problem& problem, const PlanOptions& options, const SeparableMask<T>& mask,
            std::optional<double> border_alpha)
      : TiledPlan<FloatWorker<T>>(problem, tile_cost(problem, mask.terms.size(), mask.height() + 1),
                                  multiply_adds(mask), options),
        rows_(source_rows<T>(problem, border_alpha)),
        slots_(mask.height() + 1),
        lead_y_(problem.lead_y()) {
    for (const auto& [row, column] : mask.terms) {
      row_passes_.push_back({row.weights, row.finish});
      columns_.push_back(column.weights);
      finish_ = column.finish;
    }
  }

 private:
  struct RowPass {
    std::vector<float> weights;
    FloatFinish finish;
  };

  std::unique_ptr<FloatWorker<T>> make_worker(int pixels) const override {
    const std::size_t length = rows_.length(pixels);
    const std::size_t pitch = term_pitch(std::size_t(pixels) * std::size_t(this->channels_));
    std::vector<Place> places;
    for (std::size_t term = 0; term < columns_.size(); ++term) {
      for (int slot = 0; slot < slots_; ++slot) places.push_back({slot, int(term * pitch)});
    }
    return std::make_unique<FloatWorker<T>>(
        FloatWorker<T>{RowBuffer<T>(1, length),
                       RowBuffer<float>(1, length),
                       pitch,
                       Ring<float>(slots_, columns_.size() * pitch),
                       std::move(places),
                       {}});
  }

  void filter_tile(FloatWorker<T>& worker, const Tile& tile, BandView<const std::byte> in,
                   BandView<std::byte> out) const override {
    const int n = this->samples(tile), length = int(rows_.length(tile.x1 - tile.x0));
    const auto fill = [&](int slot) {
      const T* source =
          rows_.row(in, tile.x0, tile.x1, tile.y0 - lead_y_ + slot, worker.gathered.row(0));
      widen(source, length, worker.widened.row(0));
      float* row_sums = worker.ring.row(slot);
      for (const auto& [weights, finish] : row_passes_) {
        pass_row(weights, worker.widened.row(0), this->channels_, n, finish, row_sums);
        row_sums += worker.pitch;
      }
    };
    sweep(tile.y0, tile.y1, 2, 1, slots_, fill, [&](int y, int first) {
      worker.ring.resolve(worker.places, first, worker.sources);
      T* const output[2] = {this->template output_row<T>(out, tile, y),
                            this->template output_row<T>(out, tile, y + 1)};
      pass_columns(columns_, worker.sources.data(), n, finish_, output);
    });
  }

  SourceRows<T> rows_;
  int slots_;
  std::vector<RowPass> row_passes_;
  Columns columns_;
  FloatFinish finish_;  // ends the sum of all terms
  int lead_y_;
};

}  // namespace
}  // namespace cpu

std::unique_ptr<BandPlan> prepare_separable_bands(const Problem& problem,
                                                  const PlanOptions& options,
                                                  std::optional<double> border_alpha) {
  return with_depth(problem.depth, [&]<class T>(TypeTag<T>) -> std::unique_ptr<BandPlan> {
    const auto mask = prepare_separable<T>(problem.mask);
    if constexpr (std::is_same_v<T, std::uint8_t>)
      return std::make_unique<cpu::IntegerPlan>(problem, options, mask);
    else
      return std::make_unique<cpu::FloatPlan<T>>(problem, options, mask, border_alpha);
  });
}

std::unique_ptr<Plan> prepare_cpu_separable(const Problem& problem, const PlanOptions& options) {
  return prepare_separable_bands(problem, options, {});
}

}  // namespace convfilt
