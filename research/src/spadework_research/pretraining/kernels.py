"""GPU kernels that training spends its time in: short attention, norms of narrow rows.

A row of a table is a sequence of a few cells, and there are a hundred thousand of them
in a step: kernels made for long sequences leave a GPU idle. Here all cells of a row fit
into one tile, forward and backward.
"""

# Triton comes with torch for GPUs alone, and its kernels have types of their own.
# pyright: reportMissingImports=false, reportIndexIssue=false
# pyright: reportIncompatibleMethodOverride=false

from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor, nn

from spadework.in_context.modules import (
    InContextModel,
    RowBlock,
    RowPooling,
    attend,
)

_LARGEST_TILE = 128  # queries or keys of a short sequence
_NORM_TILE = 4096  # numbers that a program norms at once
_NORM_PROGRAMS = 132 * 8  # each adds up its part of the gradients of weight and bias


def hasten(model: InContextModel) -> None:
    """Let a model that works on a GPU use these kernels; its parameters stay."""
    for module in list(model.modules()):
        if isinstance(module, RowBlock | RowPooling):
            module.attention.attend = _attend_in_rows
        for name, child in module.named_children():
            if isinstance(child, nn.LayerNorm):
                setattr(module, name, _NarrowNorm(child))


class _NarrowNorm(nn.Module):
    """A layer norm with the parameters of another."""

    def __init__(self, norm: nn.LayerNorm) -> None:
        super().__init__()
        self.weight, self.bias = norm.weight, norm.bias

    def forward(self, x: Tensor) -> Tensor:
        return narrow_layer_norm(x, self.weight, self.bias)


