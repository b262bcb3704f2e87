// PMPP, 2nd edition, figure 8.6: one dimension, the mask in global memory.
__global__ void convolution_1D_basic_kernel(float* N, float* M, float* P, int Mask_Width,
                                            int Width) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= Width) return;
  float Pvalue = 0;
  int N_start_point = i - (Mask_Width / 2);
  for (int j = 0; j < Mask_Width; j++) {
    if (N_start_point + j >= 0 && N_start_point + j < Width) {
      Pvalue += N[N_start_point + j] * M[j];
    }
  }
  P[i] = Pvalue;
}

void launch(float* N, float* M, float* P, int Mask_Width, int Width) {
  int threads = 256;
  int blocks = (Width + threads - 1) / threads;
  convolution_1D_basic_kernel<<<blocks, threads>>>(N, M, P, Mask_Width, Width);
}
