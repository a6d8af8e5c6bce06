"""Commands: train (or go on from a checkpoint), evaluate, publish."""

import argparse
import json
from pathlib import Path

import torch

from spadework.in_context.detector import InContextDetector
from spadework.in_context.modules import ModelConfig
from spadework_research.datasets.tables60 import read_tables
from spadework_research.made_tables.labeling import MISMATCH, NO_MISMATCH
from spadework_research.made_tables.tables import Prior
from spadework_research.places import results_folder
from spadework_research.pretraining.publishing import publish
from spadework_research.pretraining.training import Schedule, Trainer, train
from spadework_research.studies.tables60 import RESULTS, measure, summary


def main() -> None:
    """Run the command that was named."""
    parser = argparse.ArgumentParser(prog="python -m spadework_research.pretraining")
    commands = parser.add_subparsers(required=True)
    one = commands.add_parser("train", help="train, or go on from a checkpoint")
    one.add_argument("folder", type=Path, help="where checkpoints and the log go")
    one.add_argument("--resume", type=Path, help="folder with a checkpoint to go on from")
    one.add_argument("--seconds", type=float, default=500, help="stop after, at most")
    one.add_argument("--no-mismatch", action="store_true", help="fair labels, to compare")
    one.add_argument("--config", type=json.loads, default={}, help="the shape, as JSON")
    one.add_argument("--schedule", type=json.loads, default={}, help="as JSON")
    one.set_defaults(run=_train)
    one = commands.add_parser("evaluate", help="score sixty real tables")
    one.add_argument("weights", type=Path, help="a file that training wrote")
    one.add_argument("tables", type=Path, help="the archive of tables, .npz")
    one.add_argument("--name", default="in_context", help="of the method in results")
    one.add_argument("--members", type=int, default=1)
    one.add_argument("--results", type=Path, default=results_folder() / RESULTS)
    one.set_defaults(run=_evaluate)
    one = commands.add_parser("publish", help="put weights and their card in the library")
    one.add_argument("folders", type=Path, nargs="+", help="their mean, if several")
    one.set_defaults(run=lambda asked: publish(asked.folders))
    arguments = parser.parse_args()
    arguments.run(arguments)


def _train(asked: argparse.Namespace) -> None:
    device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.set_float32_matmul_precision("high")
    torch.backends.cuda.enable_cudnn_sdp(False)  # it plans anew for every shape
    prior = Prior(NO_MISMATCH if asked.no_mismatch else MISMATCH)
    schedule = Schedule(**asked.schedule)
    trainer = Trainer(ModelConfig(**asked.config), schedule, prior, device)
    if asked.resume:
        trainer.load(asked.resume)
    train(trainer, asked.folder, seconds=asked.seconds)


def _evaluate(asked: argparse.Namespace) -> None:
    detector = InContextDetector(
        n_members=asked.members, weights=asked.weights, random_state=0
    )
    outcomes = [
        measure(table, asked.name, 0, detector) for table in read_tables(asked.tables)
    ]
    with asked.results.open("a", encoding="utf-8") as file:
        file.writelines(json.dumps(each._asdict()) + "\n" for each in outcomes)
    print("\n".join(summary(outcomes)))


if __name__ == "__main__":
    main()
