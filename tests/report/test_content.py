"""The report holds what the model found, and what unseen labels say of it."""

import numpy as np
import pyarrow as pa
import pytest

from reported import fit, held_out_table
from spadework.errors import DataError, InputError
from spadework.report import build_page
from spadework.report.content import N_TOP, make_content


def ranked_rows(model, table):
    scores = model.score(table).column("anomaly_score").to_numpy()
    return np.argsort(-scores, kind="stable")


def test_the_top_rows_are_those_with_the_highest_scores_without_a_label(
    model, table, content
):
    status = np.array(table.column("status").to_pylist())
    ranked = ranked_rows(model, table)
    expected = ranked[status[ranked] == ""][:N_TOP]
    last = int(np.flatnonzero(ranked == expected[-1])[0])
    assert content["n_labeled_higher"] == last + 1 - N_TOP
    assert [each["row"] for each in content["top"]] == expected.tolist()
    assert content["top"][0]["keys"] == {"id": f"p{expected[0]}"}
    assert content["top"][0]["reasons"][0]["column"] == "amount"


@pytest.mark.parametrize("status", [None, "pending"])
def test_a_table_without_labels_or_with_others_shows_its_highest_scores(
    model, table, status
):
    new = table.drop_columns(["status"])
    if status is not None:
        new = new.append_column("status", pa.array([status] * len(table)))
    content = make_content(model, new)
    expected = ranked_rows(model, table)[:N_TOP].tolist()
    assert [each["row"] for each in content["top"]] == expected
    assert content["n_labeled_higher"] is None
    assert "nobody has labeled" not in build_page(content)


def test_the_counts_of_the_histogram_are_all_rows(model, table, content):
    found = content["scores"]
    assert sum(found["counts"]["table"]) == len(table)
    called = model.score(table).column("anomaly").to_numpy().sum()
    assert found["n_called"] == called


def test_performance_is_measured_on_held_out_labels(content):
    assert content["performance"]["n_rows"] == 400
    assert content["performance"]["measures"]["ROC AUC"][0] > 0.9


def test_rows_whose_labels_were_learnt_from_are_not_held_out(model, table, content):
    both = make_content(model, table, pa.concat_tables([table, held_out_table()]))
    measured = both["performance"]
    n_labeled = sum(status != "" for status in table.column("status").to_pylist())
    assert (measured["n_rows"], measured["n_left_out"]) == (400, n_labeled)
    assert measured["measures"] == content["performance"]["measures"]
    assert f"Left out: {n_labeled} whose labels it has" in build_page(both)


def test_no_label_that_was_learnt_from_is_held_out_though_few_rows_are_remembered(
    table, monkeypatch
):
    monkeypatch.setattr("spadework.table_fitting.REFERENCE_ROWS", 4)
    few = fit(table)
    with pytest.raises(InputError, match="has learnt from the labels of all"):
        make_content(few, table, table)


def test_rows_without_keys_or_no_rows_are_refused(model, table):
    with pytest.raises(InputError, match="lacks the key columns"):
        make_content(model, table.drop_columns(list(model.keys)))
    with pytest.raises(DataError, match="no rows"):
        make_content(model, table.slice(0, 0))
