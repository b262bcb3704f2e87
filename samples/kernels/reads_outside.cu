// Wrong: basic.cu that forgets the ghost cells below, so its last rows read behind the picture.
// launch: block 16x16, a block for each 16x16 outputs
#define RADIUS 2

__constant__ float F[2 * RADIUS + 1][2 * RADIUS + 1];

__global__ void reads_outside(float* in, float* out, int width, int height) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;

  float sum = 0.0f;
  for (int j = 0; j < 2 * RADIUS + 1; j++) {
    for (int i = 0; i < 2 * RADIUS + 1; i++) {
      int in_x = x - RADIUS + i;
      int in_y = y - RADIUS + j;
      if (in_x >= 0 && in_x < width && in_y >= 0) sum += F[j][i] * in[in_y * width + in_x];
    }
  }
  out[y * width + x] = sum;
}
