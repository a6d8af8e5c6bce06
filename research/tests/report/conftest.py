"""What tests of the report share: a folder with some results."""

import pytest

from made_results import some_results, stored


@pytest.fixture
def folder(tmp_path):
    return stored(some_results(), tmp_path / "results")
