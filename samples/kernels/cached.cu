// A tile without halo: samples beyond it are read from global memory, and the caches hold them.
// launch: block 16x16, a block for each 16x16 outputs
#define RADIUS 2
#define TILE_WIDTH 16

__constant__ float F[2 * RADIUS + 1][2 * RADIUS + 1];

__global__ void cached(float* in, float* out, int width, int height) {
  __shared__ float tile[TILE_WIDTH][TILE_WIDTH];
  int tile_x = blockIdx.x * TILE_WIDTH, tile_y = blockIdx.y * TILE_WIDTH;
  int x = tile_x + threadIdx.x, y = tile_y + threadIdx.y;

  // Load this thread's sample.
  if (x < width && y < height) tile[threadIdx.y][threadIdx.x] = in[y * width + x];
  __syncthreads();

  // Compute one output. Ghost cells are 0.
  if (x >= width || y >= height) return;
  float sum = 0.0f;
  for (int j = 0; j < 2 * RADIUS + 1; j++) {
    for (int i = 0; i < 2 * RADIUS + 1; i++) {
      int in_x = x - RADIUS + i, in_y = y - RADIUS + j;
      if (in_x < 0 || in_x >= width || in_y < 0 || in_y >= height) continue;
      int col = in_x - tile_x, row = in_y - tile_y;
      if (col >= 0 && col < TILE_WIDTH && row >= 0 && row < TILE_WIDTH)
        sum += F[j][i] * tile[row][col];
      else
        sum += F[j][i] * in[in_y * width + in_x];
    }
  }
  out[y * width + x] = sum;
}
