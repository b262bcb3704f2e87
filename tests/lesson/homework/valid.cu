// Two dimensions, only where the mask lies within the input.
#include <cuda_runtime.h>

__global__ void conv2d(const float* input, const float* kernel, float* output, int input_rows,
                       int input_cols, int kernel_rows, int kernel_cols) {
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  int output_rows = input_rows - kernel_rows + 1;
  int output_cols = input_cols - kernel_cols + 1;
  if (row >= output_rows || col >= output_cols) return;
  float sum = 0.0f;
  for (int m = 0; m < kernel_rows; ++m)
    for (int n = 0; n < kernel_cols; ++n)
      sum += input[(row + m) * input_cols + (col + n)] * kernel[m * kernel_cols + n];
  output[row * output_cols + col] = sum;
}

extern "C" void solve(const float* input, const float* kernel, float* output, int input_rows,
                      int input_cols, int kernel_rows, int kernel_cols) {
  int output_rows = input_rows - kernel_rows + 1;
  int output_cols = input_cols - kernel_cols + 1;
  dim3 threads(32, 8);
  dim3 grid((output_cols + threads.x - 1) / threads.x, (output_rows + threads.y - 1) / threads.y);
  conv2d<<<grid, threads>>>(input, kernel, output, input_rows, input_cols, kernel_rows,
                            kernel_cols);
}
