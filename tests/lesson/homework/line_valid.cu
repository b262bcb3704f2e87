// One dimension, only where the mask lies within the input.
#include <cuda_runtime.h>

__global__ void convolution_1d_kernel(const float* input, const float* kernel, float* output,
                                      int input_size, int kernel_size) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int output_size = input_size - kernel_size + 1;
  if (i < output_size) {
    float sum = 0.0f;
    for (int j = 0; j < kernel_size; j++) sum += input[i + j] * kernel[j];
    output[i] = sum;
  }
}

extern "C" void solve(const float* input, const float* kernel, float* output, int input_size,
                      int kernel_size) {
  int output_size = input_size - kernel_size + 1;
  int threadsPerBlock = 256;
  int blocksPerGrid = (output_size + threadsPerBlock - 1) / threadsPerBlock;
  convolution_1d_kernel<<<blocksPerGrid, threadsPerBlock>>>(input, kernel, output, input_size,
                                                            kernel_size);
  cudaDeviceSynchronize();
}
