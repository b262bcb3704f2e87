/// Strategies `cpu` and `separable` on the CPU, on all cores, in vectors.
///
/// Idea: a tile is a strip of columns, walked from top to bottom. The source rows under the mask
/// lie in a ring, and each is prepared once: its ghost cells are filled in, its samples widened,
/// and 8-bit rows are joined in pairs. One instruction (vpmaddwd) then does two multiply-adds, and
/// one load serves 2 or 4 output rows. Channels stay interleaved, as they lie in memory, since the
/// neighbour i pixels away is i * channels samples away in every channel.
///
/// `cpu` multiplies every weight with every sample. For `separable`, a mask of rank 1 to 3, each
/// row goes through the row pass before it enters the ring: the plane between the passes exists
/// only as far as the mask reaches. A row of the ring then holds the row sums of all terms, one
/// term behind the other. For 8 bits the row pass multiplies pairs or fours of pixels and leaves
/// pairs of rows.
///
/// Cost per sample of `cpu`: width * (height + 1) / 2 pair multiply-adds for 8 bits, 16 of them in
/// an instruction of AVX-512, and width * height fused multiply-adds for the others. `separable`
/// takes width / 2 + height / 2 pair multiply-adds a term for 8 bits, width + height for the
/// others.
///
/// kernels/contract/separable.hpp defines the bytes of separable: row sums are finished to
/// RowResultOf<T>; for floats a row is one chain from zero, left to right, and a column one chain
/// from zero, top to bottom. The row pass takes a ghost row of Border::constant like any other,
/// which gives ghost_row_result. The inner loops are in integer_rows.cpp and float_rows.cpp.
#include <algorithm>
#include <optional>
#include <type_traits>
#include <utility>

#include "kernels/backend/host/parallel.hpp"
#include "kernels/contract/dispatch.hpp"
#include "kernels/contract/separable.hpp"
#include "kernels/cpu/float_rows.hpp"
#include "kernels/cpu/integer_rows.hpp"
#include "kernels/cpu/plans.hpp"
#include "kernels/cpu/tiles.hpp"
#include "kernels/plan/source_rows.hpp"

namespace convfilt {
namespace cpu {
namespace {

/// The sizes of tiles follow from this. Rows have `behind` pixels behind a tile's last.
struct Tiling {
  TileCost cost;
  std::int64_t multiply_adds;  ///< of a sample
  int behind;
  std::optional<double> border_alpha = {};
};

/// How a tile is walked down: `rows` output rows at a time, from `slots` slots of the ring, each of
/// which holds `rows_per_slot` source rows. Places say where the taps lie in the ring. Their
/// offsets count terms where there are row passes, and otherwise samples.
struct TileWalk {
  int rows, rows_per_slot, slots;
  std::vector<TapPlace> places;
};

/// Filters tile by tile. The ring holds pairs of 8-bit rows, or floats.
template <class T>
class TiledPlan : public BandPlan {
 public:
  void push(BandView<const std::byte> in, BandView<std::byte> out) final {
    const int tiles = int(tiles_.size());
    if (threads_ == 1)
      for (int index = 0; index < tiles; ++index) filter_tile(0, index, in, out);
    else
      parallel_for(tiles, threads_,
                   [&](int thread, int index) { filter_tile(thread, index, in, out); });
  }

 protected:
  /// Each thread keeps its buffers from tile to tile and from run to run, which then allocate none.
  struct Buffers {
    RowBuffer<T> gathered;
    RowBuffer<SumOf<T>> prepared;  ///< what the row passes read
    Ring<SumOf<T>> ring;
    std::vector<const SumOf<T>*> sources;
  };

  /// `terms` is the number of row passes; 0 where there are none.
  TiledPlan(const Problem& problem, const PlanOptions& options, const Tiling& tiling,
            std::size_t terms, TileWalk walk)
      : channels_(problem.channels),
        threads_(threads_for(
            tiling.multiply_adds * problem.out_width() * problem.out_height() * problem.channels,
            options.threads)),
        tiles_(cut_in_tiles(problem, tiling.cost, threads_)),
        // Behind each term's row sums there is room for what vectors write beyond their end.
        pitch_((std::size_t(widest(tiles_)) * std::size_t(channels_) + kSlack + 63) / 64 * 64),
        source_(problem, problem.lead_x(), tiling.behind,
                std::is_same_v<T, std::uint8_t> ? std::nullopt : tiling.border_alpha),
        width_(problem.width),
        left_(problem.lead_x()),
        behind_(tiling.behind),
        lead_y_(problem.lead_y()),
        terms_(terms),
        walk_(std::move(walk)),
        buffers_(std::size_t(threads_)) {
    if (terms == 0) return;
    for (TapPlace& place : walk_.places) place.offset *= int(pitch_);
  }

