// The branches of a dendrogram as intervals: the leaves are put into the order of Z, where those of every branch are
// neighbours. A leaf has a place in this order, from 0 on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace silverbirch {

// The places begin … end - 1. Those before `middle` are the left child's; a single leaf has no middle.
struct Branch {
  std::size_t begin = 0, middle = 0, end = 0;

  std::size_t size() const { return end - begin; }
  bool is_leaf() const { return end - begin == 1; }
  // The part that a place is not in: if the place is one end of the branch, the other end is there. A leaf is both.
  Branch other_part(std::size_t place) const {
    if (is_leaf()) return *this;
    return place < middle ? Branch{middle, 0, end} : Branch{begin, 0, middle};
  }
};

class Branches {
 public:
  // Throws std::invalid_argument if Z is not a linkage matrix.
  Branches(const double* z, std::size_t merges);

  std::size_t leaves() const { return leaf_at_.size(); }
  std::size_t merges() const { return leaf_at_.size() - 1; }
  const std::vector<std::int64_t>& leaf_at() const { return leaf_at_; }  // of each place

  // Nodes are numbered as in Z: leaves first, then rows.
  const Branch& operator[](std::size_t node) const { return nodes_[node]; }
  std::size_t left_node(std::size_t row) const { return left_[row]; }
  std::size_t right_node(std::size_t row) const { return right_[row]; }

 private:
  std::vector<Branch> nodes_;
  std::vector<std::size_t> left_, right_;
  std::vector<std::int64_t> leaf_at_;
};

// Z with the children of its rows exchanged where they stand in `order` the other way round. Throws
// std::invalid_argument if the order does not keep the leaves of every branch together.
std::vector<double> reordered(const double* z, std::size_t merges, const std::int64_t* order);

}  // namespace silverbirch
