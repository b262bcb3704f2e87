#include "src/lab/try/runtime/machine.hpp"

#include <sys/mman.h>
#include <ucontext.h>

#include <array>
#include <csignal>
#include <limits>
#include <stdexcept>
#include <tuple>

#include "src/lab/try/runtime/call.hpp"

#undef memcpy
#undef memmove
#undef memset

extern "C" {
// The linker says where sections begin and end, which guard.s's bytes do.
extern char __start_lesson_shared[];
extern char __stop_lesson_shared[];
extern char __start_lesson_constant[];
extern char __stop_lesson_constant[];
extern const char __executable_start, etext;

/// Dynamic shared memory, with a guard on each side; a kernel's `extern __shared__` array is what
/// lies between.
constexpr std::size_t kDynamicGuard = std::size_t{1} << 16;  // bytes
constexpr std::size_t kMostShared = 48 << 10;                // bytes of a block, as on any GPU
alignas(128) char lesson_dynamic_area[kDynamicGuard + kMostShared + kDynamicGuard];
}
__asm__(
    ".globl lesson_dynamic_shared\n"
    ".set lesson_dynamic_shared, lesson_dynamic_area + 65536\n");
static_assert(kDynamicGuard == 65536);

convfilt::lesson::Index threadIdx, blockIdx;
dim3 blockDim, gridDim;

namespace convfilt::lesson {
namespace {

constexpr std::size_t kReach = std::size_t{1} << 27;  ///< bytes around a picture
/// Pictures lie so far apart that an index of 32 bits leads from one to no other.
constexpr std::uintptr_t kApart = std::uintptr_t{1} << 44;
constexpr std::uintptr_t kFarReach = std::uintptr_t{1} << 34;  ///< bytes around each, likewise
constexpr std::size_t kPage = std::size_t{1} << 16;            ///< bytes that a fault maps
constexpr int kMostPages = 1024;                               ///< that faults may map
constexpr std::size_t kStack = std::size_t{1} << 19;           ///< bytes of a thread, as on a GPU
constexpr std::size_t kStackGuard = std::size_t{1} << 16;      ///< bytes before a stack
constexpr std::size_t kMostFindings = 64;
constexpr std::size_t kMostSteps = std::size_t{1} << 23;  ///< of a block that is counted
constexpr int kLanes = 32;

/// Memory that is watched.
enum class Space { none, in, out, shared, constant };

/// The latest accesses of one kind to a byte.
struct Use {
  int thread = -1;                 ///< the latest
  std::int64_t stretch = -1;       ///< between which barriers of the block
  std::int64_t warp_stretch = -1;  ///< between which of the thread's warp
  bool by_several = false;         ///< threads of the warp, in these stretches
  bool by_warps = false;           ///< by several, in this stretch of the block
  std::uintptr_t code = 0;
};

/// State of a byte of shared memory.
struct Cell {
  std::int64_t set_in = -1;  ///< the latest block that wrote it
  Use read, written, added;  ///< added: by an atomic operation
};

struct Output {
  bool is_set = false;
  int writer = -1;  ///< a thread
  std::int64_t block = -1;
  std::uintptr_t writers_code = 0;
};

/// A word of shared memory that a thread writes after another one, with no barrier between. It is
/// no race if the word ends as the other thread left it, whatever it holds meanwhile.
struct SharedRewrite {
  std::array<unsigned char, 4> before{};  ///< what the other thread left
  const unsigned char* word = nullptr;
  unsigned bytes = 0;  ///< a bit for each that was written
  std::int64_t number = 0;
  std::uintptr_t code = 0;
  int writer = -1, other = -1;  ///< threads; other: -1 = several, the writer among them
  std::uintptr_t others_code = 0;
};

/// A read of a word that another thread has changed. If this one writes the word, too, the other's
/// change is lost.
struct ReadForUpdate {
  std::size_t finding = 0;
  int thread = -1;
};

/// An output that another thread has written, too, and what it held.
struct Rewrite {
  std::int64_t cell = 0;
  float before = 0;
  std::uintptr_t code = 0;
  int writer = -1;
  std::uintptr_t writers_code = 0;
};

/// A step of a thread: an access to memory, or the beginning of a piece of code behind a branch.
struct Step {
  std::uintptr_t code = 0;
  Space space = Space::none;
  std::uintptr_t address = 0, bytes = 0;
};

/// One thread of the block.
struct Fiber {
  ucontext_t context{};
  enum class State { ready, at_barrier, in_warp, ended } state = State::ready;
  int line = 0;                ///< of the barrier at which it waits
  std::uintptr_t barrier = 0;  ///< the code that waits
  bool orders_memory = false;  ///< where it waits for its warp
  bool votes = false, brings = false;
  bool offers = false;      ///< a value, at a shuffle
  std::vector<Step> trace;  ///< where its block is counted
  unsigned offered = 0;     ///< its bits
};

std::uintptr_t address_of(const void* place) {
  return reinterpret_cast<std::uintptr_t>(place);
}

/// Words from `begin`.
std::int64_t word_of(std::uintptr_t address, std::uintptr_t begin) {
  const auto off = std::int64_t(address - begin);
  return off >= 0 ? off / 4 : -((3 - off) / 4);
}

/// Memory that is reserved, at that place if it is free, and mapped where it is used.
class Reserved {
 public:
  explicit Reserved(std::size_t bytes, void* place = nullptr)
      : bytes_((bytes + kPage - 1) / kPage * kPage) {
    void* memory =
        ::mmap(place, bytes_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) throw std::runtime_error("there is too little memory");
    begin_ = static_cast<char*>(memory);
  }
  Reserved(const Reserved&) = delete;
  Reserved& operator=(const Reserved&) = delete;
  ~Reserved() { ::munmap(begin_, bytes_); }