  /// Fills a slot of the ring for the tile's columns.
  virtual void fill(Buffers& own, const Tile& tile, BandView<const std::byte> in,
                    int slot) const = 0;

  /// Computes n samples of output rows from its sources. Rows below the tile are null.
  virtual void emit(const Buffers& own, int n, T* const* out) const = 0;

  /// A source row of the tile, from the first sample that its outputs need.
  const T* source_row(const Tile& tile, BandView<const std::byte> in, int row, T* buffer) const {
    return source_.row(in, tile.x0, tile.x1, tile.y0 - lead_y_ + row, buffer);
  }

  /// Calls f(part) for a tile's two edges and for what lies between, whose source rows need not be
  /// copied for ghost cells. Copies wait for memory, and sums do not.
  template <class F>
  void for_parts(const Tile& tile, F f) const {
    constexpr int kStep = 64;  // pixels make whole blocks of vectors
    const int left = (std::max(0, left_ - tile.x0) + kStep - 1) / kStep * kStep;
    const int right = std::max(left, (width_ - behind_ - tile.x0) / kStep * kStep);
    int begin = tile.x0;
    for (const int end : {tile.x0 + left, tile.x0 + right, tile.x1}) {
      if (begin >= std::min(end, tile.x1)) continue;
      f(Tile{begin, std::min(end, tile.x1), tile.y0, tile.y1});
      begin = std::min(end, tile.x1);
    }
  }

  int source_length(const Tile& tile) const { return int(source_.length(tile.x1 - tile.x0)); }
  int samples(const Tile& tile) const { return (tile.x1 - tile.x0) * channels_; }

 private:
  Buffers make_buffers() const {
    const std::size_t length = source_.length(widest(tiles_));
    Buffers own{RowBuffer<T>(walk_.rows_per_slot, length), {}, {}, {}};
    if (terms_ > 0) own.prepared = RowBuffer<SumOf<T>>(walk_.rows_per_slot, length);
    own.ring = Ring<SumOf<T>>(walk_.slots, terms_ > 0 ? terms_ * pitch_ : length);
    return own;
  }

  /// Walks what `out` has of a tile from top to bottom. Each source row enters the ring once.
  void filter_tile(int thread, int index, BandView<const std::byte> in, BandView<std::byte> out) {
    std::unique_ptr<Buffers>& own = buffers_[std::size_t(thread)];
    if (!own) own = std::make_unique<Buffers>(make_buffers());
    Tile tile = tiles_[std::size_t(index)];
    tile.y0 = std::max(tile.y0, out.top);
    tile.y1 = std::min(tile.y1, out.top + out.height);
    int filled = 0;
    for (int y = tile.y0; y < tile.y1; y += walk_.rows) {
      const int first = (y - tile.y0) / walk_.rows_per_slot;
      for (; filled < first + walk_.slots; ++filled) fill(*own, tile, in, filled);
      own->ring.resolve(walk_.places, first, own->sources);
      T* rows[4] = {};
      for (int r = 0; r < walk_.rows && y + r < tile.y1; ++r)
        rows[r] =
            reinterpret_cast<T*>(out.row(y + r - out.top)) + std::ptrdiff_t(tile.x0) * channels_;
      emit(*own, samples(tile), rows);
    }
  }

 protected:
  const int channels_;

 private:
  const int threads_;
  const std::vector<Tile> tiles_;

 protected:
  const std::size_t pitch_;  ///< from term to term in a row of the ring

 private:
  const SourceRows<T> source_;
  const int width_, left_, behind_, lead_y_;
  const std::size_t terms_;
  TileWalk walk_;
  std::vector<std::unique_ptr<Buffers>> buffers_;  ///< by thread
};

struct IntegerRowPass {
  RowTaps taps;
  VectorFinish finish;
};

/// Without row passes, `columns` are the taps of the whole mask.
class IntegerPlan final : public TiledPlan<std::uint8_t> {
 public:
  IntegerPlan(const Problem& problem, const PlanOptions& options, const Tiling& tiling,
              std::vector<IntegerRowPass> row_passes, IntegerTaps columns,
              const IntegerFinish& finish)
      : TiledPlan(problem, options, tiling, row_passes.size(),
                  {columns.rows, 2, columns.slots, columns.places}),
        row_passes_(std::move(row_passes)),
        columns_(std::move(columns)),
        finish_(finish) {}

