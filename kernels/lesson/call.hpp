/// How the runner's files speak of a student's kernel. What stands behind the student's text has
/// names that begin with lesson_, which no macro of a student's is called.
#pragma once

/// What a kernel may be told.
struct LessonNumbers {
  int lesson_width, lesson_height, lesson_mask_width, lesson_mask_height;
};

/// The kernel's __constant__ array for the mask.
struct LessonArray {
  void* lesson_begin;
  int lesson_bytes, lesson_element_bytes;
  int lesson_rows, lesson_columns;  ///< 0 where it has one dimension
};

/// Calls the kernel for one thread.
void lesson_call(const LessonNumbers& lesson_numbers, float* lesson_in, float* lesson_out,
                 float* lesson_mask);

/// The array; nothing where the mask is an argument.
LessonArray lesson_array();
