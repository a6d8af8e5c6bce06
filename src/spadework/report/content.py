"""What the report says, as plain values: no HTML here."""

from contextlib import suppress
from dataclasses import asdict
from typing import Any

import numpy as np
import pyarrow as pa

from spadework.arrays import Flags, Floats, Positions
from spadework.base import AnomalyDetector
from spadework.differences import MIN_ROWS, compare_rows, remembered
from spadework.errors import DataError, InputError, LabelError
from spadework.explain import explain_rows
from spadework.labels import ANOMALY, NORMAL, UNLABELED
from spadework.report.performance import measure_performance
from spadework.table_model import TableModel
from spadework.version import __version__

N_TOP, N_BINS, N_REASONS = 12, 40, 3
_SHOWN_COLUMNS = 12


def make_content(
    model: TableModel, table: pa.Table, held_out: pa.Table | None = None
) -> dict[str, Any]:
    """Prepare the report on a model and a table: scores, and top anomalies with reasons.

    Where the table has labels, these are the top of the rows without. The model is
    measured on held-out labeled rows, but for those whose labels it has learnt from.
    """
    model.refuse_without_keys(table.column_names)
    if not table.num_rows:
        raise DataError("the table has column names and no rows: nothing to report on")
    scores = model.detector.anomaly_score(model.encoder.encode(table))
    top, n_labeled_higher = _find_top(model, table, scores)
    return {
        "version": __version__,
        "census": model.detector.census_._asdict(),
        "setting": model.detector.setting_,
        "trust": str(model.detector.trust_ or ""),
        "share": model.detector.share_,
        "pseudo_labels": _count_pseudo_labels(model),
        "lost": [str(each) for each in model.find_lost(table)],
        "mismatch": _mismatch(model),
        "scores": _histogram(model, scores),
        "top": _top(model, table, scores, top),
        "n_labeled_higher": n_labeled_higher,
        "performance": None if held_out is None else _performance(model, held_out),
        "card": _card(model, table, scores),
    }


def _count_pseudo_labels(model: TableModel) -> dict[str, Any] | None:
    """Count pseudo-labels, and rows without; None where every row was labeled."""
    pseudo = model.detector.pseudo_labels_
    if pseudo is None:
        return None
    n_rows, n_members = pseudo.votes.shape
    return {
        "n_members": n_members,
        "voting": model.detector.voting,
        "n_anomalies": pseudo.n_anomalies,
        "n_normals": pseudo.n_normals,
        "n_open": n_rows - pseudo.n_anomalies - pseudo.n_normals,
    }


def _mismatch(model: TableModel) -> dict[str, Any] | None:
    """Say how labeled rows differ from unlabeled ones; None where a side is small."""
    reference = model.reference
    labeled = reference.labels != UNLABELED
    if min(labeled.sum(), (~labeled).sum()) < MIN_ROWS:
        return None
    sides = (remembered(reference, rows) for rows in (labeled, ~labeled))
    found = compare_rows(model.encoder, *sides)
    return {
        "sentence": str(found),
        "auc": found.auc,
        "columns": [each._asdict() for each in found.columns[:_SHOWN_COLUMNS]],
    }


def _histogram(model: TableModel, scores: Floats) -> dict[str, Any]:
    """Count scores in bins: the table's rows, and labeled training rows."""
    reference = model.reference
    everything = np.append(scores, reference.scores)
    edges = np.histogram_bin_edges(everything, bins=N_BINS)
    series = {"table": scores}
    for name, label in (("labeled normal", NORMAL), ("labeled anomaly", ANOMALY)):
        series[name] = reference.scores[reference.labels == label]
    counts = {name: np.histogram(each, edges)[0] for name, each in series.items()}
    return {
        "edges": edges.tolist(),
        "counts": {name: each.tolist() for name, each in counts.items()},
        "threshold": model.detector.threshold_,
        "n_called": int((scores > model.detector.threshold_).sum()),
    }


def _find_top(
    model: TableModel, table: pa.Table, scores: Floats
) -> tuple[Positions, int | None]:
    """Find the unlabeled rows with the highest scores; count labeled ones as high.

    Where nothing or all is labeled, the top is that of all rows, and None counted.
    """
    order = np.argsort(-scores, kind="stable")
    labeled = _are_labeled(model, table)
    if labeled.all() or not labeled.any():
        return order[:N_TOP], None
    top = order[~labeled[order]][:N_TOP]
    return top, int((labeled & (scores >= scores[top[-1]])).sum())


def _are_labeled(model: TableModel, table: pa.Table) -> Flags:
    """Tell rows that have a label; none where labels are absent or not understood."""
    if model.label in table.column_names:
        with suppress(LabelError):
            return model.read_labels(table) != UNLABELED
    return np.zeros(table.num_rows, dtype=bool)


def _top(
    model: TableModel, table: pa.Table, scores: Floats, order: Positions
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
    names = model.name_rows(held_out)
    learnt = model.reference.has_learnt(X, names) & (labels != UNLABELED)
    known = (labels != UNLABELED) & ~learnt
    if learnt.any() and not known.any():
        raise InputError(
            f"the model has learnt from the labels of all {int(learnt.sum()):,} held-out "
            f"rows; give rows whose labels it has not seen"
        )
    truth, scores = labels[known] == ANOMALY, model.detector.anomaly_score(X[known])
    probability = model.detector.to_probability(scores)
    threshold = model.detector.threshold_
    measured = measure_performance(scores, truth, probability, threshold)
    return {**measured, "n_left_out": int(learnt.sum())}


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
        "calls": str(model.detector.calls_ or ""),
        "parameters": describe_parameters(model.detector),
    }


def describe_parameters(detector: AnomalyDetector) -> dict[str, str]:
    """Return the parameters of a detector as text, but for its labels and progress."""
    parameters = detector.get_params(deep=False)
    kept = parameters.keys() - {"label_map", "verbose"}
    return {name: repr(value) for name, value in parameters.items() if name in kept}