 private:
  void fill(Buffers& own, const Tile& tile, BandView<const std::byte> in, int slot) const override {
    std::int32_t* const to = own.ring.row(slot);
    const auto rows_of = [&](const Tile& part, const std::uint8_t*(&rows)[2]) {
      for (int half = 0; half < 2; ++half)
        rows[half] = source_row(part, in, 2 * slot + half, own.gathered.row(half));
    };
    const std::uint8_t* rows[2];
    if (row_passes_.empty()) {
      rows_of(tile, rows);
      return loops_.make_pairs(rows[0], rows[1], source_length(tile), to);
    }
    for_parts(tile, [&](const Tile& part) {
      rows_of(part, rows);
      std::int32_t* sums = to + (part.x0 - tile.x0) * channels_;
      for (const auto& [taps, finish] : row_passes_) {
        loops_.pass_rows(taps, rows, samples(part), finish, sums);
        sums += pitch_;
      }
    });
  }

  void emit(const Buffers& own, int n, std::uint8_t* const* out) const override {
    loops_.filter_rows(columns_, own.sources.data(), n, finish_, out);
  }

  const IntegerLoops loops_ = integer_loops();
  const std::vector<IntegerRowPass> row_passes_;
  const IntegerTaps columns_;
  const VectorFinish finish_;  ///< ends the sum of all terms
};

struct FloatRowPass {
  std::vector<float> weights;
  FloatFinish finish;
};

/// `taps` are those of the whole mask; with row passes, only its slots and places are used, and
/// `columns` has the weights.
template <class T>
class FloatPlan final : public TiledPlan<T> {
  using typename TiledPlan<T>::Buffers;

 public:
  FloatPlan(const Problem& problem, const PlanOptions& options, const Tiling& tiling,
            std::vector<FloatRowPass> row_passes, FloatTaps taps, Columns columns,
            const FloatFinish& finish)
      : TiledPlan<T>(problem, options, tiling, row_passes.size(), {2, 1, taps.slots, taps.places}),
        row_passes_(std::move(row_passes)),
        taps_(std::move(taps)),
        columns_(std::move(columns)),
        finish_(finish) {}

 private:
  void fill(Buffers& own, const Tile& tile, BandView<const std::byte> in, int slot) const override {
    float* to = own.ring.row(slot);
    const float* widened = to;
    if constexpr (std::is_same_v<T, float>) {
      T* const gathered = row_passes_.empty() ? to : own.gathered.row(0);
      widened = this->source_row(tile, in, slot, gathered);
      if (row_passes_.empty() && widened != to) std::copy_n(widened, this->source_length(tile), to);
    } else {
      float* const prepared = row_passes_.empty() ? to : own.prepared.row(0);
      loops_.widen(this->source_row(tile, in, slot, own.gathered.row(0)), this->source_length(tile),
                   prepared);
      widened = prepared;
    }
    for (const auto& [weights, finish] : row_passes_) {
      loops_.pass_row(weights, widened, this->channels_, this->samples(tile), finish, to);
      to += this->pitch_;
    }
  }

  void emit(const Buffers& own, int n, T* const* out) const override {
    if (row_passes_.empty()) {
      loops_.filter_rows(taps_, own.sources.data(), n, finish_, out);
    } else {
      loops_.pass_columns(columns_, own.sources.data(), n, finish_, out);
    }
  }