  char* begin() const { return begin_; }
  char* end() const { return begin_ + bytes_; }
  /// Nothing else may lie there.
  void map(char* from, std::size_t bytes) const {
    if (::mmap(from, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
               0) == MAP_FAILED)
      throw std::runtime_error("there is too little memory");
  }

 private:
  std::size_t bytes_;
  char* begin_ = nullptr;
};

/// A picture, or a mask, in the middle of reserved memory. What lies around it holds NaN, and is
/// mapped when somebody goes there.
class Guarded {
 public:
  Guarded(std::size_t samples, std::uintptr_t number)
      : samples_(samples),
        memory_(2 * kReach + samples * sizeof(float), reinterpret_cast<void*>(number * kApart)),
        reach_(reinterpret_cast<std::uintptr_t>(memory_.begin()) == number * kApart ? kFarReach
                                                                                    : 0) {
    char* const first = memory_.begin() + kReach - kPage;
    const std::size_t bytes = (samples * sizeof(float) + kPage - 1) / kPage * kPage + 2 * kPage;
    memory_.map(first, bytes);
    std::fill_n(reinterpret_cast<float*>(first), bytes / sizeof(float),
                std::numeric_limits<float>::quiet_NaN());
  }

  /// It lies at the begin of a line of the cache, as what cudaMalloc() gives.
  float* begin() const { return reinterpret_cast<float*>(memory_.begin() + kReach); }
  std::int64_t samples() const { return std::int64_t(samples_); }

  bool has_around(std::uintptr_t address) const {
    return address >= reinterpret_cast<std::uintptr_t>(memory_.begin()) - reach_ &&
           address < reinterpret_cast<std::uintptr_t>(memory_.end()) + reach_;
  }

  /// Samples from the first, for any address.
  std::int64_t cell_of(std::uintptr_t address) const {
    return word_of(address, address_of(begin()));
  }

  void map_around(std::uintptr_t address) const {
    char* const page = reinterpret_cast<char*>(address / kPage * kPage);
    memory_.map(page, kPage);
    std::fill_n(reinterpret_cast<float*>(page), kPage / sizeof(float),
                std::numeric_limits<float>::quiet_NaN());
  }

 private:
  std::size_t samples_;
  Reserved memory_;
  std::uintptr_t reach_;  ///< bytes around the memory where nothing else lies
};

struct Machine {
  Machine(const Memory& memory, std::size_t threads)
      : in(memory.in.size(), 1),
        out(memory.outputs, 2),
        mask(memory.mask.size(), 3),
        outputs(memory.outputs),
        fibers(threads),
        warp_stretches((threads + kLanes - 1) / kLanes),
        stacks(threads * (kStack + kStackGuard)) {
    for (std::size_t i = 0; i < threads; ++i) stacks.map(stack_of(i), kStack);
  }

  char* stack_of(std::size_t thread) const {
    return stacks.begin() + thread * (kStack + kStackGuard) + kStackGuard;
  }

  Guarded in, out, mask;  ///< mask: the kernel's argument
  std::vector<Output> outputs;
  std::vector<Cell> shared_cells;  ///< static, then dynamic; a byte each
  char *dynamic = lesson_dynamic_area + kDynamicGuard, *dynamic_end = nullptr;
  int mapped_pages = 0;  ///< by faults

  Launch launch;
  std::vector<Fiber> fibers;
  std::vector<std::int64_t> warp_stretches;  ///< how often each warp was put in order
  Reserved stacks;
  ucontext_t scheduler{};
  const std::function<void(float*, float*, float*)>* kernel = nullptr;
  int current = -1;
  std::int64_t stretch = 0, block = -1;
  bool in_atomic = false, is_counted = false;
  std::size_t steps = 0;                     ///< of the block that is counted
  std::vector<Rewrite> rewritten;            ///< by the latest access
  std::map<const Cell*, std::size_t> unset;  ///< cells of findings, which this block has read
  /// Reads beside atomic operations of others, by cell and thread. They are no races if the
  /// thread's own one follows, as in a loop around atomicCAS().
  std::map<std::pair<const Cell*, int>, std::function<void()>> early_reads;
  std::map<const Cell*, ReadForUpdate> reads_for_update;
  std::map<std::int64_t, SharedRewrite> shared_rewrites;  ///< by word

  std::uintptr_t last_address = 0;  ///< of an access that was seen
  std::uintptr_t last_code = 0;     ///< that was seen, of an access or behind a branch

