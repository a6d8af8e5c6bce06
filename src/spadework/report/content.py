"""What the report says, as plain values: no HTML here."""

from dataclasses import asdict
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from spadework.differences import MIN_ROWS, compare_rows
from spadework.errors import DataError, InputError, LabelError
from spadework.explain import explain_rows
from spadework.labels import ANOMALY, NORMAL, UNLABELED
from spadework.reference import mark_rows
from spadework.report.one_class import describe_one_class
from spadework.report.performance import measure_performance
from spadework.report.trust import describe_trust
from spadework.table_model import TableModel, name_rows
from spadework.version import __version__

N_TOP, N_BINS, N_REASONS = 12, 40, 3
_NAMES = {ANOMALY: "anomaly", NORMAL: "normal", UNLABELED: "unlabeled"}
_SHOWN_COLUMNS = 12

Floats = NDArray[np.float64]


def make_content(
    model: TableModel, table: pa.Table, held_out: pa.Table | None = None
) -> dict[str, Any]:
    """Prepare the report on a model.

    Parameters
    ----------
    model : TableModel
    table : pyarrow.Table
        Rows to report on: their scores, and the top anomalies with reasons. Where it
        has labels, these are the top of the rows without.
    held_out : pyarrow.Table, optional
        Labeled rows to measure the model on; those whose labels it has learnt from are
        left out.
    """
    model.refuse_without_keys(table.column_names)
    if not table.num_rows:
        raise DataError("the table has column names and no rows: nothing to report on")
    scores = model.detector.anomaly_score(model.encoder.encode(table))
    top, n_labeled_higher = _find_top(model, table, scores)
    return {
        "version": __version__,
        "census": _census(model),
        "setting": model.detector.setting_,
        "trust": describe_trust(model.detector.trust_),
        "lost": [str(each) for each in model.find_lost(table)],
        "mismatch": _mismatch(model),
        "scores": _histogram(model, scores),
        "one_class": describe_one_class(model),
        "top": _top(model, table, scores, top),
        "n_labeled_higher": n_labeled_higher,
        "performance": None if held_out is None else _performance(model, held_out),
        "card": _card(model, table, scores),
    }


def _census(model: TableModel) -> dict[str, int]:
    return dict(model.detector.census_._asdict())


def _mismatch(model: TableModel) -> dict[str, Any] | None:
    """Say how labeled rows differ from unlabeled ones; None where a side is small."""
    reference = model.reference
    labeled = reference.labels != UNLABELED
    if min(labeled.sum(), (~labeled).sum()) < MIN_ROWS:
        return None
    found = compare_rows(model.encoder, reference.X[labeled], reference.X[~labeled])
    return {
        "sentence": str(found),
        "auc": found.auc,
        "columns": [each._asdict() for each in found.columns[:_SHOWN_COLUMNS]],
    }


def _histogram(model: TableModel, scores: Floats) -> dict[str, Any]:
    """Count scores in bins: the table's rows, and labeled training rows."""
    reference = model.reference
    edges = np.histogram_bin_edges(
        np.concatenate([scores, reference.scores]), bins=N_BINS
    )
    series = {"table": scores}
    for label in (NORMAL, ANOMALY):
        series[f"labeled {_NAMES[label]}"] = reference.scores[reference.labels == label]
    return {
        "edges": edges.tolist(),
        "counts": {
            name: np.histogram(values, edges)[0].tolist()
            for name, values in series.items()
        },
        "threshold": model.detector.threshold_,
        "n_called": int((scores > model.detector.threshold_).sum()),
    }


def _find_top(
    model: TableModel, table: pa.Table, scores: Floats
) -> tuple[NDArray[np.intp], int | None]:
    """Find the unlabeled rows with the highest scores.

    Also counts labeled rows that score as high; None where nothing or all is labeled,
    and the top is that of all rows.
    """
    order = np.argsort(-scores, kind="stable")
    labeled = _are_labeled(model, table)
    if labeled.all() or not labeled.any():
        return order[:N_TOP], None
    top = order[~labeled[order]][:N_TOP]
    return top, int((labeled & (scores >= scores[top[-1]])).sum())


def _are_labeled(model: TableModel, table: pa.Table) -> NDArray[np.bool_]:
    """Tell rows that have a label; none where labels are absent or not understood."""
    if model.label not in table.column_names:
        return np.zeros(table.num_rows, dtype=bool)
    try:
        return model.read_labels(table) != UNLABELED
    except LabelError:
        return np.zeros(table.num_rows, dtype=bool)


def _top(
    model: TableModel, table: pa.Table, scores: Floats, order: NDArray[np.intp]
) -> list[dict[str, Any]]:
    """Explain rows of the table."""
    rows = table.take(pa.array(order))
    keys = {name: rows.column(name).to_pylist() for name in model.keys}
    probability = model.detector.to_probability(scores[order])
    return [
        {
            "row": int(order[at]),
            "keys": {name: str(values[at]) for name, values in keys.items()},
            "score": each.score,
            "probability": float(probability[at]),
            "anomalous": each.anomalous,
            "reasons": [asdict(reason) for reason in each.reasons[:N_REASONS]],
            "nearest": [str(near) for near in each.nearest],
            "pseudo_label": each.pseudo_label,
        }
        for at, each in enumerate(explain_rows(model, rows))
    ]


def _performance(model: TableModel, held_out: pa.Table) -> dict[str, Any]:
    labels = model.read_labels(held_out)
    X = model.encoder.encode(held_out)
    learnt = _learnt_labels(model, held_out, X) & (labels != UNLABELED)
    known = (labels != UNLABELED) & ~learnt
    if learnt.any() and not known.any():
        raise InputError(
            f"the model has learnt from the labels of all {int(learnt.sum()):,} held-out "
            f"rows; give rows whose labels it has not seen"
        )
    scores = model.detector.anomaly_score(X[known])
    measured = measure_performance(
        scores,
        labels[known] == ANOMALY,
        model.detector.to_probability(scores),
        model.detector.threshold_,
    )
    return {**measured, "n_left_out": int(learnt.sum())}


def _learnt_labels(
    model: TableModel, table: pa.Table, X: NDArray[np.float32]
) -> NDArray[np.bool_]:
    """Tell which rows, encoded as X, the model has learnt from with their labels."""
    named = bool(model.keys) and set(model.keys) <= set(table.column_names)
    marks = mark_rows(X, name_rows(table, model.keys) if named else None)
    return np.isin(marks[:, int(named)], model.reference.marks[:, int(named)])


def _card(model: TableModel, table: pa.Table, scores: Floats) -> dict[str, Any]:
    """Collect what a model card holds."""
    return {
        "rows_learnt_from": model.n_rows,
        "rows_reported_on": table.num_rows,
        "label": model.label,
        "label_map": model.label_map,
        "columns": model.encoder.roles,
        "left_out": {each.name: each.why for each in model.encoder.ignored},
        "threshold": model.detector.threshold_,
        "share_called": float((scores > model.detector.threshold_).mean()),
        "parameters": {
            name: repr(value)
            for name, value in model.detector.get_params(deep=False).items()
            if name not in ("label_map", "verbose")
        },
    }
