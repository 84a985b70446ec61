import pytest

import bonnetdb


@pytest.fixture
def con():
    with bonnetdb.connect() as connection:
        yield connection


@pytest.fixture(scope="module")
def karate():
    with bonnetdb.connect() as connection:
        connection.sql("ATTACH 'builtin:karate' AS karate")
        yield connection
