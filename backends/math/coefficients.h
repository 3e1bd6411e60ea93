// backends/math/coefficients.h -- printed by fit.py
#pragma once

namespace hom::math::coefficients {

/// (eʳ − 1 − r)/r², within 6.9e-08 on [-0.35, 0.35].
inline constexpr float exp_rest_f32[] = {0x1.0000000000000p-1f, 0x1.5554d80000000p-3f,
                                         0x1.5555160000000p-5f, 0x1.12106c0000000p-7f,
                                         0x1.6d16060000000p-10f};

/// (eʳ − 1 − r)/r², within 2.2e-18 on [-0.35, 0.35].
inline constexpr double exp_rest_f64[] = {
    0x1.0000000000000p-1,  0x1.5555555555557p-3,  0x1.5555555555556p-5,  0x1.111111110ff87p-7,
    0x1.6c16c16c16212p-10, 0x1.a01a01aca0134p-13, 0x1.a01a01a741b3cp-16, 0x1.71ddffef9e7b1p-19,
    0x1.27e4da1a3bf04p-22, 0x1.af52906239de4p-26, 0x1.1f75aba0b1e2ep-29};

/// (2·atanh(s)/s − 2)/z for z = s², within 2.2e-08 on [0, 0.03003].
inline constexpr float log_rest_f32[] = {0x1.5555560000000p-1f, 0x1.9999f00000000p-2f,
                                         0x1.245a080000000p-2f, 0x1.de47380000000p-3f};

/// (2·atanh(s)/s − 2)/z for z = s², within 3.8e-17 on [0, 0.03003].
inline constexpr double log_rest_f64[] = {
    0x1.5555555555555p-1, 0x1.9999999999a4fp-2, 0x1.249249247343fp-2, 0x1.c71c72078b928p-3,
    0x1.745cf674f6889p-3, 0x1.3b1cbf421a439p-3, 0x1.0fb04d4fa4e54p-3, 0x1.0c97816496c47p-3};

/// (2·atanh(s)/s − 2 − 2z/3)/z², within 1.7e-07 on [0, 0.03003].
inline constexpr float log_rest2_f32[] = {0x1.9999a40000000p-2f, 0x1.2479340000000p-2f,
                                          0x1.d85fd80000000p-3f};

/// (2·atanh(s)/s − 2 − 2z/3)/z², within 3.3e-16 on [0, 0.03003].
inline constexpr double log_rest2_f64[] = {
    0x1.999999999999fp-2, 0x1.249249248dd1bp-2, 0x1.c71c71d9adf49p-3, 0x1.745d08d1da675p-3,
    0x1.3b1909ad3549ap-3, 0x1.100e4d0468974p-3, 0x1.08f791d99a977p-3};

/// (sin r − r)/r³, within 2.5e-08 on [0, 0.6292].
inline constexpr float sin_rest_f32[] = {-0x1.5555520000000p-3f, 0x1.110bf60000000p-7f,
                                         -0x1.9aaea80000000p-13f};

/// (sin r − r)/r³, within 9.4e-18 on [0, 0.6292].
inline constexpr double sin_rest_f64[] = {
    -0x1.5555555555555p-3,  0x1.1111111111110p-7,  -0x1.a01a01a019881p-13, 0x1.71de3a544a89fp-19,
    -0x1.ae6453ecdcd92p-26, 0x1.6121614ce309ep-33, -0x1.ab0677caffaf3p-41};

/// (cos r − 1 + z/2)/z², within 2.5e-09 on [0, 0.6292].
inline constexpr float cos_rest_f32[] = {0x1.5555540000000p-5f, -0x1.6c12aa0000000p-10f,
                                         0x1.9bc2f00000000p-16f};

/// (cos r − 1 + z/2)/z², within 2.3e-18 on [0, 0.6292].
inline constexpr double cos_rest_f64[] = {
    0x1.5555555555555p-5,  -0x1.6c16c16c16c16p-10, 0x1.a01a01a019cb9p-16, -0x1.27e4fb7709081p-22,
    0x1.1eed8ddabb3c0p-29, -0x1.93949f9713b1ap-37, 0x1.ab68e984a643fp-45};

/// (tanh x − x)/x³, within 5.0e-08 on [0, 0.3906].
inline constexpr float tanh_rest_f32[] = {-0x1.5555520000000p-2f, 0x1.110e1c0000000p-3f,
                                          -0x1.b9258a0000000p-5f, 0x1.58048e0000000p-6f,
                                          -0x1.8f8de40000000p-8f};

/// (tanh x − x)/x³, within 1.3e-16 on [0, 0.3906].
inline constexpr double tanh_rest_f64[] = {
    -0x1.5555555555553p-2,  0x1.11111111107acp-3,  -0x1.ba1ba1b92a52cp-5,  0x1.664f4836ffb5ep-6,
    -0x1.226e29216080bp-7,  0x1.d6d17faac7499p-9,  -0x1.7d80275a99754p-10, 0x1.33fc7f7473d21p-11,
    -0x1.e3f90249802dbp-13, 0x1.4ddd5fb800f82p-14, -0x1.21522c06d082ap-16};

/// erf(x)/x − 2/√π, over z, within 1.0e-08 on [0, 1].
inline constexpr float erf_rest_f32[] = {
    -0x1.8127460000000p-2f,  0x1.ce2f1e0000000p-4f,  -0x1.b82bf20000000p-6f, 0x1.5644e00000000p-8f,
    -0x1.be17c20000000p-11f, 0x1.e052160000000p-14f, -0x1.56d1320000000p-17f};

/// erf(x)/x − 2/√π, over z, within 1.3e-17 on [0, 1].
inline constexpr double erf_rest_f64[] = {
    -0x1.812746b0379e7p-2,  0x1.ce2f21a042be2p-4,  -0x1.b82ce31288b51p-6,  0x1.565bcd0e6a53dp-8,
    -0x1.c02db40040a69p-11, 0x1.f9a326f9b36c8p-14, -0x1.f4d25c3d100bfp-17, 0x1.b9e6c9bb863f1p-20,
    -0x1.5f742bbc76a3fp-23, 0x1.fcc50b31dd2a7p-27, -0x1.51d22be7806b2p-30, 0x1.9e1449da0ae6cp-34,
    -0x1.d4191d868eb37p-38, 0x1.d3e88f2272e8fp-42, -0x1.440e04110e0a5p-46};

/// (1 + 2x)·exp(x²)·erfc(x) for t = (x − 3.75)/(x + 3.75), within 4.7e-08 on [-1, 1].
inline constexpr float erfc_scaled_f32[] = {
    0x1.3ccda00000000p+0f,  -0x1.1f36780000000p-3f, 0x1.d6109a0000000p-9f,
    0x1.5102200000000p-4f,  -0x1.bdb45c0000000p-4f, 0x1.7a0bc20000000p-4f,
    -0x1.e06d8a0000000p-5f, 0x1.d13f7a0000000p-6f,  -0x1.429df80000000p-7f,
    0x1.baac340000000p-10f, 0x1.9ff9980000000p-12f, -0x1.dfb7bc0000000p-13f};

/// (1 + 2x)·exp(x²)·erfc(x) for t = (x − 3.75)/(x + 3.75), within 1.1e-16 on [-1, 1].
inline constexpr double erfc_scaled_f64[] = {
    0x1.3ccda0b5d5dc2p+0,  -0x1.1f367683f89a7p-3,  0x1.d5f2948159d00p-9,   0x1.510169d096805p-4,
    -0x1.bda9309a28838p-4, 0x1.7a14188a99ad6p-4,   -0x1.e0d0fa6e024a7p-5,  0x1.d0b0037dce59bp-6,
    -0x1.3f603c33569f9p-7, 0x1.cc3a0e20da783p-10,  0x1.33fb240ed7d40p-12,  -0x1.303f9d6c94458p-12,
    0x1.b144566843de0p-15, 0x1.778a1ebe688e9p-16,  -0x1.800955455e215p-17, -0x1.0523941776e8fp-20,
    0x1.d6c57660850e8p-20, -0x1.f4f7e776838f9p-25, -0x1.18fda28e2573fp-22, 0x1.a291502e452c7p-26,
    0x1.659e06e3aafb0p-25, -0x1.3216e8cf314a3p-28, -0x1.e78dce46c47b8p-28, 0x1.40516fa585f7cp-31,
    0x1.4a0cec09685b2p-30, -0x1.b66f0dd8b5978p-35, -0x1.736f66b8b1192p-33, 0x1.00b49db16f55cp-39,
    0x1.e00e716f3301bp-37};

/// (atan x − x)/x³, within 2.0e-08 on [0, 0.175].
inline constexpr float atan_rest_f32[] = {-0x1.5555540000000p-2f, 0x1.9997020000000p-3f,
                                          -0x1.2419fc0000000p-3f, 0x1.b78af80000000p-4f,
                                          -0x1.06903a0000000p-4f};

/// (atan x − x)/x³, within 2.0e-17 on [0, 0.175].
inline constexpr double atan_rest_f64[] = {
    -0x1.5555555555555p-2, 0x1.9999999999944p-3, -0x1.249249248c8b8p-3, 0x1.c71c71c24d43ap-4,
    -0x1.745d163aa7c20p-4, 0x1.3b138ee7a27dap-4, -0x1.110e41dfa74e0p-4, 0x1.e193d6558a789p-5,
    -0x1.ac4d141d13fcbp-5, 0x1.74105aa76c25ap-5, -0x1.192886a79fad2p-5, 0x1.06573b437a017p-6};

/// (asin x − x)/x³, within 1.2e-08 on [0, 0.25].
inline constexpr float asin_rest_f32[] = {0x1.5555540000000p-3f, 0x1.3334300000000p-4f,
                                          0x1.6d5bba0000000p-5f, 0x1.fd8da20000000p-6f,
                                          0x1.18f91e0000000p-6f, 0x1.13fed40000000p-5f};

/// (asin x − x)/x³, within 9.3e-18 on [0, 0.25].
inline constexpr double asin_rest_f64[] = {
    0x1.5555555555555p-3, 0x1.333333333332dp-4,  0x1.6db6db6db7c7fp-5, 0x1.f1c71c70ee54ap-6,
    0x1.6e8ba31c9dc09p-6, 0x1.1c4ebd7735bf2p-6,  0x1.c99afe79266f3p-7, 0x1.7a70c2a695fe0p-7,
    0x1.40e38d543d8d2p-7, 0x1.0a9849ba5937fp-7,  0x1.2031dbbbbad45p-7, 0x1.8f5a75293b096p-12,
    0x1.7184808eff5eep-6, -0x1.898d77b6dddb2p-6, 0x1.f74bdb0d4b5bep-6};

}  // namespace hom::math::coefficients
