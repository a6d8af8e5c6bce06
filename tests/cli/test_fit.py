"""The fit command says what it learnt from, and refuses with a way out."""

import json
import shlex

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
import pytest

from commands import FIT, QUIET, assert_refused, ended, run
from fitted_payments import payments


def test_fit_says_what_it_learnt_from_and_prints_json(place):
    facts = json.loads((place / "fit.json").read_text())
    assert facts["rows"] == 240
    assert facts["census"] == {"n_anomalies": 12, "n_normals": 44, "n_unlabeled": 184}
    assert facts["columns"] == {
        "number": ["amount", "rate"],
        "category": ["place"],
        "date": ["at"],
    }
    assert 0 < facts["share_called"] < 0.5
    assert (
        "labels: PNU: 12 anomalies, 44 normals, 184 unlabeled"
        in (place / "fit.txt").read_text()
    )


def test_fit_says_how_many_anomalies_to_expect_last_and_in_json(place, tmp_path):
    facts = json.loads((place / "fit.json").read_text())
    calls = facts["calls"]
    assert calls["n_rows"] == facts["census"]["n_unlabeled"]
    assert 0 < calls["n_called"] < calls["n_rows"]
    for among in (calls["among_calls"], calls["among_rows"]):
        assert 0 <= among["low"] <= among["mean"] <= among["high"]
    assert facts["warning"] is None
    fit = ("fit", place / "payments.csv", *FIT, "-o", "model")
    said = ended(*fit, cwd=tmp_path).stderr.splitlines()
    assert [line.split(":")[0] for line in said[-2:]] == ["expect", "model"]
    assert f"{calls['n_called']} of {calls['n_rows']} unlabeled rows" in said[-2]


def test_fit_warns_first_where_calls_rest_on_too_little(tmp_path):
    rows = payments().to_pylist()
    for row in [row for row in rows if row["status"] == "fraud"][2:]:
        row["status"] = None
    pa_csv.write_csv(pa.Table.from_pylist(rows), tmp_path / "few.csv")
    fit = ("fit", "few.csv", *FIT, "-o", "model", "--json")
    done = ended(*fit, cwd=tmp_path)
    warning = json.loads(done.stdout)["warning"]
    assert "2 anomalies are labeled" in warning
    assert f"warning: {warning}" in done.stderr
    after = done.stderr.split("warning:")[1]
    assert not any(word in after for word in ("trust:", "calls:", "expect:"))


def test_fit_takes_a_budget_of_calls_or_a_threshold(place, tmp_path):
    fit = ("fit", place / "payments.csv", *FIT, "-o", "model")
    for budget, most in (("5", 5), ("10%", 18)):
        done = ended(*fit, "--force", "--calls", budget, "--json", cwd=tmp_path)
        assert 0 < json.loads(done.stdout)["calls"]["n_called"] <= most
    both = ("--force", "--calls", "5", "--threshold", "1")
    refused = ended(*fit, *both, cwd=tmp_path, code=1)
    assert "not both" in refused.stderr


def test_costs_need_a_learner_that_gives_probabilities(place, tmp_path):
    fit = ("fit", place / "payments.csv", *FIT, "-o", "model")
    costs = ("--cost-missed", "500", "--cost-call", "10")
    done = run(*fit, *costs, "--learner", "forest", cwd=tmp_path)
    assert_refused(done, "costs need probabilities", "--learner trees")
    facts = json.loads(ended(*fit, *costs, "--json", cwd=tmp_path).stdout)
    assert facts["threshold"] == pytest.approx(np.log(1 / 49))


def test_a_quiet_fit_says_nothing_and_makes_a_model(place):
    done = run("fit", "payments.csv", *FIT, "-o", "quiet", "--quiet", cwd=place)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert [path.name for path in (place / "quiet").iterdir()] == ["model.spade"]


def test_a_column_of_one_value_is_left_out_and_said(place):
    assert "left out: same: it has one value only" in (place / "fit.txt").read_text()
    assert "same" in json.loads((place / "fit.json").read_text())["ignored"]


