// categories/dominators.h -- dominators of an acyclic graph, as its nodes are met
#pragma once

#include <cstdint>
#include <vector>

namespace hom {

/// The dominator tree of an acyclic graph with nodes 0 … n − 1, of which each is added after its
/// predecessors: the immediate dominator of a node is the nearest common ancestor of its
/// predecessors. Ancestors are found in O(log n) by jump pointers (E. W. Myers, An applicative
/// random-access stack, 1983).
class DominatorTree {
 public:
  using Node = std::uint32_t;
  static constexpr Node none = UINT32_MAX;

  /// Only `root` is in the tree so far.
  DominatorTree(std::size_t nodes, Node root)
      : parent_(nodes, none), jump_(nodes, none), depth_(nodes, 0), root_(root) {
    parent_[root] = root;
    jump_[root] = root;
  }

  bool contains(Node node) const { return parent_[node] != none; }
  /// The immediate dominator; the root is its own.
  Node parent(Node node) const { return parent_[node]; }
  Node root() const { return root_; }

  void add(Node node, Node parent) {
    parent_[node] = parent;
    depth_[node] = depth_[parent] + 1;
    const Node far = jump_[parent];
    const bool equal_jumps = depth_[parent] - depth_[far] == depth_[far] - depth_[jump_[far]];
    jump_[node] = equal_jumps ? jump_[far] : parent;
  }

  /// The nearest common ancestor; `none` is an ancestor of nothing and gives the other.
  Node common(Node a, Node b) const {
    if (a == none || b == none) return a == none ? b : a;
    if (depth_[a] < depth_[b]) return common(b, a);
    a = ancestor(a, depth_[b]);
    while (a != b) {
      const bool far = jump_[a] != jump_[b];
      a = far ? jump_[a] : parent_[a];
      b = far ? jump_[b] : parent_[b];
    }
    return a;
  }

  bool dominates(Node above, Node below) const {
    return depth_[below] >= depth_[above] && ancestor(below, depth_[above]) == above;
  }

 private:
  Node ancestor(Node node, std::uint32_t depth) const {
    while (depth_[node] > depth) node = depth_[jump_[node]] >= depth ? jump_[node] : parent_[node];
    return node;
  }

  std::vector<Node> parent_;
  std::vector<Node> jump_;
  std::vector<std::uint32_t> depth_;
  Node root_;
};

}  // namespace hom
