#include "kernels/backend/cuda/libraries.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <initializer_list>
#include <string>
#include <utility>

#include "kernels/backend/device_errors.hpp"
#include "kernels/backend/devices.hpp"

namespace convfilt::cuda {
namespace {

/// A shared library. Its code stays in the process, since CUDA libraries clean up when that ends.
class Library {
 public:
  /// The first of `files` that can be loaded: from the loader's path, or the toolkit that this was
  /// built with. Throws MissingLibraryError with the remedy when there is none.
  Library(std::string name, std::initializer_list<const char*> files) : name_(std::move(name)) {
    std::string tried, why;
    for (const char* folder : {"", CONVFILT_CUDA_LIBRARY_DIR "/"}) {
      for (const char* file : files) {
        handle_ =
            dlopen((std::string(folder) + file).c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
        if (handle_) return;
        if (const char* reason = dlerror()) why = reason;
        if (!*folder) tried += (tried.empty() ? "" : " or ") + std::string(file);
      }
    }
    throw MissingLibraryError(
        "the library " + name_ + " cannot be loaded (" + tried + ": " + why +
        "); install it with the CUDA toolkit, name its folder in LD_LIBRARY_PATH, or "
        "use --device=cpu");
  }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;
  ~Library() {
    if (handle_) dlclose(handle_);
  }

  /// The function of that name; F is a pointer to function, as the library's header has it.
  template <class F>
  F function(const char* symbol) const {
    if (void* found = dlsym(handle_, symbol)) return reinterpret_cast<F>(found);
    throw MissingLibraryError(
        "the library " + name_ + " has no function " + symbol +
        "; install the CUDA toolkit that convfilt was built with, or use --device=cpu");
  }

 private:
  std::string name_;
  void* handle_ = nullptr;
};

// cublas_v2.h defines its functions' names as macros for the names that this looks up.
#define LIBRARY_FUNCTION(name) decltype(&::name) name = library.function<decltype(&::name)>(#name)

/// Both libraries report success as 0.
void check(const std::string& library, int error, int no_memory, const char* call,
           const char* remedy) {
  if (error == 0) return;
  const std::string what = library + ": error " + std::to_string(error) + " in " + call;
  if (error == no_memory)
    throw DeviceMemoryError(what + "; free device memory, or use --device=cpu");
  throw DeviceError(what + remedy);
}
static_assert(CUFFT_SUCCESS == 0 && CUBLAS_STATUS_SUCCESS == 0);

struct Cufft {
  Library library{"cuFFT", {"libcufft.so.12", "libcufft.so.11"}};  // CUDA 13, CUDA 12
  LIBRARY_FUNCTION(cufftCreate);
  LIBRARY_FUNCTION(cufftDestroy);
  LIBRARY_FUNCTION(cufftSetAutoAllocation);
  LIBRARY_FUNCTION(cufftSetStream);
  LIBRARY_FUNCTION(cufftSetWorkArea);
  LIBRARY_FUNCTION(cufftMakePlanMany64);
  LIBRARY_FUNCTION(cufftExecR2C);
  LIBRARY_FUNCTION(cufftExecC2R);
};

const Cufft& cufft() {
  static const auto& functions = *new const Cufft;
  return functions;
}

#define CUFFT_CHECK(call)                                      \
  check("cuFFT", int(cufft().call), CUFFT_ALLOC_FAILED, #call, \
        "; try --device=cpu, or a strategy of the direct family")

struct Cublas {
  Library library{"cuBLAS", {"libcublas.so.13", "libcublas.so.12"}};
  LIBRARY_FUNCTION(cublasCreate_v2);
  LIBRARY_FUNCTION(cublasDestroy_v2);
  LIBRARY_FUNCTION(cublasSetStream_v2);
  LIBRARY_FUNCTION(cublasSetMathMode);
  LIBRARY_FUNCTION(cublasSgemm_v2);
};

const Cublas& cublas() {
  static const auto& functions = *new const Cublas;
  return functions;
}

#define CUBLAS_CHECK(call)                                               \
  check("cuBLAS", int(cublas().call), CUBLAS_STATUS_ALLOC_FAILED, #call, \
        "; free device memory, or use --device=cpu")

}  // namespace

CufftPlan::CufftPlan(int columns, int rows, int batch, cufftType type) {
  CUFFT_CHECK(cufftCreate(&handle_));
  try {
    long long sizes[] = {rows, columns};
    const bool lines = rows == 1;
    CUFFT_CHECK(cufftSetAutoAllocation(handle_, 0));
    CUFFT_CHECK(cufftMakePlanMany64(handle_, lines ? 1 : 2, lines ? sizes + 1 : sizes, nullptr, 1,
                                    0, nullptr, 1, 0, type, batch, &workspace_bytes_));
  } catch (...) {
    cufft().cufftDestroy(handle_);
    throw;
  }
}

CufftPlan::~CufftPlan() {
  CUDA_IGNORE(cufft().cufftDestroy(handle_));
}

Fft::Fft(int columns, int rows, int batch, const Stream& stream)
    : stream_(stream),
      forward_(columns, rows, batch, CUFFT_R2C),
      inverse_(columns, rows, batch, CUFFT_C2R) {}

std::size_t Fft::workspace_bytes() const {
  return std::max(forward_.workspace_bytes(), inverse_.workspace_bytes());
}

void Fft::use_workspace(std::byte* memory) {
  if (workspace_bytes() == 0) return;
  CUFFT_CHECK(cufftSetWorkArea(forward_.get(), memory));
  CUFFT_CHECK(cufftSetWorkArea(inverse_.get(), memory));
}

void Fft::forward(const float* samples, Complex* spectra) const {
  CUFFT_CHECK(cufftSetStream(forward_.get(), stream_.get()));
  CUFFT_CHECK(cufftExecR2C(forward_.get(), const_cast<float*>(samples),
                           reinterpret_cast<cufftComplex*>(spectra)));
}

void Fft::inverse(Complex* spectra, float* samples) const {
  CUFFT_CHECK(cufftSetStream(inverse_.get(), stream_.get()));
  CUFFT_CHECK(cufftExecC2R(inverse_.get(), reinterpret_cast<cufftComplex*>(spectra), samples));
}

Gemm::Gemm(const Stream& stream) : stream_(stream) {
  CUBLAS_CHECK(cublasCreate_v2(&handle_));
  try {
    CUBLAS_CHECK(cublasSetMathMode(handle_, CUBLAS_PEDANTIC_MATH));
  } catch (...) {
    cublas().cublasDestroy_v2(handle_);
    throw;
  }
}

Gemm::~Gemm() {
  // A caller's stream that it was given last may be gone.
  CUDA_IGNORE(cublas().cublasSetStream_v2(handle_, stream_.get()));
  CUDA_IGNORE(cublas().cublasDestroy_v2(handle_));
}

// cuBLAS takes matrices to be column-major, so it sees ours transposed and computes c' = b' * a'.
void Gemm::multiply(PlaneView<const float> a, PlaneView<const float> b, PlaneView<float> c,
                    bool add) const {
  const float one = 1, old = add ? 1 : 0;
  CUBLAS_CHECK(cublasSetStream_v2(handle_, stream_.get()));
  CUBLAS_CHECK(cublasSgemm_v2(handle_, CUBLAS_OP_N, CUBLAS_OP_N, c.width, c.height, a.width, &one,
                              b.data, int(b.stride), a.data, int(a.stride), &old, c.data,
                              int(c.stride)));
}

}  // namespace convfilt::cuda

namespace convfilt {

std::string cuda_fft_missing() {
  try {
    cuda::cufft();
  } catch (const DeviceError& missing) {
    return missing.what();
  }
  return "";
}

}  // namespace convfilt
