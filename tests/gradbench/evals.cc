// tests/gradbench/evals.cc -- the table of evals
#include <hom/tests/gradbench/evals.h>

#include <hom/tests/gradbench/ba.h>
#include <hom/tests/gradbench/det.h>
#include <hom/tests/gradbench/gmm.h>
#include <hom/tests/gradbench/ht.h>
#include <hom/tests/gradbench/kmeans.h>
#include <hom/tests/gradbench/llsq.h>
#include <hom/tests/gradbench/lse.h>
#include <hom/tests/gradbench/lstm.h>
#include <hom/tests/gradbench/ode.h>

namespace hom::gradbench {

const std::vector<Eval>& evals() {
  static const std::vector<Eval> all{
      {"gmm", gmm, {"gmm_2_5_1000"}, {"gmm_10_25_1000", "gmm_32_50_1000", "gmm_64_100_1000"}},
      {"ba",
       ba,
       {"ba1_n49_m7776_p31843"},
       {"ba5_n257_m65132_p225911", "ba14_n356_m226730_p1255268"}},
      {"ht",
       ht,
       {"ht_complicated_small_hand1_t26_c100"},
       {"ht_simple_small_hand3_t26_c200", "ht_complicated_big_hand3_t26_c200",
        "ht_complicated_big_hand8_t26_c6400", "ht_complicated_big_hand11_t26_c51200"}},
      {"lstm", lstm, {"lstm_l2_c1024"}, {"lstm_l4_c1024", "lstm_l4_c4096", "lstm_l6_c8192"}},
      {"kmeans",
       kmeans,
       {"kmeans_k10_n1000_d8"},
       {"kmeans_k100_n10000_d8", "kmeans_k1000_n10000_d16"}},
      {"det", det, {"det_5", "det_8"}, {"det_10"}},
      {"lse", lse, {"lse_n2500"}, {"lse_n80000"}},
      {"llsq", llsq, {"llsq_n16_m128", "llsq_n512_m128"}, {"llsq_n16392_m128"}},
      {"ode",
       ode,
       {"ode_n8_s10", "ode_n12_s100"},
       {"ode_n1000_s1", "ode_n1000_s100", "ode_n10000_s10", "ode_n10000_s100"}},
  };
  return all;
}

}  // namespace hom::gradbench
