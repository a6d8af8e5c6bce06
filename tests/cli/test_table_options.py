"""Options of tables are read as people write them."""

import pytest

from spadework.cli.table_options import as_options, parse_map
from spadework.errors import LabelError


@pytest.mark.parametrize(
    ("texts", "mapping"),
    [
        (["fraud=1,ok=0"], {"fraud": 1, "ok": 0}),
        (["fraud=1", "ok=0, open=-1"], {"fraud": 1, "ok": 0, "open": -1}),
        (["fraud, proven=1", "ok=0"], {"fraud, proven": 1, "ok": 0}),
        (["a=b=1,c=0"], {"a=b": 1, "c": 0}),
    ],
)
def test_a_map_may_come_in_parts_and_a_pair_alone_may_hold_a_comma(texts, mapping):
    assert parse_map(texts) == mapping


def test_a_value_with_two_meanings_is_refused():
    with pytest.raises(LabelError, match="two meanings: 1 and 0"):
        parse_map(["fraud=1", "fraud=0"])


def test_options_are_spelled_as_a_shell_takes_them():
    assert as_options("ignore", ["late fee"]) == "--ignore 'late fee'"
    assert as_options("categories", ["zip"]) == "--category zip"
