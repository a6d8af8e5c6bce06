"""What the report on pictures says, as plain values, and its page."""

import base64
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from spadework.arrays import Flags, Floats, Labels, Pixels, Positions
from spadework.errors import DataError
from spadework.files import write_whole
from spadework.images.detector import ImageSPADE
from spadework.images.heat import encode_picture, heat_range, overlay
from spadework.images.photos import Photos
from spadework.images.pretrained import PhotoModel
from spadework.images.reading import iter_photos
from spadework.labels import ANOMALY, NORMAL, UNLABELED
from spadework.progress import progress
from spadework.report.content import describe_parameters
from spadework.report.page import asset, new_environment
from spadework.report.performance import measure_performance
from spadework.version import __version__

N_TOP, N_ERRORS = 12, 12
"""Pictures of each kind that are shown."""

N_BINS, THUMBNAIL, QUALITY = 40, 192, 80
_SERIES = {NORMAL: "good", ANOMALY: "defect", UNLABELED: "unlabeled"}


class Looked(NamedTuple):
    """Which pictures were read, and how anomalous the model finds them, (n_read,)."""

    rows: Positions
    scores: Floats


def write_picture_page(detector: ImageSPADE, photos: Photos, out: Path) -> None:
    """Write the report on a detector and pictures: one HTML file, nothing beside it."""
    template = new_environment().get_template("pictures.html.jinja")
    css = asset("report.css") + asset("pictures.css")
    page = template.render(**make_picture_content(detector, photos), css=css)
    write_whole(out, page.encode())


def make_picture_content(detector: ImageSPADE, photos: Photos) -> dict[str, Any]:
    """Prepare the report; calls are held against what folders say of pictures."""
    looked = _look(detector, photos)
    labels = photos.labels[looked.rows]
    called = looked.scores > detector.threshold_
    top = np.argsort(-looked.scores, kind="stable")[:N_TOP]
    missed, alarms = _false_calls(looked.scores, labels, called)
    shown = _Gallery(detector, photos, looked)
    shown.prepare([top, missed, alarms])
    return {
        "version": __version__,
        "census": detector.census_._asdict(),
        "setting": detector.setting_,
        "n_pictures": len(looked.rows),
        "n_unreadable": len(photos.paths) - len(looked.rows),
        "n_called": int(called.sum()),
        "histogram": draw_histogram(looked.scores, labels, detector.threshold_),
        "threshold": detector.threshold_,
        "top": shown.cards(top),
        "performance": _performance(detector, looked.scores, labels),
        "missed": shown.cards(missed[:N_ERRORS]),
        "n_missed": len(missed),
        "alarms": shown.cards(alarms[:N_ERRORS]),
        "n_alarms": len(alarms),
        "has_heat": isinstance(detector.model_, PhotoModel),
        "card": describe_parameters(detector),
    }


def _look(detector: ImageSPADE, photos: Photos) -> Looked:
    """Score pictures a few at a time."""
    rows, scores = [], []
    chunks = iter_photos(photos.paths, detector.size, on_corrupt=detector.on_corrupt)
    with progress("scoring", len(photos.paths), verbose=detector.verbose) as advance:
        for read, pixels in chunks:
            rows.append(read)
            scores.append(detector.model_.score(pixels))
            for _ in read:
                advance("")
    if not rows:
        raise DataError("no picture is left: none of the files could be read")
    return Looked(np.concatenate(rows), np.concatenate(scores))


def _false_calls(
    scores: Floats, labels: Labels, called: Flags
) -> tuple[Positions, Positions]:
    """Missed defects, lowest score first, and false alarms, highest score first."""
    upwards, downwards = (np.argsort(each, kind="stable") for each in (scores, -scores))
    missed, alarms = (labels == ANOMALY) & ~called, (labels == NORMAL) & called
    return upwards[missed[upwards]], downwards[alarms[downwards]]


def _performance(
    detector: ImageSPADE, scores: Floats, labels: Labels
) -> dict[str, Any] | None:
    """Measure calls against what the folder says; None where it knows one class only."""
    known = labels != UNLABELED
    truth = labels[known] == ANOMALY
    if truth.all() or not truth.any():
        return None
    probability = detector.to_probability(scores[known])
    return measure_performance(scores[known], truth, probability, detector.threshold_)


def draw_histogram(scores: Floats, labels: Labels, threshold: float) -> dict[str, Any]:
    """Lay out a histogram of 640 x 240, shares of the pictures of each label there is."""
    edges = np.histogram_bin_edges(np.append(scores, threshold), bins=N_BINS)
    counts = {
        name: np.histogram(scores[labels == label], edges)[0]
        for label, name in _SERIES.items()
        if (labels == label).any()
    }
    high = max(float((each / each.sum()).max()) for each in counts.values())
    x = 46 + (edges - edges[0]) / (edges[-1] - edges[0]) * 584
    at = float(np.interp(threshold, edges, x))
    series = []
    for name, each in counts.items():
        y = 212 - each / each.sum() / high * 204
        steps = [
            f"{left:.1f},{at_y:.1f} {right:.1f},{at_y:.1f}"
            for left, right, at_y in zip(x[:-1], x[1:], y, strict=True)
        ]
        points = f"{x[0]:.1f},212 {' '.join(steps)} {x[-1]:.1f},212"
        series.append({"name": name, "n": int(each.sum()), "points": points})
    return {
        "series": series,
        "threshold_x": round(at, 1),
        "high": high,
        "ticks": [
            {"x": round(float(place), 1), "value": float(value)}
            for place, value in zip(x[:: N_BINS // 4], edges[:: N_BINS // 4], strict=True)
        ],
    }


class _Gallery:
    """Pictures and their heat maps as small JPEGs, read once for all sections."""

    def __init__(self, detector: ImageSPADE, photos: Photos, looked: Looked) -> None:
        self._detector, self._photos, self._looked = detector, photos, looked
        self._pictures: dict[int, dict[str, str | None]] = {}

    def prepare(self, groups: Iterable[Positions]) -> None:
        """Read the pictures of all groups, and draw them."""
        chosen = np.unique(np.concatenate([group[:N_TOP] for group in groups]))
        files = [self._photos.paths[row] for row in self._looked.rows[chosen]]
        model = self._detector.model_
        for at, pixels in iter_photos(files, self._detector.size):
            heat = [None] * len(at)
            if isinstance(model, PhotoModel):
                hot = overlay(pixels, model.heat(pixels), heat_range(model.bank))
                heat = [_thumbnail(each) for each in hot]
            for i, row in enumerate(chosen[at].tolist()):
                self._pictures[row] = {"picture": _thumbnail(pixels[i]), "heat": heat[i]}

    def cards(self, rows: Positions) -> list[dict[str, Any]]:
        """Return what the page shows of pictures, in their order."""
        return [
            {
                **self._pictures[row],
                "name": self._photos.names[self._looked.rows[row]],
                "kind": self._photos.kinds[self._looked.rows[row]],
                "score": float(self._looked.scores[row]),
                "called": bool(self._looked.scores[row] > self._detector.threshold_),
            }
            for row in rows.tolist()
        ]


def _thumbnail(pixels: Pixels) -> str:
    """Return a picture, (height, width, 3), as the address of a small JPEG."""
    content = encode_picture(pixels, "JPEG", THUMBNAIL, quality=QUALITY)
    return f"data:image/jpeg;base64,{base64.b64encode(content).decode()}"
