// How many vectors of doubles make a row of a block. Only for files that are compiled once per instruction set.
#pragma once

#include "silverbirch/features/feature_block.hpp"
#include "silverbirch/simd/double_vector.hpp"

namespace silverbirch {
namespace {

constexpr std::size_t kParts = kLanes / kWidth;

}  // namespace
}  // namespace silverbirch
