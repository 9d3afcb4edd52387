"""What of torch's public operators and arguments no check calls, on purpose, by patterns of their names, with the reason."""

LEFT_OUT = (
    (
        "no result of its own to judge: tells what a tensor is, or where it lies",
        r"(allclose|const_data_ptr|data_ptr|dense_dim|dim_order|element_size|get_device|hash_tensor|is_\w+|ndimension|nelement|sparse_dim|storage|storage_type|pin_memory|record_stream|share_memory_|module_load|numpy|set_|type|retain_grad|register_post_accumulate_grad_hook|detach_|requires_grad_|resize(_as)?_?|sym_\w+)",
    ),
    (
        "moves to a device that is no part of this check, or belongs to one maker's library",
        r"(cuda|ipu|mtia|xpu|cpu|to_mkldnn|miopen_\w+|fbgemm_\w+|batch_norm_(backward_elemt|backward_reduce|elemt|gather_stats|gather_stats_with_counts|stats|update_stats)|nn\.SyncBatchNorm|nn\.DataParallel|autocast)",
    ),
    (
        "torch's own inside: the public function that calls it is tried",
        r"(\w+_copy|native_\w+|grid_sampler\w*|affine_grid_generator|constant_pad_nd|convolution|conv_tbc|norm_except_dim|frobenius_norm|\w*max_pool\dd_with_indices|unsafe_split_with_sizes|slice_inverse|sum_to_size|index|feature_dropout|(group|layer)_norm\(cudnn_enabled?\)|elu\((scale|input_scale)\)|expand\(implicit\)|einsum\(path\)|to_dense\(masked_grad\)|gather\(sparse_grad\)|multi_head_attention_forward\(.*\)|normalize\(out\)|norm\(out\)|tensordot\(out\)|trapz\(dim\)|pinverse\(rcond\)|fft\.\w+\((s|dim)\)|alias_copy|split\(max\)|nn\.(Container|Module|ModuleDict|ModuleList|ParameterDict|ParameterList|RNNBase|RNNCellBase|NLLLoss2d|CrossMapLRN2d|Lazy\w+)|optim\.Optimizer|backward\(\w+\))",
    ),
    (
        "random: judged by its statistics where it is judged",
        r"(binomial|cauchy_|exponential_|geometric_|log_normal_|poisson|random_|gumbel_softmax|fractional_max_pool\dd(_with_indices)?|nn\.FractionalMaxPool\dd|nn\.(Feature)?AlphaDropout\(p\)|scaled_dot_product_attention\(dropout_p\)|svd_lowrank|pca_lowrank|lobpcg)",
    ),
    (
        "quantized numbers of the eager API, which torch has marked as deprecated",
        r"(choose_qparams_optimized|dequantize|fake_quantize_\w+|fused_moving_avg_obs_fake_quant|int_repr|q_\w+|qscheme|quantize(d)?_\w+)",
    ),
    (
        "sparse layouts beyond the products of a matrix in coordinates: not yet tried",
        r"(ccol_indices\w*|crow_indices\w*|col_indices\w*|row_indices\w*|indices\w*|values\w*|hspmm|smm|sspaddmm|sparse_\w+|resize_as_sparse_|to_sparse\w*|_?coalesce)",
    ),
    (
        "deprecated, slow by design or of one caller: not yet tried",
        r"(apply_|map_|map2_|as_strided_|as_strided_scatter|conj_physical_|float_power_|frexp|histogramdd|nextafter_?|nonzero_static|linear_cross_entropy|nn\.LinearCrossEntropyLoss|nn\.AdaptiveLogSoftmaxWithLoss|optim\.Muon|permute_copy|chalf)",
    ),
    (
        "an argument that changes nothing but errors, drivers or the way back: not yet tried",
        r"(linalg\.\w+\((check_errors|driver|rcond|pivot|hermitian|atol|mode|dim1|dim2|dims|dim|left)\)|lu_unpack\(\w+\)|svd\((some|compute_uv)\)|qr\(some\)|ormqr\(left\)|optim\.\w+\((adjust_lr_fn|differentiable|max_eval|tolerance_grad|tolerance_change|t0|decoupled_weight_decay)\)|nuclear_norm\(keepdim\)|nn\.PReLU\(init\)|nn\.Transformer\((custom_encoder|custom_decoder)\)|nn\.TransformerEncoder\(mask_check\))",
    ),
    (
        "in place under another name of the operator: with --full",
        r"(absolute|arc(cos|sin|tan)h?|arctan2|bitwise_(and|or|xor|not|left_shift|right_shift)|clip|divide|true_divide|fix|gcd|lcm|greater(_equal)?|less(_equal)?|not_equal|multiply|negative|subtract|swapaxes|swapdims)_",
    ),
    ("an argument of a module whose function is tried with it, or not yet tried", r"(nn\.\w+\(\w+\))"),
    (
        "an argument that is given rarely: not yet tried",
        r"((l1_loss|mse_loss|huber_loss)\(weight\)|cumulative_trapezoid\(dim\)|diagonal_scatter\(dim\d\)|embedding_bag\(max_norm\)|fill_diagonal_\(wrap\)|isclose\(equal_nan\)|i?stft\(\w+\)|rsub\(alpha\)|special\.logsumexp\(keepdim\)|(std|var)_mean\(keepdim\)|svdvals\(driver\))",
    ),
)
