// tests/benchmarks/matmul.cc -- Hom's matrix product beside Eigen's, built for the same baseline
//
// Prints a table in µs for f32: medians of runs that alternate, and their ratio (above 1: Hom is
// faster).
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <vector>

#include <Eigen/Core>

#include <hom/hom.h>

namespace {

using Matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

template <class Work>
double microseconds(int repeats, const Work& work) {
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < repeats; ++i) work();
  const std::chrono::duration<double, std::micro> elapsed =
      std::chrono::steady_clock::now() - start;
  return elapsed.count() / repeats;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

void row(std::int64_t m, std::int64_t k, std::int64_t n) {
  const Matrix a = Matrix::Random(m, k);
  const Matrix b = Matrix::Random(k, n);
  Matrix c(m, n);
  const auto to_tensor = [](const Matrix& x) {
    return hom::tensor(std::vector<float>(x.data(), x.data() + x.size()),
                       hom::Shape{x.rows(), x.cols()});
  };
  const hom::Tensor x = to_tensor(a);
  const hom::Tensor y = to_tensor(b);
  const int repeats = static_cast<int>(std::clamp<std::int64_t>(20'000'000 / (m * k * n), 1, 2000));
  std::vector<double> eigen;
  std::vector<double> own;
  for (int round = 0; round < 15; ++round) {
    eigen.push_back(microseconds(repeats, [&] { c.noalias() = a * b; }));
    own.push_back(microseconds(repeats, [&] { hom::matmul(x, y); }));
  }
  std::printf("%5d x %5d x %5d %10.2f %10.2f %8.2f\n", static_cast<int>(m), static_cast<int>(k),
              static_cast<int>(n), median(eigen), median(own), median(eigen) / median(own));
}

}  // namespace

int main() {
  std::printf("    m x     k x     n      Eigen        Hom    ratio   (us, f32, one thread)\n");
  row(8, 8, 8);
  row(32, 64, 128);
  row(64, 784, 128);
  row(512, 512, 512);
  row(1000, 1000, 1);
  row(128, 9, 1000);
  row(1000, 1, 1000);
}
