"""Where files lie: in a checkout, or wherever research was installed."""

from pathlib import Path

_RESEARCH = Path(__file__).parents[2]
_IS_CHECKOUT = (_RESEARCH / "pyproject.toml").exists()


def checkout() -> Path | None:
    """Return the root of the checkout that this runs from, None if it was installed."""
    return _RESEARCH.parent if _IS_CHECKOUT else None


def results_folder(*, quick: bool = False) -> Path:
    """Where results go: ``research/results`` of a checkout, else below this folder.

    Those of a quick look go beside it.
    """
    folder = _RESEARCH / "results" if _IS_CHECKOUT else Path("spadework-results")
    return folder.with_name(f"{folder.name}-quick") if quick else folder
