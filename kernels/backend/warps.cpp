#include "kernels/backend/warps.hpp"

#include <algorithm>
#include <array>
#include <tuple>

namespace convfilt {
namespace {

constexpr std::size_t kLanes = 32;
constexpr std::uint64_t kSector = 32, kBurst = 64, kBankWord = 4;

void keep_distinct(std::vector<std::uint64_t>& values) {
  std::ranges::sort(values);
  values.erase(std::unique(values.begin(), values.end()), values.end());
}

}  // namespace

void WarpWatch::begin(int threads) {
  lanes_.assign(std::size_t(threads), {});
  accesses_.clear();
  barriers_ = 0;
  diverged_.assign((std::size_t(threads) + kLanes - 1) / kLanes, false);
}

void WarpWatch::barrier() {
  ++barriers_;
  for (std::size_t warp = 0; warp < diverged_.size(); ++warp)
    diverged_[warp] = diverged_[warp] || diverges(warp);
  for (Lane& lane : lanes_) {
    lane.sweep = lane.turn = 0;
    lane.places.clear();
  }
}

void WarpWatch::sweep(std::uint32_t thread) {
  Lane& lane = lanes_[thread];
  begin_turn(lane, lane.sweep + 1, 0);
}

void WarpWatch::turn(std::uint32_t thread) {
  Lane& lane = lanes_[thread];
  begin_turn(lane, lane.sweep, lane.turn + 1);
}

void WarpWatch::begin_turn(Lane& lane, std::uint32_t sweep, std::uint32_t turn) {
  lane.sweep = sweep;
  lane.turn = turn;
  for (Visits& visits : lane.places) visits.in_turn = 0;
}

void WarpWatch::access(std::uint32_t thread, std::uint64_t place, Memory memory,
                       std::uint64_t address, std::uint32_t bytes) {
  Lane& lane = lanes_[thread];
  auto visits = std::ranges::find(lane.places, place, &Visits::place);
  if (visits == lane.places.end()) visits = lane.places.insert(visits, {place, 0, 0});
  if (memory != Memory::none)
    accesses_.push_back({thread / std::uint32_t(kLanes), barriers_, lane.sweep, lane.turn,
                         visits->in_turn, bytes, place, address, memory});
  ++visits->in_turn;
  ++visits->since_barrier;
}

void WarpWatch::end(WarpCounts& total) {
  const auto together = [](const Access& a) {
    return std::tuple(a.warp, a.place, a.barriers, a.sweep, a.turn, a.visit);
  };
  std::ranges::sort(accesses_, {}, together);
  for (std::size_t first = 0, last; first < accesses_.size(); first = last) {
    for (last = first; last < accesses_.size(); ++last)
      if (together(accesses_[last]) != together(accesses_[first])) break;
    add_up(accesses_.data() + first, accesses_.data() + last, total);
  }
  for (std::size_t warp = 0; warp < diverged_.size(); ++warp) {
    const bool computing = diverges(warp);
    ++total.warps;
    total.divergent_warps += diverged_[warp] || computing;
    total.diverge_loading += diverged_[warp];
    total.diverge_computing += computing;
  }
}

void WarpWatch::add_up(const Access* first, const Access* last, WarpCounts& total) {
  const auto collect = [&](std::uint64_t unit) {
    units_.clear();
    for (const Access* a = first; a != last; ++a)
      for (std::uint64_t u = a->address / unit; u <= (a->address + a->bytes - 1) / unit; ++u)
        units_.push_back(u);
    keep_distinct(units_);
    return units_.size();
  };
  if (first->memory == Memory::global) {
    total.sectors += collect(kSector);
    total.bursts += collect(kBurst);
    total.fewest_sectors += (collect(first->bytes) * first->bytes + kSector - 1) / kSector;
    return;
  }
  collect(kBankWord);
  std::array<std::uint64_t, kLanes> words{};  // of each bank
  for (const std::uint64_t word : units_) ++words[word % kLanes];
  total.bank_conflicts += std::ranges::max(words) - 1;
}

bool WarpWatch::diverges(std::size_t warp) const {
  const auto visits_of = [](const Lane& lane) {
    std::vector<std::pair<std::uint64_t, std::uint32_t>> visits;
    for (const Visits& v : lane.places) visits.emplace_back(v.place, v.since_barrier);
    std::ranges::sort(visits);
    return visits;
  };
  const std::size_t first = warp * kLanes, last = std::min(first + kLanes, lanes_.size());
  const auto of_first = visits_of(lanes_[first]);
  for (std::size_t k = first + 1; k < last; ++k)
    if (visits_of(lanes_[k]) != of_first) return true;
  return false;
}

}  // namespace convfilt
