#include "kernels/backend/cuda/library.hpp"

#include <dlfcn.h>

#include <utility>

#include "kernels/backend/device_errors.hpp"

namespace convfilt::cuda {

Library::Library(std::string name, std::initializer_list<const char*> files)
    : name_(std::move(name)) {
  std::string tried, why;
  for (const char* folder : {"", CONVFILT_CUDA_LIBRARY_DIR "/"}) {
    for (const char* file : files) {
      handle_ = dlopen((std::string(folder) + file).c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
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

Library::~Library() {
  if (handle_) dlclose(handle_);
}

void* Library::address(const char* symbol) const {
  if (void* found = dlsym(handle_, symbol)) return found;
  throw MissingLibraryError(
      "the library " + name_ + " has no function " + symbol +
      "; install the CUDA toolkit that convfilt was built with, or use --device=cpu");
}

}  // namespace convfilt::cuda
