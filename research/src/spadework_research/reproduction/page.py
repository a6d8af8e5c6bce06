"""Fill the page on the reproduction with its numbers, and draw its pictures.

``python -m spadework_research.reproduction.page`` reads the committed results of the
study and of `evidence`, and writes what lies between the marks of the page anew.
"""

import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from spadework.files import write_whole
from spadework_research.places import results_folder
from spadework_research.report.cells import Runs
from spadework_research.report.published import read_paper
from spadework_research.reproduction.distances import (
    Moved,
    Tried,
    collect,
    is_near,
    reach,
)
from spadework_research.reproduction.evidence import RESULTS as EVIDENCE
from spadework_research.reproduction.evidence import SCALINGS, STEPS
from spadework_research.reproduction.options import (
    ABLATIONS,
    complete,
    name_of,
)
from spadework_research.reproduction.pictures import Panel, Points, draw_panels
from spadework_research.reproduction.study import CHEAP, read_lines
from spadework_research.reproduction.summary import changes
from spadework_research.reproduction.trials import Cell, PaperValue, paper_cells
from spadework_research.runs.methods import METHODS
from spadework_research.runs.results import read_results

NEAREST = {"scaling": "clipped", "layers": (1, 1, 1)}
"""The setting that `SPADE.paper` stands for."""

STUDY = results_folder() / "reproduction.jsonl"
PAGE = results_folder().parents[1] / "docs" / "reproduction.md"
PICTURES = PAGE.with_suffix("")
"""Folder of the pictures, beside the page."""

MARKS = "<!-- {name}: python -m spadework_research.reproduction.page -->"
END = "<!-- end -->"
PATIENCE = 5
WATCHED = (5, 20, 50, 100)
"""Epochs that the page shows."""
SEEDS = range(5)
"""Seeds that the nearest setting was chosen on."""

REASONS: dict[str, str] = {
    "scaling": "min-max as in the released code, of columns cut at three interquartile "
    "ranges from the median; chosen by the paper's numbers",
    "layers": "one layer each: encoder and predictor together are the “two-layer "
    "perceptron”; chosen by the paper's numbers",
    "activation": "as in VIME, by the first author",
    "last": "as in VIME, whose encoder ends in a ReLU",
    "init": "Glorot's rule, as in Keras, which VIME uses",
    "dropout": "not mentioned",
    "optimiser": "as in VIME",
    "learning_rate": "the default of Keras",
    "weight_decay": "not mentioned",
    "batch": "as in VIME",
    "epoch": "an epoch is a pass over the unlabeled rows",
    "draw": "each step has labeled beside unlabeled rows, as in VIME",
    "pseudo_mean": "as its formula says: an expectation over unlabeled rows, with weight "
    "0 for unknown ones",
    "class_weight": "not mentioned",
    "corruption": "its formula reconstructs what the encoder has read",
    "reconstruction": "mean squared error, as it is named",
    "max_epochs": "a bound that training seldom meets",
    "patience_on": "“training loss” is the sum of eq. 5",
    "min_delta": "“no improvement” is none at all",
    "keep": "no return to an earlier epoch is mentioned",
    "pretraining": "Algorithm 1 has none",
    "warmup": "Algorithm 1 has none",
    "covariance": "the default of scikit-learn's mixture, which the paper cites",
    "floor": "the same default",
    "code": "one-class models read h(x) itself",
    "score_scale": "eq. 3 and 4 compare scores themselves",
    "range": "eq. 3 and 4 try every threshold",
    "both": "a row above the one and below the other threshold is not told",
    "missing_class": "Otsu's threshold, as the text says",
}
"""Why each detail that the paper leaves open is read as it is."""

TITLES = {"thyroid": "Thyroid", "drug": "Drug", "covertype": "Covertype"}
SCENARIOS = {
    "new_types": "new types",
    "pu": "PU",
    "easiness": "easy rows",
    "high_risk/0.010": "high risk 1 %",
    "high_risk/0.015": "high risk 1.5 %",
    "high_risk/0.025": "high risk 2.5 %",
}
STEP_WORDS = {
    "literal": "the literal reading",
    "clipped": "columns cut before min-max scaling",
    "one_layer": "one layer each, not two",
    "glorot": "Glorot's start, not torch's",
    "batches": "128 rows in a step, at most 100 epochs: the nearest",
}