def test_delimiters_at_the_end_of_lines_do_no_harm(place, tmp_path):
    for name in ("payments.csv", "new.csv"):
        lines = (place / name).read_text().splitlines()
        (tmp_path / name).write_text("".join(f"{line},\n" for line in lines))
    done = run("fit", "payments.csv", *FIT, "-o", "model", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "left out: (no name): it has neither a name nor values" in done.stderr
    done = run("score", "model", "new.csv", "-o", "s.csv", cwd=tmp_path)
    assert done.returncode == 0, done.stderr


def messy(path, seed=0):
    """Write payments with words among numbers and dates, and a column without values."""
    names = [*payments().column_names, "late fee"]
    rows = [[*map(str, row.values()), ""] for row in payments(seed=seed).to_pylist()]
    for row in rows[5::60]:
        row[1], row[4] = "not known", "pending"
    rows[3][3] = "-999"
    rows = [["" if cell == "None" else cell for cell in row] for row in rows]
    path.write_text("\n".join(map(",".join, [names, *rows])) + "\n")
    return names, rows


def test_a_messy_table_is_fitted_with_the_options_that_the_refusal_gives(tmp_path):
    names, rows = messy(tmp_path / "messy.csv")
    fit = ("fit", "messy.csv", *FIT, "-o", "model")
    done = run(*fit, cwd=tmp_path)
    assert_refused(
        done,
        "column late fee has no value in any of the 240 rows",
        "column amount: 4 of its values are no number, such as 'not known' in row 5",
        "column at: 4 of its values are no date, such as 'pending' in row 5",
        "--ignore 'late fee'",
        "--missing 'not known' --missing pending",
        "--category amount --category at",
        "--ignore amount --ignore at",
    )
    assert [path.name for path in tmp_path.iterdir()] == ["messy.csv"]
    given = shlex.split("--ignore 'late fee' --missing 'not known' --missing pending")
    done = run(*fit, *given, "--missing", "-999", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "said to be missing: 9 values (amount 4, rate 1, at 4)" in done.stderr
    assert json.loads(done.stdout)["missing"] == {"amount": 4, "rate": 1, "at": 4}

    other = [names[::-1], *(row[::-1] for row in rows)]
    (tmp_path / "other.csv").write_text("\n".join(map(",".join, other)) + "\n")
    blank = {"not known", "pending", "-999"}
    plain = [["" if cell in blank else cell for cell in row] for row in rows]
    (tmp_path / "plain.csv").write_text("\n".join(map(",".join, [names, *plain])) + "\n")
    scores = []
    for name in ("messy", "other", "plain"):
        done = run("score", "model", f"{name}.csv", "-o", f"{name}-s.csv", cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        scores.append((tmp_path / f"{name}-s.csv").read_bytes())
    assert scores[1:] == scores[:-1]


def as_europeans_write(path):
    """Write a CSV file with semicolons, decimal commas and grouped thousands."""
    rows = [line.split(",") for line in path.read_text().replace('"', "").splitlines()]
    for row in rows[1:]:
        amount = f"{float(row[1]) * 100:,.4f}"
        row[1] = amount.replace(",", "_").replace(".", ",").replace("_", ".")
    return "\n".join(";".join(row) for row in rows)


def in_hundreds(path):
    """Write the same file with decimal points."""
    rows = [line.split(",") for line in path.read_text().replace('"', "").splitlines()]
    for row in rows[1:]:
        row[1] = f"{float(row[1]) * 100:.4f}"
    return "\n".join(",".join(row) for row in rows)


def test_a_table_with_decimal_commas_scores_as_the_same_table_with_points(
    place, tmp_path
):
    for name, write in (("comma", as_europeans_write), ("point", in_hundreds)):
        for file in ("payments.csv", "new.csv"):
            (tmp_path / f"{name}-{file}").write_text(write(place / file))
        model, train, new = (f"{name}{end}" for end in ("", "-payments.csv", "-new.csv"))
        done = run("fit", train, *FIT, "-o", model, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        assert ("decimal commas: amount" in done.stderr) == (name == "comma")
        done = run("score", model, new, "-o", f"{name}.csv", cwd=tmp_path)
        assert done.returncode == 0, done.stderr
    scores = [(tmp_path / f"{name}.csv").read_bytes() for name in ("comma", "point")]
    assert scores[0] == scores[1]
    done = run("score", "comma", "point-new.csv", "-o", "bad.csv", cwd=tmp_path)
    assert_refused(done, "amount", "not written as in training")


def wide():
    names = [f"column_{i}" for i in range(10_000)]
    numbers = np.random.default_rng(0).integers(1000, size=(30, 10_000))
    lines = [",".join([*names, "id", "status"])]
    for at, row in enumerate(numbers.tolist()):
        lines.append(",".join(map(str, row)) + f",{at}," + ("fraud", "ok", "")[at % 3])
    return "\n".join(lines)


LINES = "id,amount,status\n1,2.5,fraud\n2,3.5,ok\n3,4.5,\n"
BAD_TABLES = {
    "a delimiter nobody knows": (LINES.replace(",", ":"), ["one column only", "comma"]),
    "an open quote": (LINES.replace("fraud", '"fraud'), ["quote", "not closed"]),
    "lines of other lengths": (LINES + "4,5\n", ["as many columns as the first"]),
    "values where names must be": (
        "0.73,0,1,0,fraud\n0.24,0,0,0,ok\n",
        ["starts with values (0.73, 0, 1", "names in front"],
    ),
    "two columns of one name": (
        LINES.replace("amount", "id"),
        ["more than one column named 'id'"],
    ),
    "no label column": (LINES.replace("status", "state"), ["'status'", "amount"]),
    "labels that no one mapped": (
        LINES.replace("ok", "fine"),
        ["no entry for 'fine'", "--map"],
    ),
    "a column without values": (
        "id,amount,b c,status\n1,2.5,,fraud\n2,3.5,,ok\n3,4.5,,\n",
        ["column b c has no value in any of the 3 rows", "--ignore 'b c'"],
    ),
    "no values at all": (
        "id,a,b,status\n1,,,fraud\n2,,,ok\n3,,,\n",
        ["2 columns have no value", "--ignore a --ignore b"],
    ),
    "a word among numbers": (
        LINES.replace("3.5", "a lot"),
        ["column amount: 1 of its values", "'a lot' in row 1", "--missing 'a lot'"],
    ),
    "ten thousand columns": (wide, ["10,000 columns", "at most"]),
    "nothing": ("", ["is empty"]),
    "a header only": ("id,amount,status\n", ["no rows"]),
    "bytes": (bytes(range(256)) * 100, ["is not UTF-8 text"]),
    "latin-1": (LINES.replace("ok", "ök").encode("latin1"), ["not UTF-8", "iconv"]),
}


@pytest.mark.parametrize("what", BAD_TABLES)
def test_fit_refuses_a_table_with(what, folder):
    content, words = BAD_TABLES[what]
    content = content() if callable(content) else content
    content = content.encode() if isinstance(content, str) else content
    (folder / "bad.csv").write_bytes(content)
    done = run("fit", "bad.csv", *FIT, "-o", "model", cwd=folder)
    assert_refused(done, *words)
    assert not (folder / "model").exists()


def test_fit_leaves_a_model_as_it_is_unless_forced(place):
    before = (place / "model" / "model.spade").read_bytes()
    done = run("fit", "payments.csv", *FIT, "-o", "model", cwd=place)
    assert_refused(done, "model.spade exists", "--force")
    assert (place / "model" / "model.spade").read_bytes() == before


def test_fit_does_not_begin_where_another_file_would_be_replaced(folder):
    (folder / "other").mkdir()
    (folder / "other" / "model.spade").write_text("notes")
    done = run("fit", "payments.csv", *FIT, "-o", "other", "--force", cwd=folder)
    assert_refused(done, "is not a spadework model")
    assert "rows:" not in done.stdout + done.stderr
    assert (folder / "other" / "model.spade").read_text() == "notes"


def test_fit_refuses_a_map_that_is_none(folder):
    done = run(
        "fit", "payments.csv", "-l", "status", "--map", "fraud", "-o", "m", cwd=folder
    )
    assert_refused(done, "fraud=1,ok=0")


def test_a_refit_takes_old_labels_and_new_rows(made):
    done = ended(
        *("fit", "old.csv", "--unlabeled", "new.csv", *QUIET, "-o", "model-2", "--json"),
        cwd=made,
    )
    facts = json.loads(done.stdout)
    alone = ended("fit", "old.csv", *QUIET, "-o", "model-3", "--json", cwd=made)
    before = json.loads(alone.stdout)
    assert facts["rows"] == 2 * before["rows"]
    for kind in ("n_anomalies", "n_normals"):
        assert facts["census"][kind] == before["census"][kind]


def test_a_refit_takes_new_rows_with_words_once_they_are_said_to_mean_missing(made):
    header, *lines = (made / "new.csv").read_text().splitlines()
    rows = [line.split(",") for line in lines[:300]]
    for row in rows[:7]:
        row[2] = "pending"
    (made / "words.csv").write_text("\n".join([header, *map(",".join, rows)]) + "\n")
    fit = ("fit", "old.csv", "--unlabeled", "words.csv", *FIT, "-o", "model-4")
    refused = ended(*fit, cwd=made, code=1).stderr
    assert "amount: 7 of its values are no number, such as 'pending' in row 1,200" in (
        refused
    )
    assert not (made / "model-4").exists()
    done = ended(*fit, "--missing", "pending", cwd=made)
    assert "said to be missing: 7 values (amount 7)" in done.stderr
    for command in (
        ("explain", "model-4", "words.csv", "--row", "0"),
        ("compare", "model-4", "words.csv"),
        ("report", "model-4", "words.csv", "-o", "words.html"),
        ("export", "model-4", "words.csv", "-o", "words.onnx"),
    ):
        ended(*command, cwd=made)


def test_a_refit_with_rows_of_a_database_says_how_to_ask_for_them(made):
    done = ended(
        *("fit", "old.csv", "--unlabeled", "sqlite:///b.db", *QUIET, "-o", "model-5"),
        cwd=made,
        code=1,
    )
    assert "UNION ALL" in done.stderr
