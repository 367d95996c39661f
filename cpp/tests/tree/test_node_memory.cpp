#include <cstdint>
#include <cstring>
#include <vector>

#include "check.hpp"
#include "silverbirch/tree/node_memory.hpp"

using namespace silverbirch;

// From the first piece into the huge pages.
void pieces_are_aligned_and_do_not_overlap(std::size_t piece_bytes) {
  NodeMemory memory(piece_bytes, std::make_shared<HugePages>());
  std::vector<std::byte*> pieces;
  while (pieces.size() < 5 || pieces.size() * piece_bytes < (std::size_t{5} << 20)) {
    pieces.push_back(memory.take());
    std::memset(pieces.back(), static_cast<int>(pieces.size() % 251), piece_bytes);
  }
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    CHECK(reinterpret_cast<std::uintptr_t>(pieces[i]) % 64 == 0);
    const auto expected = static_cast<std::byte>((i + 1) % 251);
    CHECK(pieces[i][0] == expected);
    CHECK(pieces[i][piece_bytes / 2] == expected);
    CHECK(pieces[i][piece_bytes - 1] == expected);
  }
  CHECK(memory.bytes() >= pieces.size() * piece_bytes);
}

void a_few_pieces_take_no_more_than_they_need() {
  NodeMemory memory(1024, std::make_shared<HugePages>());
  for (int i = 0; i < 100; ++i) memory.take();
  CHECK(memory.bytes() == 100 * 1024);
}

// What a tree took is used by the next one, and given back when nobody needs it.
void pages_are_used_again() {
  const auto pages = std::make_shared<HugePages>();
  const auto fill = [](NodeMemory& memory) {
    while (memory.bytes() < 4 * HugePages::kSize) memory.take();
  };
  std::byte* last = nullptr;
  {
    NodeMemory memory(4096, pages);
    fill(memory);
    last = memory.take();
    CHECK(pages->spare_bytes() == 0);
  }
  const std::size_t spare = pages->spare_bytes();
  CHECK(spare >= 2 * HugePages::kSize);
  NodeMemory next(8192, pages);
  fill(next);
  CHECK(pages->spare_bytes() < spare);
  NodeMemory other(4096, pages);
  fill(other);
  CHECK(pages->spare_bytes() == 0);
  next = NodeMemory(64, pages);
  CHECK(pages->spare_bytes() > 0);
  pages->free_spare();
  CHECK(pages->spare_bytes() == 0);
  CHECK(last != nullptr);
}

int main() {
  pages_are_used_again();
  for (const std::size_t piece_bytes : {64, 4032, 150'016, 3'000'000 / 64 * 64})
    pieces_are_aligned_and_do_not_overlap(piece_bytes);
  a_few_pieces_take_no_more_than_they_need();
}
