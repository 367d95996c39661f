// Memory for many pieces of one size that are freed together.
#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <vector>

#include "silverbirch/base/huge_pages.hpp"
#include "silverbirch/base/switches.hpp"

namespace silverbirch {

// Pieces never move, so growing copies nothing. The first pieces are allocated one by one, so that a small tree takes
// only what it needs. Beyond the size of one huge page, pieces come from huge pages where the system has them. A
// descent visits nodes in random order; with small pages, the page fault at the first visit and later the address
// translation take longer than reading the node.
class NodeMemory {
 public:
  explicit NodeMemory(std::size_t piece_bytes) : piece_bytes_(piece_bytes) {}

  std::byte* take() {
    if (left_ == 0) add_slab();
    --left_;
    std::byte* piece = next_;
    next_ += piece_bytes_;
    return piece;
  }

  std::size_t bytes() const { return bytes_; }

 private:
  struct Free {
    std::align_val_t alignment;
    void operator()(std::byte* slab) const { ::operator delete(slab, alignment); }
  };

  void add_slab() {
    const bool huge = bytes_ >= kHugePage && on(Mechanism::huge_pages);
    const std::size_t size = huge ? (piece_bytes_ + kHugePage - 1) / kHugePage * kHugePage : piece_bytes_;
    const std::align_val_t alignment{huge ? kHugePage : 64};
    slabs_.emplace_back(static_cast<std::byte*>(::operator new(size, alignment)), Free{alignment});
    next_ = slabs_.back().get();
    if (huge) ask_for_huge_pages(next_, size);
    left_ = size / piece_bytes_;
    bytes_ += size;
  }

  std::size_t piece_bytes_, bytes_ = 0, left_ = 0;
  std::byte* next_ = nullptr;
  std::vector<std::unique_ptr<std::byte, Free>> slabs_;
};

}  // namespace silverbirch
