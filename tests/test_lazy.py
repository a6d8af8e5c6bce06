"""A lazy module loads when it is used, and then is as the module."""

import inspect
import sys
import textwrap
import wave

import pytest

from spadework.lazy import LazyModule


def test_a_module_loads_when_a_name_is_asked_for(monkeypatch):
    monkeypatch.delitem(sys.modules, "wave")
    lazy = LazyModule("wave")
    assert "wave" not in sys.modules
    assert lazy.open is sys.modules["wave"].open
    assert sys.modules["wave"] is not wave


def test_names_are_those_of_the_module():
    assert LazyModule("textwrap").shorten is textwrap.shorten


def test_what_is_patched_in_the_module_is_seen(monkeypatch):
    lazy = LazyModule("textwrap")
    monkeypatch.setattr(textwrap, "shorten", len)
    assert lazy.shorten is len


def test_a_name_that_is_not_there_is_refused_as_usual():
    with pytest.raises(AttributeError, match="module 'textwrap' has no attribute 'no'"):
        _ = LazyModule("textwrap").no


def test_a_module_that_is_not_there_is_refused_when_used():
    lazy = LazyModule("spadework.nothing")
    with pytest.raises(ModuleNotFoundError, match=r"spadework\.nothing"):
        _ = lazy.name


def test_looking_at_what_stands_for_a_module_does_not_import_it():
    absent = LazyModule("no_such_module")
    assert inspect.unwrap(absent) is absent
