// tests/gradbench/ht.cc -- a chain of 22 bones, blended over vertices, and points on triangles
#include <hom/tests/gradbench/ht.h>

#include <cmath>

#include <hom/tests/gradbench/rotation.h>

namespace hom::gradbench {
namespace {

/// The hand: b bones, v vertices, and n points to be met.
struct Hand {
  BOOST_HANA_DEFINE_STRUCT(Hand,
                           /// [b, 4, 4]: of a bone in its parent.
                           (Tensor, base_relatives),
                           /// [b, 4, 4]
                           (Tensor, inverse_base_absolutes),
                           /// [v, 4], homogeneous.
                           (Tensor, base_positions),
                           /// [v, b]
                           (Tensor, weights),
                           /// i64 [n, 3], three vertices for each point; or [n, 1], one.
                           (Tensor, vertices),
                           /// [n, 3]
                           (Tensor, points));
};

/// Where in θ the angles of each bone about x and z are; 26, which reads as 0, where there is none.
struct Joints {
  std::vector<std::int64_t> x = std::vector<std::int64_t>(22, 26);
  std::vector<std::int64_t> z = std::vector<std::int64_t>(22, 26);

  Joints() {
    for (std::int64_t finger = 0; finger < 5; ++finger) {
      const std::int64_t first = 6 + 4 * finger;
      const auto bone = static_cast<std::size_t>(2 + 4 * finger);
      x[bone] = first;
      z[bone] = first + 1;
      x[bone + 1] = first + 2;
      x[bone + 2] = first + 3;
    }
  }
};

/// Rz(z)·Rx(x) in homogeneous coordinates, [b, 4, 4] for angles [b].
Tensor bone_rotations(const Tensor& x, const Tensor& z) {
  const Tensor cx = cos(x);
  const Tensor sx = sin(x);
  const Tensor cz = cos(z);
  const Tensor sz = sin(z);
  const Tensor none = zeros_like(x);
  const Tensor one = ones_like(x);
  const Tensor rows = stack({cz, -sz * cx, sz * sx, none,  //
                             sz, cz * cx, -cz * sx, none,  //
                             none, sx, cx, none,           //
                             none, none, none, one},
                            1);
  return reshape(rows, {x.extent(0), 4, 4});
}

/// The rotation of an axis times an angle, as a matrix; the identity for less than 1e-4.
Tensor global_rotation(const Tensor& r) {
  const Tensor square_angle = sum(square(r));
  const Tensor turns = square_angle >= 1e-8;
  const Tensor safe = where(turns, r, tensor({1.0, 0.0, 0.0}));
  // Columns are the rotated unit vectors.
  const Tensor rows = vmap([&](const Tensor& unit) { return rotated(safe, unit); })(eye(3));
  return where(turns, transpose(rows), eye(3));
}

struct Errors {
  std::vector<std::int64_t> parents;

  /// θ [26] and barycentric coordinates [n, 2] (or [0, 2]: points on vertices) ↦ errors [n, 3].
  Tensor operator()(const Tensor& theta, const Tensor& us, const Hand& hand) const {
    static const Joints joints;
    const Tensor angles = concat({theta, zeros({1})});
    const Tensor relative =
        matmul(hand.base_relatives,
               bone_rotations(take(angles, tensor(joints.x)), take(angles, tensor(joints.z))));
    std::vector<Tensor> absolute;
    for (std::size_t bone = 0; bone < parents.size(); ++bone) {
      const Tensor own = relative(bone);
      absolute.push_back(
          parents[bone] < 0 ? own : matmul(absolute[static_cast<std::size_t>(parents[bone])], own));
    }
    // A vertex is Σ w·T·x over bones, in homogeneous coordinates x: one product of all bones'
    // transforms, turned as a whole, [3, 4b], with what no angle changes.
    const Tensor transforms = matmul(stack(absolute), hand.inverse_base_absolutes);
    const Tensor turned = matmul(global_rotation(theta(Range{0, 3})),
                                 reshape(swap_axes(transforms(all, Range{0, 3}), 0, 1), {3, -1}));
    const auto placed = [&](const Tensor& weights, const Tensor& base) {
      const Tensor blend = reshape(expand_dims(weights, 2) * expand_dims(base, 1),
                                   {weights.extent(0), 4 * weights.extent(1)});
      return matmul(turned, transpose(blend)) + expand_dims(theta(Range{3, 6}), 1);
    };
    // [3, n, 3] or [3, n, 1]: the vertices of each point. Where these are few, no others are
    // placed.
    const Tensor& v = hand.vertices;
    const Tensor corners =
        v.size() < hand.weights.extent(0)
            ? reshape(placed(take(hand.weights, ravel(v)), take(hand.base_positions, ravel(v))),
                      {3, v.extent(0), v.extent(1)})
            : take(placed(hand.weights, hand.base_positions), v, 1);
    if (us.extent(0) == 0) return hand.points - transpose(corners(all, all, 0));
    const Tensor share = concat({us, 1.0 - sum(us, 1, Keep::yes)}, 1);
    return hand.points - transpose(sum(share * corners, 2));
  }
};

/// [3n, 28] or [3n, 26]: the columns are two directions in which all barycentric coordinates move
/// at once, each moving its own point only, and one for each of θ. All are one batch of forward
/// mode.
struct CompressedJacobian {
  Errors f;

