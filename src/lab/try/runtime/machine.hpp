/// Runs a student's kernel thread by thread on the host, and watches what it does to memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "kernels/plan.hpp"
#include "src/lab/try/runtime/cuda_words.hpp"

namespace convfilt::lesson {

/// Mistakes that a run shows.
enum class Fault {
  outside_read,  ///< of a picture, the mask or shared memory
  outside_write,
  write_to_input,  ///< in, or the mask
  unset_shared,    ///< a cell of shared memory is read that no thread writes
  early_shared,    ///< or that a thread writes later
  unset_output,    ///< out is read before it was written
  race,            ///< a thread reads and another writes, with no barrier between them
  write_race,      ///< or both write, and leave different values
  lost_update,     ///< and both read the cell, change it and write it back
  same_shared,     ///< two threads write a cell, both the same in the end
  twice,           ///< two threads write one output
  same_twice,      ///< and both the same
  left_barrier,    ///< some threads wait at a barrier, and the others have ended
  other_barrier,   ///< threads of a block wait at different barriers
  absent_lane,     ///< a shuffle takes the value of a lane that takes no part; it gets NaN
};

const char* name_of(Fault fault);

struct ThreadPosition {
  Index block, thread;
  std::uintptr_t code = 0;  ///< an address, of which a debugger knows the line
};

struct Finding {
  Fault fault;
  std::string memory;                ///< in, out, mask, shared, dynamic, constant
  std::int64_t cell = 0;             ///< samples from its beginning; the lane that is absent
  ThreadPosition place, other;       ///< other: who wrote, for races
  int threads = 0;                   ///< at a barrier: how many wait
  std::int64_t times = 1;            ///< how often this fault was seen at this line
  std::int64_t least = 0, most = 0;  ///< the cells with which it was seen there lie between
  bool is_inside = false;            ///< it was seen in a block that lies at no rim of the grid
};

struct Launch {
  dim3 grid, block;
  std::size_t dynamic_shared = 0;  ///< bytes
};

/// The pictures of one run. What lies around them is watched, too.
struct Memory {
  std::size_t outputs = 0;
  std::vector<float> in, out;
  std::vector<char> is_set;  ///< 1 where out was written, 2 where the first block did so last
  std::vector<float> mask;   ///< in global memory
  bool clears_out = false;   ///< out is 0 at the start, and counts as set
};

/// How a run ended before its time.
struct Stop {
  int signal = 0;  ///< 0 = the kernel has called exit()
  ThreadPosition place;
  std::uintptr_t last_code = 0;  ///< that was seen before
  const char* memory =
      "";                 ///< near which a wrong address lies: in, out, mask, stack, null, nowhere
  std::int64_t cell = 0;  ///< of it
};

struct Result {
  std::vector<Finding> findings;  ///< a line of code has each fault once
  Counts counts;                  ///< of one block in the middle of the picture
};

/// Is told of the end, and what was found before; it should end the program.
using Stopped = void (*)(const Stop& stop, const Result& so_far);

/// From now on signals that a wrong program gets, SIGXCPU and exit() come to that function while a
/// kernel runs.
void watch_signals(Stopped stopped);

/// Bytes of shared memory that the kernel has without those of its launch.
std::size_t static_shared();

/// Runs `kernel` for each thread, with the addresses that it must be given.
Result run(const Launch& launch, Memory& memory,
           const std::function<void(float* in, float* out, float* mask)>& kernel);

}  // namespace convfilt::lesson