  Result result;
  std::map<std::tuple<Fault, std::uintptr_t>, std::size_t> known;
};

Machine* machine = nullptr;

Index thread_of(int number) {
  const dim3& block = machine->launch.block;
  return {unsigned(number) % block.x, unsigned(number) / block.x % block.y,
          unsigned(number) / (block.x * block.y)};
}

/// Whether the current block has neighbours on all sides.
bool is_inside() {
  const dim3& grid = machine->launch.grid;
  const auto lies = [](unsigned at, unsigned blocks) {
    return blocks == 1 || (at > 0 && at + 1 < blocks);
  };
  return lies(blockIdx.x, grid.x) && lies(blockIdx.y, grid.y) && lies(blockIdx.z, grid.z);
}

void note(Fault fault, const char* memory, std::int64_t cell, std::uintptr_t code, int thread,
          int other = -1, std::uintptr_t others_code = 0, int threads = 0) {
  Machine& m = *machine;
  const auto [found, is_new] = m.known.try_emplace({fault, code}, m.result.findings.size());
  if (!is_new) {
    Finding& finding = m.result.findings[found->second];
    ++finding.times;
    finding.least = std::min(finding.least, cell);
    finding.most = std::max(finding.most, cell);
    finding.is_inside = finding.is_inside || is_inside();
    return;
  }
  if (m.result.findings.size() == kMostFindings) {
    m.known.erase(found);
    return;
  }
  Finding finding{fault, memory, cell,       {blockIdx, thread_of(thread), code}, {}, threads, 1,
                  cell,  cell,   is_inside()};
  if (other >= 0) finding.other = {blockIdx, thread_of(other), others_code};
  m.result.findings.push_back(finding);
}

/// Whether another thread than the current one made that access, and no barrier lies between.
bool is_concurrent(const Use& use) {
  const Machine& m = *machine;
  if (use.stretch != m.stretch) return false;
  if (use.by_warps || use.thread / kLanes != m.current / kLanes) return true;
  return use.warp_stretch == m.warp_stretches[std::size_t(m.current / kLanes)] &&
         (use.by_several || use.thread != m.current);
}

void record(Use& use, std::uintptr_t code) {
  const Machine& m = *machine;
  const std::int64_t warp_stretch = m.warp_stretches[std::size_t(m.current / kLanes)];
  const bool is_of_warp = use.thread / kLanes == m.current / kLanes;
  const bool same_stretch = use.stretch == m.stretch;
  use.by_warps = same_stretch && (use.by_warps || !is_of_warp);
  use.by_several = same_stretch && is_of_warp && use.warp_stretch == warp_stretch &&
                   (use.by_several || use.thread != m.current);
  use.thread = m.current;
  use.stretch = m.stretch;
  use.warp_stretch = warp_stretch;
  use.code = code;
}

/// Compares what a thread leaves in a word with what another one left there before.
void settle(const SharedRewrite& rewrite) {
  bool is_same = true;
  for (std::size_t i = 0; i < rewrite.before.size(); ++i)
    if (rewrite.bytes >> i & 1) is_same = is_same && rewrite.word[i] == rewrite.before[i];
  note(is_same ? Fault::same_shared : Fault::write_race, "shared", rewrite.number, rewrite.code,
       rewrite.writer, rewrite.other, rewrite.others_code);
}

/// Judges all such words at a barrier or at the end of the block, or those of one warp whose lanes
/// have waited for each other.
void settle_shared_rewrites(int warp = -1) {
  std::erase_if(machine->shared_rewrites, [&](const auto& entry) {
    const bool is_over = warp < 0 || entry.second.writer / kLanes == warp;
    if (is_over) settle(entry.second);
    return is_over;
  });
}

/// A byte that another thread has written is about to be written by the current one. `place` is
/// where the byte lies.
void rewrite_shared(const Use& written, std::size_t byte, const unsigned char* place,
                    std::uintptr_t code) {
  Machine& m = *machine;
  const auto number = std::int64_t(byte / 4);
  const std::size_t at = byte % 4;
  SharedRewrite& rewrite = m.shared_rewrites[number];
  if (rewrite.writer >= 0 && rewrite.writer != m.current) {
    settle(rewrite);
    rewrite = {};
  }
  if (rewrite.writer < 0) {
    rewrite.word = place - at;
    rewrite.number = number;
    rewrite.code = code;
    rewrite.writer = m.current;
    rewrite.other = written.thread == m.current ? -1 : written.thread;
    rewrite.others_code = written.code;
  }
  if (rewrite.bytes >> at & 1) return;
  rewrite.bytes |= 1u << at;
  rewrite.before[at] = *place;
}

/// Looks at an access to a byte of shared memory, which lies at that place; what is wrong with it
/// is told by the first byte alone.
void use(std::size_t byte, const unsigned char* place, bool writes, std::uintptr_t code,
         bool& is_told) {
  Machine& m = *machine;
  Cell& cell = m.shared_cells[byte];
  const auto number = std::int64_t(byte / 4);
  const Use* rival = nullptr;
  const bool is_rewrite = writes && !m.in_atomic && is_concurrent(cell.written);
  if (!is_rewrite && is_concurrent(cell.written))
    rival = &cell.written;
  else if (!m.in_atomic && writes && is_concurrent(cell.added))
    rival = &cell.added;
  else if ((writes || m.in_atomic) && is_concurrent(cell.read))
    rival = &cell.read;
  const auto other = [&](const Use& use) { return use.thread == m.current ? -1 : use.thread; };
  if (rival && !is_told) {
    const std::size_t findings = m.result.findings.size();
    note(Fault::race, "shared", number, code, m.current, other(*rival), rival->code);
    is_told = true;
    const bool is_changed = rival == &cell.written && !m.in_atomic &&
                            cell.read.stretch == m.stretch &&
                            cell.read.thread == cell.written.thread;
    if (m.result.findings.size() > findings && is_changed)
      m.reads_for_update[&cell] = {findings, m.current};
  }
  if (is_rewrite) {
    rewrite_shared(cell.written, byte, place, code);
    const auto read = m.reads_for_update.find(&cell);
    if (read != m.reads_for_update.end() && read->second.thread == m.current) {
      m.result.findings[read->second.finding].fault = Fault::lost_update;
      m.reads_for_update.erase(read);
    }
  }
  if (!m.in_atomic && !writes && is_concurrent(cell.added))
    m.early_reads[{&cell, m.current}] = [=, thread = m.current, rival = other(cell.added),
                                         rivals_code = cell.added.code] {
      note(Fault::race, "shared", number, code, thread, rival, rivals_code);
    };
  if (writes) {
    cell.set_in = m.block;
    if (const auto early = m.unset.find(&cell); early != m.unset.end()) {
      m.result.findings[early->second].fault = Fault::early_shared;
      m.unset.erase(early);
    }
  }
  if (m.in_atomic) {
    m.early_reads.erase({&cell, m.current});
    if (cell.read.thread == m.current && !cell.read.by_several && !cell.read.by_warps)
      cell.read.stretch = -1;
    record(cell.added, code);
  } else {
    record(writes ? cell.written : cell.read, code);
  }
}

/// A barrier, or the end of the block: who has read beside atomic operations, and made none, has
/// raced them; and who has written what another thread wrote has left something.
void settle_stretch() {
  Machine& m = *machine;
  settle_shared_rewrites();
  m.reads_for_update.clear();
  for (const auto& [where, tell] : m.early_reads) tell();
  m.early_reads.clear();
}

/// A step of the block that is counted. Too many would take all memory, so they are not counted.
void add_step(const Step& step) {
  Machine& m = *machine;
  if (++m.steps <= kMostSteps) return m.fibers[std::size_t(m.current)].trace.push_back(step);
  m.is_counted = false;
  m.result.counts = {};
  for (Fiber& fiber : m.fibers) fiber.trace = {};
}

/// Counts four bytes of an access; a longer one comes in several parts.
void count(Space space, std::uintptr_t address, bool writes, std::uintptr_t code, bool is_first) {
  Machine& m = *machine;
  Counts& counts = m.result.counts;
  switch (space) {
    case Space::in:
    case Space::out: ++(writes ? counts.global_writes : counts.global_reads); break;
    case Space::shared: ++(writes ? counts.shared_writes : counts.shared_reads); break;
    case Space::constant: ++counts.mask_reads; break;
    case Space::none: return;
  }
  auto& trace = m.fibers[std::size_t(m.current)].trace;
  // The parts before may have lain outside, so that the latest step is another access.
  if (is_first || trace.empty() || trace.back().code != code || trace.back().space != space)
    return add_step({code, space, address, 4});
  trace.back().bytes += 4;
}

/// Counts the accesses that some lanes make at once.
void sum_up(const std::vector<Step>& steps, WarpCounts& counts) {
  const auto stretches = [&](std::uintptr_t bytes) {
    std::set<std::uintptr_t> found;
    for (const Step& step : steps)
      for (std::uintptr_t i = step.address / bytes; i <= (step.address + step.bytes - 1) / bytes;
           ++i)
        found.insert(i);
    return found;
  };
  const std::set<std::uintptr_t> words = stretches(4);
  if (steps.front().space == Space::shared) {
    std::map<std::uintptr_t, std::uint64_t> by_bank;
    std::uint64_t passes = 1;
    for (const std::uintptr_t word : words) passes = std::max(passes, ++by_bank[word % kLanes]);
    // A warp takes one pass at the least for each 32 words.
    counts.bank_conflicts += passes - (words.size() + kLanes - 1) / kLanes;
  } else if (steps.front().space != Space::constant) {
    counts.sectors += stretches(32).size();
    counts.fewest_sectors += (words.size() * 4 + 31) / 32;
    counts.bursts += stretches(64).size();
  }
}

/// The accesses that a thread makes, however often and wherever it goes between.
std::map<std::uintptr_t, int> accesses_of(const Fiber& fiber) {
  std::map<std::uintptr_t, int> accesses;
  for (const Step& step : fiber.trace)
    if (step.space != Space::none) ++accesses[step.code];
  return accesses;
}

/// Puts the steps of a warp's lanes together, as a GPU makes them: those lanes go on whose code
/// comes first, so that lanes which have left a loop, or skipped a branch, wait behind it for the
/// others.
void sum_up_warps() {
  Machine& m = *machine;
  WarpCounts& counts = m.result.counts.warps;
  for (std::size_t first = 0; first < m.fibers.size(); first += kLanes) {
    const std::size_t lanes = std::min<std::size_t>(kLanes, m.fibers.size() - first);
    std::vector<std::size_t> at(lanes);
    std::vector<Step> together;
    while (true) {
      std::uintptr_t code = UINTPTR_MAX;
      for (std::size_t k = 0; k < lanes; ++k) {
        const std::vector<Step>& trace = m.fibers[first + k].trace;
        if (at[k] < trace.size()) code = std::min(code, trace[at[k]].code);
      }
      if (code == UINTPTR_MAX) break;
      together.clear();
      for (std::size_t k = 0; k < lanes; ++k) {
        const std::vector<Step>& trace = m.fibers[first + k].trace;
        if (at[k] < trace.size() && trace[at[k]].code == code) together.push_back(trace[at[k]++]);
      }
      if (together.front().space != Space::none) sum_up(together, counts);
    }
    ++counts.warps;
    const auto of_first = accesses_of(m.fibers[first]);
    for (std::size_t k = 1; k < lanes; ++k)
      if (accesses_of(m.fibers[first + k]) != of_first) {
        ++counts.divergent_warps;
        break;
      }
  }
}

bool lies_between(std::uintptr_t address, const void* begin, const void* end) {
  return address >= address_of(begin) && address < address_of(end);
}

/// Where an address lies.
struct Spot {
  Space space = Space::none;
  const char* memory = "";
  std::int64_t cell = 0;   ///< words from its beginning
  bool is_inside = false;  ///< not in the guards around it
  std::size_t byte = 0;    ///< of shared memory: static, then dynamic
};

Spot spot_of(std::uintptr_t address) {
  const Machine& m = *machine;
  const struct {
    Space space;
    const char* name;
    const Guarded& memory;
  } pictures[] = {{Space::in, "in", m.in}, {Space::out, "out", m.out}, {Space::in, "mask", m.mask}};
  for (const auto& [space, name, memory] : pictures)
    if (memory.has_around(address)) {
      const std::int64_t cell = memory.cell_of(address);
      return {space, name, cell, cell >= 0 && cell < memory.samples()};
    }
  // Each between two guards.
  const std::uintptr_t dynamic = address_of(m.dynamic);
  const struct {
    Space space;
    const char* name;
    std::uintptr_t guard, begin, end, guard_end;
    std::size_t first;
  } areas[] = {
      {Space::shared, "shared", address_of(__start_lesson_shared),
       address_of(__start_lesson_shared) + kLessonGuard,
       address_of(__stop_lesson_shared) - kLessonGuard, address_of(__stop_lesson_shared), 0},
      {Space::shared, "dynamic", dynamic - kDynamicGuard, dynamic, address_of(m.dynamic_end),
       dynamic + kMostShared + kDynamicGuard, (static_shared() + 3) / 4 * 4},
      {Space::constant, "constant", address_of(__start_lesson_constant),
       address_of(__start_lesson_constant) + kLessonGuard,
       address_of(__stop_lesson_constant) - kLessonGuard, address_of(__stop_lesson_constant), 0}};
  for (const auto& area : areas)
    if (address >= area.guard && address < area.guard_end)
      return {area.space, area.name, word_of(address, area.begin),
              address >= area.begin && address < area.end, area.first + (address - area.begin)};
  return {};
}

void use_output(std::int64_t cell, bool writes, std::uintptr_t code) {
  Machine& m = *machine;
  Output& output = m.outputs[std::size_t(cell)];
  if (!writes && !output.is_set) note(Fault::unset_output, "out", cell, code, m.current);
  if (!writes) return;
  if (output.writer >= 0 && !m.in_atomic && (output.writer != m.current || output.block != m.block))
    m.rewritten.push_back({cell, m.out.begin()[cell], code, output.writer, output.writers_code});
  output = {true, m.current, m.block, code};
}

/// Up to four bytes of an access.
void look_at(std::uintptr_t address, std::size_t bytes, bool writes, std::uintptr_t code,
             bool is_first) {
  Machine& m = *machine;
  const Spot spot = spot_of(address);
  if (spot.space == Space::none) return;
  if (!spot.is_inside)
    return note(writes ? Fault::outside_write : Fault::outside_read, spot.memory, spot.cell, code,
                m.current);
  const bool is_weight = spot.space == Space::constant || *spot.memory == 'm';
  if (m.is_counted && !(is_weight && writes)) count(spot.space, address, writes, code, is_first);
  if (writes && (is_weight || spot.space == Space::in))
    note(Fault::write_to_input, is_weight ? "mask" : spot.memory, spot.cell, code, m.current);
  if (spot.space == Space::out) use_output(spot.cell, writes, code);
  if (spot.space != Space::shared) return;
  bool is_told = false;
  for (std::size_t i = 0; i < bytes && spot.byte + i < m.shared_cells.size(); ++i) {
    const Cell& cell = m.shared_cells[spot.byte + i];
    if (!writes && cell.set_in != m.block && i == 0) {
      const std::size_t findings = m.result.findings.size();
      note(Fault::unset_shared, "shared", std::int64_t(spot.byte / 4), code, m.current);
      if (m.result.findings.size() > findings) m.unset[&cell] = findings;
    }
    use(spot.byte + i, reinterpret_cast<const unsigned char*>(address + i), writes, code, is_told);
  }
}

/// Once the access is over: who writes what was there does no harm.
void settle_rewritten() {
  Machine& m = *machine;
  for (const Rewrite& rewrite : m.rewritten) {
    const bool is_same =
        std::memcmp(&rewrite.before, m.out.begin() + rewrite.cell, sizeof(float)) == 0;
    note(is_same ? Fault::same_twice : Fault::twice, "out", rewrite.cell, rewrite.code, m.current,
         rewrite.writer, rewrite.writers_code);
  }
  m.rewritten.clear();
}

void yield(Fiber::State state, std::uintptr_t code) {
  Machine& m = *machine;
  settle_rewritten();
  Fiber& fiber = m.fibers[std::size_t(m.current)];
  fiber.state = state;
  fiber.barrier = code;
  swapcontext(&fiber.context, &m.scheduler);
}

void wait_for_warp(std::uintptr_t code, bool orders_memory) {
  machine->fibers[std::size_t(machine->current)].orders_memory = orders_memory;
  yield(Fiber::State::in_warp, code);
}

void enter() {
  const Machine& m = *machine;
  (*m.kernel)(m.in.begin(), m.out.begin(), m.mask.begin());
  settle_rewritten();
  machine->fibers[std::size_t(machine->current)].state = Fiber::State::ended;
}

void resume(int number) {
  Machine& m = *machine;
  m.current = number;
  threadIdx = thread_of(number);
  swapcontext(&m.scheduler, &m.fibers[std::size_t(number)].context);
}

/// Lets the lanes of a warp that wait for each other go on; false where none does.
bool release_warps() {
  Machine& m = *machine;
  bool any = false;
  for (std::size_t first = 0; first < m.fibers.size(); first += kLanes) {
    bool orders_memory = false;
    for (std::size_t i = first; i < std::min(first + kLanes, m.fibers.size()); ++i)
      if (m.fibers[i].state == Fiber::State::in_warp) {
        m.fibers[i].state = Fiber::State::ready;
        orders_memory = orders_memory || m.fibers[i].orders_memory;
        any = true;
      }
    if (!orders_memory) continue;
    settle_shared_rewrites(int(first / kLanes));
    ++m.warp_stretches[first / kLanes];
  }
  return any;
}

/// All threads that have not ended wait at a barrier.
void pass_barrier() {
  Machine& m = *machine;
  settle_stretch();
  std::map<int, int> waiting;  // threads by the line of their barrier
  int ended = 0, first = -1;
  for (std::size_t i = 0; i < m.fibers.size(); ++i) {
    if (m.fibers[i].state == Fiber::State::ended) {
      ++ended;
      continue;
    }
    if (first < 0) first = int(i);
    ++waiting[m.fibers[i].line];
  }
  const std::uintptr_t code = m.fibers[std::size_t(first)].barrier;
  const int line = m.fibers[std::size_t(first)].line;
  if (waiting.size() > 1)
    note(Fault::other_barrier, "", 0, code, first, -1, 0, waiting[line]);
  else if (ended > 0)
    note(Fault::left_barrier, "", 0, code, first, -1, 0, waiting[line]);
  for (Fiber& fiber : m.fibers)
    if (fiber.state == Fiber::State::at_barrier) fiber.state = Fiber::State::ready;
  ++m.stretch;
  if (m.is_counted) ++m.result.counts.barriers;
}

void run_block() {
  Machine& m = *machine;
  for (std::size_t i = 0; i < m.fibers.size(); ++i) {
    Fiber& fiber = m.fibers[i];
    fiber = Fiber();
    getcontext(&fiber.context);
    fiber.context.uc_stack.ss_sp = m.stack_of(i);
    fiber.context.uc_stack.ss_size = kStack;
    fiber.context.uc_link = &m.scheduler;
    makecontext(&fiber.context, enter, 0);
  }
  ++m.block;
  ++m.stretch;
  m.unset.clear();
  while (true) {
    for (std::size_t i = 0; i < m.fibers.size(); ++i)
      if (m.fibers[i].state == Fiber::State::ready) resume(int(i));
    if (release_warps()) continue;
    const bool is_over = std::ranges::all_of(
        m.fibers, [](const Fiber& fiber) { return fiber.state == Fiber::State::ended; });
    if (is_over) return settle_stretch();
    pass_barrier();
  }
}

// The function that is called where a run ends before its time.
Stopped when_stopped = nullptr;
std::array<char, std::size_t{1} << 16> signal_stack;

/// Where a signal came; 0 = nobody knows.
struct Registers {
  std::uintptr_t code = 0, stack = 0;
};

bool has_left_stack(const Machine& m, std::uintptr_t stack) {
  if (m.current < 0 || stack == 0) return false;
  const char* const begin = m.stack_of(std::size_t(m.current));
  return !lies_between(stack, begin, begin + kStack);
}

void stop(int signal, std::uintptr_t address, const Registers& registers) {
  Machine* const m = machine;
  machine = nullptr;
  if (m == nullptr) std::_Exit(128 + signal);
  const bool has_thread = m->current >= 0;
  Stop stop{
      signal, {blockIdx, has_thread ? threadIdx : Index(), registers.code}, m->last_code, "", 0};
  if (signal == SIGSEGV || signal == SIGBUS) {
    if (has_left_stack(*m, registers.stack) ||
        lies_between(address, m->stacks.begin(), m->stacks.end())) {
      stop.memory = "stack";
    } else if (address < kPage) {
      stop.memory = "null";
    } else {
      stop.memory = "nowhere";
      std::int64_t nearest = std::int64_t(kFarReach / sizeof(float));
      for (const auto& [name, picture] : {std::pair<const char*, const Guarded*>{"in", &m->in},
                                          {"out", &m->out},
                                          {"mask", &m->mask}}) {
        const std::int64_t cell = picture->cell_of(address);
        if (std::abs(cell) >= nearest) continue;
        nearest = std::abs(cell);
        stop.memory = name;
        stop.cell = cell;
      }
    }
  }
  when_stopped(stop, m->result);
  std::_Exit(1);
}

void on_signal(int signal, siginfo_t* info, void* context) {
  Machine* const m = machine;
  auto address = reinterpret_cast<std::uintptr_t>(info->si_addr);
  // The processor does not say which address it was that no program can have.
  if (m && signal == SIGSEGV && info->si_code == SI_KERNEL) address = m->last_address;
  if (m && signal == SIGSEGV && m->mapped_pages < kMostPages)
    for (const Guarded* picture : {&m->in, &m->out, &m->mask})
      if (picture->has_around(address)) {
        ++m->mapped_pages;
        return picture->map_around(address);
      }
  Registers registers;
#if defined(__x86_64__)
  const auto& all = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
  registers = {std::uintptr_t(all[REG_RIP]), std::uintptr_t(all[REG_RSP])};
#elif defined(__aarch64__)
  const auto& all = static_cast<ucontext_t*>(context)->uc_mcontext;
  registers = {std::uintptr_t(all.pc), std::uintptr_t(all.sp)};
#else
  (void)context;
#endif
  // The call before the address is meant elsewhere, and the address itself here.
  registers.code =
      lies_between(registers.code, &__executable_start, &etext) ? registers.code + 1 : 0;
  stop(signal, address, registers);
}

}  // namespace

const char* name_of(Fault fault) {
  constexpr const char* kNames[] = {
      "outside_read", "outside_write", "write_to_input", "unset_shared",  "early_shared",
      "unset_output", "race",          "write_race",     "lost_update",   "same_shared",
      "twice",        "same_twice",    "left_barrier",   "other_barrier", "absent_lane"};
  static_assert(std::size(kNames) == std::size_t(Fault::absent_lane) + 1);
  return kNames[std::size_t(fault)];
}

std::size_t static_shared() {
  return address_of(__stop_lesson_shared) - address_of(__start_lesson_shared) - 2 * kLessonGuard;
}

int lane() {
  return machine->current % kLanes;
}

unsigned exchange(unsigned value, int from) {
  Machine& m = *machine;
  Fiber& own = m.fibers[std::size_t(m.current)];
  own.offered = value;
  own.offers = true;
  const auto code = reinterpret_cast<std::uintptr_t>(__builtin_return_address(0));
  wait_for_warp(code, false);
  const std::size_t other = std::size_t(m.current / kLanes * kLanes + from);
  // Nobody knows what a GPU gives for an absent lane, so whoever uses that must be seen to do so.
  unsigned got = UINT_MAX;
  if (other < m.fibers.size() && m.fibers[other].offers)
    got = m.fibers[other].offered;
  else
    note(Fault::absent_lane, "", from, code, m.current);
  // Nobody offers the next value before all have taken this one.
  wait_for_warp(code, false);
  own.offers = false;
  return got;
}

Ballot ballot(bool brings) {
  Machine& m = *machine;
  Fiber& own = m.fibers[std::size_t(m.current)];
  own.votes = true;
  own.brings = brings;
  const auto code = reinterpret_cast<std::uintptr_t>(__builtin_return_address(0));
  wait_for_warp(code, false);
  Ballot ballot;
  const std::size_t first = std::size_t(m.current / kLanes * kLanes);
  for (std::size_t i = first; i < std::min(first + kLanes, m.fibers.size()); ++i) {
    const unsigned bit = 1u << (i - first);
    if (m.fibers[i].votes) ballot.all |= bit;
    if (m.fibers[i].votes && m.fibers[i].brings) ballot.yes |= bit;
  }
  wait_for_warp(code, false);
  own.votes = false;
  return ballot;
}

void begin_atomic() {
  machine->in_atomic = true;
}
void has_read() {}
void end_atomic() {
  machine->in_atomic = false;
}

void watch_signals(Stopped stopped) {
  when_stopped = stopped;
  const stack_t stack{signal_stack.data(), 0, signal_stack.size()};
  ::sigaltstack(&stack, nullptr);
  struct sigaction action {};
  action.sa_sigaction = on_signal;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGSYS, SIGXCPU})
    ::sigaction(signal, &action, nullptr);
  std::atexit([] {
    if (machine) stop(0, 0, {});
  });
}

