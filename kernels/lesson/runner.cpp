/// A student's kernel as the host compiler sees it, every access of which becomes a call. It is
/// compiled together with student.hpp, which includes the kernel's file and defines LESSON_KERNEL,
/// the function; LESSON_ARGUMENTS, what it is passed; and LESSON_MASK, the __constant__ array for
/// the mask, if there is one.
#if defined(__GNUC__) && !defined(__clang__)
// A float4 stays one access, and code stands in the order of its lines, where lanes wait for each
// other.
#pragma GCC optimize("no-tree-sra", "no-reorder-blocks")
#endif
#include "kernels/lesson/call.hpp"
#include "kernels/lesson/cuda_words.hpp"

template <class LessonType>
struct LessonElement {
  using LessonIs = LessonType;
  static constexpr int lesson_rows = 0, lesson_columns = 0;
};
template <class LessonType, std::size_t lesson_size>
struct LessonElement<LessonType[lesson_size]> {
  using LessonIs = LessonType;
  static constexpr int lesson_rows = 0, lesson_columns = 0;
};
template <class LessonType, std::size_t lesson_height, std::size_t lesson_width>
struct LessonElement<LessonType[lesson_height][lesson_width]> {
  using LessonIs = LessonType;
  static constexpr int lesson_rows = int(lesson_height), lesson_columns = int(lesson_width);
};

#include <student.hpp>

void lesson_call(const LessonNumbers& lesson_numbers, float* lesson_in, float* lesson_out,
                 float* lesson_mask) {
  const int lesson_width = lesson_numbers.lesson_width;
  const int lesson_height = lesson_numbers.lesson_height;
  const int lesson_mask_width = lesson_numbers.lesson_mask_width;
  const int lesson_mask_height = lesson_numbers.lesson_mask_height;
  const int lesson_radius = lesson_mask_width / 2;
  LESSON_KERNEL(LESSON_ARGUMENTS);
}

LessonArray lesson_array() {
#ifdef LESSON_MASK
  using LessonOfMask = LessonElement<decltype(LESSON_MASK)>;
  return {(void*)&LESSON_MASK, int(sizeof(LESSON_MASK)), int(sizeof(LessonOfMask::LessonIs)),
          LessonOfMask::lesson_rows, LessonOfMask::lesson_columns};
#else
  return {};
#endif
}
