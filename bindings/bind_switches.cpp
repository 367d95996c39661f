// Only in builds with SILVERBIRCH_ABLATIONS.
#include "convert.hpp"
#include "silverbirch/base/names.hpp"
#include "silverbirch/base/switches.hpp"

namespace sb = silverbirch;

void bind_switches(nb::module_& m) {
  m.def(
      "mechanisms", [] { return std::vector<std::string>(sb::kMechanismNames.begin(), sb::kMechanismNames.end()); },
      "Returns the names that switch_off accepts.");
  m.def(
      "switch_off",
      [](const std::string& name) {
        const auto mechanism = sb::from_name<sb::Mechanism>(sb::kMechanismNames, name, "mechanism");
        sb::switched_off |= std::uint64_t{1} << static_cast<std::size_t>(mechanism);
      },
      nb::arg("name"), "Switches a mechanism off from now on. Call it before anything is computed.");
}
