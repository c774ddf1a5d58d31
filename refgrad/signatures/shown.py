"""Names that ops have and PyTorch does not show: they are no methods of `Tensor`, or no functions of `torch`.

Names that begin with a submodule's, as `linalg_norm`, and those of parts of other ops are neither.
"""

_ELSEWHERE = ("linalg_", "special_", "fft_")
_OF_LISTS = "_foreach_"
_PARTS = ("_backward", "_forward")

_NO_METHODS = """
_adaptive_avg_pool2d _adaptive_avg_pool3d _fft_c2c _fft_c2r _fft_r2c
_index_put_impl_ _lu_with_info
_new_zeros_with_same_feature_meta
_dirichlet_grad _log_softmax _prelu_kernel _reshape_alias _sample_dirichlet
_softmax _standard_gamma _standard_gamma_grad _to_copy
_unique _unique2 _unsafe_view adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d
adaptive_max_pool1d adaptive_max_pool2d adaptive_max_pool3d alias alpha_dropout_ avg_pool1d avg_pool2d
avg_pool3d binary_cross_entropy binary_cross_entropy_with_logits binomial bucketize celu celu_ combinations
constant_pad_nd cross_entropy_loss diagonal_copy dropout_ elu elu_ embedding_renorm_ empty_like
feature_alpha_dropout_ feature_dropout_ fill full_like gelu gelu_ glu gradient hardsigmoid hardsigmoid_
hardswish
hardswish_ hardtanh hardtanh_ hinge_embedding_loss huber_loss kl_div l1_loss leaky_relu leaky_relu_
log_sigmoid max_pool1d max_pool1d_with_indices max_pool2d max_pool2d_with_indices max_pool3d
max_pool3d_with_indices mish mish_ mse_loss multi_margin_loss multilabel_margin_loss nll_loss nll_loss2d
nll_loss_nd nonzero_numpy one_hot ones_like pad pdist poisson rand_like randint_like randn_like
reflection_pad1d reflection_pad2d reflection_pad3d relu6 relu6_ replication_pad1d replication_pad2d
replication_pad3d rrelu rrelu_ rrelu_with_noise rrelu_with_noise_ rsub searchsorted selu selu_ silu silu_
slice smooth_l1_loss soft_margin_loss softplus softshrink std_mean tensordot threshold threshold_ unique_dim
var_mean view_as_complex view_as_real zeros_like
_safe_softmax _upsample_bicubic2d_aa _upsample_bilinear2d_aa _upsample_nearest_exact1d
_upsample_nearest_exact2d _upsample_nearest_exact3d channel_shuffle col2im im2col max_unpool2d
max_unpool3d pixel_shuffle
pixel_unshuffle upsample_bicubic2d upsample_bilinear2d upsample_linear1d upsample_nearest1d
upsample_nearest2d upsample_nearest3d upsample_trilinear3d
"""
NO_METHODS = frozenset(_NO_METHODS.split())

_NO_FUNCTIONS = """
absolute_ adaptive_avg_pool2d adaptive_avg_pool3d adaptive_max_pool2d adaptive_max_pool3d add_ addbmm_
addcdiv_ addcmul_ addmm_ addr_ arctan2_ atan2_ avg_pool2d avg_pool3d baddbmm_ bernoulli_
binary_cross_entropy bitwise_and_ bitwise_left_shift_ bitwise_not_ bitwise_or_ bitwise_right_shift_
bitwise_xor_ copysign_ cross_entropy_loss cumprod_ cumsum_ digamma_ div_ divide_ elu elu_ eq_ erfinv_
float_power_ floor_divide_ fmod_ ge_ gelu gelu_ glu greater_ greater_equal_ gt_ hardsigmoid hardsigmoid_
hardswish hardswish_ hardtanh hardtanh_ heaviside_ huber_loss hypot_ igamma_ igammac_ index_add_ index_copy_
index_fill_ index_reduce_ l1_loss le_ leaky_relu leaky_relu_ lerp_ less_ less_equal_ lgamma_ linear
log_sigmoid logical_and_ logical_not_ logical_or_ logical_xor_ lt_ masked_fill_ masked_scatter_
max_pool2d_with_indices max_pool3d_with_indices mish mish_ mse_loss mul_ multi_margin_loss
multilabel_margin_loss multiply_ mvlgamma_ ne_ nextafter_ nll_loss nll_loss2d nll_loss_nd normal_ not_equal_
one_hot pad polygamma_ pow_ put_ reflection_pad1d reflection_pad2d reflection_pad3d relu6 relu6_ remainder_
renorm_ replication_pad1d replication_pad2d replication_pad3d rrelu_with_noise rrelu_with_noise_ scatter_
scatter_add_ scatter_reduce_ sgn_ sign_ silu silu_ smooth_l1_loss soft_margin_loss softplus softshrink
squeeze_ sub_ subtract_ swapaxes_ swapdims_ t_ transpose_ tril_ triu_ true_divide_ unsqueeze_
col2im im2col max_unpool2d max_unpool3d scaled_dot_product_attention
upsample_bicubic2d upsample_bilinear2d upsample_linear1d
upsample_nearest1d upsample_nearest2d upsample_nearest3d upsample_trilinear3d
"""
NO_FUNCTIONS = frozenset(_NO_FUNCTIONS.split())


def is_method(name: str) -> bool:
    """Whether an op of this name is a method."""
    elsewhere = name.startswith((*_ELSEWHERE, _OF_LISTS))
    return not (name in NO_METHODS or elsewhere or name.endswith(_PARTS))


def is_function(name: str) -> bool:
    """Whether an op of this name is a function of the package."""
    return not (name in NO_FUNCTIONS or name.startswith(_ELSEWHERE) or name.endswith(_PARTS))
