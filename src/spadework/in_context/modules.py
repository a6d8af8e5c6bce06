"""The in-context model: cells of a table to row embeddings to one logit a row.

Cells are embedded with what their column holds (attention along columns, through a
few inducing points that see context rows and their labels) and with the rest of their
row (attention along rows). Each row is then one embedding, and rows look at the
context: labeled and unlabeled rows. Keys and values come from context rows only, so a
row's logit depends on the context and on itself alone.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeVar, cast

import torch
from torch import Tensor, nn
from torch.nn import functional

from spadework.in_context.encoding import N_CELL_FEATURES

N_LABEL_STATES = 4
TO_SCORE = 3
"""Label states: 0 normal, 1 anomaly, 2 unlabeled (all of the context), 3 to be scored."""

_LARGEST_BATCH = 32_768  # sequences an attention kernel takes at once on a GPU
_SHORT = (
    64  # keys, up to which a CPU is twice as fast without a kernel for long sequences
)
_FIRST_LOG_ODDS = -2.5  # about the middle of the shares that training shows


@dataclass(frozen=True)
class ModelConfig:
    """Shape of an `InContextModel`.

    Attributes
    ----------
    cell_width, cell_heads : int
        Width of a cell's embedding, and heads of attention along columns and rows.
    n_cell_blocks : int
        How often cells see their column, then their row.
    n_inducing : int
        Inducing points through which the cells of a column see one another.
    n_queries : int
        Learnt queries that pool the cells of a row; their answers are its embedding.
    n_identity : int
        Length of the random vectors that tell columns apart.
    row_heads, n_row_blocks : int
        Attention from rows to the context.
    expansion : int
        Width of feed-forward layers over that of embeddings.
    n_share_bins : int
        Resolution of the predicted share of anomalies.
    """

    cell_width: int = 64
    cell_heads: int = 4
    n_cell_blocks: int = 2
    n_inducing: int = 32
    n_queries: int = 4
    n_identity: int = 16
    row_heads: int = 8
    n_row_blocks: int = 6
    expansion: int = 2
    n_share_bins: int = 32

    @property
    def row_width(self) -> int:
        """Width of a row's embedding."""
        return self.cell_width * self.n_queries


Block = TypeVar("Block", bound=nn.Module)


class Blocks(nn.ModuleList, Generic[Block]):
    """Blocks of one kind, one after another."""

    def __iter__(self) -> Iterator[Block]:
        return cast(Iterator[Block], super().__iter__())


