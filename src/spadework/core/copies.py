"""What is copied and pickled of an object that works things out once."""

from dataclasses import fields
from typing import Any


class CopiedByFields:
    """A dataclass of which copies and pickles hold the fields alone.

    What cached properties have worked out is left out: it can be large, and compiled
    trees have the form of one scikit-learn.
    """

    def __getstate__(self) -> dict[str, Any]:
        """Return the fields by name."""
        each: Any = self
        return {field.name: getattr(self, field.name) for field in fields(each)}
