"""The training loop: made tables in, weights out, resumable at every checkpoint."""

import copy
import json
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from spadework.in_context.modules import InContextModel, ModelConfig
from spadework.in_context.weights import PUBLISHED, Weights
from spadework.lazy import LazyModule
from spadework.progress import progress
from spadework.version import __version__
from spadework_research.made_tables.draw import Draw
from spadework_research.made_tables.labeling import SCENARIOS
from spadework_research.made_tables.tables import MadeTables, Prior, draw_tables
from spadework_research.pretraining.checkpoints import load_pieces, save_pieces
from spadework_research.pretraining.objective import Losses, losses_of
from spadework_research.pretraining.optimizer import (
    Optimizer,
    average_into,
    average_weight,
)
from spadework_research.pretraining.recording import Recorded

if TYPE_CHECKING:
    from spadework_research.pretraining import kernels
else:  # needs Triton, which is there where a GPU is
    kernels = LazyModule("spadework_research.pretraining.kernels")

# Few enough shapes to record a step for each; contexts of every share of the rows.
_COLUMNS = (3, 4, 5, 6, 7, 8, 10, 12, 15, 20, 25, 32, 48, 64, 96)
_ROWS = (400, 700, 1000, 1500, 2200, 4000)
_ROW_FREQUENCIES = (0.12, 0.22, 0.24, 0.17, 0.14, 0.11)
_CONTEXT_SHARES = (0.5, 0.6, 0.7, 0.85)
_TOLD = "checkpoint.json"


@dataclass(frozen=True)
class Schedule:
    """How a model is trained; steps, not seconds, decide, so that runs repeat.

    Attributes
    ----------
    learning_rate : float
        Kept after a warm-up, until the last ``decay_steps`` of ``steps`` bring it
        down to a twentieth.
    steps, decay_steps, warmup_steps : int
    rows_a_step, cells_a_step : int
        At most so many rows, and cells, of made tables in a step.
    seed : int
    """

    learning_rate: float = 1e-3
    steps: int = 10_000
    decay_steps: int = 2000
    warmup_steps: int = 300
    rows_a_step: int = 98_000
    cells_a_step: int = 2_000_000
    seed: int = 0

    def rate(self, step: int) -> float:
        """Learning rate of a step, the first being 0."""
        left = (self.steps - step) / max(1, self.decay_steps)
        return (
            self.learning_rate
            * min(1.0, (step + 1) / self.warmup_steps)
            * max(0.05, min(1.0, left))
        )