class Sources(NamedTuple):
    """What the page is built from."""

    tried: Mapping[str, Tried]
    paper: Mapping[Cell, PaperValue]
    evidence: Mapping[str, Any]
    library: Mapping[Cell, float]

    @property
    def nearest(self) -> Tried:
        """Results of the nearest setting on the seeds it was chosen on."""
        return self.tried[name_of(NEAREST)].of_seeds(SEEDS)

    @property
    def fresh(self) -> Tried:
        """Its results on seeds that nothing was chosen on."""
        whole = self.tried[name_of(NEAREST)]
        seeds = {seed for of in whole.aucs.values() for seed in of}
        return whole.of_seeds(seeds - {*SEEDS})


def read_sources() -> Sources:
    """Read the committed results."""
    evidence = json.loads(EVIDENCE.read_text(encoding="utf-8"))
    paper = paper_cells()
    return Sources(collect(read_lines([STUDY])), paper, evidence, _read_library(paper))


def fill(text: str, sources: Sources) -> str:
    """Return the page with every marked block written anew."""
    for name, build in BLOCKS.items():
        mark = MARKS.format(name=name)
        block = f"{mark}\n{build(sources)}\n{END}"
        text, n_found = re.subn(
            f"{re.escape(mark)}.*?{re.escape(END)}",
            lambda _, block=block: block,
            text,
            flags=re.DOTALL,
        )
        if n_found != 1:
            raise ValueError(f"the page needs the mark {mark!r} once; found {n_found}")
    return text


def pictures(sources: Sources) -> dict[str, str]:
    """Draw the pictures of the page, by file name."""
    curves = sources.evidence["curves"]
    return {
        "stopping.svg": _draw_curves(curves, "auc", "AUC of test rows", alphas=(1, 0)),
        "precision.svg": _draw_curves(
            curves, "precision", "Share of true anomalies among pseudo-anomalies"
        ),
        "dead.svg": _draw_curves(
            curves, "dead", "Share of dimensions of the code that are constant"
        ),
        "columns.svg": _draw_column(_telling(sources)[0]),
    }


def _reached(sources: Sources) -> str:
    """Say how near the nearest setting comes, and what was not run."""
    found = reach(sources.nearest, sources.paper)
    means, fresh = sources.nearest.means(), sources.fresh.means()
    cheap = [cell for cell in means if cell[0] in CHEAP]
    both = [cell for cell in cheap if cell in fresh and cell in sources.paper]
    own = [cell for cell in cheap if cell in sources.library]
    by_alpha = list(_ablated(sources, "alpha_0"))
    signs = list(_signs(sources))
    rows = [
        ("cells run, of the paper's", f"{found.n_run} of {found.n_cells}", "all"),
        ("mean absolute difference of AUC", f"{found.distance:.3f}", "0.030"),
        ("the same in the paper's deviations", f"{found.deviations:.1f}", ""),
        ("cells within 0.02 or two deviations", f"{found.n_near}", "22 of 32"),
        (
            "mean deviation over five seeds, the paper's",
            f"{found.spread:.3f}, {found.paper_spread:.3f}",
            "at most twice",
        ),
        (
            f"difference on Thyroid and Drug, {len(both)} cells",
            _far(means, sources, both),
            "",
        ),
        (
            "the same cells on five other seeds, on which nothing was chosen",
            _far(fresh, sources, both),
            "",
        ),
        (
            f"`SPADE.paper()` itself on Thyroid and Drug, {len(own)} cells",
            _far(sources.library, sources, own),
            "",
        ),
        (
            "cells in which alpha = 0 is below alpha = 1",
            f"{sum(zero < one for _, zero, one in by_alpha)} of {len(by_alpha)}",
            "all",
        ),
        (
            "ablation differences with the paper's sign",
            f"{sum(ours * theirs > 0 for *_, ours, theirs in signs)} of {len(signs)}",
            "12 of 16",
        ),
    ]
    return _table(("what", "nearest setting", "asked"), rows)


def _read_library(paper: Iterable[Cell]) -> dict[Cell, float]:
    """Mean AUCs of `SPADE.paper` itself, of the committed runs."""
    runs = Runs(read_results(results_folder()))
    found = {}
    for table, scenario, which in paper:
        name, _, share = scenario.partition("/")
        column = f"{table}-{share}" if share else table
        measure = "auc" if which == "overall" else f"auc_{which}"
        values = runs.values(name, column, "spade_paper", measure)
        if values:
            found[table, scenario, which] = float(np.mean(values))
    return found


def _far(means: Mapping[Cell, float], sources: Sources, cells: Iterable[Cell]) -> str:
    """Mean absolute difference to the paper over some cells."""
    return f"{np.mean([abs(means[c] - sources.paper[c].mean) for c in cells]):.3f}"


