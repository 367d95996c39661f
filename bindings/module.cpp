#include "convert.hpp"

void bind_simd(nb::module_& m);
void bind_features(nb::module_& m);
void bind_tree(nb::module_& m);
void bind_index(nb::module_& m);
void bind_linkage(nb::module_& m);
void bind_dendrogram(nb::module_& m);
void bind_ordering(nb::module_& m);
void bind_switches(nb::module_& m);

NB_MODULE(_core, m) {
  m.doc() = "The compiled core of silverbirch. Private: use the package's own names.";
  m.def(
      "set_report_interval", [](int milliseconds) { report_interval = std::chrono::milliseconds(milliseconds); },
      nb::arg("milliseconds"));
  bind_simd(m);
  bind_features(m);
  bind_tree(m);
  bind_index(m);
  bind_linkage(m);
  bind_dendrogram(m);
  bind_ordering(m);
#if defined(SILVERBIRCH_ABLATIONS)
  bind_switches(m);
#endif
}