Result run(const Launch& launch, Memory& memory,
           const std::function<void(float* in, float* out, float* mask)>& kernel) {
  const std::size_t threads = std::size_t(launch.block.x) * launch.block.y * launch.block.z;
  const std::size_t fixed = static_shared();
  if (threads < 1 || threads > 1024) throw std::runtime_error("a block has 1 to 1024 threads");
  if (fixed + launch.dynamic_shared > kMostShared)
    throw std::runtime_error("a block has 48 KiB of shared memory, and this kernel wants " +
                             std::to_string((fixed + launch.dynamic_shared + 1023) / 1024));
  Machine m(memory, threads);
  std::copy(memory.in.begin(), memory.in.end(), m.in.begin());
  std::copy(memory.mask.begin(), memory.mask.end(), m.mask.begin());
  m.dynamic_end = m.dynamic + launch.dynamic_shared;
  m.shared_cells.resize((fixed + 3) / 4 * 4 + launch.dynamic_shared);
  if (memory.clears_out) {
    std::fill_n(m.out.begin(), memory.outputs, 0.0f);
    for (Output& output : m.outputs) output.is_set = true;
  }
  m.launch = launch;
  m.kernel = &kernel;
  machine = &m;
  blockDim = launch.block;
  gridDim = launch.grid;
  for (unsigned z = 0; z < launch.grid.z; ++z)
    for (unsigned y = 0; y < launch.grid.y; ++y)
      for (unsigned x = 0; x < launch.grid.x; ++x) {
        blockIdx = {x, y, z};
        m.is_counted = x == launch.grid.x / 2 && y == launch.grid.y / 2 && z == launch.grid.z / 2;
        run_block();
        if (m.is_counted) sum_up_warps();
      }
  machine = nullptr;
  memory.out.assign(m.out.begin(), m.out.begin() + memory.outputs);
  for (const Output& output : m.outputs)
    memory.is_set.push_back(char(output.is_set + (output.block == 0)));
  return m.result;
}

}  // namespace convfilt::lesson

