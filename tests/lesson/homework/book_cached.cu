// PMPP, figure 7.15: a tile without halo, neighbours from the caches.
// launch: block 32x32
#define FILTER_RADIUS 2
#define TILE_DIM 32
__constant__ float F_c[2 * FILTER_RADIUS + 1][2 * FILTER_RADIUS + 1];

__global__ void convolution_cached_tiled_2D_const_mem_kernel(float* N, float* P, int width,
                                                             int height) {
  int col = blockIdx.x * TILE_DIM + threadIdx.x;
  int row = blockIdx.y * TILE_DIM + threadIdx.y;
  // loading input tile
  __shared__ float N_s[TILE_DIM][TILE_DIM];
  if (row < height && col < width) {
    N_s[threadIdx.y][threadIdx.x] = N[row * width + col];
  } else {
    N_s[threadIdx.y][threadIdx.x] = 0.0;
  }
  __syncthreads();
  // calculating output elements
  if (col < width && row < height) {
    float Pvalue = 0.0f;
    // turning off the threads at the edges of the block
    for (int fRow = 0; fRow < 2 * FILTER_RADIUS + 1; fRow++) {
      for (int fCol = 0; fCol < 2 * FILTER_RADIUS + 1; fCol++) {
        if (threadIdx.x + fCol >= FILTER_RADIUS && threadIdx.x + fCol < TILE_DIM + FILTER_RADIUS &&
            threadIdx.y + fRow >= FILTER_RADIUS && threadIdx.y + fRow < TILE_DIM + FILTER_RADIUS) {
          Pvalue += F_c[fRow][fCol] *
                    N_s[threadIdx.y + fRow - FILTER_RADIUS][threadIdx.x + fCol - FILTER_RADIUS];
        } else {
          if (row + fRow >= FILTER_RADIUS && row + fRow < height + FILTER_RADIUS &&
              col + fCol >= FILTER_RADIUS && col + fCol < width + FILTER_RADIUS) {
            Pvalue += F_c[fRow][fCol] *
                      N[(row + fRow - FILTER_RADIUS) * width + col + fCol - FILTER_RADIUS];
          }
        }
      }
    }
    P[row * width + col] = Pvalue;
  }
}
