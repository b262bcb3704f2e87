// A tile with its halo, and a grid in numbers: 28 outputs a side, of which 1000x700 need 36x25 blocks.
#define SIDE 32
__constant__ float M[5][5];

__global__ void numbered(const float* in, float* out, int width, int height) {
  __shared__ float tile[SIDE][SIDE];
  const int x = int(blockIdx.x * (SIDE - 4) + threadIdx.x) - 2;
  const int y = int(blockIdx.y * (SIDE - 4) + threadIdx.y) - 2;
  const bool is_inside = x >= 0 && x < width && y >= 0 && y < height;
  tile[threadIdx.y][threadIdx.x] = is_inside ? in[y * width + x] : 0.0f;
  __syncthreads();
  const int col = int(threadIdx.x) - 2, row = int(threadIdx.y) - 2;
  if (!is_inside || col < 0 || row < 0 || col >= SIDE - 4 || row >= SIDE - 4) return;
  float sum = 0.0f;
  for (int j = 0; j < 5; ++j)
    for (int i = 0; i < 5; ++i) sum += M[j][i] * tile[row + j][col + i];
  out[y * width + x] = sum;
}

int main() {
  float *in, *out;
  numbered<<<dim3(36, 25), dim3(SIDE, SIDE)>>>(in, out, 1000, 700);
}
