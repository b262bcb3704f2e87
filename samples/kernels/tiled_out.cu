// One block per output tile: every thread computes, and loads in sweeps of the block.
// launch: block 16x16, a block for each 16x16 outputs
#define RADIUS 2
#define TILE_WIDTH 16
#define IN_WIDTH (TILE_WIDTH + 2 * RADIUS)

__constant__ float F[2 * RADIUS + 1][2 * RADIUS + 1];

__global__ void tiled_out(float* in, float* out, int width, int height) {
  __shared__ float tile[IN_WIDTH][IN_WIDTH];
  int tile_x = blockIdx.x * TILE_WIDTH, tile_y = blockIdx.y * TILE_WIDTH;

  // Load the input tile. Ghost cells are 0.
  for (int row = threadIdx.y; row < IN_WIDTH; row += TILE_WIDTH) {
    for (int col = threadIdx.x; col < IN_WIDTH; col += TILE_WIDTH) {
      int x = tile_x + col - RADIUS, y = tile_y + row - RADIUS;
      bool inside = x >= 0 && x < width && y >= 0 && y < height;
      tile[row][col] = inside ? in[y * width + x] : 0.0f;
    }
  }
  __syncthreads();

  // Compute one output.
  int x = tile_x + threadIdx.x, y = tile_y + threadIdx.y;
  if (x >= width || y >= height) return;
  float sum = 0.0f;
  for (int j = 0; j < 2 * RADIUS + 1; j++) {
    for (int i = 0; i < 2 * RADIUS + 1; i++)
      sum += F[j][i] * tile[threadIdx.y + j][threadIdx.x + i];
  }
  out[y * width + x] = sum;
}
