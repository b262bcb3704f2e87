/// How the runner's files speak of a student's kernel. What stands behind the student's text has
/// names that begin with lesson_, which no macro of a student's is called.
#pragma once

/// The sizes of a trial and how it is run, at the head of the file with its data.
struct LessonNumbers {
  int lesson_width, lesson_height, lesson_depth, lesson_channels;
  int lesson_mask_width, lesson_mask_height, lesson_mask_depth;
  int lesson_out_width, lesson_out_height, lesson_out_depth;
  int lesson_is_fixed;  ///< the mask's size, so that the rest of a larger array is NaN
  int lesson_clears_out;
};

inline unsigned long lesson_samples(const LessonNumbers& lesson_numbers, bool lesson_is_out) {
  const LessonNumbers& lesson = lesson_numbers;
  return (unsigned long)lesson.lesson_channels *
         (lesson_is_out
              ? (unsigned long)lesson.lesson_out_width * lesson.lesson_out_height *
                    lesson.lesson_out_depth
              : (unsigned long)lesson.lesson_width * lesson.lesson_height * lesson.lesson_depth);
}

inline unsigned long lesson_weights(const LessonNumbers& lesson_numbers) {
  return (unsigned long)lesson_numbers.lesson_mask_width * lesson_numbers.lesson_mask_height *
         lesson_numbers.lesson_mask_depth;
}

/// The kernel's __constant__ array for the mask.
struct LessonArray {
  void* lesson_begin;
  int lesson_bytes, lesson_element_bytes;
  int lesson_planes, lesson_rows, lesson_columns;  ///< 0 where it has no such dimension
};

/// Calls the kernel for one thread.
void lesson_call(const LessonNumbers& lesson_numbers, float* lesson_in, float* lesson_out,
                 float* lesson_mask);

/// The array; nothing where the mask is an argument.
LessonArray lesson_array();

/// Bytes that lie on each side of a student's shared and constant memory.
constexpr unsigned long kLessonGuard = 1ul << 16;
