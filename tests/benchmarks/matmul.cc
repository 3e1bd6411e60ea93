// tests/benchmarks/matmul.cc -- Hom's matrix products beside Eigen's and a plain loop's, all built
// for the same processors
//
// Prints tables in µs: medians of runs that alternate, and their ratios to Hom's (above 1: Hom is
// faster). Eigen and the loop write into memory that is there already; Hom's `matmul` also
// dispatches and allocates.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <random>
#include <string>
#include <vector>

#include <Eigen/Core>

#include <hom/hom.h>

namespace {

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

/// c = a·b, vectors along the rows of b.
template <class T>
void loop(std::int64_t m, std::int64_t k, std::int64_t n, const T* a, const T* b, T* c) {
  std::fill_n(c, m * n, T{0});
  for (std::int64_t i = 0; i < m; ++i) {
    for (std::int64_t t = 0; t < k; ++t) {
      const T factor = a[i * k + t];
#pragma omp simd
      for (std::int64_t j = 0; j < n; ++j)
        c[i * n + j] = static_cast<T>(c[i * n + j] + factor * b[t * n + j]);
    }
  }
}

template <class T>
void row(std::int64_t m, std::int64_t k, std::int64_t n) {
  using Matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  std::mt19937 random(1);
  std::uniform_int_distribution<int> digit(0, 9);
  const auto drawn = [&](std::int64_t rows, std::int64_t columns) {
    Matrix x(rows, columns);
    for (T& element : x.reshaped()) element = static_cast<T>(digit(random));
    return x;
  };
  const auto to_tensor = [](const Matrix& x) {
    return hom::tensor(std::vector<T>(x.data(), x.data() + x.size()),
                       hom::Shape{x.rows(), x.cols()});
  };
  const Matrix a = drawn(m, k);
  const Matrix b = drawn(k, n);
  Matrix c(m, n);
  const hom::Tensor x = to_tensor(a);
  const hom::Tensor y = to_tensor(b);
  const int repeats = static_cast<int>(std::clamp<std::int64_t>(20'000'000 / (m * k * n), 1, 2000));
  std::array<std::vector<double>, 3> times;
  for (int round = 0; round < 15; ++round) {
    times[0].push_back(microseconds(repeats, [&] { c.noalias() = a * b; }));
    times[1].push_back(microseconds(repeats, [&] { loop(m, k, n, a.data(), b.data(), c.data()); }));
    times[2].push_back(microseconds(repeats, [&] { hom::matmul(x, y); }));
  }
  const double eigen = median(times[0]), plain = median(times[1]), own = median(times[2]);
  std::printf("%4s %5d x %5d x %5d %10.2f %10.2f %10.2f %10.2f %10.2f\n",
              std::string(hom::dtype_of<T>().name()).c_str(), static_cast<int>(m),
              static_cast<int>(k), static_cast<int>(n), eigen, plain, own, eigen / own,
              plain / own);
}

void head(const char* title) {
  std::printf(
      "%s\n         m x     k x     n      Eigen       loop        Hom  Eigen/Hom   loop/Hom\n",
      title);
}

template <class T>
void integers() {
  row<T>(8, 8, 8);
  row<T>(64, 64, 64);
  row<T>(256, 256, 256);
  row<T>(32, 784, 128);
  row<T>(256, 256, 8);
  row<T>(784, 784, 1);
  row<T>(1000, 1, 1000);
}

}  // namespace

int main() {
  head("sums of floats");
  row<float>(8, 8, 8);
  row<float>(32, 64, 128);
  row<float>(64, 784, 128);
  row<float>(512, 512, 512);
  row<float>(1000, 1000, 1);
  row<float>(128, 9, 1000);
  head("outer products of floats");
  row<float>(64, 1, 64);
  row<float>(128, 1, 784);
  row<float>(1000, 1, 1000);
  row<double>(64, 1, 64);
  row<double>(128, 1, 784);
  row<double>(1000, 1, 1000);
  head("integers");
  integers<std::int8_t>();
  integers<std::int32_t>();
  integers<std::int64_t>();
}