  const FloatLoops<T> loops_ = float_loops<T>();
  const std::vector<FloatRowPass> row_passes_;
  const FloatTaps taps_;
  const Columns columns_;
  const FloatFinish finish_;  ///< ends the sum of all terms
};

TileCost direct_cost(const Problem& problem, int slots, std::int64_t cache_bytes) {
  constexpr int kLeastBandRows = 16;
  const std::int64_t bytes_per_pixel = std::int64_t(slots) * 4 * problem.channels;
  return {cache_bytes, bytes_per_pixel, bytes_per_pixel * (problem.mask.width - 1), kLeastBandRows};
}

/// A band is at least four heights of the mask high, because it computes the row sums of height - 1
/// rows that another band computes, too.
TileCost separable_cost(const Problem& problem, std::size_t terms, int slots) {
  constexpr int kLeastBandMasks = 4;
  const std::int64_t bytes_per_pixel = std::int64_t(terms) * slots * 4 * problem.channels;
  return {kShareOfSecondCache, bytes_per_pixel, 0, kLeastBandMasks * problem.mask.height};
}

}  // namespace
}  // namespace cpu

std::unique_ptr<BandPlan> prepare_direct_bands(const Problem& problem, const PlanOptions& options,
                                               std::optional<double> border_alpha) {
  using namespace cpu;
  return with_depth(problem.depth, [&]<class T>(TypeTag<T>) -> std::unique_ptr<BandPlan> {
    const auto mask = prepare_mask<T>(problem.mask);
    const auto tiling = [&](int slots, std::int64_t cache_bytes) -> Tiling {
      return {direct_cost(problem, slots, cache_bytes), std::int64_t(mask.width) * mask.height,
              mask.width - 1 - problem.lead_x(), border_alpha};
    };
    if constexpr (std::is_same_v<T, std::uint8_t>) {
      // From this height on, pairs that serve 4 output rows save more in loads than they cost in
      // multiply-adds by zero weights.
      constexpr int kHeightForFourRows = 7;
      IntegerTaps taps = taps_on_row_pairs(mask.weights, mask.width, mask.height, problem.channels,
                                           mask.height < kHeightForFourRows ? 2 : 4, true);
      return std::make_unique<IntegerPlan>(problem, options, tiling(taps.slots, kFirstCache),
                                           std::vector<IntegerRowPass>{}, taps, mask.finish);
    } else {
      const FloatTaps taps = float_taps(mask, problem.channels);
      return std::make_unique<FloatPlan<T>>(
          problem, options, tiling(taps.slots, kShareOfSecondCache), std::vector<FloatRowPass>{},
          taps, Columns{}, mask.finish);
    }
  });
}

std::unique_ptr<BandPlan> prepare_separable_bands(const Problem& problem,
                                                  const PlanOptions& options,
                                                  std::optional<double> border_alpha) {
  using namespace cpu;
  return with_depth(problem.depth, [&]<class T>(TypeTag<T>) -> std::unique_ptr<BandPlan> {
    const auto mask = prepare_separable<T>(problem.mask);
    const std::size_t terms = mask.terms.size();
    const auto& finish = mask.terms.back().column.finish;
    // A row has one pixel more behind than the mask reaches, which is the last pair's partner.
    const auto tiling = [&](int slots) -> Tiling {
      return {separable_cost(problem, terms, slots),
              std::int64_t(terms) * (mask.width() + mask.height()), mask.width() - problem.lead_x(),
              border_alpha};
    };
    if constexpr (std::is_same_v<T, std::uint8_t>) {
      std::vector<IntegerRowPass> rows;
      for (const auto& [row, column] : mask.terms)
        rows.push_back({RowTaps(row.weights, problem.channels), VectorFinish(row.finish)});
      // The terms count as neighbouring columns of one mask.
      std::vector<std::int32_t> weights;
      for (std::size_t j = 0; j < std::size_t(mask.height()); ++j)
        for (const auto& term : mask.terms) weights.push_back(term.column.weights[j]);
      IntegerTaps taps = taps_on_row_pairs(weights, int(terms), mask.height(), 1, 2);
      taps.on_row_sums = true;
      return std::make_unique<IntegerPlan>(problem, options, tiling(taps.slots), std::move(rows),
                                           taps, finish);
    } else {
      std::vector<FloatRowPass> rows;
      Columns columns;
      FloatTaps taps;  // all rows of the first term in the ring, then those of the next
      taps.slots = mask.height() + 1;
      for (const auto& [row, column] : mask.terms) {
        for (int slot = 0; slot < taps.slots; ++slot)
          taps.places.push_back({slot, int(rows.size())});
        rows.push_back({row.weights, row.finish});
        columns.push_back(column.weights);
      }
      return std::make_unique<FloatPlan<T>>(problem, options, tiling(taps.slots), std::move(rows),
                                            taps, std::move(columns), finish);
    }
  });
}

std::unique_ptr<Plan> prepare_cpu_direct(const Problem& problem, const PlanOptions& options) {
  return prepare_direct_bands(problem, options, {});
}

std::unique_ptr<Plan> prepare_cpu_separable(const Problem& problem, const PlanOptions& options) {
  return prepare_separable_bands(problem, options, {});
}

}  // namespace convfilt
