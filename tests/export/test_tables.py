"""A table model and its ONNX graph score the same rows the same."""

import numpy as np
import onnxruntime
import pyarrow as pa
import pytest

from spadework import SPADE, TreeLearner, fit_table
from spadework.errors import ExportError
from spadework.export import export_onnx
from spadework.export.tables import table_feed


def made_table(n, seed, *, new_values=False):
    rng = np.random.default_rng(seed)
    amount = rng.normal(size=n)
    status = np.where(amount > 1.5, "fraud", "ok")
    status[rng.random(n) > 0.3] = ""
    places = [f"c{i}" for i in range(60 if new_values else 40)]
    stamps = np.datetime64("2025-01-01", "s") + rng.integers(0, 10**7, n)
    seconds = pa.array(rng.integers(0, 86_400, n), mask=rng.random(n) < 0.1)
    return pa.table(
        {
            "amount": pa.array(amount, mask=rng.random(n) < 0.1),
            "kind": pa.array(rng.choice(["web", "shop"], n), mask=rng.random(n) < 0.1),
            "place": rng.choice(places, n),
            "when": pa.array(stamps, mask=rng.random(n) < 0.1),
            "big": 10**12 + rng.integers(0, 100, n),
            "flag": rng.random(n) < 0.5,
            "clock": seconds.cast(pa.int32()).cast(pa.time32("s")),
            "cost": [f"${each:,.2f}" for each in 900 * rng.random(n)],
            "status": status,
        }
    )


@pytest.fixture(scope="module")
def model():
    return fit_table(
        made_table(900, 0),
        label="status",
        label_map={"fraud": 1, "ok": 0, "": -1},
        detector=SPADE(learner=TreeLearner(pseudo_labels=False), random_state=0),
    )


def test_graph_and_model_agree_on_rows_with_gaps_and_new_values(model, tmp_path):
    fresh = made_table(500, 1, new_values=True)
    path = tmp_path / "model.onnx"
    assert export_onnx(model, path, sample=fresh) < 1e-9
    session = onnxruntime.InferenceSession(str(path))
    assert {each.name for each in session.get_inputs()} == {
        column.name for column in model.encoder.columns
    }
    answers = session.run(None, table_feed(model.encoder, fresh.slice(0, 1)))
    score = model.score(fresh.slice(0, 1)).column("anomaly_score")[0].as_py()
    assert answers[0][0] == pytest.approx(score, abs=1e-9)


def test_columns_named_like_outputs_are_refused(tmp_path):
    table = made_table(400, 0).rename_columns(
        ["score", *made_table(1, 0).column_names[1:]]
    )
    detector = SPADE(learner=TreeLearner(pseudo_labels=False), random_state=0)
    label_map = {"fraud": 1, "ok": 0, "": -1}
    model = fit_table(table, label="status", label_map=label_map, detector=detector)
    with pytest.raises(ExportError, match="named like the outputs"):
        export_onnx(model, tmp_path / "model.onnx", sample=table)
    assert list(tmp_path.iterdir()) == []


def test_columns_may_have_names_like_those_inside_a_graph(tmp_path):
    table = made_table(400, 0)
    names = ["Sub_5", "constant_0", "Unsqueeze_0"]
    table = table.rename_columns([*names, *table.column_names[3:]])
    detector = SPADE(learner=TreeLearner(pseudo_labels=False), random_state=0)
    label_map = {"fraud": 1, "ok": 0, "": -1}
    model = fit_table(table, label="status", label_map=label_map, detector=detector)
    export_onnx(model, tmp_path / "model.onnx", sample=table)
    assert (tmp_path / "model.onnx").exists()


def test_an_empty_sample_proves_nothing(model, tmp_path):
    with pytest.raises(ExportError, match="no rows"):
        export_onnx(model, tmp_path / "m.onnx", sample=made_table(10, 0).slice(0, 0))


def test_what_was_said_to_be_missing_is_missing_to_the_graph(tmp_path):
    table = made_table(900, 0)
    for name, stated in {
        "amount": pa.scalar(-999.0),
        "kind": pa.scalar("unknown"),
        "when": pa.scalar(np.datetime64("1900-01-01", "s")),
        "clock": pa.scalar(86_399, pa.int32()).cast(pa.time32("s")),
    }.items():
        place = table.column_names.index(name)
        filled = table.column(name).fill_null(stated.cast(table.column(name).type))
        table = table.set_column(place, name, filled)
    model = fit_table(
        table,
        label="status",
        label_map={"fraud": 1, "ok": 0, "": -1},
        missing=["-999", "unknown", "1900-01-01", "23:59:59"],
        detector=SPADE(learner=TreeLearner(pseudo_labels=False), random_state=0),
    )
    path = tmp_path / "model.onnx"
    export_onnx(model, path, sample=table)
    stamps = table.column("when").to_numpy().astype("datetime64[s]")
    as_it_is = table_feed(model.encoder, table) | {
        "amount": table.column("amount").to_numpy(),
        "kind": table.column("kind").to_numpy(zero_copy_only=False),
        "when": stamps.astype(np.int64) / 86_400,
        "clock": table.column("clock").cast(pa.int32()).to_numpy() / 3_600,
    }
    answers = onnxruntime.InferenceSession(str(path)).run(None, as_it_is)
    native = model.score(table).column("anomaly_score").to_numpy()
    np.testing.assert_allclose(answers[0].ravel(), native, atol=1e-9)
