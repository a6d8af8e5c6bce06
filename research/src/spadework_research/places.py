"""Where files lie: in a checkout, or wherever research was installed."""

from pathlib import Path

_RESEARCH = Path(__file__).parents[2]
_IS_CHECKOUT = (_RESEARCH / "pyproject.toml").exists()


def checkout() -> Path | None:
    """Return the root of the checkout that this runs from, None if it was installed."""
    return _RESEARCH.parent if _IS_CHECKOUT else None


def results_folder() -> Path:
    """Where results go: ``research/results`` of a checkout, else below this folder."""
    return _RESEARCH / "results" if _IS_CHECKOUT else Path("spadework-results")
