// backends/cpu/routines/libraries.cc -- shared libraries, opened when they are first asked for
#include <hom/backends/cpu/routines/libraries.h>

#include <dlfcn.h>

#include <cstdlib>
#include <initializer_list>
#include <string>

#include <hom/core/error.h>

namespace hom::cpu {
namespace {

constexpr Library all_libraries[] = {Library::hom, Library::eigen, Library::openblas,
                                     Library::onednn, Library::libxsmm};

/// The first of these libraries that is there, or null. It stays open.
void* opened(std::initializer_list<const char*> names, int mode = RTLD_NOW | RTLD_LOCAL) {
  for (const char* name : names) {
    if (void* library = dlopen(name, mode)) return library;
  }
  return nullptr;
}

/// Whether the library has the function.
template <class Function>
bool find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

const OpenBlas* loaded_openblas() {
  static OpenBlas functions;
  const bool is_of_program = opened({"libopenblas.so.0"}, RTLD_NOW | RTLD_NOLOAD) != nullptr;
  void* library = opened({"libopenblas.so.0"});
  int (*get_threads)() = nullptr;
  void (*set_threads)(int) = nullptr;
  if (!library || !find(library, "cblas_sgemm", functions.sgemm) ||
      !find(library, "cblas_dgemm", functions.dgemm) ||
      !find(library, "openblas_get_num_threads", get_threads) ||
      !find(library, "openblas_set_num_threads", set_threads))
    return nullptr;
  if (get_threads() != 1) {
    if (is_of_program) return nullptr;
    set_threads(1);
  }
  return &functions;
}

const OneDnn* loaded_onednn() {
  static OneDnn functions;
  void* library = opened({"libdnnl.so.2", "libdnnl.so.3"});
  const bool is_complete = library && find(library, "dnnl_sgemm", functions.sgemm) &&
                           find(library, "omp_get_max_threads", functions.get_threads) &&
                           find(library, "omp_set_num_threads", functions.set_threads);
  return is_complete ? &functions : nullptr;
}

const Libxsmm* loaded_libxsmm() {
  static Libxsmm functions;
  void* library = opened({"libxsmm.so.1", "libxsmm.so"});
  const bool is_complete = library && find(library, "libxsmm_smmdispatch", functions.smmdispatch) &&
                           find(library, "libxsmm_dmmdispatch", functions.dmmdispatch);
  return is_complete ? &functions : nullptr;
}

Library library_named(std::string_view key) {
  std::string known;
  for (const Library library : all_libraries) {
    if (key_of(library) == key) return library;
    known += (known.empty() ? "" : ", ") + std::string(key_of(library));
  }
  fail(Complaint{"HOM_LIBRARIES: there is no library `" + std::string(key) + "`",
                 "name some of " + known + " in order of preference, or `none`"},
       {});
}

}  // namespace

std::string_view key_of(Library library) {
  constexpr std::string_view keys[] = {"hom", "eigen", "openblas", "onednn", "libxsmm"};
  return keys[static_cast<std::size_t>(library)];
}

std::string_view name_of(Library library) {
  constexpr std::string_view names[] = {"Hom", "Eigen", "OpenBLAS", "oneDNN", "libxsmm"};
  return names[static_cast<std::size_t>(library)];
}

std::vector<Library> preferred_libraries() {
  const char* variable = std::getenv("HOM_LIBRARIES");
  if (!variable) return {Library::hom, Library::eigen};
  std::vector<Library> libraries;
  std::string_view rest = variable;
  if (rest == "none") return libraries;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find(','), rest.size());
    if (end > 0) libraries.push_back(library_named(rest.substr(0, end)));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return libraries;
}

const OpenBlas* openblas() {
  static const OpenBlas* const functions = loaded_openblas();
  return functions;
}

const OneDnn* onednn() {
  static const OneDnn* const functions = loaded_onednn();
  return functions;
}

const Libxsmm* libxsmm() {
  static const Libxsmm* const functions = loaded_libxsmm();
  return functions;
}

}  // namespace hom::cpu
