"""The score command writes every row in order, or nothing."""

import json

import pyarrow.parquet as pa_parquet
import pytest
from scipy.special import expit

from commands import assert_refused, run
from fitted_payments import payments
from spadework.tables.reading import read_table


def test_score_writes_every_row_in_order_and_says_so(place):
    done = run("score", "model", "new.parquet", "-o", "all.csv", cwd=place)
    assert done.returncode == 0, done.stderr
    assert "300 rows scored" in done.stderr
    assert "should be anomalies" in done.stderr
    found = read_table(place / "all.csv")
    assert found.column("id").to_pylist() == [f"T{i:05}" for i in range(300)]
    again = run("score", "model", "new.parquet", "-o", "all.csv", cwd=place)
    assert_refused(again, "all.csv exists", "--force")


def test_score_reads_standard_input_and_prints_csv_and_json_apart(place):
    text = (place / "new.csv").read_text()
    options = ("--top", "3", "--json", "--quiet")
    done = run("score", "model", "-", *options, cwd=place, stdin=text)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stderr)["n_rows"] == 300
    assert done.stdout.count("\n") == 4
    scores = [float(line.split(",")[1]) for line in done.stdout.splitlines()[1:]]
    assert scores == sorted(scores, reverse=True)


def test_score_calls_rows_by_another_threshold_if_one_is_given(place):
    done = run("score", "model", "new.csv", "--threshold", "2", "--quiet", cwd=place)
    assert done.returncode == 0, done.stderr
    for line in done.stdout.splitlines()[1:]:
        _, score, probability, called = line.split(",")
        assert (float(score) > 2) == (called == "1")
        assert float(probability) == pytest.approx(expit(float(score)))
    refused = run("score", "model", "new.csv", "--threshold", "nan", cwd=place)
    assert_refused(refused, "threshold must be", "a number; got nan")


@pytest.mark.parametrize(
    ("options", "n_called"),
    [
        (("--calls", "20"), 20),
        (("--calls", "2%"), 6),
        (("--per-day", "1", "--date", "at"), 63),
    ],
)
def test_score_calls_as_many_rows_as_asked_also_of_standard_input(
    options, n_called, place
):
    text = (place / "new.csv").read_text()
    verb = ("score", "model", "-", *options, "--json")
    done = run(*verb, cwd=place, stdin=text)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stderr.splitlines()[-1])["n_anomalies"] == n_called
    lines = done.stdout.splitlines()[1:]
    assert len(lines) == 300
    assert sum(line.endswith(",1") for line in lines) == n_called


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--calls", "9", "--threshold", "1"), ("not both",)),
        (("--calls", "9", "--per-day", "1", "--date", "at"), ("not both",)),
        (("--per-day", "1"), ("--date COLUMN",)),
        (("--date", "at"), ("--per-day N",)),
        (("--calls", "9", "--cost-missed", "9", "--cost-call", "1"), ("not both",)),
        (("--cost-missed", "9"), ("--cost-call",)),
        (("--cost-missed", "9", "--cost-call", "10"), ("got 10 and 9",)),
        (("--calls", "many"), ("such as 200", "'many'")),
        (("--calls", "0"), ("such as 200", "'0'")),
        (("--calls", "2.5"), ("such as 200", "'2.5'")),
        (("--calls", "100%"), ("between 0% and 100%", "'100%'")),
    ],
)
def test_score_refuses_a_budget_that_it_cannot_read(options, words, place):
    assert_refused(run("score", "model", "new.csv", *options, cwd=place), *words)


def test_score_calls_rows_that_are_worth_their_cost(place):
    costs = ("--cost-missed", "500", "--cost-call", "10")
    done = run("score", "model", "new.csv", *costs, "--quiet", cwd=place)
    assert done.returncode == 0, done.stderr
    rows = [line.split(",") for line in done.stdout.splitlines()[1:]]
    assert len(rows) == 300
    assert all((float(row[2]) > 10 / 500) == (row[3] == "1") for row in rows)
    assert {row[3] for row in rows} == {"0", "1"}


def test_probabilities_do_not_move_with_the_threshold_or_a_budget(place):
    columns = []
    for options in ((), ("--threshold", "2"), ("--calls", "9")):
        done = run("score", "model", "new.csv", *options, "--quiet", cwd=place)
        lines = done.stdout.splitlines()
        assert len(lines) == 301
        columns.append([line.split(",")[2] for line in lines])
    assert columns[0] == columns[1] == columns[2]


def test_a_quiet_score_says_nothing(place):
    done = run("score", "model", "new.csv", "-o", "q.csv", "--quiet", cwd=place)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert (place / "q.csv").read_text().count("\n") == 301


def test_score_refuses_a_word_among_numbers_and_leaves_nothing(place, tmp_path):
    lines = (place / "new.csv").read_text().splitlines()
    fields = lines[-1].split(",")
    lines[-1] = ",".join([fields[0], "a lot", *fields[2:]])
    (tmp_path / "bad.csv").write_text("\n".join(lines))
    done = run("score", place / "model", "bad.csv", "-o", "s.csv", cwd=tmp_path)
    assert_refused(done, "column amount", "expected a number", "'a lot'")
    assert [path.name for path in tmp_path.iterdir()] == ["bad.csv"]


def test_score_refuses_a_table_that_lacks_columns(place, tmp_path):
    table = payments().drop_columns(["place", "at"])
    pa_parquet.write_table(table, tmp_path / "bad.parquet")
    done = run("score", place / "model", "bad.parquet", "-o", "s.csv", cwd=tmp_path)
    assert_refused(done, "place, at", "Add them")
    assert [path.name for path in tmp_path.iterdir()] == ["bad.parquet"]


BEFORE_EACH_BATCH = """
import os, signal
from spadework.table_model import TableModel
real = TableModel.score_batch
def act(self, batch):
    {act}
    return real(self, batch)
TableModel.score_batch = act
"""


def test_score_refuses_a_file_that_changes_while_it_is_read(place, tmp_path):
    (tmp_path / "new.csv").write_bytes((place / "new.csv").read_bytes())
    code = BEFORE_EACH_BATCH.format(act="open('new.csv', 'a').write('x')")
    verb = ("score", place / "model", "new.csv", "-o", "s.csv")
    done = run(*verb, cwd=tmp_path, before=code)
    assert_refused(done, "new.csv changed while it was read")
    assert [path.name for path in tmp_path.iterdir()] == ["new.csv"]


def test_a_changed_model_file_is_refused(place, tmp_path):
    content = bytearray((place / "model" / "model.spade").read_bytes())
    content[len(content) // 2] ^= 1
    (tmp_path / "model.spade").write_bytes(content)
    done = run("score", tmp_path, place / "new.csv", "-o", "s.csv", cwd=tmp_path)
    assert_refused(done, "model.spade", "changed")
