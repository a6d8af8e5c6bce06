"""Labels are read as people keep them in a column."""

import numpy as np
import pyarrow as pa
import pytest

from fitted_payments import payments
from spadework.errors import LabelError
from spadework.table_fitting import plan_table


@pytest.mark.parametrize(
    ("labels", "label_map"),
    [
        ([1, 0, -1, -1], None),
        ([1.0, 0.0, None, None], None),
        (["1", "0", "", "NA"], None),
        (["1.0", "0.0", None, "-1"], None),
        ([True, False, None, None], None),
        (["anomaly", "normal", "unlabeled", None], None),
        (["fraud", "ok", None, "open"], {"fraud": 1, "ok": 0, "open": -1}),
        (["fraud", "ok", "", ""], {"fraud": 1, "ok": 0, "": -1}),
        ([2.0, 1.0, None, 0.0], {2: 1, 1: 0, 0: -1}),
        ([2, 1, 0, 0], {"2": 1, "1.0": 0, 0.0: -1}),
        ([True, False, None, None], {True: 1, False: 0, None: -1}),
    ],
)
def test_labels_are_read_as_people_keep_them(labels, label_map):
    table = pa.table({"y": labels * 10, "x": np.arange(40) ** 2 % 17})
    plan = plan_table(table, label="y", label_map=label_map)
    assert plan.labels[:4].tolist() == [1, 0, -1, -1]
    coded = pa.table({"y": table.column("y").dictionary_encode(), "x": table.column("x")})
    again = plan_table(coded, label="y", label_map=label_map).labels
    assert again.tolist() == plan.labels.tolist()


def test_a_word_that_reads_as_an_empty_cell_labels_nothing():
    with pytest.raises(LabelError, match="'NA', which reads as an empty cell"):
        plan_table(payments(), label="status", label_map={"fraud": 1, "NA": 0})


def test_a_label_has_one_meaning():
    with pytest.raises(LabelError, match="'1' two meanings, 1 and 0"):
        plan_table(payments(), label="status", label_map={"1": 1, "1.0": 0})


def test_a_label_that_is_not_mapped_is_refused():
    with pytest.raises(LabelError, match="no entry for 'ok'"):
        plan_table(payments(), label="status", label_map={"fraud": 1})