def _missing(sources: Sources) -> str:
    """Name the cells that were not run, and those with fewer seeds."""
    absent = defaultdict(list)
    for table, scenario, which in sources.paper:
        if (table, scenario, which) not in sources.nearest.aucs and which == "overall":
            absent[table].append(SCENARIOS.get(scenario, scenario.replace("/", " ")))
    few = {
        (table, len(of))
        for (table, _, _), of in sources.nearest.aucs.items()
        if len(of) < 5
    }
    words = [f"{table}: {', '.join(names)}" for table, names in absent.items()]
    seeds = ", ".join(f"{TITLES[table]} with {n} seeds" for table, n in sorted(few))
    return f"Not run: {'; '.join(words)}; ablations of Covertype. Of few seeds: {seeds}."


def _cells(sources: Sources) -> str:
    """Set the nearest setting's cells beside the paper's."""
    means, spreads = sources.nearest.means(), sources.nearest.spreads()
    rows = []
    for table in TITLES:
        for scenario, words in SCENARIOS.items():
            cells = [(table, scenario, w) for w in ("overall", "given", "missed")]
            cells = [cell for cell in cells if cell in sources.paper]
            shown = []
            for cell in cells:
                paper = sources.paper[cell]
                if cell not in means:
                    shown.append(f"not run ({paper.mean:.3f})")
                    continue
                far = "" if is_near(means[cell] - paper.mean, paper) else " *"
                shown.append(
                    f"{means[cell]:.3f} ± {spreads[cell]:.3f} ({paper.mean:.3f}){far}"
                )
            rows.append((f"{TITLES[table]}, {words}", *shown, *[""] * (3 - len(shown))))
    return _table(("cell", "overall", "given kinds", "missed kinds"), rows)


def _choices(sources: Sources) -> str:
    """Give each open detail with its reason and what other readings add."""
    found = defaultdict(list)
    for option, reading, far in changes(sources.tried, sources.paper, NEAREST):
        found[option].append((reading, far))
    worst = {option: max(far.distance for _, far in of) for option, of in found.items()}
    rows = [
        (
            option,
            f"`{_plain(complete(NEAREST)[option])}`",
            REASONS[option],
            ", ".join(f"`{_plain(reading)}` {_moved(far)}" for reading, far in of),
        )
        for option, of in sorted(found.items(), key=lambda each: -worst[each[0]])
    ]
    return _table(("detail", "reading", "reason", "other readings add"), rows)


def _covertype(sources: Sources) -> str:
    """Compare the settings that were run on Covertype."""
    cells = [
        ("covertype", "new_types", "overall"),
        ("covertype", "easiness", "overall"),
        ("covertype", "pu", "overall"),
        ("covertype", "pu", "missed"),
    ]
    rows = [("the paper", *(f"{sources.paper[cell].mean:.3f}" for cell in cells))]
    for tried in sources.tried.values():
        means = tried.means()
        if "covertype" not in tried.tables or _is_stated(tried):
            continue
        changed = {
            option: value
            for option, value in tried.setting.items()
            if value != complete(NEAREST)[option]
        }
        words = ", ".join(f"{k} = {_plain(v)}" for k, v in changed.items()) or "nearest"
        rows.append(
            (words, *(f"{means[c]:.3f}" if c in means else "not run" for c in cells))
        )
    head = ("setting", "new types", "easy rows", "PU", "PU, missed kinds")
    return _table(head, rows)


def _ablations(sources: Sources) -> str:
    """Set the differences of ablations beside the paper's."""
    by_name: dict[str, dict[str, tuple[float, float]]] = defaultdict(dict)
    for name, cell, ours, theirs in _signs(sources):
        by_name[name][cell] = (ours, theirs)
    cells = list(dict.fromkeys(cell for of in by_name.values() for cell in of))
    rows: list[tuple[str, ...]] = [
        (
            METHODS[f"spade_paper_{name}"].label,
            *(f"{of[c][0]:+.3f} ({of[c][1]:+.3f})" if c in of else "" for c in cells),
        )
        for name, of in by_name.items()
    ]
    alpha = {cell: zero - one for cell, zero, one in _ablated(sources, "alpha_0")}
    rows.append(("alpha = 0", *(f"{alpha[c]:+.3f}" if c in alpha else "" for c in cells)))
    heads = [f"{TITLES[c.split('/')[0]]}, {SCENARIOS[c.split('/')[1]]}" for c in cells]
    return _table(("without", *heads), rows)


