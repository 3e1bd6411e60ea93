// tests/gradbench/ba.cc -- one observation's errors, for all observations at once
//
// Each error depends on one camera, one point and one weight: 15 columns of tens of thousands.
// The positions are known, so the pattern is exact, and 15 directions of forward mode give the
// whole Jacobian.
#include <hom/tests/gradbench/ba.h>

#include <cmath>

#include <hom/tests/gradbench/rotation.h>

namespace hom::gradbench {
namespace {

/// camera [11] = rotation 3, centre 3, focal length, principal point 2, radial distortion 2;
/// point [3]; weight []; feature [2] ↦ weighted error [2], and error of the weight [].
std::pair<Tensor, Tensor> errors(const Tensor& camera, const Tensor& point, const Tensor& weight,
                                 const Tensor& feature) {
  const Tensor seen = rotated(camera(Range{0, 3}), point - camera(Range{3, 6}));
  const Tensor p = seen(Range{0, 2}) / seen(2);
  const Tensor s = sum(square(p));
  const Tensor distortion = 1.0 + camera(9) * s + camera(10) * s * s;
  const Tensor projected = camera(6) * distortion * p + camera(Range{7, 9});
  return {weight * (projected - feature), 1.0 - square(weight)};
}

/// i mod n, for i < count.
Tensor cyclic(std::int64_t count, std::int64_t n) {
  std::vector<std::int64_t> list;
  for (std::int64_t i = 0; i < count; ++i) list.push_back(i % n);
  return tensor(list);
}

Tensor repeated(const Tensor& x, std::int64_t n) {
  Shape shape = x.shape();
  shape.insert(shape.begin(), n);
  return copy(broadcast_to(x, shape));
}

/// Zeros that the eval's format has: of either coordinate in the other's principal point.
SparsityPattern stored_zeros(std::int64_t n, std::int64_t m, std::int64_t p) {
  std::vector<std::pair<std::int64_t, std::int64_t>> entries;
  for (std::int64_t i = 0; i < p; ++i) {
    entries.emplace_back(2 * i, 11 * (i % n) + 8);
    entries.emplace_back(2 * i + 1, 11 * (i % n) + 7);
  }
  return sparsity_pattern(3 * p, 11 * n + 3 * m + p, std::move(entries));
}

/// The first thirty elements and the last.
Tensor excerpt(const Tensor& x) {
  return concat({x(Range{0, 30}).astype(f64), x(Range{-1}).astype(f64)});
}

/// One observation, written out.
void errors_by_hand(const double* c, const double* point, double weight, const double* feature,
                    double* error, double* weight_error) {
  double x[3];
  for (int i = 0; i < 3; ++i) x[i] = point[i] - c[3 + i];
  const double square_angle = c[0] * c[0] + c[1] * c[1] + c[2] * c[2];
  double seen[3];
  if (square_angle > 0) {
    const double angle = std::sqrt(square_angle);
    const double cosine = std::cos(angle);
    const double sine = std::sin(angle);
    const double w[3] = {c[0] / angle, c[1] / angle, c[2] / angle};
    const double along = (w[0] * x[0] + w[1] * x[1] + w[2] * x[2]) * (1 - cosine);
    const double cross[3] = {w[1] * x[2] - w[2] * x[1], w[2] * x[0] - w[0] * x[2],
                             w[0] * x[1] - w[1] * x[0]};
    for (int i = 0; i < 3; ++i) seen[i] = x[i] * cosine + cross[i] * sine + w[i] * along;
  } else {
    seen[0] = x[0] + c[1] * x[2] - c[2] * x[1];
    seen[1] = x[1] + c[2] * x[0] - c[0] * x[2];
    seen[2] = x[2] + c[0] * x[1] - c[1] * x[0];
  }
  const double p[2] = {seen[0] / seen[2], seen[1] / seen[2]};
  const double s = p[0] * p[0] + p[1] * p[1];
  const double distortion = 1 + c[9] * s + c[10] * s * s;
  for (int i = 0; i < 2; ++i)
    error[i] = weight * (c[6] * distortion * p[i] + c[7 + i] - feature[i]);
  *weight_error = 1 - weight * weight;
}

}  // namespace

Workload ba(const Records& in) {
  const std::int64_t n = in.integer("n");
  const std::int64_t m = in.integer("m");
  const std::int64_t p = in.integer("p");
  const Tensor cameras = repeated(in["cam"], n);
  const Tensor points = repeated(in["x"], m);
  const Tensor weights = repeated(in["w"], p);
  const Tensor features = repeated(in["feat"], p);
  const Tensor camera_of = cyclic(p, n);
  const Tensor point_of = cyclic(p, m);

  const auto f = [=](const Tensor& c, const Tensor& x, const Tensor& w) {
    return vmap(errors)(take(c, camera_of), take(x, point_of), w, features);
  };
  const auto jacobian = sparse_jacobian(f, wrt<0, 1, 2>, {.stored = stored_zeros(n, m, p)})
                            .prepare(cameras, points, weights);

  const auto by_hand = [n, m, p, c = cameras.to_vector(), x = points.to_vector(),
                        w = weights.to_vector(), feature = features.to_vector()] {
    std::vector<double> all(static_cast<std::size_t>(3 * p));
    for (std::int64_t i = 0; i < p; ++i)
      errors_by_hand(&c[11 * (i % n)], &x[3 * (i % m)], w[i], &feature[2 * i], &all[2 * i],
                     &all[2 * p + i]);
    return all;
  };

  return {.primal = prepared(f, cameras, points, weights),
          .gradient = prepared(
              [jacobian](const Tensor& c, const Tensor& x, const Tensor& w) {
                const Csr d = jacobian(c, x, w);
                return std::tuple{d.rows, d.columns, d.values};
              },
              cameras, points, weights),
          .by_hand = by_hand,
          .named = [p](const Results& primal, const Results& csr) {
            // The file has one observation, as all are the same; all are compared with it.
            const auto spread = [&](const Tensor& error) {
              const Tensor first = error(Range{0, 1});
              ensure(array_equal(error, copy(broadcast_to(first, error.shape()))),
                     "equal observations have equal errors");
              return error(0);
            };
            ensure(csr[2].size() == 31 * p, "31 entries for each observation");
            const Tensor entries = reshape(csr[2](Range{0, 30 * p}), {p, 30});
            ensure(array_equal(entries, copy(broadcast_to(entries(0), {p, 30}))),
                   "equal observations have equal derivatives");
            return Named{{"reproj_err_each", spread(primal[0])},
                         {"w_err_each", spread(primal[1])},
                         {"first30_and_last_rows", excerpt(csr[0])},
                         {"first30_and_last_cols", excerpt(csr[1])},
                         {"first30_and_last_vals", excerpt(csr[2])}};
          }};
}

}  // namespace hom::gradbench