  Tensor operator()(const Tensor& theta, const Tensor& us, const Hand& hand) const {
    const std::int64_t first = us.extent(0) == 0 ? 0 : 2;
    const std::int64_t columns = first + theta.extent(0);
    const Tensor unit = eye(columns);
    const auto column = [&](const Tensor& direction) {
      const Tensor dus = broadcast_to(direction(Range{0, 2}) * (first > 0), us.shape());
      return jvp(f, wrt<0, 1>)(theta, us, hand, direction(Range{first}), dus).second;
    };
    return transpose(reshape(vmap(column)(unit), {columns, -1}));
  }
};

/// The errors once more, written out for one processor; weights are dense, as they are given.
std::vector<double> errors_by_hand(const std::vector<std::int64_t>& parents,
                                   const std::vector<double>& theta, const std::vector<double>& us,
                                   const std::array<std::vector<double>, 5>& hand,
                                   const std::vector<std::int64_t>& corners) {
  const auto& [relatives, inverses, base, weights, points] = hand;
  static const Joints joints;
  const std::size_t bones = parents.size();
  const std::size_t vertices = base.size() / 4;
  const auto times = [](const double* a, const double* b, double* c) {
    for (int i = 0; i < 4; ++i) {
      for (int j = 0; j < 4; ++j) {
        c[4 * i + j] = 0;
        for (int k = 0; k < 4; ++k) c[4 * i + j] += a[4 * i + k] * b[4 * k + j];
      }
    }
  };
  const auto angle = [&](std::int64_t place) {
    return place < 26 ? theta[static_cast<std::size_t>(place)] : 0.0;
  };
  std::vector<double> absolute(16 * bones), transform(16 * bones);
  for (std::size_t b = 0; b < bones; ++b) {
    const double cx = std::cos(angle(joints.x[b])), sx = std::sin(angle(joints.x[b]));
    const double cz = std::cos(angle(joints.z[b])), sz = std::sin(angle(joints.z[b]));
    const double rotation[16] = {cz, -sz * cx, sz * sx, 0, sz, cz * cx, -cz * sx, 0,
                                 0,  sx,       cx,      0, 0,  0,       0,        1};
    double relative[16];
    times(&relatives[16 * b], rotation, relative);
    if (parents[b] < 0) {
      std::copy(relative, relative + 16, &absolute[16 * b]);
    } else {
      times(&absolute[16 * static_cast<std::size_t>(parents[b])], relative, &absolute[16 * b]);
    }
    times(&absolute[16 * b], &inverses[16 * b], &transform[16 * b]);
  }
  double rotation[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
  const double n = std::sqrt(theta[0] * theta[0] + theta[1] * theta[1] + theta[2] * theta[2]);
  if (n >= 1e-4) {
    const double w[3] = {theta[0] / n, theta[1] / n, theta[2] / n};
    const double c = std::cos(n), s = std::sin(n);
    const double skew[9] = {0, -w[2], w[1], w[2], 0, -w[0], -w[1], w[0], 0};
    for (int i = 0; i < 3; ++i) {
      for (int j = 0; j < 3; ++j)
        rotation[3 * i + j] = (i == j ? c : 0) + s * skew[3 * i + j] + (1 - c) * w[i] * w[j];
    }
  }
  std::vector<double> placed(3 * vertices);
  for (std::size_t v = 0; v < vertices; ++v) {
    double position[3] = {0, 0, 0};
    for (std::size_t b = 0; b < bones; ++b) {
      const double weight = weights[v * bones + b];
      for (int i = 0; i < 3; ++i) {
        double moved = 0;
        for (int k = 0; k < 4; ++k) moved += transform[16 * b + 4 * i + k] * base[4 * v + k];
        position[i] += weight * moved;
      }
    }
    for (int i = 0; i < 3; ++i) {
      placed[3 * v + i] = theta[3 + i];
      for (int k = 0; k < 3; ++k) placed[3 * v + i] += rotation[3 * i + k] * position[k];
    }
  }
  std::vector<double> errors(points);
  const std::size_t each = 3 * corners.size() / points.size();
  for (std::size_t i = 0; i < points.size() / 3; ++i) {
    const double share[3] = {each == 1 ? 1 : us[2 * i], each == 1 ? 0 : us[2 * i + 1],
                             each == 1 ? 0 : 1 - us[2 * i] - us[2 * i + 1]};
    for (std::size_t corner = 0; corner < each; ++corner) {
      for (std::size_t k = 0; k < 3; ++k)
        errors[3 * i + k] -= share[corner] * placed[3 * corners[each * i + corner] + k];
    }
  }
  return errors;
}

}  // namespace

Workload ht(const Records& in) {
  const Tensor theta = in["theta"];
  const Tensor us = in["us"];
  const Tensor places = in.integers("weights_nnz_vertex_bone");
  const Tensor shape = in["weights_shape"];
  const bool on_triangles = us.extent(0) > 0;
  const Tensor found = in.integers("correspondences");
  const Tensor vertices =
      on_triangles ? take(in.integers("triangles"), found) : expand_dims(found, 1);
  const Hand hand{in["base_relatives"],
                  in["inverse_base_absolutes"],
                  in["base_positions"],
                  scatter(zeros({shape(0).item<std::int64_t>(), shape(1).item<std::int64_t>()}),
                          places, in["weights_nnz_value"], {0, 1}, Combine::set),
                  vertices,
                  in["points"]};
  const Errors f{in["parents"].to_vector<std::int64_t>()};

  const auto by_hand = [parents = f.parents, t = theta.to_vector(), u = us.to_vector(),
                        data = std::array{hand.base_relatives.to_vector(),
                                          hand.inverse_base_absolutes.to_vector(),
                                          hand.base_positions.to_vector(), hand.weights.to_vector(),
                                          hand.points.to_vector()},
                        corners = vertices.to_vector<std::int64_t>()] {
    return errors_by_hand(parents, t, u, data, corners);
  };

  return {.primal = prepared(f, theta, us, hand),
          .gradient = prepared(CompressedJacobian{f}, theta, us, hand),
          .by_hand = by_hand,
          .named = [](const Results& primal, const Results& gradient) {
            const Tensor J = gradient[0];
            const std::int64_t columns = J.extent(1);
            const Tensor v = 1.0 / (arange(columns, f64) + 1.0);
            const Tensor u = sin(arange(J.extent(0), f64) + 1.0);
            const Tensor along = matmul(J, v);
            return Named{{"objective", ravel(primal[0])},
                         {"jacobian", J},
                         // Of long ones the file has the first 300 elements.
                         {"J_times_v", along.size() > 20000 ? along(Range{0, 300}) : along},
                         {"Jt_times_u", matmul(u, J)},
                         {"J_frobenius", norm(J)},
                         {"J_first30rows", J(Range{0, 30})},
                         {"J_last30rows", J(Range{-30})}};
          }};
}

}  // namespace hom::gradbench
