// tests/errors/main.cc -- runs one of the programs that must fail, and prints its error
#include <cstdio>

#include "tests/errors/fails.h"

int main(int argc, char** argv) {
  const auto found = argc == 2 ? mistakes::programs().find(argv[1]) : mistakes::programs().end();
  if (found == mistakes::programs().end()) {
    std::fprintf(stderr, "usage: %s NAME of one of %zu programs\n", argv[0],
                 mistakes::programs().size());
    return 2;
  }
  try {
    found->second();
  } catch (const hom::Error& error) {
    std::puts(error.what());
    return 1;
  }
  return 0;
}
