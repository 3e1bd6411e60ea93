// tests/gradbench/kmeans.cc -- squared distances by one matrix product, and a Hessian that is a
// diagonal
//
// The cost is Σᵢ minⱼ |Cⱼ − Pᵢ|². Where the nearest centroids do not change, it is a sum of squares
// of single coordinates of C, so no two coordinates meet in a second derivative: the Hessian is
// diagonal, and its product with a vector of ones is the diagonal. That is one derivative of the
// gradient in one direction, and it comes with the gradient itself. Which centroid is nearest has
// no derivative, so derivatives touch only the n centroids that were found.
#include <hom/tests/gradbench/kmeans.h>

#include <limits>

namespace hom::gradbench {

Workload kmeans(const Records& in) {
  // |C − P|² = |P|² − 2⟨P, C⟩ + |C|², so that no array has n·k·d elements; |P|² decides nothing.
  const auto cost = [](const Tensor& centroids, const Tensor& points) {
    const Tensor nearest =
        argmin(sum(square(centroids), 1) - 2.0 * matmul(points, transpose(centroids)), 1);
    return sum(square(take(centroids, nearest) - points));
  };
  const auto direction = [cost](const Tensor& centroids, const Tensor& points) {
    const auto [slope, diagonal] = jvp(grad(cost))(centroids, points, ones_like(centroids));
    return slope / diagonal;
  };
  const Tensor points = in["points"];
  const Tensor centroids = points(Range{-in.integer("k")});

  const auto by_hand = [d = static_cast<std::size_t>(points.extent(1)), p = points.to_vector(),
                        c = centroids.to_vector()] {
    double total = 0;
    for (std::size_t i = 0; i < p.size(); i += d) {
      double nearest = std::numeric_limits<double>::infinity();
      for (std::size_t j = 0; j < c.size(); j += d) {
        double distance = 0;
        for (std::size_t e = 0; e < d; ++e) {
          const double difference = c[j + e] - p[i + e];
          distance += difference * difference;
        }
        nearest = std::min(nearest, distance);
      }
      total += nearest;
    }
    return std::vector{total};
  };

  return {.primal = prepared(cost, centroids, points),
          .gradient = prepared(direction, centroids, points),
          .by_hand = by_hand,
          .named = [](const Results& primal, const Results& gradient) {
            return joined(name_in_order({"cost"}, primal), name_in_order({"dir"}, gradient));
          }};
}

}  // namespace hom::gradbench
