"""The installed command on real files: drug use with its categories, card payments."""

import csv
import gzip

import numpy as np
from sklearn.metrics import roc_auc_score

from commands import run
from real_data import load_table
from spadework_research.datasets.catalog import get_dataset

DRUGS = [f"drug_{i}" for i in range(19)]
NAMES = ["id", *(f"trait_{i}" for i in range(12)), *DRUGS]
TARGET = "drug_14"


def fit_and_score(folder, train, test, *options):
    for arguments in (
        ["fit", train, "-o", "model", "--quiet", *options],
        ["score", "model", test, "-o", "scores.csv", "--quiet"],
    ):
        done = run(*arguments, cwd=folder)
        assert done.returncode == 0, done.stderr
    with (folder / "scores.csv").open(newline="") as file:
        return np.array([float(row["anomaly_score"]) for row in csv.DictReader(file)])


def write(path, names, rows):
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([names, *rows])


def test_drug_use_is_learnt_from_traits_and_from_categories(tmp_path):
    load_table("drug")
    (path,) = get_dataset("drug").find()
    with path.open(newline="") as file:
        rows = list(csv.reader(file))
    rng = np.random.default_rng(0)
    rng.shuffle(rows)
    at = NAMES.index(TARGET)
    half = len(rows) // 2
    truth = [row[at] not in ("CL0", "CL1") for row in rows[half:]]
    for row in rows[:half]:
        row[at] = row[at] if rng.random() < 0.15 else ""
    write(tmp_path / "train.csv", NAMES, rows[:half])
    write(tmp_path / "test.csv", NAMES, rows[half:])
    meaning = "CL0=0,CL1=0,CL2=1,CL3=1,CL4=1,CL5=1,CL6=1"
    scores = fit_and_score(
        tmp_path, "train.csv", "test.csv", "--label", TARGET, "--map", meaning
    )
    assert roc_auc_score(truth, scores) > 0.8


def test_frauds_of_the_second_half_are_found_from_labels_of_the_first(tmp_path):
    load_table("creditcard")
    (path,) = get_dataset("creditcard").find()
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", newline="") as file:
        names, *rows = csv.reader(file)
    label = names.index("Class")
    frauds = [row for row in rows if row[label] == "1"]
    kept = sorted([*rows[::15], *frauds], key=lambda row: float(row[0]))
    half = len(kept) // 2
    truth = [row[label] == "1" for row in kept[half:]]
    for row in kept[half // 10 : half]:
        row[label] = ""
    write(tmp_path / "train.csv", names, kept[:half])
    write(tmp_path / "test.csv", names, kept[half:])
    scores = fit_and_score(
        *(tmp_path, "train.csv", "test.csv", "--label", "Class"),
        *("--map", "1=1,0=0", "--ignore", "Time"),
    )
    assert roc_auc_score(truth, scores) > 0.9
