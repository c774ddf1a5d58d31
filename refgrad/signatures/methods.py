"""Signatures of methods that do not follow from the function of the same name."""
# ruff: noqa: E501 - a signature stays on one line

TABLE = """
bfloat16 bool byte cdouble cfloat char cpu double float half int long short
    (*, MemoryFormat? memory_format=None)
data_ptr dim element_size item ndimension nelement retain_grad storage_offset tolist
    ()
bitwise_and bitwise_left_shift bitwise_or bitwise_right_shift bitwise_xor remainder xlogy
    (Tensor other)
    (Scalar other)
expand_as reshape_as type_as view_as
    (Tensor other)
new_empty new_ones new_zeros
    (SymInt[] size, *, <options>)
bmm mm
    (Tensor mat2)
contiguous is_contiguous
    (*, MemoryFormat memory_format=contiguous_format)
float_power pow
    (Tensor exponent)
    (Scalar exponent)
size stride
    (int? dim=None)
addmm(Tensor mat1, Tensor mat2, *, Scalar beta=1, Scalar alpha=1)
addmm(Scalar beta, Scalar alpha, Tensor mat1, Tensor mat2)|deprecated
addmm(Scalar beta, Tensor mat1, Tensor mat2)|deprecated
as_subclass(object cls)
baddbmm(Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar alpha=1)
baddbmm(Scalar beta, Scalar alpha, Tensor batch1, Tensor batch2)|deprecated
baddbmm(Scalar beta, Tensor batch1, Tensor batch2)|deprecated
bernoulli_(Tensor p, *, Generator? generator=None)
bernoulli_(float p=0.5, *, Generator? generator=None)
cauchy_(float median=0, float sigma=1, *, Generator? generator=None)
copy_(Tensor other, bool non_blocking=False)
copy_(Tensor other, bool async=False)|deprecated
expand(SymInt[] size, *, bool implicit=False)
exponential_(float lambd=1, *, Generator? generator=None)
fill_diagonal_(Scalar fill_value, bool wrap=False)
geometric_(float p, *, Generator? generator=None)
log_normal_(float mean=1, float std=2, *, Generator? generator=None)
new(*, Device? device=None)
new(Storage storage)
new(Tensor other)
new(SymInt[] size, *, Device? device=None)
new(object data, *, Device? device=None)
new_full(SymInt[] size, Scalar fill_value, *, <options>)
new_tensor(object data, *, ScalarType dtype=None, Device? device=None, bool requires_grad=False)
nonzero()
nonzero(*, bool as_tuple)
normal_(float mean=0, float std=1, *, Generator? generator=None)
numpy(*, bool force=False)
random_(*, Generator? generator=None)
random_(int from, int? to, *, Generator? generator=None)
random_(int to, *, Generator? generator=None)
repeat(SymInt[] repeats)
repeat_interleave(Tensor repeats, int? dim=None, *, SymInt? output_size=None)
repeat_interleave(SymInt repeats, int? dim=None, *, SymInt? output_size=None)
requires_grad_(bool requires_grad=True)
resize_(SymInt[] size, *, MemoryFormat? memory_format=None)
set_()
set_(Storage source)
set_(Storage source, SymInt storage_offset, SymInt[] size, SymInt[] stride=None)
set_(Tensor source)
set_(Tensor source, SymInt storage_offset, SymInt[] size, SymInt[] stride=None)
sum_to_size(SymInt[] size)
to(Device device=None, ScalarType dtype=None, bool non_blocking=False, bool copy=False, *, MemoryFormat? memory_format=None)
to(ScalarType dtype, bool non_blocking=False, bool copy=False, *, MemoryFormat? memory_format=None)
to(Tensor tensor, bool non_blocking=False, bool copy=False, *, MemoryFormat? memory_format=None)
type(object dtype=None, bool non_blocking=False, *, MemoryFormat? memory_format=None)
type(object dtype=None, bool async=False, *, MemoryFormat? memory_format=None)|deprecated
unfold(int dimension, int size, int step)
uniform_(float from=0, float to=1, *, Generator? generator=None)
view(ScalarType dtype)
view(SymInt[] size)
where(Tensor condition, Tensor other)
where(Tensor condition, Scalar other)
"""
