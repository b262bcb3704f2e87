#include "kernels/backend/cuda/gemm.hpp"

#include <string>

#include "kernels/backend/cuda/library.hpp"

namespace convfilt::cuda {
namespace {

// cublas_v2.h defines its functions' names as macros for the names that this looks up.
#define CUBLAS_FUNCTION(name) decltype(&::name) name = library.function<decltype(&::name)>(#name)

struct Cublas {
  Library library{"cuBLAS", {"libcublas.so.13", "libcublas.so.12"}};
  CUBLAS_FUNCTION(cublasCreate_v2);
  CUBLAS_FUNCTION(cublasDestroy_v2);
  CUBLAS_FUNCTION(cublasSetStream_v2);
  CUBLAS_FUNCTION(cublasSetMathMode);
  CUBLAS_FUNCTION(cublasSgemm_v2);
};

const Cublas& cublas() {
  static const Cublas functions;
  return functions;
}

void check(cublasStatus_t status, const char* call) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  const std::string what = "cuBLAS: error " + std::to_string(int(status)) + " in " + call +
                           "; free device memory, or use --device=cpu";
  if (status == CUBLAS_STATUS_ALLOC_FAILED) throw DeviceMemoryError(what);
  throw DeviceError(what);
}

#define CUBLAS_CHECK(call) check(cublas().call, #call)

}  // namespace

Gemm::Gemm(const Stream& stream) {
  CUBLAS_CHECK(cublasCreate_v2(&handle_));
  try {
    CUBLAS_CHECK(cublasSetStream_v2(handle_, stream.get()));
    CUBLAS_CHECK(cublasSetMathMode(handle_, CUBLAS_PEDANTIC_MATH));
  } catch (...) {
    cublas().cublasDestroy_v2(handle_);
    throw;
  }
}

Gemm::~Gemm() {
  CUDA_IGNORE(cublas().cublasDestroy_v2(handle_));
}

// cuBLAS takes matrices to be column-major, so it sees ours transposed and computes c' = b' * a'.
void Gemm::multiply(PlaneView<const float> a, PlaneView<const float> b, PlaneView<float> c,
                    bool add) const {
  const float one = 1, old = add ? 1 : 0;
  CUBLAS_CHECK(cublasSgemm_v2(handle_, CUBLAS_OP_N, CUBLAS_OP_N, c.width, c.height, a.width, &one,
                              b.data, int(b.stride), a.data, int(a.stride), &old, c.data,
                              int(c.stride)));
}

}  // namespace convfilt::cuda
