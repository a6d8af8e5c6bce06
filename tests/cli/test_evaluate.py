"""The evaluate command says what labels tell, to people and to machines."""

import json

import pyarrow.compute as pc
import pyarrow.csv as pa_csv
import pytest

from commands import FIT, assert_refused, ended, run
from fitted_payments import payments

FAST = ("--learner", "forest", "--folds", "2")


def test_evaluate_says_what_held_out_labels_tell_and_prints_it_as_json(place):
    done = ended("evaluate", "payments.csv", *FIT, *FAST, "--budget", "20%", cwd=place)
    assert "The top 20% of rows hold" in done.stdout
    assert "of other kinds nothing is known" in done.stdout
    as_json = ("--budget", "0.2", "--json", "--quiet")
    done = ended("evaluate", "payments.csv", *FIT, *FAST, *as_json, cwd=place)
    found = json.loads(done.stdout)
    assert found["census"] == {"n_anomalies": 12, "n_normals": 44, "n_unlabeled": 184}
    (recall,) = found["recall"].values()
    assert 0 <= recall["low"] <= recall["value"] <= recall["high"] <= 1
    assert done.stderr == ""


@pytest.mark.parametrize("budget", ["0", "120%", "many"])
def test_a_budget_that_is_no_share_is_refused(folder, budget):
    done = run("evaluate", "payments.csv", *FIT, "--budget", budget, cwd=folder)
    assert_refused(done, "needs a share of the rows, such as 2%")


def test_a_table_with_unlabeled_rows_has_no_scenarios_to_compare(folder):
    done = run("evaluate", "payments.csv", *FIT, "--scenarios", cwd=folder)
    assert_refused(done, "labeled in full")


def test_a_table_that_is_labeled_in_full_is_tried_in_each_of_the_usual_ways(folder):
    table = payments()
    known = table.filter(
        pc.is_in(table["status"], pc.unique(table["status"]).drop_null())
    )
    status = pc.if_else(pc.greater(table["amount"], 100), "fraud", "ok")
    table = table.set_column(table.column_names.index("status"), "status", status)
    pa_csv.write_csv(table, folder / "full.csv")
    assert known.num_rows
    done = ended(
        *("evaluate", "full.csv", *FIT, "--learner", "forest", "--scenarios", "--json"),
        cwd=folder,
    )
    found = json.loads(done.stdout)
    assert set(found) > {"easy rows", "anomalies only"}
    assert all(0 <= each["auc"] <= 1 for each in found.values())
