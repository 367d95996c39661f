// Memory for many pieces of one size that live and die together.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "silverbirch/base/switches.hpp"
#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace silverbirch {

// Huge pages, where the system has them, and those that are not in use at the time. The system clears each page that it
// hands out, which takes as long as much of what is done to it then; so a tree that is rebuilt hands on its own.
class HugePages {
 public:
  static constexpr std::size_t kSize = std::size_t{1} << 21;

  // Some pages, one after the other.
  static std::byte* create(std::size_t size) {
    auto* pages = static_cast<std::byte*>(::operator new(size, kAlignment));
#if defined(__linux__)
    madvise(pages, size, MADV_HUGEPAGE);
#endif
    return pages;
  }
  static void free(std::byte* pages) { ::operator delete(pages, kAlignment); }

  HugePages() = default;
  HugePages(const HugePages&) = delete;
  HugePages& operator=(const HugePages&) = delete;
  ~HugePages() { free_spare(); }

  std::byte* take() {
    if (spare_.empty()) return create(kSize);
    std::byte* page = spare_.back();
    spare_.pop_back();
    return page;
  }

  void give_back(std::byte* page) noexcept {
    if (!on(Mechanism::spare_pages)) return free(page);
    try {
      spare_.push_back(page);
    } catch (const std::bad_alloc&) {
      free(page);
    }
  }

  void free_spare() {
    for (std::byte* page : spare_) free(page);
    spare_ = {};
  }
  std::size_t spare_bytes() const { return spare_.size() * kSize; }

 private:
  static constexpr std::align_val_t kAlignment{kSize};
  std::vector<std::byte*> spare_;
};

// Pieces never move: growing copies nothing. The first ones are allocated one by one, so that a small tree takes what
// it needs. A large tree takes whole huge pages: its nodes are visited in no order, and with small pages the first
// visit of each, and then looking up where it is, take longer than reading it.
class NodeMemory {
 public:
  NodeMemory(std::size_t piece_bytes, std::shared_ptr<HugePages> pages)
      : piece_bytes_(piece_bytes), pages_(std::move(pages)) {}

  std::byte* take() {
    if (left_ == 0) add_slab();
    --left_;
    std::byte* piece = next_;
    next_ += piece_bytes_;
    return piece;
  }

  std::size_t bytes() const { return bytes_; }

 private:
  static constexpr std::align_val_t kAlignment{64};

  struct Free {
    void operator()(std::byte* piece) const { ::operator delete(piece, kAlignment); }
  };
  struct GiveBack {
    std::shared_ptr<HugePages> pages;  // null: they are no single page
    void operator()(std::byte* slab) const { pages ? pages->give_back(slab) : HugePages::free(slab); }
  };

  void add_slab() {
    std::size_t size = piece_bytes_;
    if (bytes_ < HugePages::kSize || !on(Mechanism::huge_pages)) {
      first_.emplace_back(static_cast<std::byte*>(::operator new(size, kAlignment)));
      next_ = first_.back().get();
    } else {
      size = (piece_bytes_ + HugePages::kSize - 1) / HugePages::kSize * HugePages::kSize;
      const bool one = size == HugePages::kSize;
      slabs_.emplace_back(one ? pages_->take() : HugePages::create(size), GiveBack{one ? pages_ : nullptr});
      next_ = slabs_.back().get();
    }
    left_ = size / piece_bytes_;
    bytes_ += size;
  }

  std::size_t piece_bytes_, bytes_ = 0, left_ = 0;
  std::byte* next_ = nullptr;
  std::shared_ptr<HugePages> pages_;
  std::vector<std::unique_ptr<std::byte, Free>> first_;
  std::vector<std::unique_ptr<std::byte, GiveBack>> slabs_;
};

}  // namespace silverbirch
