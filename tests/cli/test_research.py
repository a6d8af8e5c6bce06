"""Commands of research are passed on to it, or say how to get it."""

from types import SimpleNamespace

import pytest
from typer.testing import CliRunner

from spadework.cli import research
from spadework.cli.app import app
from spadework.errors import InputError


def called(*arguments):
    return CliRunner().invoke(app, arguments)


@pytest.mark.parametrize("name", research.COMMANDS)
def test_a_command_of_research_says_how_to_get_it_where_it_is_not(monkeypatch, name):
    monkeypatch.setattr(research, "entry_points", lambda **which: ())
    error = called(name, "--quick").exception
    assert isinstance(error, InputError)
    assert f"'spadework {name}' needs spadework-research" in str(error)
    assert "pip install ./research" in str(error)


@pytest.mark.parametrize("name", research.COMMANDS)
def test_all_words_behind_the_command_are_passed_on(monkeypatch, name):
    heard = []

    def command(*, args, prog_name):
        heard.append((prog_name, *args))

    def entry_points(**which):
        assert which == {"group": "spadework.commands", "name": name}
        return (SimpleNamespace(load=lambda: command),)

    monkeypatch.setattr(research, "entry_points", entry_points)
    assert called(name, "report", "--help", "-x", "1").exit_code == 0
    assert heard == [(f"spadework {name}", "report", "--help", "-x", "1")]
