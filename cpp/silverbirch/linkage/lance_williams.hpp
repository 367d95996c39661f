// The Lance-Williams recurrences: the distance of a merged cluster A∪B to a third one C, from the three distances
// before.
//
// One struct per linkage (table 1 of the paper). ac, bc, ab are distances (for centroid, median and ward: squared
// ones); a, b, c the weights of the clusters. A linkage is reducible if merging two clusters never brings the result
// nearer to a third one than the nearer of the two was [Bruynooghe 1977]; NN-chain needs that to give the greedy
// result.
#pragma once

#include <algorithm>

namespace silverbirch {

struct SingleLinkage {
  static double combine(double ac, double bc, double, double, double, double) { return std::min(ac, bc); }
};

struct CompleteLinkage {
  static double combine(double ac, double bc, double, double, double, double) { return std::max(ac, bc); }
};

// UPGMA
struct AverageLinkage {
  static double combine(double ac, double bc, double, double a, double b, double) {
    return (a * ac + b * bc) / (a + b);
  }
};

// WPGMA, McQuitty
struct WeightedLinkage {
  static double combine(double ac, double bc, double, double, double, double) { return 0.5 * (ac + bc); }
};

// UPGMC; not reducible
struct CentroidLinkage {
  static double combine(double ac, double bc, double ab, double a, double b, double) {
    return (a * ac + b * bc - a * b * ab / (a + b)) / (a + b);
  }
};

// WPGMC; not reducible
struct MedianLinkage {
  static double combine(double ac, double bc, double ab, double, double, double) { return 0.5 * (ac + bc) - 0.25 * ab; }
};

struct WardLinkage {
  static double combine(double ac, double bc, double ab, double a, double b, double c) {
    return ((a + c) * ac + (b + c) * bc - c * ab) / (a + b + c);
  }
};

}  // namespace silverbirch
