"""Pictures are drawn by the program that the page shows."""

import pytest

from spadework.errors import InputError
from spadework_research.studies.gallery import draw, program_of


def test_the_program_of_a_page_is_run_in_the_folder_of_its_pictures(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("# Page\n\n```python\nopen('dot.png', 'wb').close()\n```\n")
    assert draw(page, tmp_path / "made") == [tmp_path / "made" / "dot.png"]


def test_a_page_without_a_program_is_refused():
    with pytest.raises(InputError, match="found none"):
        program_of("# Page\n")