def attend(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    """Scaled dot-product attention, (batch, heads, n, width)."""
    if not query.is_cuda and len(query) > key.shape[2] and key.shape[2] <= _SHORT:
        likeness = (query @ key.mT) * query.shape[-1] ** -0.5
        return likeness.softmax(dim=-1) @ value
    parts = [
        functional.scaled_dot_product_attention(*part)
        for part in zip(
            query.split(_LARGEST_BATCH),
            key.split(_LARGEST_BATCH),
            value.split(_LARGEST_BATCH),
            strict=True,
        )
    ]
    return parts[0] if len(parts) == 1 else torch.cat(parts)


class Attention(nn.Module):
    """Multi-head attention of some embeddings to others.

    With ``adaptive`` the sharpness grows with the logarithm of the number of keys, so
    that a longer context does not blur what a row looks at.

    Attributes
    ----------
    attend : callable
        What computes it, of queries, keys and values; training brings its own.
    """

    def __init__(self, width: int, heads: int, *, adaptive: bool = False) -> None:
        super().__init__()
        self.heads = heads
        self.attend: Callable[[Tensor, Tensor, Tensor], Tensor] = attend
        self.to_query = nn.Linear(width, width, bias=False)
        self.to_key_value = nn.Linear(width, 2 * width, bias=False)
        self.to_output = nn.Linear(width, width, bias=False)
        nn.init.zeros_(self.to_output.weight)
        self.sharpness = nn.Parameter(torch.ones(heads, 1, 1)) if adaptive else None

    def keys_values(self, source: Tensor) -> tuple[Tensor, Tensor]:
        """Keys and values (batch, heads, n, width / heads) of (batch, n, width)."""
        key, value = self.to_key_value(source).chunk(2, dim=-1)
        return self._split(key), self._split(value)

    def forward(self, target: Tensor, keys_values: tuple[Tensor, Tensor]) -> Tensor:
        """Let (batch, n, width) attend to keys and values; same shape."""
        query = self._split(self.to_query(target))
        key, value = keys_values
        if self.sharpness is not None:
            query = query * (self.sharpness * (math.log(key.shape[2] + 1) / 7))
        answer = self.attend(query, key, value)
        return self.to_output(answer.transpose(1, 2).flatten(2))

    def _split(self, x: Tensor) -> Tensor:
        return x.unflatten(-1, (self.heads, -1)).transpose(1, 2)


class FeedForward(nn.Sequential):
    """Two layers with a norm before them; to be added to what came in."""

    def __init__(self, width: int, expansion: int) -> None:
        last = nn.Linear(expansion * width, width, bias=False)
        nn.init.zeros_(last.weight)
        super().__init__(
            nn.LayerNorm(width),
            nn.Linear(width, expansion * width, bias=False),
            nn.GELU(),
            last,
        )


class ColumnBlock(nn.Module):
    """Cells of a column see one another through inducing points.

    The points look at context cells with their labels; cells look at the points.
    """

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        width, heads = config.cell_width, config.cell_heads
        self.inducing = nn.Parameter(0.5 * torch.randn(config.n_inducing, width))
        self.label = nn.Embedding(N_LABEL_STATES, width)
        self.norm_context = nn.LayerNorm(width)
        self.gather = Attention(width, heads, adaptive=True)
        self.norm_points = nn.LayerNorm(width)
        self.norm_cells = nn.LayerNorm(width)
        self.spread = Attention(width, heads)
        self.feed_forward = FeedForward(width, config.expansion)

    def summarize(self, cells: Tensor, labels: Tensor) -> tuple[Tensor, Tensor]:
        """Keys and values of the points: what the columns of a context hold.

        Cells are (n_tables, n_context, n_columns, width), label states one a row.
        """
        labeled = self.norm_context(cells) + self.label(labels)[:, :, None, :]
        source = labeled.transpose(1, 2).flatten(0, 1)  # (tables * columns, rows, width)
        points = self.inducing.expand(len(source), -1, -1)
        points = points + self.gather(points, self.gather.keys_values(source))
        return self.spread.keys_values(self.norm_points(points))

    def forward(self, cells: Tensor, summary: tuple[Tensor, Tensor]) -> Tensor:
        """Update cells (n_tables, n_rows, n_columns, width)."""
        n_tables = len(cells)
        target = self.norm_cells(cells).transpose(1, 2).flatten(0, 1)
        answer = self.spread(target, summary).unflatten(0, (n_tables, -1))
        cells = cells + answer.transpose(1, 2)
        return cells + self.feed_forward(cells)


class RowBlock(nn.Module):
    """Cells of a row see one another."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(config.cell_width)
        self.attention = Attention(config.cell_width, config.cell_heads)
        self.feed_forward = FeedForward(config.cell_width, config.expansion)

    def forward(self, cells: Tensor) -> Tensor:
        """Update cells (n_tables, n_rows, n_columns, width)."""
        normed = self.norm(cells).flatten(0, 1)
        seen = self.attention(normed, self.attention.keys_values(normed))
        cells = cells + seen.view_as(cells)
        return cells + self.feed_forward(cells)


class CellBlock(nn.Module):
    """Cells see their column, then their row."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.along_columns = ColumnBlock(config)
        self.along_rows = RowBlock(config)

    def forward(self, cells: Tensor, summary: tuple[Tensor, Tensor]) -> Tensor:
        """Update cells (n_tables, n_rows, n_columns, width)."""
        return self.along_rows(self.along_columns(cells, summary))


class RowPooling(nn.Module):
    """One embedding a row: what learnt queries find among its cells."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.queries = nn.Parameter(
            0.5 * torch.randn(config.n_queries, config.cell_width)
        )
        self.norm = nn.LayerNorm(config.cell_width)
        self.attention = Attention(config.cell_width, config.cell_heads)
        nn.init.xavier_uniform_(self.attention.to_output.weight)

    def forward(self, cells: Tensor) -> Tensor:
        """Pool (n_tables, n_rows, n_columns, width) to (n_tables, n_rows, row width)."""
        normed = self.norm(cells).flatten(0, 1)
        queries = self.queries.expand(len(normed), -1, -1)
        pooled = self.attention(queries, self.attention.keys_values(normed))
        return pooled.flatten(1).unflatten(0, cells.shape[:2])


class ContextBlock(nn.Module):
    """Rows look at the rows of the context."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(config.row_width)
        self.attention = Attention(config.row_width, config.row_heads, adaptive=True)
        self.feed_forward = FeedForward(config.row_width, config.expansion)

    def keys_values(self, context: Tensor) -> tuple[Tensor, Tensor]:
        """Keys and values of context rows (n_tables, n_context, width)."""
        return self.attention.keys_values(self.norm(context))

    def forward(self, rows: Tensor, keys_values: tuple[Tensor, Tensor]) -> Tensor:
        """Update rows (n_tables, n_rows, width)."""
        rows = rows + self.attention(self.norm(rows), keys_values)
        return rows + self.feed_forward(rows)


class ContextState(NamedTuple):
    """All that scoring needs of a context: keys and values, block by block.

    Beside the identity of columns, (n_tables, 1, n_columns, cell width), there is a pair
    of the inducing points for each `ColumnBlock`, and one of the context rows for each
    `ContextBlock`.
    """

    identity: Tensor
    columns: list[tuple[Tensor, Tensor]]
    rows: list[tuple[Tensor, Tensor]]


class Reading(NamedTuple):
    """What the model makes of a context.

    Attributes
    ----------
    state : ContextState
    logits : Tensor of shape (n_tables, n_context)
        Of the context rows themselves; those of labeled rows mean nothing.
    slope, offset : Tensor of shape (n_tables, 1)
        ``slope * logit + offset`` is the log-odds of being an anomaly.
    share_logits : Tensor of shape (n_tables, n_share_bins)
        Of the bins of the share of anomalies among unlabeled rows.
    """

    state: ContextState
    logits: Tensor
    slope: Tensor
    offset: Tensor
    share_logits: Tensor


class InContextModel(nn.Module):
    """Scores rows of any table in the context of labeled and unlabeled rows.

    Embeddings and the last layers work in float32, blocks in the type they are in.
    """

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.config = config
        width, row_width = config.cell_width, config.row_width
        self.embed = nn.Sequential(
            nn.Linear(N_CELL_FEATURES, width), nn.GELU(), nn.Linear(width, width)
        )
        self.identify = nn.Linear(config.n_identity, width, bias=False)
        self.cell_blocks = Blocks[CellBlock](
            CellBlock(config) for _ in range(config.n_cell_blocks)
        )
        self.row_blocks = Blocks[ContextBlock](
            ContextBlock(config) for _ in range(config.n_row_blocks)
        )
        self.pool = RowPooling(config)
        self.label = nn.Embedding(N_LABEL_STATES, row_width)
        self.counts = nn.Linear(N_LABEL_STATES, row_width)
        self.last_norm = nn.LayerNorm(row_width)
        self.to_logit = nn.Linear(row_width, 1)
        told = nn.Linear(row_width, 2 + config.n_share_bins)
        nn.init.zeros_(told.weight)
        nn.init.constant_(told.bias[1:2], _FIRST_LOG_ODDS)
        self.to_table = nn.Sequential(
            nn.Linear(4 * row_width, row_width), nn.GELU(), told
        )

    def read(self, cells: Tensor, labels: Tensor, identity: Tensor) -> Reading:
        """Read a context.

        Cells are (n_tables, n_context, n_columns, N_CELL_FEATURES), labels 0 normal, 1
        anomaly or 2 unlabeled for each row. The identity of each column is a random
        vector, (n_tables, n_columns, n_identity).
        """
        told_apart = self.identify(identity)[:, None]
        embedded = self._embed(cells, told_apart)
        columns = []
        for block in self.cell_blocks:
            columns.append(block.along_columns.summarize(embedded, labels))
            embedded = block(embedded, columns[-1])
        counts = self._count(labels, cells.shape[2])
        rows = self.pool(embedded) + self.label(labels)
        rows = torch.cat([rows, counts[:, None].to(rows.dtype)], dim=1)
        keys_values = []
        for block in self.row_blocks:
            keys_values.append(block.keys_values(rows))
            rows = block(rows, keys_values[-1])
        rows = self.last_norm(rows.float())
        slope, offset, share_logits = self._table_outputs(rows, labels)
        state = ContextState(told_apart, columns, keys_values)
        logits = self.to_logit(rows[:, :-1])[..., 0]
        return Reading(state, logits, slope, offset, share_logits)

    def score(self, cells: Tensor, state: ContextState) -> Tensor:
        """Logits (n_tables, n_rows) of rows (n_tables, n_rows, n_columns, features)."""
        embedded = self._embed(cells, state.identity)
        for block, summary in zip(self.cell_blocks, state.columns, strict=True):
            embedded = block(embedded, summary)
        rows = self.pool(embedded) + self.label.weight[TO_SCORE]
        for block, keys_values in zip(self.row_blocks, state.rows, strict=True):
            rows = block(rows, keys_values)
        return self.to_logit(self.last_norm(rows.float()))[..., 0]

    def _embed(self, cells: Tensor, told_apart: Tensor) -> Tensor:
        """Embed cells, in the type in which the blocks work."""
        return (self.embed(cells) + told_apart).to(self.pool.queries.dtype)

    def _count(self, labels: Tensor, n_columns: int) -> Tensor:
        """Tell how many rows have which label, and how many columns there are."""
        numbers = [(labels == state).sum(dim=1) for state in range(TO_SCORE)]
        numbers.append(torch.full_like(numbers[0], n_columns))
        return self.counts(torch.stack(numbers, dim=1).float().log1p() / 4)

    def _table_outputs(
        self, rows: Tensor, labels: Tensor
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Slope, offset and share, from what the rows of each label state became."""
        pooled = [rows[:, -1]]
        for state in range(TO_SCORE):
            of_state = (labels == state).float()[:, None]
            total = of_state @ rows[:, :-1] / of_state.sum(dim=2, keepdim=True).clamp(1)
            pooled.append(total[:, 0])
        told = self.to_table(torch.cat(pooled, dim=1))
        slope = functional.softplus(told[:, :1] + 0.5413)  # one, at first
        return slope, told[:, 1:2], told[:, 2:]
