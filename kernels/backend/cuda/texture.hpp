/// Input through the texture unit, from pitched rows or a CUDA array. A plane that does not begin
/// at a multiple of 512 bytes, as the second and third of a picture may not, gets an array in any
/// case.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <list>
#include <tuple>

#include "kernels/backend/cuda/owners.hpp"

namespace convfilt::cuda {

inline constexpr std::size_t kTextureBaseAlignment = 512;

/// A texture object over one plane, point-sampled, elements as they are.
class Texture {
 public:
  /// `format` describes a sample, and `mode` holds in x and y. Coordinates are normalised where the
  /// mode needs that, which wrap and mirror do.
  Texture(std::byte* data, int width, int height, std::ptrdiff_t pitch,
          cudaChannelFormatDesc format, cudaTextureAddressMode mode, TextureMemory memory)
      : data_(data), pitch_(pitch), height_(height), row_bytes_(std::size_t(width) * format.x / 8) {
    cudaResourceDesc resource{};
    if (memory == kLinear && std::uintptr_t(data) % kTextureBaseAlignment == 0) {
      resource.resType = cudaResourceTypePitch2D;
      resource.res.pitch2D = {data, format, std::size_t(width), std::size_t(height),
                              std::size_t(pitch)};
    } else {
      CUDA_CHECK(cudaMallocArray(&array_, &format, std::size_t(width), std::size_t(height)));
      resource.resType = cudaResourceTypeArray;
      resource.res.array.array = array_;
    }
    cudaTextureDesc texture{};
    texture.addressMode[0] = texture.addressMode[1] = mode;
    texture.filterMode = cudaFilterModePoint;
    texture.readMode = cudaReadModeElementType;
    texture.normalizedCoords = mode == cudaAddressModeWrap || mode == cudaAddressModeMirror;
    try {
      CUDA_CHECK(cudaCreateTextureObject(&object_, &resource, &texture, nullptr));
    } catch (...) {
      CUDA_IGNORE(cudaFreeArray(array_));
      throw;
    }
  }
  Texture(const Texture&) = delete;
  Texture& operator=(const Texture&) = delete;
  ~Texture() {
    CUDA_IGNORE(cudaDestroyTextureObject(object_));
    CUDA_IGNORE(cudaFreeArray(array_));
  }

  std::byte* data() const { return data_; }

  cudaTextureObject_t object(const Stream& stream, bool fresh) const {
    if (array_ && fresh) {
      CUDA_CHECK(cudaMemcpy2DToArrayAsync(array_, 0, 0, data_, std::size_t(pitch_), row_bytes_,
                                          std::size_t(height_), cudaMemcpyDeviceToDevice,
                                          stream.get()));
    }
    return object_;
  }

 private:
  std::byte* data_;
  std::ptrdiff_t pitch_;
  int height_;
  std::size_t row_bytes_;
  cudaArray_t array_ = nullptr;
  cudaTextureObject_t object_ = 0;
};

/// The textures of a plan's input planes, made on first use. A plane of another shape replaces them
/// all, when the launches that use them have ended.
class Textures {
 public:
  /// The object over that plane. `fresh` says that the plane has been written since the last call.
  cudaTextureObject_t get(std::byte* data, int width, int height, std::ptrdiff_t pitch,
                          cudaChannelFormatDesc format, cudaTextureAddressMode mode,
                          TextureMemory memory, const Stream& stream, bool fresh) {
    const Key key{width, height, pitch, mode};
    if (key != key_ && !made_.empty()) {
      stream.synchronize();
      clear();
    }
    key_ = key;
    for (const Texture& texture : made_) {
      if (texture.data() == data) return texture.object(stream, fresh);
    }
    return made_.emplace_back(data, width, height, pitch, format, mode, memory)
        .object(stream, fresh);
  }
  void clear() { made_.clear(); }

 private:
  using Key = std::tuple<int, int, std::ptrdiff_t, int>;
  Key key_;
  std::list<Texture> made_;
};

}  // namespace convfilt::cuda
