# tools/lib/headers.mk -- compiles each header of the library alone, again only when something it includes changed
#
# Called by tools/check with FLAGS holding the include path.
headers := $(shell find hom.h core categories backends -name '*.h' 2>/dev/null)
stamps := $(headers:%=out/headers/%.ok)

all: $(stamps)

# Twice, so that a missing include guard shows.
out/headers/%.ok: %
	mkdir -p $(@D)
	printf '#include <hom/%s>\n' $< $< | g++ -std=c++20 -Wall -Wextra -Werror $(FLAGS) -fopenmp-simd -fsyntax-only \
	  -MD -MP -MF $(@:.ok=.d) -MT $@ -x c++ -
	touch $@

-include $(stamps:.ok=.d)
