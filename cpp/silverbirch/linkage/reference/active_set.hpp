// The numbers of the clusters that still exist, ascending.
#pragma once

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <vector>

namespace silverbirch {

class ActiveSet {
 public:
  explicit ActiveSet(std::size_t count) : ids_(count) { std::iota(ids_.begin(), ids_.end(), std::size_t{0}); }

  void erase(std::size_t id) { ids_.erase(std::lower_bound(ids_.begin(), ids_.end(), id)); }
  std::size_t size() const { return ids_.size(); }
  std::size_t front() const { return ids_.front(); }
  auto begin() const { return ids_.begin(); }
  auto end() const { return ids_.end(); }
  auto after(std::size_t id) const { return std::upper_bound(ids_.begin(), ids_.end(), id); }

 private:
  std::vector<std::size_t> ids_;
};

}  // namespace silverbirch
