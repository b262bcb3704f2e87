/// A plan that filters tile by tile on all cores, for the strategies `cpu` and `separable` on the
/// CPU.
#pragma once

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

#include "kernels/backend/host/parallel.hpp"
#include "kernels/cpu/band.hpp"
#include "kernels/cpu/tiles.hpp"
#include "kernels/strategy.hpp"

namespace convfilt::cpu {

/// Each thread has a Worker, which is made when the thread first runs and then kept, so that
/// repeated runs allocate no memory.
template <class Worker>
class TiledPlan : public BandPlan {
 public:
  TiledPlan(const Problem& problem, const TileCost& cost, std::int64_t multiply_adds_per_sample,
            const PlanOptions& options)
      : channels_(problem.channels),
        threads_(threads_for(multiply_adds_per_sample * problem.out_width() * problem.out_height() *
                                 problem.channels,
                             options.threads)),
        tiles_(cut_in_tiles(problem, cost, threads_)),
        workers_(std::size_t(threads_)) {}

  Timing run_band(BandView<const std::byte> in, BandView<std::byte> out) final {
    const auto start = std::chrono::steady_clock::now();
    const auto filter = [&](int worker, int index) {
      auto& own = workers_[std::size_t(worker)];
      if (!own) own = make_worker(widest(tiles_));
      Tile tile = tiles_[std::size_t(index)];
      tile.y0 = std::max(tile.y0, out.top);
      tile.y1 = std::min(tile.y1, out.top + out.height);
      if (tile.y0 < tile.y1) filter_tile(*own, tile, in, out);
    };
    if (threads_ == 1)
      for (int index = 0; index < int(tiles_.size()); ++index) filter(0, index);
    else
      parallel_for(int(tiles_.size()), threads_, filter);
    const std::chrono::duration<double, std::milli> spent =
        std::chrono::steady_clock::now() - start;
    Timing timing;
    timing.kernel_ms = spent.count();
    return timing;
  }

 protected:
  /// Makes the buffers for tiles that are at most that many pixels wide.
  virtual std::unique_ptr<Worker> make_worker(int pixels) const = 0;

  virtual void filter_tile(Worker& worker, const Tile& tile, BandView<const std::byte> in,
                           BandView<std::byte> out) const = 0;

  int samples(const Tile& tile) const { return (tile.x1 - tile.x0) * channels_; }

  /// The tile's part of output row y, or null below the tile.
  template <class T>
  T* output_row(BandView<std::byte> out, const Tile& tile, int y) const {
    if (y >= tile.y1) return nullptr;
    return reinterpret_cast<T*>(out.row(y - out.top)) + std::ptrdiff_t(tile.x0) * channels_;
  }

  const int channels_;

 private:
  int threads_;
  std::vector<Tile> tiles_;
  std::vector<std::unique_ptr<Worker>> workers_;
};

}  // namespace convfilt::cpu
