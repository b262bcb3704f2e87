// The course's lab in three dimensions: 3x3x3, ghost cells 0, a block of the input tile.
#include <wb.h>

#define MASK_WIDTH 3
#define MASK_RADIUS 1
#define TILE_WIDTH 6
#define IN_WIDTH (TILE_WIDTH + MASK_WIDTH - 1)

__constant__ float deviceKernel[MASK_WIDTH][MASK_WIDTH][MASK_WIDTH];

__global__ void conv3d(float* input, float* output, const int z_size, const int y_size,
                       const int x_size) {
  __shared__ float tile[IN_WIDTH][IN_WIDTH][IN_WIDTH];
  int tx = threadIdx.x, ty = threadIdx.y, tz = threadIdx.z;
  int x_o = blockIdx.x * TILE_WIDTH + tx;
  int y_o = blockIdx.y * TILE_WIDTH + ty;
  int z_o = blockIdx.z * TILE_WIDTH + tz;
  int x_i = x_o - MASK_RADIUS, y_i = y_o - MASK_RADIUS, z_i = z_o - MASK_RADIUS;

  if (x_i >= 0 && x_i < x_size && y_i >= 0 && y_i < y_size && z_i >= 0 && z_i < z_size)
    tile[tz][ty][tx] = input[z_i * (y_size * x_size) + y_i * x_size + x_i];
  else
    tile[tz][ty][tx] = 0.0f;
  __syncthreads();

  if (tx < TILE_WIDTH && ty < TILE_WIDTH && tz < TILE_WIDTH) {
    float acc = 0.0f;
    for (int i = 0; i < MASK_WIDTH; i++)
      for (int j = 0; j < MASK_WIDTH; j++)
        for (int k = 0; k < MASK_WIDTH; k++)
          acc += deviceKernel[i][j][k] * tile[tz + i][ty + j][tx + k];
    if (x_o < x_size && y_o < y_size && z_o < z_size)
      output[z_o * (y_size * x_size) + y_o * x_size + x_o] = acc;
  }
}

int main(int argc, char* argv[]) {
  int z_size, y_size, x_size;
  float *deviceInput, *deviceOutput;
  wbLog(TRACE, "The input size is ", z_size, "x", y_size, "x", x_size);
  dim3 dimGrid(ceil(x_size / (1.0 * TILE_WIDTH)), ceil(y_size / (1.0 * TILE_WIDTH)),
               ceil(z_size / (1.0 * TILE_WIDTH)));
  dim3 dimBlock(IN_WIDTH, IN_WIDTH, IN_WIDTH);
  conv3d<<<dimGrid, dimBlock>>>(deviceInput, deviceOutput, z_size, y_size, x_size);
  cudaDeviceSynchronize();
  return 0;
}
