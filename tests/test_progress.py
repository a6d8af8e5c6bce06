"""Progress is shown as log lines where there is no terminal, and only once."""

import logging

from spadework.progress import progress


def test_a_line_is_logged_at_the_end(caplog):
    with (
        caplog.at_level(logging.INFO, logger="spadework"),
        progress("digging", 3, verbose=True) as advance,
    ):
        for depth in range(3):
            advance(f"depth {depth}")
    assert [record.getMessage() for record in caplog.records][-1].startswith(
        "digging: done after 3 steps"
    )
    assert "depth 2" in caplog.text


def test_lines_come_now_and_then_while_the_work_lasts(caplog, monkeypatch):
    monkeypatch.setattr("spadework.progress._LOG_SECONDS", 0.0)
    with (
        caplog.at_level(logging.INFO, logger="spadework"),
        progress("digging", 2, verbose=False) as advance,
    ):
        advance("first")
        advance("second")
    assert "digging: 1 of 2, 0 s left first" in caplog.text


def test_nothing_is_said_of_what_is_left_where_that_is_not_known(caplog, monkeypatch):
    monkeypatch.setattr("spadework.progress._LOG_SECONDS", 0.0)
    with (
        caplog.at_level(logging.INFO, logger="spadework"),
        progress("digging", None, verbose=False) as advance,
    ):
        advance("9 holes")
    assert "digging: 0 s 9 holes" in caplog.text
    assert "left" not in caplog.text


def test_nothing_is_printed(capsys):
    with progress("digging", 1, verbose=False) as advance:
        advance("")
    assert capsys.readouterr() == ("", "")


def test_lines_that_nobody_logs_are_written_where_they_are_asked_for(capsys):
    for verbose in (True, False):
        with progress("digging", 2, verbose=verbose) as advance:
            advance("depth 1")
    assert capsys.readouterr().err.startswith(
        "digging: done after 1 steps, 0.0 s depth 1"
    )


def test_lines_that_are_logged_are_not_written_too(caplog, capsys):
    with caplog.at_level(logging.INFO, logger="spadework"):
        with progress("digging", 2, verbose=True) as advance:
            advance("")
    assert len(caplog.records) == 1
    assert capsys.readouterr().err == ""


def test_a_level_that_was_set_is_kept_to(caplog, capsys):
    with caplog.at_level(logging.WARNING, logger="spadework"):
        with progress("digging", 2, verbose=True) as advance:
            advance("")
    assert caplog.records == []
    assert capsys.readouterr().err == ""