def _walk(sources: Sources) -> str:
    """Walk from the literal reading to the nearest."""
    walks = sources.evidence["walks"]
    cases = list(dict.fromkeys((w["table"], w["scenario"]) for w in walks))
    rows = []
    for step in STEPS:
        row = [STEP_WORDS[step]]
        for case in cases:
            of = [w["steps"][step] for w in walks if (w["table"], w["scenario"]) == case]
            aucs = [each["auc"] for each in of]
            epochs = "/".join(str(each["epochs"]) for each in of)
            row.append(f"{np.mean(aucs):.3f} ± {np.std(aucs):.3f} ({epochs})")
        rows.append(tuple(row))
    return _table(("each change on top of the last", *map(_case, cases)), rows)


def _epochs(sources: Sources) -> str:
    """Say what the two readings are when patience ends them, and after all epochs."""
    rows = []
    for (case, literal), of in _by_case(sources.evidence["curves"], alpha=1).items():
        stops = [_stop(each) for each in of]
        pairs = [(each, stop) for each, stop in zip(of, stops, strict=True)]
        rows.append(
            (
                f"{_case(case)}, {'literal' if literal else 'nearest'}",
                "/".join(map(str, stops)),
                f"{np.mean([c['auc'][s - 1] for c, s in pairs]):.3f}",
                f"{np.mean([c['auc'][-1] for c in of]):.3f}",
                f"{np.mean([c['loss'][s - 1] for c, s in pairs]):.2f}",
                f"{np.mean([c['dead'][s - 1] for c, s in pairs]):.2f}",
                f"{_mean(c['precision'][s - 1] for c, s in pairs):.2f}",
                f"{np.mean([c['called'][s - 1] for c, s in pairs]):.2f}",
            )
        )
    head = (
        "cell, reading",
        "patience ends at epoch",
        "AUC there",
        f"AUC after {len(sources.evidence['curves'][0]['curves']['auc'])} epochs",
        "loss on labels there",
        "constant dimensions",
        "true among pseudo-anomalies",
        "pseudo-anomalies / anomalies",
    )
    return _table(head, rows)


def _watched(sources: Sources) -> str:
    """Say how AUC and the purity of pseudo-anomalies go on while both readings train."""
    rows = []
    for alpha, words in ((1, "with"), (0, "without")):
        found = _by_case(sources.evidence["curves"], alpha=alpha)
        for (case, literal), of in found.items():
            aucs = [f"{_mean(c['auc'][at - 1] for c in of):.3f}" for at in WATCHED]
            true = [f"{_mean(c['precision'][at - 1] for c in of):.2f}" for at in WATCHED]
            reading = "literal" if literal else "nearest"
            row = (f"{_case(case)}, {reading}, {words} pseudo-labels", " ".join(aucs))
            rows.append((*row, " ".join(true)))
    epochs = " ".join(map(str, WATCHED))
    head = ("cell, reading", f"AUC at epochs {epochs}")
    return _table((*head, "true among pseudo-anomalies"), rows)


def _columns(sources: Sources) -> str:
    """Say how scaling leaves the columns that tell most."""
    rows = [
        (
            f"column {each['column']}",
            f"{each['auc']:.3f}",
            *(f"{each[scaling]['share']:.4f}" for scaling in SCALINGS),
        )
        for each in _telling(sources)[:4]
    ]
    return _table(("Thyroid", "AUC of it alone", "min-max", "cut, then min-max"), rows)


BLOCKS: dict[str, Callable[[Sources], str]] = {
    "reached": _reached,
    "missing": _missing,
    "cells": _cells,
    "choices": _choices,
    "walk": _walk,
    "columns": _columns,
    "epochs": _epochs,
    "watched": _watched,
    "ablations": _ablations,
    "covertype": _covertype,
}


def _signs(sources: Sources) -> Iterator[tuple[str, str, float, float]]:
    """Give what an ablation changes, ours and the paper's: name, cell, and both."""
    paper = read_paper()["ablation"]
    for name in ABLATIONS:
        if name == "alpha_0":
            continue
        row = paper[METHODS[f"spade_paper_{name}"].paper or ""]
        for cell, ours, whole in _ablated(sources, name):
            theirs = row[cell].mean - paper["SPADE"][cell].mean
            yield name, cell, ours - whole, theirs


def _ablated(sources: Sources, name: str) -> Iterator[tuple[str, float, float]]:
    """Give the overall AUC with and without an ablation on the seeds of both."""
    ablated = sources.tried[name_of(complete(NEAREST) | ABLATIONS[name])]
    for cell, of in sorted(ablated.aucs.items()):
        table, scenario, which = cell
        seeds = of.keys() & sources.nearest.aucs.get(cell, {}).keys()
        if which == "overall" and seeds:
            pair = (of, sources.nearest.aucs[cell])
            ours, whole = (float(np.mean([each[s] for s in seeds])) for each in pair)
            yield f"{table}/{scenario}", ours, whole


