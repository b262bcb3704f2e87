// Wrong: tiled_in.cu without its barrier, so threads read samples that others have not loaded yet.
// launch: block 20x20, a block for each 16x16 outputs
#define RADIUS 2
#define TILE_WIDTH 16
#define IN_WIDTH (TILE_WIDTH + 2 * RADIUS)

__constant__ float F[2 * RADIUS + 1][2 * RADIUS + 1];

__global__ void missing_barrier(float* in, float* out, int width, int height) {
  __shared__ float tile[IN_WIDTH][IN_WIDTH];
  int col = threadIdx.x, row = threadIdx.y;
  int x = blockIdx.x * TILE_WIDTH + col;  // the output at this thread's place in the output tile
  int y = blockIdx.y * TILE_WIDTH + row;
  int in_x = x - RADIUS, in_y = y - RADIUS;  // the sample that this thread loads

  // Load the input tile. Ghost cells are 0.
  if (in_x >= 0 && in_x < width && in_y >= 0 && in_y < height)
    tile[row][col] = in[in_y * width + in_x];
  else
    tile[row][col] = 0.0f;

  // Compute one output. The block's last columns and rows have none.
  if (col >= TILE_WIDTH || row >= TILE_WIDTH) return;
  if (x >= width || y >= height) return;
  float sum = 0.0f;
  for (int j = 0; j < 2 * RADIUS + 1; j++) {
    for (int i = 0; i < 2 * RADIUS + 1; i++) sum += F[j][i] * tile[row + j][col + i];
  }
  out[y * width + x] = sum;
}
