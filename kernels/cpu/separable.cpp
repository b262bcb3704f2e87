/// Strategy `separable` on the CPU: a row pass, then a column pass, for masks of rank 1.
///
/// Idea: as in cpu/direct.cpp a strip of columns is walked from top to bottom, but the ring holds
/// rows that the row pass has already been over: the plane between the passes exists only as far as
/// the mask reaches. For 8 bits the row pass multiplies pairs of pixels and leaves pairs of rows,
/// which is what the column pass multiplies.
///
/// Cost per sample: width / 2 + height / 2 pair multiply-adds for 8 bits, width + height fused
/// multiply-adds for the others.
///
/// The bytes are defined in separable.hpp: what lies between is finished to MidOf<T>; for floats a
/// row is one chain from zero, left to right, and a column one chain from zero, top to bottom. A
/// ghost row of Border::constant is passed over like any other, which gives mid_ghost.
#include <type_traits>

#include "cpu/cpu_plans.hpp"
#include "cpu/float_rows.hpp"
#include "cpu/integer_rows.hpp"
#include "cpu/source_rows.hpp"
#include "cpu/tiled_plan.hpp"
#include "dispatch.hpp"
#include "separable.hpp"

namespace convfilt {
namespace cpu {
namespace {

// A band computes the row pass of the mask's height less one rows twice; in heights of the mask.
constexpr int kLeastBandMasks = 4;

TileCost tile_cost(const Problem& problem, int slots) {
  const std::int64_t bytes_per_pixel = std::int64_t(slots) * 4 * problem.channels;
  return {kShareOfSecondCache, bytes_per_pixel, 0, kLeastBandMasks * problem.mask.height};
}

// One pixel more on the right than the mask reaches: the partner of the last pair.
template <class T>
SourceRows<T> source_rows(const Problem& problem) {
  return {problem, problem.lead_x(), problem.mask.width - problem.lead_x()};
}

struct IntegerWorker {
  RowBuffer<std::uint8_t> gathered;
  RowBuffer<std::int32_t> pixel_pairs;              // of an even and an odd row
  std::vector<const std::int32_t*> row_sources[2];  // in them
  Ring<std::int32_t> ring;                          // the plane between, in pairs of rows
  std::vector<const std::int32_t*> sources;
};

class IntegerPlan final : public TiledPlan<IntegerWorker> {
 public:
  IntegerPlan(const Problem& problem, const PlanOptions& options,
              const SeparableMask<std::uint8_t>& mask)
      : IntegerPlan(problem, options, mask,
                    taps_on_row_pairs(mask.column.weights, 1, mask.column.height, 1, 2)) {}

 private:
  IntegerPlan(const Problem& problem, const PlanOptions& options,
              const SeparableMask<std::uint8_t>& mask, IntegerTaps column)
      : TiledPlan(problem, tile_cost(problem, column.slots),
                  std::int64_t(mask.row.width) + mask.column.height, options),
        rows_(source_rows<std::uint8_t>(problem)),
        row_(taps_on_pixel_pairs(mask.row.weights, problem.channels)),
        column_(std::move(column)),
        row_finish_(mask.row.finish),
        column_finish_(mask.column.finish),
        lead_y_(problem.lead_y()) {}

  std::unique_ptr<IntegerWorker> make_worker(int pixels) const override {
    const std::size_t length = rows_.length(pixels);
    auto worker = std::make_unique<IntegerWorker>();
    worker->gathered = RowBuffer<std::uint8_t>(2, length);
    worker->pixel_pairs = RowBuffer<std::int32_t>(2, length);
    for (int half = 0; half < 2; ++half) {
      for (const Place& place : row_.places) {
        worker->row_sources[half].push_back(worker->pixel_pairs.row(half) + place.offset);
      }
    }
    worker->ring = Ring<std::int32_t>(column_.slots, std::size_t(pixels) * std::size_t(channels_));
    return worker;
  }

  void filter_tile(IntegerWorker& worker, const Tile& tile, PictureView<const std::byte> in,
                   PictureView<std::byte> out) const override {
    const int n = samples(tile);
    sweep(
        tile.y0, tile.y1, 2, 2, column_.slots,
        [&](int slot) { pass_two_rows(worker, tile, in, slot); },
        [&](int y, int first) {
          worker.ring.resolve(column_.places, first, worker.sources);
          std::uint8_t* const output[2] = {output_row<std::uint8_t>(out, tile, y),
                                           output_row<std::uint8_t>(out, tile, y + 1)};
          filter_rows(column_, worker.sources.data(), n, column_finish_, output);
        });
  }

