// The course's lab: pixels of three channels side by side, the tile loaded in two batches.
#include <wb.h>

#define wbCheck(stmt)                                              \
  do {                                                             \
    cudaError_t err = stmt;                                        \
    if (err != cudaSuccess) {                                      \
      wbLog(ERROR, "Failed to run stmt ", #stmt);                  \
      return -1;                                                   \
    }                                                              \
  } while (0)

#define Mask_width 5
#define Mask_radius Mask_width / 2
#define TILE_WIDTH 16
#define w (TILE_WIDTH + Mask_width - 1)

__global__ void convolution(float* I, const float* __restrict__ M, float* P, int channels,
                            int width, int height) {
  __shared__ float N_ds[w][w];
  for (int k = 0; k < channels; k++) {
    // First batch loading
    int dest = threadIdx.y * TILE_WIDTH + threadIdx.x, destY = dest / w, destX = dest % w,
        srcY = blockIdx.y * TILE_WIDTH + destY - Mask_radius,
        srcX = blockIdx.x * TILE_WIDTH + destX - Mask_radius,
        src = (srcY * width + srcX) * channels + k;
    if (srcY >= 0 && srcY < height && srcX >= 0 && srcX < width)
      N_ds[destY][destX] = I[src];
    else
      N_ds[destY][destX] = 0;

    // Second batch loading
    dest = threadIdx.y * TILE_WIDTH + threadIdx.x + TILE_WIDTH * TILE_WIDTH;
    destY = dest / w, destX = dest % w;
    srcY = blockIdx.y * TILE_WIDTH + destY - Mask_radius;
    srcX = blockIdx.x * TILE_WIDTH + destX - Mask_radius;
    src = (srcY * width + srcX) * channels + k;
    if (destY < w) {
      if (srcY >= 0 && srcY < height && srcX >= 0 && srcX < width)
        N_ds[destY][destX] = I[src];
      else
        N_ds[destY][destX] = 0;
    }
    __syncthreads();

    float accum = 0;
    int y, x;
    for (y = 0; y < Mask_width; y++)
      for (x = 0; x < Mask_width; x++)
        accum += N_ds[threadIdx.y + y][threadIdx.x + x] * M[y * Mask_width + x];
    y = blockIdx.y * TILE_WIDTH + threadIdx.y;
    x = blockIdx.x * TILE_WIDTH + threadIdx.x;
    if (y < height && x < width) P[(y * width + x) * channels + k] = accum;
    __syncthreads();
  }
}

int main(int argc, char* argv[]) {
  wbArg_t arg = wbArg_read(argc, argv);
  wbImage_t inputImage = wbImport(wbArg_getInputFile(arg, 0));
  int imageWidth = wbImage_getWidth(inputImage), imageHeight = wbImage_getHeight(inputImage),
      imageChannels = wbImage_getChannels(inputImage);
  wbImage_t outputImage = wbImage_new(imageWidth, imageHeight, imageChannels);
  float *deviceInputImageData, *deviceOutputImageData, *deviceMaskData;
  wbTime_start(GPU, "Doing GPU memory allocation");
  wbCheck(cudaMalloc((void**)&deviceInputImageData,
                     imageWidth * imageHeight * imageChannels * sizeof(float)));
  wbTime_stop(GPU, "Doing GPU memory allocation");
  dim3 dimGrid(ceil((float)imageWidth / TILE_WIDTH), ceil((float)imageHeight / TILE_WIDTH));
  dim3 dimBlock(TILE_WIDTH, TILE_WIDTH, 1);
  convolution<<<dimGrid, dimBlock>>>(deviceInputImageData, deviceMaskData, deviceOutputImageData,
                                     imageChannels, imageWidth, imageHeight);
  wbSolution(arg, outputImage);
  return 0;
}
