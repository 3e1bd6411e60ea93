// backends/cpu/registration.h -- one function per file of kernels, which adds them to a table
#pragma once

#include <hom/backends/cpu/kernel.h>

namespace hom::cpu {

/// The scalar functions, elementwise: `neg` … `shift_right`, `polygamma`, `log_gamma_slope`.
void add_function_kernels(KernelTable& table);
/// `convert`, `bitcast`, `select`.
void add_conversion_kernels(KernelTable& table);
/// Leaves, and whatever only changes strides.
void add_view_kernels(KernelTable& table);
/// `pad`, `concat`, `update_slice`.
void add_data_movement_kernels(KernelTable& table);
/// `gather`, `scatter`, `dynamic_slice`, `dynamic_update_slice`.
void add_indexing_kernels(KernelTable& table);
/// `reduce_…`.
void add_reduction_kernels(KernelTable& table);
/// `window_…`.
void add_reduce_window_kernels(KernelTable& table);
/// `cum…`, `argmax`, `argmin`: what walks along one axis.
void add_cumulative_kernels(KernelTable& table);
/// `sort`.
void add_sorting_kernels(KernelTable& table);
/// `dot_general`.
void add_contraction_kernels(KernelTable& table);
/// `conv_general`.
void add_convolution_kernels(KernelTable& table);
/// `cholesky` … `svd`, and what is computed from them.
void add_linear_algebra_kernels(KernelTable& table);
/// `fft`.
void add_fft_kernels(KernelTable& table);
/// `random_bits`.
void add_random_kernels(KernelTable& table);

}  // namespace hom::cpu
