"""Modules that load when they are first used: torch alone takes seconds to import.

Name a module twice, and use it as any other::

    if TYPE_CHECKING:
        from spadework.core import training
    else:
        training = LazyModule("spadework.core.training")
"""

from importlib import import_module
from types import ModuleType
from typing import Any


class LazyModule(ModuleType):
    """Stands for a module, and imports it when one of its names is asked for.

    >>> textwrap = LazyModule("textwrap")
    >>> textwrap.shorten("Imported by this line", width=15)
    'Imported [...]'
    """

    def __getattr__(self, name: str) -> Any:
        """Return what the module has under a name."""
        if name == "__wrapped__":  # inspect looks for it in all that a module holds
            raise AttributeError(name)
        return getattr(import_module(self.__name__), name)
