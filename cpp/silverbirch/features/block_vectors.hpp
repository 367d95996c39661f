// The rows of a block as vectors of doubles. Only for files that are compiled once per instruction set.
#pragma once

#include "silverbirch/features/feature_block.hpp"
#include "silverbirch/simd/double_vector.hpp"

namespace silverbirch {
namespace {

constexpr std::size_t kParts = kLanes / kWidth;  // vectors that make a row

}  // namespace
}  // namespace silverbirch
