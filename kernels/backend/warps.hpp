/// The accesses to memory that the threads of a warp, its lanes, make together.
///
/// On a GPU the lanes of a warp access memory at once where they are at the same instruction. Here
/// threads run one after another, so accesses are put together afterwards: those of the same place
/// in the source, between the same barriers, in the same sweep and turn, for the same time in it. A
/// lane's sweeps begin where it reads `threadIdx.x`, as a loop over a tile's columns does. Its
/// turns in a sweep begin where it has read a weight, as every tap does, and where it reads
/// `blockDim.x`, as the loop does to go on. So a lane that skips a tap is together with the others
/// again at the next, and one that has no output in a turn at the next sweep.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/plan.hpp"

namespace convfilt {

/// The memory that is accessed. Ghost cells and fetches of textures have no address. They only show
/// whether all lanes do the same.
enum class Memory { global, shared, none };

/// Looks at one block at a time.
class WarpWatch {
 public:
  /// A block of that many threads begins.
  void begin(int threads);

  /// A sweep of that thread begins, and counts its turns anew.
  void sweep(std::uint32_t thread);

  /// A turn of that thread begins.
  void turn(std::uint32_t thread);

  /// The block passes a barrier, behind which all sweeps are counted anew.
  void barrier();

  /// That thread accesses `bytes` bytes, at an address in global memory, or counted from the
  /// beginning of a tile in shared memory. Places are any numbers that differ.
  void access(std::uint32_t thread, std::uint64_t place, Memory memory, std::uint64_t address = 0,
              std::uint32_t bytes = 0);

  /// The block has ended. Adds what its warps did.
  void end(WarpCounts& total);

 private:
  struct Access {
    std::uint32_t warp, barriers, sweep, turn, visit, bytes;
    std::uint64_t place, address;
    Memory memory;
  };
  struct Visits {
    std::uint64_t place;
    std::uint32_t in_turn, since_barrier;
  };
  struct Lane {
    std::uint32_t sweep = 0, turn = 0;
    std::vector<Visits> places;
  };

  static void begin_turn(Lane& lane, std::uint32_t sweep, std::uint32_t turn);
  void add_up(const Access* first, const Access* last, WarpCounts& total);

  /// Whether lanes of the warp have made other accesses than its first one since the last barrier.
  bool diverges(std::size_t warp) const;

  std::vector<Lane> lanes_;
  std::vector<bool> diverged_;  ///< of each warp, before the last barrier
  std::uint32_t barriers_ = 0;
  std::vector<Access> accesses_;
  std::vector<std::uint64_t> units_;  ///< it keeps its memory from access to access
};

}  // namespace convfilt
