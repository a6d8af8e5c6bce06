"""Training learns, survives interruption, and leaves weights that detectors read."""

import json
from dataclasses import replace

import numpy as np
import pytest
import torch

from mismatch import mismatch_data
from spadework.in_context.detector import InContextDetector
from spadework_research.made_tables.labeling import SCENARIOS
from spadework_research.made_tables.tables import Prior
from spadework_research.pretraining.training import Schedule, Trainer, train
from tiny_context import CONFIG

SCHEDULE = Schedule(
    steps=6, decay_steps=2, warmup_steps=2, rows_a_step=1500, cells_a_step=9000
)


def trainer(schedule=SCHEDULE):
    return Trainer(CONFIG, schedule, Prior(), "cpu")


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    n_threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(n_threads)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A finished run."""
    path = tmp_path_factory.mktemp("run")
    train(trainer(), path, seconds=1e9)
    return path


def test_the_learning_rate_rises_stays_and_falls():
    schedule = Schedule(steps=100, decay_steps=40, warmup_steps=10, learning_rate=1.0)
    rates = [schedule.rate(step) for step in range(100)]
    assert rates[0] == pytest.approx(0.1)
    assert rates[9:60] == [1.0] * 51
    assert np.all(np.diff(rates[60:98]) < 0)
    assert rates[-1] == pytest.approx(0.05)


def test_what_was_interrupted_goes_on_to_the_same_weights(folder, tmp_path):
    half = trainer()
    for _ in range(3):
        half.advance()
    half.save(tmp_path)
    resumed = trainer()
    resumed.load(tmp_path)
    # Momenta are rounded when they are kept, in the run that goes on, too.
    for one in (half, resumed):
        for _ in range(3):
            one.advance()
    assert half.step == resumed.step == 6
    for name, parameter in half.average.named_parameters():
        assert torch.equal(parameter, resumed.average.get_parameter(name)), name


def test_a_checkpoint_tells_on_what_it_was_trained_stage_by_stage(tmp_path):
    one = trainer()
    one.advance()
    one.save(tmp_path)
    for schedule in (SCHEDULE, SCHEDULE, replace(SCHEDULE, learning_rate=0.5)):
        one = trainer(schedule)
        one.load(tmp_path)
        one.advance()
        one.save(tmp_path)
    stages = json.loads((tmp_path / "checkpoint.json").read_text())["stages"]
    told = [(stage["step"], stage["schedule"]["learning_rate"]) for stage in stages]
    assert told == [(3, SCHEDULE.learning_rate), (4, 0.5)]


def test_saving_leaves_every_tensor_where_a_recorded_step_finds_it(tmp_path):
    one = trainer()
    one.advance()

    def places():
        tensors = one.optimizer.state() | dict(one.model.named_parameters())
        tensors |= {f"average.{k}": v for k, v in one.average.named_parameters()}
        return {name: tensor.data_ptr() for name, tensor in tensors.items()}

    before = places()
    one.save(tmp_path)
    assert places() == before
    assert float(one.optimizer.state()["adam.0.step"]) == 1


def test_a_run_stops_when_time_is_up_and_keeps_what_it_has(tmp_path):
    long = Schedule(steps=10_000, rows_a_step=500, cells_a_step=2000)
    train(trainer(long), tmp_path, seconds=0.0, log_every=2)
    told = json.loads((tmp_path / "checkpoint.json").read_text())
    assert told["step"] == 2
    resumed = trainer(long)
    resumed.load(tmp_path)
    assert resumed.step == 2
    assert resumed.seconds > 0


def test_the_log_tells_losses_by_scenario(tmp_path):
    train(trainer(), tmp_path, seconds=1e9, log_every=3)
    lines = (tmp_path / "losses.jsonl").read_text().splitlines()
    told = [json.loads(line) for line in lines]
    assert [line["step"] for line in told] == [3, 6]
    assert {"seconds", "total", "ranking", "probability", "share"} <= told[0].keys()
    assert set(SCENARIOS) & told[0].keys()


def test_the_loss_falls_on_tables_that_are_seen_again_and_again():
    one = trainer(Schedule(learning_rate=0.01, decay_steps=1, rows_a_step=800))
    losses = []
    for _ in range(25):
        one.step = 412  # always the same small tables, after the warm-up
        losses.append(float(one.advance()[1].total.mean().detach()))
    assert losses[-1] < losses[0] - 0.1


def test_a_detector_reads_the_weights_that_a_run_leaves(folder):
    X, y, _ = mismatch_data(100, seed=0)
    detector = InContextDetector(weights=folder / "weights.safetensors", random_state=0)
    assert np.isfinite(detector.fit(X, y).anomaly_score(X)).all()
