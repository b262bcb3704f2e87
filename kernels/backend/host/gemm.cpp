#include "kernels/backend/host/gemm.hpp"

#include <Eigen/Core>
#include <algorithm>
#include <cstdint>

#include "kernels/backend/host/parallel.hpp"

namespace convfilt::cpu {
namespace {

using Matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Stride = Eigen::OuterStride<>;

Eigen::Map<const Matrix, 0, Stride> view(PlaneView<const float> m) {
  return {m.data, m.height, m.width, Stride(m.stride)};
}

Eigen::Map<Matrix, 0, Stride> view(PlaneView<float> m) {
  return {m.data, m.height, m.width, Stride(m.stride)};
}

// Rows or columns of the result that one call computes. They are worth a call, and their factor
// stays in the cache.
constexpr int kPiece = 256;

}  // namespace

void Gemm::multiply(PlaneView<const float> a, PlaneView<const float> b, PlaneView<float> c,
                    bool add) const {
  const auto store = [add](auto to, const auto& product) {
    if (add) {
      to.noalias() += product;
    } else {
      to.noalias() = product;
    }
  };
  const int threads = threads_for(std::int64_t(c.width) * c.height * a.width, threads_);
  const bool by_rows = c.height >= c.width;
  const int pieces = ((by_rows ? c.height : c.width) + kPiece - 1) / kPiece;
  parallel_for(pieces, threads, [&](int, int piece) {
    const int first = piece * kPiece;
    if (by_rows) {
      const int rows = std::min(kPiece, c.height - first);
      store(view(c.rows(first, rows)), view(a.rows(first, rows)) * view(b));
    } else {
      const int columns = std::min(kPiece, c.width - first);
      store(view(c).middleCols(first, columns), view(a) * view(b).middleCols(first, columns));
    }
  });
}

}  // namespace convfilt::cpu