def _is_stated(tried: Tried) -> bool:
    """Tell whether a setting changes what the paper states."""
    stated = {key for change in ABLATIONS.values() for key in change}
    return any(tried.setting[key] != complete({})[key] for key in stated)


def _telling(sources: Sources) -> list[dict[str, Any]]:
    """Columns of numbers that tell most, the best first."""
    numbers = [
        each
        for each in sources.evidence["columns"]
        if each["clipped"]["share"] != each["minmax"]["share"]
    ]
    return sorted(numbers, key=lambda each: -each["auc"])


def _by_case(
    curves: Iterable[Mapping[str, Any]], *, alpha: float
) -> dict[tuple[tuple[str, str], bool], list[dict[str, list[float]]]]:
    """Gather the curves of all seeds by cell and reading."""
    found = defaultdict(list)
    for each in curves:
        if each["alpha"] == alpha:
            case = each["table"], each["scenario"]
            found[case, each["literal"]].append(each["curves"])
    return dict(found)


def _stop(curves: Mapping[str, Sequence[float]]) -> int:
    """Return the epoch after which patience ends training, or the last."""
    best, waited = float("inf"), 0
    for epoch, loss in enumerate(curves["total"], start=1):
        best, waited = (loss, 0) if loss < best else (best, waited + 1)
        if waited == PATIENCE:
            return epoch
    return len(curves["total"])


def _draw_curves(
    curves: Sequence[Mapping[str, Any]],
    measure: str,
    title: str,
    alphas: Sequence[float] = (1,),
) -> str:
    """Draw a measure over epochs; a dot is where patience ends a seed's training."""
    panels: dict[tuple[str, str], Panel] = {}
    for alpha in alphas:
        for (case, literal), of in _by_case(curves, alpha=alpha).items():
            panel = panels.setdefault(case, Panel(f"{title}: {_case(case)}", {}, {}))
            name = "literal" if literal else "nearest"
            name += ", without pseudo-labels" if alpha == 0 else ""
            values = list(zip(*(each[measure] for each in of), strict=True))
            mean = [(at, _mean(row)) for at, row in enumerate(values, start=1)]
            lines, marks = dict(panel.lines), dict(panel.marks)
            lines[name] = [(at, value) for at, value in mean if not np.isnan(value)]
            if alpha:
                stops = [(each, _stop(each)) for each in of]
                ends = [(at, each[measure][at - 1]) for each, at in stops]
                marks[name] = [(at, end) for at, end in ends if end is not None]
            panels[case] = panel._replace(lines=lines, marks=marks)
    named = [panel._replace(title=_case(case)) for case, panel in panels.items()]
    return draw_panels(named, title=title, x_label="epoch")


def _draw_column(column: Mapping[str, Any]) -> str:
    """Draw the scaled values of a column over their percentiles."""
    words = {"minmax": "min-max scaling", "clipped": "cut, then min-max scaling"}

    def points(values: Sequence[float]) -> Points:
        return list(zip(np.linspace(0, 100, len(values)).tolist(), values, strict=True))

    panels = [
        Panel(
            f"Column {column['column']}, {words[scaling]}",
            {
                "normal rows": points(column[scaling]["normal"]),
                "anomalies": points(column[scaling]["anomaly"]),
            },
        )
        for scaling in SCALINGS
    ]
    title = "Scaled values of the column of Thyroid that tells most"
    return draw_panels(panels, title=title, x_label="percentile of the rows")


def _case(case: tuple[str, str]) -> str:
    table, scenario = case
    return f"{TITLES[table]}, {SCENARIOS[scenario]}"


def _mean(values: Iterable[float | None]) -> float:
    known = [each for each in values if each is not None]
    return float(np.mean(known)) if known else float("nan")


def _moved(far: Moved) -> str:
    return f"{far.distance:+.3f} ± {far.error:.3f}"


def _plain(reading: Any) -> str:
    return ", ".join(map(str, reading)) if isinstance(reading, tuple) else str(reading)


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Write a table of Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def main() -> None:
    """Write the page and its pictures."""
    sources = read_sources()
    text = fill(PAGE.read_text(encoding="utf-8"), sources)
    write_whole(PAGE, text.encode())
    PICTURES.mkdir(exist_ok=True)
    for name, drawn in pictures(sources).items():
        write_whole(PICTURES / name, drawn.encode())


if __name__ == "__main__":
    main()
