#include <torch/script.h>
at::Tensor twice(const at::Tensor& x);
int main(int, char** a) { twice(torch::ones(2)); auto m = torch::jit::load(a[1]); }
