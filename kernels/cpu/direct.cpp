/// Strategy `cpu`: every weight times every sample, on all cores, in vectors.
///
/// Idea: a tile is a strip of columns, walked from top to bottom. The source rows under the mask
/// lie in a ring, and each is prepared once: its ghost cells are filled in, its samples widened,
/// and 8-bit rows are joined in pairs. One instruction (vpmaddwd) then does two multiply-adds, and
/// one load serves 2 or 4 output rows. Channels stay interleaved, as they lie in memory, since the
/// neighbour i pixels away is i * channels samples away in every channel.
///
/// Cost per sample: width * (height + 1) / 2 pair multiply-adds for 8 bits, 16 of them in an
/// instruction of AVX-512, and width * height fused multiply-adds for the others.
///
/// Sibling: separable/cpu.cpp takes 2 * side multiply-adds instead of side^2 for masks of rank 1.
/// The inner loops are in integer_rows.cpp and float_rows.cpp.
#include <type_traits>

#include "kernels/contract/dispatch.hpp"
#include "kernels/cpu/float_rows.hpp"
#include "kernels/cpu/integer_rows.hpp"
#include "kernels/cpu/plans.hpp"
#include "kernels/cpu/source_rows.hpp"
#include "kernels/cpu/tiled_plan.hpp"

namespace convfilt {
namespace cpu {
namespace {

// From this height on, pairs that serve 4 output rows save more in loads than they cost in
// multiply-adds by zero weights.
constexpr int kHeightForFourRows = 7;

constexpr int kLeastBandRows = 16;

TileCost tile_cost(const Problem& problem, int slots, std::int64_t cache_bytes) {
  const std::int64_t bytes_per_pixel = std::int64_t(slots) * 4 * problem.channels;
  return {cache_bytes, bytes_per_pixel, bytes_per_pixel * (problem.mask.width - 1), kLeastBandRows};
}

template <class T>
SourceRows<T> source_rows(const Problem& problem, std::optional<double> border_alpha = {}) {
  return {problem, problem.lead_x(), problem.mask.width - 1 - problem.lead_x(), border_alpha};
}

struct IntegerWorker {
  RowBuffer<std::uint8_t> gathered;
  Ring<std::int32_t> ring;
  std::vector<const std::int32_t*> sources;
};

class IntegerPlan final : public TiledPlan<IntegerWorker> {
 public:
  IntegerPlan(const Problem& problem, const PlanOptions& options,
              const PreparedMask<std::uint8_t>& mask)
      : IntegerPlan(problem, options, mask,
                    taps_on_row_pairs(mask.weights, mask.width, mask.height, problem.channels,
                                      mask.height < kHeightForFourRows ? 2 : 4)) {}

 private:
  IntegerPlan(const Problem& problem, const PlanOptions& options,
              const PreparedMask<std::uint8_t>& mask, IntegerTaps taps)
      : TiledPlan(problem, tile_cost(problem, taps.slots, kFirstCache),
                  std::int64_t(mask.width) * mask.height, options),
        rows_(source_rows<std::uint8_t>(problem)),
        taps_(std::move(taps)),
        finish_(mask.finish),
        lead_y_(problem.lead_y()) {}

  std::unique_ptr<IntegerWorker> make_worker(int pixels) const override {
    const std::size_t length = rows_.length(pixels);
    return std::make_unique<IntegerWorker>(IntegerWorker{
        RowBuffer<std::uint8_t>(2, length), Ring<std::int32_t>(taps_.slots, length), {}});
  }

  void filter_tile(IntegerWorker& worker, const Tile& tile, BandView<const std::byte> in,
                   BandView<std::byte> out) const override {
    const int length = int(rows_.length(tile.x1 - tile.x0));
    const auto fill = [&](int slot) {
      const std::uint8_t* pair[2];
      for (int half = 0; half < 2; ++half) {
        pair[half] = rows_.row(in, tile.x0, tile.x1, tile.y0 - lead_y_ + 2 * slot + half,
                               worker.gathered.row(half));
      }
      make_pairs(pair[0], pair[1], length, worker.ring.row(slot));
    };
    sweep(tile.y0, tile.y1, taps_.rows, 2, taps_.slots, fill, [&](int y, int first) {
      worker.ring.resolve(taps_.places, first, worker.sources);
      std::uint8_t* output[4];
      for (int r = 0; r < taps_.rows; ++r) output[r] = output_row<std::uint8_t>(out, tile, y + r);
      filter_rows(taps_, worker.sources.data(), samples(tile), finish_, output);
    });
  }

  SourceRows<std::uint8_t> rows_;
  IntegerTaps taps_;
  VectorFinish finish_;
  int lead_y_;
};

template <class T>
struct FloatWorker {
  RowBuffer<T> gathered;
  Ring<float> ring;
  std::vector<const float*> sources;
};

template <class T>
class FloatPlan final : public TiledPlan<FloatWorker<T>> {
 public:
  FloatPlan(const Problem& problem, const PlanOptions& options, const PreparedMask<T>& mask,
            std::optional<double> border_alpha)
      : TiledPlan<FloatWorker<T>>(problem, tile_cost(problem, mask.height + 1, kShareOfSecondCache),
                                  std::int64_t(mask.width) * mask.height, options),
        rows_(source_rows<T>(problem, border_alpha)),
        taps_(float_taps(mask, problem.channels)),
        finish_(mask.finish),
        lead_y_(problem.lead_y()) {}

 private:
  std::unique_ptr<FloatWorker<T>> make_worker(int pixels) const override {
    const std::size_t length = rows_.length(pixels);
    return std::make_unique<FloatWorker<T>>(
        FloatWorker<T>{RowBuffer<T>(1, length), Ring<float>(taps_.slots, length), {}});
  }

  void filter_tile(FloatWorker<T>& worker, const Tile& tile, BandView<const std::byte> in,
                   BandView<std::byte> out) const override {
    const int length = int(rows_.length(tile.x1 - tile.x0));
    const auto fill = [&](int slot) {
      const T* source =
          rows_.row(in, tile.x0, tile.x1, tile.y0 - lead_y_ + slot, worker.gathered.row(0));
      widen(source, length, worker.ring.row(slot));
    };
    sweep(tile.y0, tile.y1, 2, 1, taps_.slots, fill, [&](int y, int first) {
      worker.ring.resolve(taps_.places, first, worker.sources);
      T* const output[2] = {this->template output_row<T>(out, tile, y),
                            this->template output_row<T>(out, tile, y + 1)};
      filter_rows(taps_, worker.sources.data(), this->samples(tile), finish_, output);
    });
  }

  SourceRows<T> rows_;
  FloatTaps taps_;
  FloatFinish finish_;
  int lead_y_;
};

}  // namespace
}  // namespace cpu

std::unique_ptr<BandPlan> prepare_direct_bands(const Problem& problem, const PlanOptions& options,
                                               std::optional<double> border_alpha) {
  return with_depth(problem.depth, [&]<class T>(TypeTag<T>) -> std::unique_ptr<BandPlan> {
    const auto mask = prepare_mask<T>(problem.mask);
    if constexpr (std::is_same_v<T, std::uint8_t>)
      return std::make_unique<cpu::IntegerPlan>(problem, options, mask);
    else
      return std::make_unique<cpu::FloatPlan<T>>(problem, options, mask, border_alpha);
  });
}

std::unique_ptr<Plan> prepare_cpu_direct(const Problem& problem, const PlanOptions& options) {
  return prepare_direct_bands(problem, options, {});
}

}  // namespace convfilt
