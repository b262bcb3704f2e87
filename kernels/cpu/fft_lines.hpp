/// Between pictures or spectra in memory and the lines of line_fft.hpp.
#pragma once

#include <cstddef>

#include "cpu/line_fft.hpp"

namespace convfilt::cpu {

/// Rows of `stride` samples to lines: row r becomes part `at` of line r; lines without a row are 0.
void lines_from_rows(const float* samples, std::ptrdiff_t stride, int rows, int length, int at,
                     float* lines);
/// And back.
void rows_from_lines(const float* lines, int at, int length, int rows, std::ptrdiff_t stride,
                     float* samples);

/// Spectra of two real lines each, from one complex line that holds both, to 2 * kFftLines rows of
/// length / 2 + 1 numbers: the real parts' spectra first.
void split_spectra(const float* lines, int length, int rows, Complex* spectra);
/// And back, into lines whose parts are swapped, which makes a forward transform of them the
/// inverse, swapped as well.
void join_spectra(const Complex* spectra, int rows, int length, float* lines);

/// Columns of complex numbers to lines and back. `swapped`: their parts.
void lines_from_columns(const Complex* numbers, std::ptrdiff_t stride, int columns, int length,
                        bool swapped, float* lines);
void columns_from_lines(const float* lines, bool swapped, int length, int columns,
                        std::ptrdiff_t stride, Complex* numbers);

}  // namespace convfilt::cpu
