/// A plan is a strategy prepared for one problem. It runs on pixels in host memory, and on pixels
/// that lie on a device.
#pragma once

#include <climits>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "kernels/problem.hpp"

namespace convfilt {

/// Milliseconds of one run. Upload and download are 0 where the pixels never leave host memory.
struct Timing {
  double upload_ms = 0, kernel_ms = 0, download_ms = 0;
  int bands = 1;  ///< pieces in which the picture was filtered
};

/// Counts of what the lanes of warps did together. Lanes access memory together where they do so at
/// the same place of the source for the same time (kernels/backend/warps.hpp).
struct WarpCounts {
  std::uint64_t warps = 0;
  std::uint64_t divergent_warps = 0;    ///< whose lanes did not all make the same accesses
  std::uint64_t sectors = 0;            ///< of 32 bytes, that accesses to global memory touched
  std::uint64_t fewest_sectors = 0;     ///< the same, if the bytes of an access lay side by side
  std::uint64_t bursts = 0;             ///< of 64 bytes, that accesses to global memory touched
  std::uint64_t bank_conflicts = 0;     ///< further passes over shared memory
  std::uint64_t diverge_loading = 0;    ///< divergent warps whose lanes differ before the block's
                                        ///< last barrier, as where they load a tile
  std::uint64_t diverge_computing = 0;  ///< and behind it, or anywhere if there is no barrier

  bool operator==(const WarpCounts&) const = default;
};

/// The emulator's counts; zero elsewhere. Those before `shared_writes` cover every strategy's
/// kernels, and the others only kernels that have formulas for them.
struct Counts {
  std::uint64_t global_reads = 0;     ///< samples of the input read by kernels, and weights that
                                      ///< lie in global memory
  std::uint64_t texture_fetches = 0;  ///< samples of the input read through the texture unit
  std::uint64_t shared_reads = 0;     ///< samples read from shared memory
  std::uint64_t barriers = 0;         ///< __syncthreads() that blocks passed
  std::uint64_t ghost_cells = 0;      ///< samples made up by the border instead of read
  std::uint64_t blocks = 0;           ///< blocks of kernels that read the input
  std::uint64_t atomic_adds = 0;
  std::uint64_t shared_writes = 0;  ///< samples written to shared memory
  std::uint64_t global_writes =
      0;                         ///< outputs written, and sums that the mask's next part takes on
  std::uint64_t mask_reads = 0;  ///< weights read from constant memory
  std::uint64_t sum_adds = 0;    ///< additions to a plane of sums that are not atomic; each is a
                                 ///< read and a write
  WarpCounts warps;              ///< of the blocks that PlanOptions::watch names, if they read the
                                 ///< input

  bool operator==(const Counts&) const = default;
};

/// Adds each of the counts `times` times. Unsigned sums wrap modulo 2^64, so that -1 subtracts.
void add(Counts& total, const Counts& counts, std::uint64_t times = 1);

/// A thread's read of a sample of the input, as the emulator saw it.
struct SampleRead {
  int x = 0, y = 0;                ///< the sample, in the kernel's input
  int thread_x = 0, thread_y = 0;  ///< threadIdx
  int launch = 0;                  ///< among those that read the input, from 0 on
  bool kept = false;  ///< whether the thread kept it: in shared memory, or to add it several times
  std::int64_t uses = 0;  ///< in sums: reads of its shared cell, or atomic additions; 1 if not kept
};

/// The samples that a thread used in sums: how many, and the rectangle that they lie in.
struct ThreadUses {
  std::int64_t count = 0;
  int left = INT_MAX, top = INT_MAX, right = INT_MIN, bottom = INT_MIN;  ///< both ends included
};

/// The emulator's record of one block of threads, for pictures of what a kernel does: the block in
/// the middle of the first launch that reads the input.
struct Recording {
  bool every_block = false;  ///< asks for all blocks of all launches instead
  int at_x = -1, at_y = -1;  ///< asks for this block of the grid instead, if not negative; no other
                             ///< block is run

  int block_columns = 0, block_rows = 0;  ///< threads
  std::vector<SampleRead> reads;          ///< those of a thread are in its own order
  std::vector<ThreadUses> threads;        ///< row by row
  std::uint64_t counted = 0;  ///< reads that were counted: more than `reads` has where a thread
                              ///< copies many bytes at once
  int launches = 0;           ///< that read the input
};

/// A device has failed or is missing. The message says what, where and the remedy.
struct DeviceError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A strategy prepared for a problem: its arithmetic, buffers and device. Only one thread at a time
/// may use it.
class Plan {
 public:
  virtual ~Plan() = default;

  /// Filters a picture of the problem's shape and depth. `in` and `out` must not overlap.
  /// Throws DeviceError when the device fails.
  virtual Timing run(PictureView<const std::byte> in, PictureView<std::byte> out) = 0;

  /// Filters a picture of the problem's shape that already lies in the memory of the plan's device,
  /// which for the CPU and the emulator is host memory. Rows may have any pitch of at least their
  /// bytes, channels are interleaved, `in` and `out` must not overlap, and nothing but out's
  /// samples is written. `stream` is a cudaStream_t of that device, null for the legacy default
  /// one, and must not be capturing a graph; the CPU and the emulator ignore it. The plan's device
  /// is the thread's current one afterwards. The work is queued behind what the stream was given
  /// before, and what it is given later waits for it; the call waits on a GPU only while CUDA loads
  /// code. The plan and the pictures must outlive the work. The first run takes device memory for
  /// the plan's planes. Throws DeviceError when the device fails, or lacks memory for the picture.
  virtual void run_resident(PictureView<const std::byte> in, PictureView<std::byte> out,
                            void* /*stream*/) {
    run(in, out);
  }

  /// Kernel milliseconds of each of that many runs on pixels that already lie on the device. `in`
  /// lies in host memory and is copied there before the first run, so that no copy is in the times.
  /// Without `in` the samples are whatever lies in the device's memory. Some runs to warm up come
  /// first. The result is empty where the plan has no device memory, or too little.
  virtual std::vector<double> time_resident(PictureView<const std::byte> /*in*/, int /*repeats*/) {
    return {};
  }

  /// Bytes of host memory that run() takes for a whole picture, beside input and output, and that
  /// the plan then keeps. Buffers of a few rows are not counted, nor is the memory of an emulated
  /// device. A plan that wraps another must override this, too, and counts().
  virtual std::int64_t host_bytes() const { return 0; }

  /// The emulator's counts in the last run.
  virtual Counts counts() const { return {}; }
};

}  // namespace convfilt