class Trainer:
    """A model, its average, and the optimizer, as of some step."""

    def __init__(
        self, config: ModelConfig, schedule: Schedule, prior: Prior, device: str
    ) -> None:
        torch.manual_seed(schedule.seed)
        self.schedule, self.prior, self.device = schedule, prior, device
        self.model = InContextModel(config).to(device)
        self.average = copy.deepcopy(self.model).requires_grad_(False)
        # Blocks compute in bfloat16 on a GPU; the weights that learn stay in float32.
        self.working = copy.deepcopy(self.model)
        if _is_gpu(device):
            self.working.cell_blocks.bfloat16()
            self.working.row_blocks.bfloat16()
            self.working.pool.bfloat16()
            self.working.label.bfloat16()
            kernels.hasten(self.working)
        self._learn_recorded = Recorded(self._learn)
        self._working = list(self.working.parameters())
        self._model = list(self.model.parameters())
        self.optimizer = Optimizer(self.model)
        self.step = 0
        self.seconds = 0.0
        self.stages: list[dict[str, Any]] = []
        """Until which step which prior and schedule were trained on before."""

    def advance(self) -> tuple[MadeTables, Losses]:
        """Draw tables, take one step; tables and losses of this step."""
        draw = Draw(_seed(self.schedule.seed, self.step), self.device)
        tables = self._draw_tables(draw)
        identity = draw.normal(
            len(tables.X), tables.X.shape[2], self.model.config.n_identity
        )
        rate = torch.full((), self.schedule.rate(self.step), device=self.device)
        weight = torch.full((), average_weight(self.step), device=self.device)
        losses = Losses(*self._learn_recorded(*tables, identity, rate, weight))
        self.step += 1
        return tables, losses

    def _learn(self, *inputs: Tensor) -> Losses:
        """Take a step; losses. What it reads and writes beside stays in place."""
        *of_tables, identity, rate, weight = inputs
        with torch.no_grad():
            for work, kept in zip(self._working, self._model, strict=True):
                work.copy_(kept)
        losses = losses_of(self.working, MadeTables(*of_tables), identity)
        losses.total.mean().backward()
        for work, kept in zip(self._working, self._model, strict=True):
            assert work.grad is not None
            kept.grad = work.grad.float()
            work.grad = None
        # Keeps single tables from throwing the weights far off.
        torch.nn.utils.clip_grad_norm_(self._model, 1.0)
        self.optimizer.step(rate)
        average_into(self.average, self.model, weight)
        for kept in self._model:
            kept.grad = None
        return Losses(*(loss.detach() for loss in losses))

    def save(self, folder: Path) -> None:
        """Write a checkpoint; momenta are rounded to what is written of them."""
        kept = {k: _rounded(v) for k, v in self.optimizer.state().items()}
        self.optimizer.load({k: v.float() for k, v in kept.items()})
        state = {f"optimizer.{k}": v for k, v in kept.items()}
        state |= {f"model.{k}": v for k, v in self.model.state_dict().items()}
        state |= {f"average.{k}": v for k, v in self.average.state_dict().items()}
        save_pieces(state, folder, "checkpoint")
        Weights.of(self.average).write(folder / PUBLISHED)
        (folder / _TOLD).write_text(json.dumps(self._told(), indent=1) + "\n")

    def _told(self) -> dict[str, Any]:
        """Say how the weights came to be."""
        return {
            "step": self.step,
            "seconds": self.seconds,
            "device": torch.cuda.get_device_name() if _is_gpu(self.device) else "CPU",
            "torch": torch.__version__,
            "spadework": __version__,
            "n_weights": sum(p.numel() for p in self.model.parameters()),
            "config": asdict(self.model.config),
            "stages": [*self.stages, self._stage()],
        }

    def _stage(self) -> dict[str, Any]:
        plan = {"schedule": asdict(self.schedule), "prior": asdict(self.prior)}
        return {"step": self.step, **json.loads(json.dumps(plan))}

    def load(self, folder: Path) -> None:
        """Go on from a checkpoint of the same shape."""
        tensors = load_pieces(folder, "checkpoint", self.device)
        for name, module in (("model", self.model), ("average", self.average)):
            module.load_state_dict(_part(tensors, name))
        self.optimizer.load(
            {k: v.float() for k, v in _part(tensors, "optimizer").items()}
        )
        told = json.loads((folder / _TOLD).read_text())
        self.step, self.seconds = told["step"], told["seconds"]
        *earlier, last = told["stages"]
        same = last | {"step": self.step} == self._stage()
        self.stages = earlier if same else told["stages"]

    def _draw_tables(self, draw: Draw) -> MadeTables:
        """Draw as many tables of one shape as a step holds."""
        n_columns = draw.numbers.choice(_COLUMNS)
        (n_rows,) = draw.numbers.choices(_ROWS, _ROW_FREQUENCIES)
        shapes = _ROWS.index(n_rows) + _COLUMNS.index(n_columns)
        share = _CONTEXT_SHARES[shapes % len(_CONTEXT_SHARES)]
        rows = min(self.schedule.rows_a_step, self.schedule.cells_a_step // n_columns)
        return draw_tables(
            draw,
            self.prior,
            n_tables=max(2, rows // n_rows),
            n_rows=n_rows,
            n_columns=n_columns,
            n_context=int(n_rows * share),
        )


def train(
    trainer: Trainer,
    folder: Path,
    *,
    seconds: float,
    checkpoint_every: float = 150.0,
    log_every: int = 50,
) -> None:
    """Train until the schedule ends or time is up; log and leave checkpoints.

    The clock is looked at, and a line logged, every ``log_every`` steps; checkpoints
    are so many seconds apart.
    """
    folder.mkdir(parents=True, exist_ok=True)
    start = saved = time.monotonic()
    before, log = trainer.seconds, _Log(folder / "losses.jsonl")
    left = trainer.schedule.steps - trainer.step
    note = ""
    with progress("training", left, verbose=True) as advance:
        for _ in range(left):
            log.add(*trainer.advance())
            advance(note)
            if trainer.step % log_every:
                continue
            now = time.monotonic()
            trainer.seconds = before + now - start
            note = log.write(trainer.step, trainer.seconds)
            if now - start > seconds:
                break
            if now - saved > checkpoint_every:
                trainer.save(folder)
                saved = now
    trainer.save(folder)


class _Log:
    """Losses by scenario, a JSON line every few steps."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.kept: list[tuple[Tensor, Tensor]] = []

    def add(self, tables: MadeTables, losses: Losses) -> None:
        """Remember losses; they stay on the device until they are written."""
        self.kept.append((tables.scenario, torch.stack(losses).float()))

    def write(self, step: int, seconds: float) -> str:
        """Append means since the last line: of each loss, of ranking by scenario."""
        scenario = torch.cat([s for s, _ in self.kept]).cpu()
        values = torch.cat([v for _, v in self.kept], dim=1).cpu()
        self.kept = []
        told: dict[str, float | int] = {"step": step, "seconds": round(seconds, 1)}
        for name, value in zip(Losses._fields, values, strict=True):
            told[name] = round(float(value.nanmean()), 4)
        for position, name in enumerate(SCENARIOS):
            chosen = values[1, scenario == position]
            if len(chosen):
                told[name] = round(float(chosen.mean()), 4)
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(told) + "\n")
        return f"step {step}, loss {told['total']}"


def _is_gpu(device: str) -> bool:
    return device.startswith("cuda")


def _rounded(momentum: Tensor) -> Tensor:
    """Halve what is kept of momenta; counts of steps stay as they are."""
    return momentum.bfloat16() if momentum.ndim else momentum


def _part(tensors: dict[str, Tensor], name: str) -> dict[str, Tensor]:
    prefix = f"{name}."
    return {k.removeprefix(prefix): v for k, v in tensors.items() if k.startswith(prefix)}


def _seed(seed: int, step: int) -> int:
    """Tables of a step; seeds from 2**62 on are never trained on."""
    return (seed * 1_000_003 + step) % 2**62
