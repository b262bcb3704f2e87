// Wrong: tiled_in.cu without its barrier, so threads read samples that others have not loaded yet.
// launch: block 20x20, a block for each 16x16 outputs
#define RADIUS 2
#define TILE_WIDTH 16
#define IN_WIDTH (TILE_WIDTH + 2 * RADIUS)

__constant__ float F[2 * RADIUS + 1][2 * RADIUS + 1];

__global__ void missing_barrier(float* in, float* out, int width, int height) {
  __shared__ float tile[IN_WIDTH][IN_WIDTH];
  int col = threadIdx.x, row = threadIdx.y;
  int x = blockIdx.x * TILE_WIDTH + col - RADIUS;  // the sample that this thread loads
  int y = blockIdx.y * TILE_WIDTH + row - RADIUS;

  // Load the input tile. Ghost cells are 0.
  if (x >= 0 && x < width && y >= 0 && y < height)
    tile[row][col] = in[y * width + x];
  else
    tile[row][col] = 0.0f;

  // Compute one output, which lies under this thread's sample.
  int tile_col = col - RADIUS, tile_row = row - RADIUS;
  if (tile_col < 0 || tile_col >= TILE_WIDTH || tile_row < 0 || tile_row >= TILE_WIDTH) return;
  if (x >= width || y >= height) return;
  float sum = 0.0f;
  for (int j = 0; j < 2 * RADIUS + 1; j++) {
    for (int i = 0; i < 2 * RADIUS + 1; i++) sum += F[j][i] * tile[tile_row + j][tile_col + i];
  }
  out[y * width + x] = sum;
}
