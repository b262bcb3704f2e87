/// A student's kernel as the host compiler sees it, every access of which becomes a call. It is
/// compiled together with student.hpp, which includes the kernel's file and defines LESSON_KERNEL,
/// the function; LESSON_ARGUMENTS, what it is passed; and LESSON_MASK, the __constant__ array for
/// the mask, if there is one.
#if defined(__GNUC__) && !defined(__clang__)
// A float4 stays one access, and code stands in the order of its lines, where lanes wait for each
// other.
#pragma GCC optimize("no-tree-sra", "no-reorder-blocks")
#endif
#include "src/lab/try/runtime/call.hpp"
#include "src/lab/try/runtime/cuda_words.hpp"

#include <student.hpp>

void lesson_call(const LessonNumbers& lesson_numbers, float* lesson_in, float* lesson_out,
                 float* lesson_mask) {
  LESSON_KERNEL(LESSON_ARGUMENTS);
}

LessonArray lesson_array() {
#ifdef LESSON_MASK
  using LessonIs = decltype(LESSON_MASK);
  constexpr unsigned lesson_rank = std::rank_v<LessonIs>, lesson_last = lesson_rank - 1;
  return {
      (void*)&LESSON_MASK,
      int(sizeof(LESSON_MASK)),
      int(sizeof(std::remove_all_extents_t<LessonIs>)),
      lesson_rank > 2 ? int(std::extent_v<LessonIs, 0>) : 0,
      lesson_rank > 1 ? int(std::extent_v<LessonIs, (lesson_last > 1 ? lesson_last - 1 : 0)>) : 0,
      lesson_rank > 1 ? int(std::extent_v<LessonIs, (lesson_last > 0 ? lesson_last : 0)>) : 0};
#else
  return {};
#endif
}
