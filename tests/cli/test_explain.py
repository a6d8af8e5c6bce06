"""The explain command puts rows into words."""

import json
import re

import pyarrow as pa
import pyarrow.parquet as pa_parquet
import pytest

from commands import FIT, assert_refused, ended, run
from fitted_payments import payments


def test_explain_prints_json_with_keys_and_shares_that_sum(place):
    done = run("explain", "model", "new.csv", "--top", "2", "--json", cwd=place)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert len(found) == 2
    assert found[0]["score"] >= found[1]["score"]
    for each in found:
        assert each["keys"]["id"] == f"T{each['row']:05}"
        total = sum(reason["share"] for reason in each["reasons"])
        assert total == pytest.approx(each["score"] - each["baseline"], abs=1e-5)


def test_explain_puts_a_row_of_ones_choice_into_words(place):
    done = run("explain", "model", "new.parquet", "--row", "17", cwd=place)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("row 17 (id T00017): score ")
    assert "of ordinary rows" in done.stdout
    assert "nearest labeled in training: id " in done.stdout


def test_explain_needs_no_keys(folder):
    done = run(
        *("fit", "payments.csv", "--label", "status", "--map", "fraud=1,ok=0"),
        *("--ignore", "id", "--out", "model"),
        cwd=folder,
    )
    assert done.returncode == 0, done.stderr
    for asked in (["--top", "2"], ["--row", "17"]):
        done = run("explain", "model", "payments.csv", *asked, cwd=folder)
        assert done.returncode == 0, done.stderr
        rows = re.findall(r"^row (\d+): score ", done.stdout, re.MULTILINE)
        assert len(rows) == (2 if "--top" in asked else 1)
        assert "--top" in asked or rows == ["17"]


def test_explain_refuses_rows_that_are_not_there(place):
    done = run("explain", "model", "new.csv", "--row", "300", cwd=place)
    assert_refused(done, "there is no row 300")


def test_explain_writes_a_key_that_is_no_number_as_null(tmp_path):
    table = payments()
    numbers = pa.array([float("nan"), *range(1, 240)], pa.float64())
    table = table.set_column(0, "id", numbers)
    pa_parquet.write_table(table, tmp_path / "payments.parquet")
    run("fit", "payments.parquet", *FIT, "-o", "model", cwd=tmp_path)
    done = run(
        "explain", "model", "payments.parquet", "--row", "0", "--json", cwd=tmp_path
    )
    assert json.loads(done.stdout)[0]["keys"] == {"id": None}


def test_rows_without_their_keys_are_not_explained(made):
    header, *lines = (made / "old.csv").read_text().splitlines()
    assert header.startswith("id,")
    bare = [line.partition(",")[2] for line in (header, *lines[:20])]
    (made / "bare.csv").write_text("\n".join(bare) + "\n")
    done = ended("explain", "model", "bare.csv", "--row", "3", cwd=made, code=1)
    assert "lacks the key columns id" in done.stderr


def test_rows_are_explained_by_their_keys(made):
    by_number = ended("explain", "model", "old.csv", "--row", "17", cwd=made).stdout
    key = (made / "old.csv").read_text().splitlines()[18].split(",")[0]
    explain = ("explain", "model", "old.csv", "--key-value")
    assert ended(*explain, key, cwd=made).stdout == by_number
    said = ended(*explain, "nobody", cwd=made, code=1).stderr
    assert "no row of 1,200 has id nobody" in said
    both = ended(*explain, key, "--row", "17", cwd=made, code=1).stderr
    assert "not both" in both