void __syncthreads(int line) {
  using namespace convfilt::lesson;
  machine->fibers[std::size_t(machine->current)].line = line;
  yield(Fiber::State::at_barrier, reinterpret_cast<std::uintptr_t>(__builtin_return_address(0)));
}

void __syncwarp(unsigned) {
  using namespace convfilt::lesson;
  wait_for_warp(reinterpret_cast<std::uintptr_t>(__builtin_return_address(0)), true);
}

// Functions that -fsanitize=thread calls.
namespace {

void access(const void* address, std::size_t bytes, bool writes, const void* return_address) {
  using namespace convfilt::lesson;
  if (machine == nullptr) return;
  const auto at = reinterpret_cast<std::uintptr_t>(address),
             code = reinterpret_cast<std::uintptr_t>(return_address);
  machine->last_address = at;
  machine->last_code = code;
  settle_rewritten();
  for (std::size_t i = 0; i < bytes; i += 4)
    look_at(at + i, std::min<std::size_t>(bytes - i, 4), writes, code, i == 0);
}

}  // namespace

#define LESSON_ACCESS(bytes)                               \
  void __tsan_read##bytes(void* at) {                      \
    access(at, bytes, false, __builtin_return_address(0)); \
  }                                                        \
  void __tsan_write##bytes(void* at) {                     \
    access(at, bytes, true, __builtin_return_address(0));  \
  }                                                        \
  void __tsan_unaligned_read##bytes(void* at) {            \
    access(at, bytes, false, __builtin_return_address(0)); \
  }                                                        \
  void __tsan_unaligned_write##bytes(void* at) {           \
    access(at, bytes, true, __builtin_return_address(0));  \
  }