def _attend_in_rows(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    if max(query.shape[2], key.shape[2]) <= _LARGEST_TILE:
        return short_attention(query, key, value)
    return attend(query, key, value)


def short_attention(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    """Scaled dot-product attention, (batch, heads, n, width), of at most 128 each.

    The last axis of each tensor is contiguous.
    """
    return _ShortAttention.apply(query, key, value)


def narrow_layer_norm(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """Layer norm over the last axis, a power of two, of a contiguous tensor."""
    return _NarrowLayerNorm.apply(x, weight, bias)


class _ShortAttention(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, query: Tensor, key: Tensor, value: Tensor) -> Tensor:
        answer = _like_rows(query)
        _attend[_grid(query)](
            query,
            key,
            value,
            answer,
            *_layout(query, key, value, answer),
            num_warps=_warps(query, key),
        )
        ctx.save_for_backward(query, key, value)
        return answer

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        query, key, value = ctx.saved_tensors
        if gradient.stride(-1) != 1:
            gradient = gradient.contiguous()
        grads = _like_rows(query), _like_rows(key), _like_rows(value)
        _attend_backward[_grid(query)](
            query,
            key,
            value,
            gradient,
            *grads,
            *_layout(query, key, value, gradient, *grads),
            num_warps=_warps(query, key),
        )
        return grads


def _like_rows(x: Tensor) -> Tensor:
    """Empty (batch, heads, n, width) that is contiguous as (batch, n, heads, width)."""
    batch, heads, n, width = x.shape
    return x.new_empty(batch, n, heads, width).transpose(1, 2)


def _grid(query: Tensor) -> tuple[int, int]:
    return query.shape[0], query.shape[1]


def _warps(query: Tensor, key: Tensor) -> int:
    longest = max(query.shape[2], key.shape[2])
    return 1 if longest <= 32 else 2 if longest <= 64 else 4


def _layout(query: Tensor, key: Tensor, *others: Tensor) -> tuple[Any, ...]:
    """Strides of batch, head and place for each tensor, then sizes and tiles."""
    strides = [s for x in (query, key, *others) for s in x.stride()[:3]]
    n_queries, n_keys, width = query.shape[2], key.shape[2], query.shape[3]
    tiles = [max(16, triton.next_power_of_2(n)) for n in (n_queries, n_keys)]
    return (*strides, n_queries, n_keys, width**-0.5, width, *tiles)


@triton.jit
def _tile(
    base, strides_b, strides_h, strides_n, n, tile: tl.constexpr, width: tl.constexpr
):
    """Pointers of a tile (tile, width) of one head of one sequence, and its mask."""
    b = tl.program_id(0).to(tl.int64)
    h = tl.program_id(1)
    place = tl.arange(0, tile)
    start = base + b * strides_b + h * strides_h
    pointers = start + place[:, None] * strides_n + tl.arange(0, width)[None, :]
    return pointers, place[:, None] < n


@triton.jit
def _weights(q, k, scale, n_keys, keys: tl.constexpr):
    """Softmax of queries and keys over the keys that exist."""
    logits = tl.dot(q, tl.trans(k)) * scale
    logits = tl.where(tl.arange(0, keys)[None, :] < n_keys, logits, float("-inf"))
    weights = tl.exp(logits - tl.max(logits, axis=1)[:, None])
    return weights / tl.sum(weights, axis=1)[:, None]


@triton.jit(do_not_specialize=["n_queries", "n_keys"])
def _attend(
    Q, K, V, A,
    qb, qh, qn, kb, kh, kn, vb, vh, vn, ab, ah, an,
    n_queries, n_keys, scale,
    width: tl.constexpr, queries: tl.constexpr, keys: tl.constexpr,
):  # fmt: skip
    at_q, of_q = _tile(Q, qb, qh, qn, n_queries, queries, width)
    at_k, of_k = _tile(K, kb, kh, kn, n_keys, keys, width)
    at_v, of_v = _tile(V, vb, vh, vn, n_keys, keys, width)
    at_a, of_a = _tile(A, ab, ah, an, n_queries, queries, width)
    q = tl.load(at_q, mask=of_q, other=0.0)
    k = tl.load(at_k, mask=of_k, other=0.0)
    v = tl.load(at_v, mask=of_v, other=0.0)
    weights = _weights(q, k, scale, n_keys, keys)
    tl.store(at_a, tl.dot(weights.to(v.dtype), v).to(v.dtype), mask=of_a)


@triton.jit(do_not_specialize=["n_queries", "n_keys"])
def _attend_backward(
    Q, K, V, G, DQ, DK, DV,
    qb, qh, qn, kb, kh, kn, vb, vh, vn, gb, gh, gn,
    dqb, dqh, dqn, dkb, dkh, dkn, dvb, dvh, dvn,
    n_queries, n_keys, scale,
    width: tl.constexpr, queries: tl.constexpr, keys: tl.constexpr,
):  # fmt: skip
    at_q, of_q = _tile(Q, qb, qh, qn, n_queries, queries, width)
    at_k, of_k = _tile(K, kb, kh, kn, n_keys, keys, width)
    at_v, of_v = _tile(V, vb, vh, vn, n_keys, keys, width)
    at_g, of_g = _tile(G, gb, gh, gn, n_queries, queries, width)
    q = tl.load(at_q, mask=of_q, other=0.0)
    k = tl.load(at_k, mask=of_k, other=0.0)
    v = tl.load(at_v, mask=of_v, other=0.0)
    g = tl.load(at_g, mask=of_g, other=0.0)
    weights = _weights(q, k, scale, n_keys, keys)
    dv = tl.dot(tl.trans(weights.to(v.dtype)), g)
    towards = tl.dot(g, tl.trans(v))
    mean = tl.sum(weights * towards, axis=1)
    dlogits = (weights * (towards - mean[:, None]) * scale).to(q.dtype)
    dq = tl.dot(dlogits, k)
    dk = tl.dot(tl.trans(dlogits), q)
    at_dq, of_dq = _tile(DQ, dqb, dqh, dqn, n_queries, queries, width)
    at_dk, of_dk = _tile(DK, dkb, dkh, dkn, n_keys, keys, width)
    at_dv, of_dv = _tile(DV, dvb, dvh, dvn, n_keys, keys, width)
    tl.store(at_dq, dq.to(q.dtype), mask=of_dq)
    tl.store(at_dk, dk.to(q.dtype), mask=of_dk)
    tl.store(at_dv, dv.to(q.dtype), mask=of_dv)


class _NarrowLayerNorm(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
        x = x.contiguous()
        width = x.shape[-1]
        n_rows = x.numel() // width
        normed = torch.empty_like(x)
        rows = _NORM_TILE // width
        grid = (triton.cdiv(n_rows, rows),)
        _norm[grid](x, weight, bias, normed, n_rows, rows, width)
        ctx.save_for_backward(x, weight)
        return normed

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        x, weight = ctx.saved_tensors
        gradient = gradient.contiguous()
        width = x.shape[-1]
        n_rows = x.numel() // width
        rows = _NORM_TILE // width
        n_programs = min(_NORM_PROGRAMS, triton.cdiv(n_rows, rows))
        dx = torch.empty_like(x)
        parts = x.new_empty(2, n_programs, width, dtype=torch.float32)
        _norm_backward[(n_programs,)](
            x, weight, gradient, dx, parts, n_rows, n_programs, rows, width
        )
        dweight, dbias = parts.sum(dim=1).to(weight.dtype)
        return dx, dweight, dbias


@triton.jit
def _standard(x, width: tl.constexpr):
    """Rows without mean and scale, and one over their deviations."""
    centered = x - tl.sum(x, axis=1)[:, None] / width
    inverse = tl.rsqrt(tl.sum(centered * centered, axis=1) / width + 1e-5)
    return centered * inverse[:, None], inverse


@triton.jit
def _norm(X, W, B, Y, n_rows, rows: tl.constexpr, width: tl.constexpr):
    place = tl.program_id(0).to(tl.int64) * rows + tl.arange(0, rows)
    column = tl.arange(0, width)
    at = place[:, None] * width + column[None, :]
    inside = place[:, None] < n_rows
    x = tl.load(X + at, mask=inside, other=0.0)
    standard, _ = _standard(x.to(tl.float32), width)
    weight = tl.load(W + column).to(tl.float32)
    bias = tl.load(B + column).to(tl.float32)
    y = standard * weight[None, :] + bias[None, :]
    tl.store(Y + at, y.to(x.dtype), mask=inside)


@triton.jit
def _norm_backward(
    X, W, G, DX, PARTS, n_rows, n_programs, rows: tl.constexpr, width: tl.constexpr
):
    program = tl.program_id(0)
    column = tl.arange(0, width)
    weight = tl.load(W + column).to(tl.float32)
    dweight = tl.zeros((width,), tl.float32)
    dbias = tl.zeros((width,), tl.float32)
    for tile in range(program, tl.cdiv(n_rows, rows), n_programs):
        place = (tile * rows + tl.arange(0, rows)).to(tl.int64)
        at = place[:, None] * width + column[None, :]
        inside = place[:, None] < n_rows
        x = tl.load(X + at, mask=inside, other=0.0)
        g = tl.load(G + at, mask=inside, other=0.0).to(tl.float32)
        standard, inverse = _standard(x.to(tl.float32), width)
        dweight += tl.sum(g * standard, axis=0)
        dbias += tl.sum(g, axis=0)
        g *= weight[None, :]
        along = tl.sum(g * standard, axis=1)[:, None] / width
        dx = (g - tl.sum(g, axis=1)[:, None] / width - standard * along) * inverse[
            :, None
        ]
        tl.store(DX + at, dx.to(x.dtype), mask=inside)
    tl.store(PARTS + program * width + column, dweight)
    tl.store(PARTS + (n_programs + program) * width + column, dbias)
