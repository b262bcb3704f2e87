// PMPP, figure 7.9: the mask in constant memory.
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>

#define FILTER_RADIUS 2
#define BLOCK_DIM 16

__constant__ float F[2 * FILTER_RADIUS + 1][2 * FILTER_RADIUS + 1];

__global__ void convolution_2D_const_mem_kernel(float* N, float* P, int r, int width, int height) {
  int outCol = blockIdx.x * blockDim.x + threadIdx.x;
  int outRow = blockIdx.y * blockDim.y + threadIdx.y;
  if (outCol < width && outRow < height) {
    float Pvalue = 0.0f;
    for (int fRow = 0; fRow < 2 * r + 1; fRow++) {
      for (int fCol = 0; fCol < 2 * r + 1; fCol++) {
        int inRow = outRow - r + fRow;
        int inCol = outCol - r + fCol;
        if (inRow >= 0 && inRow < height && inCol >= 0 && inCol < width) {
          Pvalue += F[fRow][fCol] * N[inRow * width + inCol];
        }
      }
    }
    P[outRow * width + outCol] = Pvalue;
  }
}

int main(int argc, char** argv) {
  int width = 1024, height = 768;
  float *N_h, *P_h, *N_d, *P_d, F_h[2 * FILTER_RADIUS + 1][2 * FILTER_RADIUS + 1];
  size_t bytes = width * height * sizeof(float);
  N_h = (float*)malloc(bytes);
  P_h = (float*)malloc(bytes);
  for (int i = 0; i < width * height; ++i) N_h[i] = rand() / (float)RAND_MAX;
  for (int i = 0; i < 25; ++i) F_h[i / 5][i % 5] = 0.04f;
  cudaMalloc((void**)&N_d, bytes);
  cudaMalloc((void**)&P_d, bytes);
  cudaMemcpy(N_d, N_h, bytes, cudaMemcpyHostToDevice);
  cudaMemcpyToSymbol(F, F_h, sizeof(F_h));
  dim3 dimBlock(BLOCK_DIM, BLOCK_DIM, 1);
  dim3 dimGrid((width + BLOCK_DIM - 1) / BLOCK_DIM, (height + BLOCK_DIM - 1) / BLOCK_DIM, 1);
  convolution_2D_const_mem_kernel<<<dimGrid, dimBlock>>>(N_d, P_d, FILTER_RADIUS, width, height);
  cudaDeviceSynchronize();
  cudaMemcpy(P_h, P_d, bytes, cudaMemcpyDeviceToHost);
  printf("%f\n", P_h[0]);
  cudaFree(N_d);
  cudaFree(P_d);
  free(N_h);
  free(P_h);
  return 0;
}
