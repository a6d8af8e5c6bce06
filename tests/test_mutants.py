"""A tenth more or less of a constant moves a golden score, or its name is excused."""

import pytest

import mutants

KEPT = {(kept["module"], kept["name"]): kept for kept in mutants.read()}


def test_constants_have_the_values_that_were_measured():
    of_now = {constant[:2]: constant.value for constant in mutants.constants()}
    measured = {place: kept["value"] for place, kept in KEPT.items()}
    assert measured.items() <= of_now.items(), "run `make mutants`"


def test_every_excuse_names_a_constant():
    names = {f"{constant.module}.{constant.name}" for constant in mutants.constants()}
    assert set(mutants.excused()) <= names


@pytest.mark.parametrize(
    "kept", KEPT.values(), ids=lambda kept: f"{kept['module']}.{kept['name']}"
)
def test_a_tenth_of_a_constant_moves_a_golden_score(kept):
    assert kept["moved"]


@pytest.mark.parametrize(
    ("value", "less", "more"),
    [
        ("50", "45", "55"),
        ("3", "2", "4"),
        ("0", "-1", "1"),
        ("-1", "-2", "0"),
        ("1 << 4", "14", "18"),
        ("0.5", "0.45", "0.55"),
        ("1 / 2", "0.45", "0.55"),
        ("0.0", "-0.1", "0.1"),
    ],
)
def test_numbers_are_moved_by_a_tenth_and_integers_by_one_at_least(value, less, more):
    assert mutants.moved_by_a_tenth(value, mutants.LESS) == less
    assert mutants.moved_by_a_tenth(value, mutants.MORE) == more


def test_constants_of_modules_classes_and_signatures_are_found(tmp_path, monkeypatch):
    package = tmp_path / "spadework"
    (package / "core").mkdir(parents=True)
    (package / "core" / "made.py").write_text(
        "A = 3\nB, C = 1 / 16, (2, -3)\nD = f('x', 4)\n"
        "E: float = 0.5\nNAME = 'x'\nSURE = True\n"
        "class F:\n    g: int = 7\n    def h(self, i, j=8, *, k=9): ...\n"
    )
    monkeypatch.setattr(mutants, "SOURCE", package)
    found = [constant[:3] for constant in mutants.constants_of(package / "core/made.py")]
    assert found == [
        ("spadework.core.made", name, value)
        for name, value in [
            ("A", "3"),
            ("B", "1 / 16"),
            ("C[0]", "2"),
            ("C[1]", "-3"),
            ("D(1)", "4"),
            ("E", "0.5"),
            ("F.g", "7"),
            ("F.h(j)", "8"),
            ("F.h(k)", "9"),
        ]
    ]


def test_a_module_is_loaded_with_its_constant_moved(tmp_path, monkeypatch):
    package = tmp_path / "spadework"
    package.mkdir()
    (package / "labels.py").write_text("A, B = 10, (20,\n 30)\nC = 'x'\n")
    monkeypatch.setattr(mutants, "SOURCE", package)
    found = list(mutants.constants_of(package / "labels.py"))
    spaces = []
    for constant in found:
        spaces.append({})
        exec(mutants.Moved(constant, mutants.MORE).get_code(constant.module), spaces[-1])
    values = [(space["A"], space["B"], space["C"]) for space in spaces]
    assert values == [(11, (20, 30), "x"), (10, (22, 30), "x"), (10, (20, 33), "x")]
