// dependencies.cc -- relations, composed
#include "dependencies.h"

namespace extension {

using namespace hom::categories;

Dependencies::Arrow Dependencies::id(const Environment& a) const {
  return project(a, range(0, a.size()));
}

Dependencies::Arrow Dependencies::compose(const Arrow& g, const Arrow& f) const {
  Arrow both{f.domain, g.codomain, {}};
  for (const std::vector<bool>& through : g.rows) {
    std::vector<bool> row(f.domain.size(), false);
    for (std::size_t k = 0; k < through.size(); ++k) {
      for (std::size_t j = 0; j < row.size(); ++j) row[j] = row[j] || (through[k] && f.rows[k][j]);
    }
    both.rows.push_back(std::move(row));
  }
  return both;
}

Dependencies::Arrow Dependencies::fork(const Arrow& f, const Arrow& g) const {
  Arrow both{f.domain, product(f.codomain, g.codomain), f.rows};
  both.rows.insert(both.rows.end(), g.rows.begin(), g.rows.end());
  return both;
}

Dependencies::Arrow Dependencies::project(const Environment& a, const Positions& positions) const {
  Arrow chosen{a, factors(a, positions), {}};
  for (std::size_t position : positions) {
    chosen.rows.emplace_back(a.size(), false);
    chosen.rows.back()[position] = true;
  }
  return chosen;
}

Dependencies::Arrow Dependencies::primitive(const Operation& operation) const {
  const Environment domain = operation.domain();
  return {domain, operation.codomain(),
          std::vector(operation.results.size(), std::vector<bool>(domain.size(), true))};
}

Dependencies::Arrow Dependencies::cond(const Arrow& then, const Arrow& otherwise) const {
  Arrow either{product({hom::bool_[{}]}, then.domain), then.codomain, {}};
  for (std::size_t i = 0; i < then.rows.size(); ++i) {
    std::vector<bool> row{true};
    for (std::size_t j = 0; j < then.domain.size(); ++j)
      row.push_back(then.rows[i][j] || otherwise.rows[i][j]);
    either.rows.push_back(std::move(row));
  }
  return either;
}

}  // namespace extension