// The function that -fsanitize-coverage=trace-pc calls where code begins behind a branch.
extern "C" void __sanitizer_cov_trace_pc() {
  using namespace convfilt::lesson;
  if (machine == nullptr || machine->current < 0) return;
  const auto code = reinterpret_cast<std::uintptr_t>(__builtin_return_address(0));
  machine->last_code = code;
  if (machine->is_counted) add_step({code, Space::none, 0, 0});
}

extern "C" {
LESSON_ACCESS(1)
LESSON_ACCESS(2)
LESSON_ACCESS(4)
LESSON_ACCESS(8)
LESSON_ACCESS(16)
void __tsan_init() {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}
void __tsan_read_range(void* at, unsigned long bytes) {
  access(at, bytes, false, __builtin_return_address(0));
}
void __tsan_write_range(void* at, unsigned long bytes) {
  access(at, bytes, true, __builtin_return_address(0));
}
void __tsan_vptr_update(void**, void*) {}
void __tsan_vptr_read(void**) {}
}

namespace convfilt::lesson {

void* set(void* to, int byte, std::size_t bytes) {
  access(to, bytes, true, __builtin_return_address(0));
  return std::memset(to, byte, bytes);
}

void* copy(void* to, const void* from, std::size_t bytes) {
  access(from, bytes, false, __builtin_return_address(0));
  access(to, bytes, true, __builtin_return_address(0));
  return std::memmove(to, from, bytes);
}

}  // namespace convfilt::lesson
