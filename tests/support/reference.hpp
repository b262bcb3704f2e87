/// The numeric contract as plain loops: what every strategy's bytes are compared with.
///
/// Nothing here is clever or fast. Masks, finishes and border_index come from the kernels' headers,
/// which define them; the oracle, which shares none of them, says whether those definitions are
/// right.
#pragma once

#include <stdexcept>
#include <vector>

#include "kernels/contract/arithmetic.hpp"
#include "kernels/contract/dispatch.hpp"
#include "kernels/contract/separable.hpp"
#include "kernels/problem.hpp"

namespace convfilt::reference {

/// Reads samples of a picture, ghost cells included.
template <class T>
class Source {
 public:
  Source(const Problem& problem, PictureView<const std::byte> in)
      : in_(in), border_(problem.border), ghost_(ghost_sample<T>(problem)) {}

  T at(int x, int y, int channel) const {
    const int column = border_index(border_, x, in_.width),
              row = border_index(border_, y, in_.height);
    if (column < 0 || row < 0) return ghost_;
    const T* samples = reinterpret_cast<const T*>(in_.row(row));
    return samples[std::ptrdiff_t(column) * in_.channels + channel];
  }

 private:
  PictureView<const std::byte> in_;
  Border border_;
  T ghost_;
};

/// The direct family: parts in order, mask rows as chains, see arithmetic.hpp.
template <class T>
T direct_sample(const Source<T>& source, const PreparedMask<T>& mask,
                const std::vector<MaskPart<T>>& parts, int x, int y, int channel) {
  SumOf<T> sum = 0;
  for (const MaskPart<T>& part : parts) {
    for (int j = 0; j < part.height; ++j) {
      SumOf<T> chain = 0;
      for (int i = 0; i < part.width; ++i) {
        const SumOf<T> sample = source.at(x + part.dx + i, y + part.dy + j, channel);
        chain = multiply_add(part.weight(i, j), sample, chain);
      }
      sum += chain;
    }
  }
  T out;
  finish(mask.finish, sum, out);
  return out;
}

/// The row pass at one place, see separable.hpp.
template <class T>
MidOf<T> mid_sample(const Source<T>& source, const PreparedMask<MidOf<T>>& row_mask, int x, int y,
                    int channel) {
  SumOf<MidOf<T>> sum = 0;
  for (int i = 0; i < row_mask.width; ++i) {
    const SumOf<MidOf<T>> sample = source.at(x + i - row_mask.anchor_x, y, channel);
    sum = multiply_add(row_mask.weights[std::size_t(i)], sample, sum);
  }
  MidOf<T> mid;
  finish(row_mask.finish, sum, mid);
  return mid;
}

template <class T>
T* samples_of(PictureView<std::byte> out, int y) {
  return reinterpret_cast<T*>(out.row(y));
}

template <class T>
void direct_of(const Problem& problem, PictureView<const std::byte> in,
               PictureView<std::byte> out) {
  const Source<T> source(problem, in);
  const auto mask = prepare_mask<T>(problem.mask);
  const auto parts = mask.parts();
  for (int y = 0; y < in.height; ++y) {
    for (int x = 0; x < in.width; ++x) {
      for (int c = 0; c < in.channels; ++c) {
        samples_of<T>(out, y)[std::ptrdiff_t(x) * in.channels + c] =
            direct_sample(source, mask, parts, x, y, c);
      }
    }
  }
}

template <class T>
void separable_of(const Problem& problem, PictureView<const std::byte> in,
                  PictureView<std::byte> out) {
  const Source<T> source(problem, in);
  const auto mask = prepare_separable<T>(problem.mask);
  // A column of the plane between the passes, for one term and channel; the column's sums over all
  // terms.
  std::vector<MidOf<T>> mids(std::size_t(in.height));
  std::vector<SumOf<T>> sums;
  for (int x = 0; x < in.width; ++x) {
    for (int c = 0; c < in.channels; ++c) {
      sums.assign(std::size_t(in.height), 0);
      for (const SeparableTerm<T>& term : mask.terms) {
        const PreparedMask<T>& column = term.column;
        const MidOf<T> ghost = term.mid_ghost(ghost_sample<T>(problem));
        for (int y = 0; y < in.height; ++y) {
          mids[std::size_t(y)] = mid_sample<T>(source, term.row, x, y, c);
        }
        for (int y = 0; y < in.height; ++y) {
          for (int j = 0; j < column.height; ++j) {
            const int row = border_index(problem.border, y + j - column.anchor_y, in.height);
            const SumOf<T> mid = row < 0 ? ghost : mids[std::size_t(row)];
            SumOf<T>& sum = sums[std::size_t(y)];
            sum = multiply_add(column.weights[std::size_t(j)], mid, sum);
          }
        }
      }
      for (int y = 0; y < in.height; ++y) {
        finish(mask.terms.back().column.finish, sums[std::size_t(y)],
               samples_of<T>(out, y)[std::ptrdiff_t(x) * in.channels + c]);
      }
    }
  }
}

/// What a strategy of the direct family gives.
inline void direct(const Problem& problem, PictureView<const std::byte> in,
                   PictureView<std::byte> out) {
  with_depth(problem.depth,
             [&](auto tag) { direct_of<typename decltype(tag)::type>(problem, in, out); });
}

/// What a strategy of the separable family gives. Throws where separable_refuses says why.
inline void separable(const Problem& problem, PictureView<const std::byte> in,
                      PictureView<std::byte> out) {
  with_depth(problem.depth,
             [&](auto tag) { separable_of<typename decltype(tag)::type>(problem, in, out); });
}

}  // namespace convfilt::reference
