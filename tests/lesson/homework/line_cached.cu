// PMPP, 2nd edition, figure 8.13: one dimension, a tile without halo.
#define TILE_SIZE 64
#define MASK_WIDTH 7
__constant__ float M[MASK_WIDTH];

__global__ void convolution_1D_tiled_caching_kernel(float* N, float* P, int Width) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  __shared__ float N_ds[TILE_SIZE];
  if (i < Width) N_ds[threadIdx.x] = N[i];
  __syncthreads();

  int This_tile_start_point = blockIdx.x * blockDim.x;
  int Next_tile_start_point = (blockIdx.x + 1) * blockDim.x;
  int N_start_point = i - (MASK_WIDTH / 2);
  float Pvalue = 0;
  for (int j = 0; j < MASK_WIDTH; j++) {
    int N_index = N_start_point + j;
    if (N_index >= 0 && N_index < Width) {
      if ((N_index >= This_tile_start_point) && (N_index < Next_tile_start_point)) {
        Pvalue += N_ds[threadIdx.x + j - (MASK_WIDTH / 2)] * M[j];
      } else {
        Pvalue += N[N_index] * M[j];
      }
    }
  }
  if (i < Width) P[i] = Pvalue;
}

int main() {
  int Width = 100000;
  float *d_N, *d_P;
  cudaMalloc(&d_N, Width * sizeof(float));
  cudaMalloc(&d_P, Width * sizeof(float));
  convolution_1D_tiled_caching_kernel<<<(Width + TILE_SIZE - 1) / TILE_SIZE, TILE_SIZE>>>(d_N, d_P, Width);
  cudaDeviceSynchronize();
}