  void pass_two_rows(IntegerWorker& worker, const Tile& tile, PictureView<const std::byte> in,
                     int slot) const {
    const int n = samples(tile), length = int(rows_.length(tile.x1 - tile.x0));
    const int y = tile.y0 - lead_y_ + 2 * slot;
    for (int half = 0; half < 2; ++half) {
      const std::uint8_t* samples =
          rows_.row(in, tile.x0, tile.x1, y + half, worker.gathered.row(half));
      make_pairs(samples, samples + channels_, length - channels_, worker.pixel_pairs.row(half));
    }
    pass_rows(row_, worker.row_sources[0].data(), worker.row_sources[1].data(), n, row_finish_,
              worker.ring.row(slot));
  }

  SourceRows<std::uint8_t> rows_;
  IntegerTaps row_, column_;
  VectorFinish row_finish_, column_finish_;
  int lead_y_;
};

template <class T>
struct FloatWorker {
  RowBuffer<T> gathered;
  RowBuffer<float> widened;
  Ring<float> ring;  // the plane between
  std::vector<const float*> sources;
};

template <class T>
class FloatPlan final : public TiledPlan<FloatWorker<T>> {
 public:
  FloatPlan(const Problem& problem, const PlanOptions& options, const SeparableMask<T>& mask)
      : TiledPlan<FloatWorker<T>>(problem, tile_cost(problem, mask.column.height + 1),
                                  std::int64_t(mask.row.width) + mask.column.height, options),
        rows_(source_rows<T>(problem)),
        row_(mask.row.weights),
        column_(mask.column.weights),
        row_finish_(mask.row.finish),
        column_finish_(mask.column.finish),
        lead_y_(problem.lead_y()) {
    for (int slot = 0; slot <= mask.column.height; ++slot) places_.push_back({slot, 0});
  }

 private:
  std::unique_ptr<FloatWorker<T>> make_worker(int pixels) const override {
    const std::size_t length = rows_.length(pixels);
    return std::make_unique<FloatWorker<T>>(FloatWorker<T>{
        RowBuffer<T>(1, length),
        RowBuffer<float>(1, length),
        Ring<float>(int(places_.size()), std::size_t(pixels) * std::size_t(this->channels_)),
        {}});
  }

  void filter_tile(FloatWorker<T>& worker, const Tile& tile, PictureView<const std::byte> in,
                   PictureView<std::byte> out) const override {
    const int n = this->samples(tile), length = int(rows_.length(tile.x1 - tile.x0));
    const auto fill = [&](int slot) {
      const T* source =
          rows_.row(in, tile.x0, tile.x1, tile.y0 - lead_y_ + slot, worker.gathered.row(0));
      widen(source, length, worker.widened.row(0));
      pass_row(row_, worker.widened.row(0), this->channels_, n, row_finish_, worker.ring.row(slot));
    };
    sweep(tile.y0, tile.y1, 2, 1, int(places_.size()), fill, [&](int y, int first) {
      worker.ring.resolve(places_, first, worker.sources);
      T* const output[2] = {this->template output_row<T>(out, tile, y),
                            this->template output_row<T>(out, tile, y + 1)};
      pass_columns(column_, worker.sources.data(), n, column_finish_, output);
    });
  }

  SourceRows<T> rows_;
  std::vector<float> row_, column_;
  FloatFinish row_finish_, column_finish_;
  int lead_y_;
  std::vector<Place> places_;  // one sample of every row in the ring
};

}  // namespace
}  // namespace cpu

std::unique_ptr<Plan> prepare_cpu_separable(const Problem& problem, const PlanOptions& options) {
  return with_depth(problem.depth, [&](auto tag) -> std::unique_ptr<Plan> {
    using T = typename decltype(tag)::type;
    const auto mask = prepare_separable<T>(problem.mask);
    if constexpr (std::is_same_v<T, std::uint8_t>) {
      return std::make_unique<cpu::IntegerPlan>(problem, options, mask);
    } else {
      return std::make_unique<cpu::FloatPlan<T>>(problem, options, mask);
    }
  });
}

}  // namespace convfilt
