// Part of builds with SILVERBIRCH_ABLATIONS alone.
#include "convert.hpp"
#include "silverbirch/base/names.hpp"
#include "silverbirch/base/switches.hpp"

namespace sb = silverbirch;

void bind_switches(nb::module_& m) {
  m.def(
      "mechanisms", [] { return std::vector<std::string>(sb::kMechanismNames.begin(), sb::kMechanismNames.end()); },
      "The names that switch_off takes.");
  m.def(
      "switch_off",
      [](const std::string& name) {
        const auto mechanism = sb::from_name<sb::Mechanism>(sb::kMechanismNames, name, "mechanism");
        sb::switched_off |= std::uint64_t{1} << static_cast<std::size_t>(mechanism);
      },
      nb::arg("name"), "Does without a mechanism from now on; before anything is computed.");
}
