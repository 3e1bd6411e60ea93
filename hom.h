// hom.h -- Hom: compiles ordinary lambdas into categories. Include this one header.
#pragma once

#define HOM_VERSION "0.1.0"

#include <hom/backends/cpu/compile.h>
#include <hom/backends/cpu/explain.h>
#include <hom/backends/cpu/native_function.h>
#include <hom/backends/cpu/profile.h>
#include <hom/backends/optimise/optimise.h>
#include <hom/categories/batch.h>
#include <hom/categories/check_derivatives.h>
#include <hom/categories/cost.h>
#include <hom/categories/custom_rules.h>
#include <hom/categories/derivative.h>
#include <hom/categories/graph.h>
#include <hom/categories/implicit.h>
#include <hom/categories/interval.h>
#include <hom/categories/jacobian.h>
#include <hom/categories/linear_map.h>
#include <hom/categories/sparse_jacobian.h>
#include <hom/categories/syntax.h>
#include <hom/categories/vmap.h>
#include <hom/core/arrow.h>
#include <hom/core/function.h>
#include <hom/core/loops.h>
#include <hom/core/operations/complex.h>
#include <hom/core/operations/convolution.h>
#include <hom/core/operations/distributions.h>
#include <hom/core/operations/einsum.h>
#include <hom/core/operations/elementwise.h>
#include <hom/core/operations/fft.h>
#include <hom/core/operations/functions.h>
#include <hom/core/operations/indexing.h>
#include <hom/core/operations/linear_algebra.h>
#include <hom/core/operations/matrix_functions.h>
#include <hom/core/operations/pooling.h>
#include <hom/core/operations/random.h>
#include <hom/core/operations/reductions.h>
#include <hom/core/operations/shaping.h>
#include <hom/core/operations/sorting.h>
#include <hom/core/operations/special.h>
#include <hom/core/operations/update.h>
#include <hom/core/operations/windows.h>
#include <hom/core/parameters.h>
#include <hom/core/product.h>
#include <hom/core/safetensors.h>
#include <hom/core/text.h>
