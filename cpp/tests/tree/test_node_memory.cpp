#include <cstdint>
#include <cstring>
#include <vector>

#include "check.hpp"
#include "silverbirch/tree/node_memory.hpp"

using namespace silverbirch;

// Takes enough pieces to reach the huge pages.
void pieces_are_aligned_and_do_not_overlap(std::size_t piece_bytes) {
  NodeMemory memory(piece_bytes);
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
  NodeMemory memory(1024);
  for (int i = 0; i < 100; ++i) memory.take();
  CHECK(memory.bytes() == 100 * 1024);
}

int main() {
  for (const std::size_t piece_bytes : {64, 4032, 150'016, 3'000'000 / 64 * 64})
    pieces_are_aligned_and_do_not_overlap(piece_bytes);
  a_few_pieces_take_no_more_than_they_need();
}
