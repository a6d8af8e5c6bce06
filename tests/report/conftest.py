"""What tests of the report share: payments, a model of them, and the report on both."""

import pytest

from reported import shared_content, shared_model, shared_table


@pytest.fixture(scope="session")
def table():
    return shared_table()


@pytest.fixture(scope="session")
def model():
    return shared_model()


@pytest.fixture(scope="session")
def content():
    return shared_content()
