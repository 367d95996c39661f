import pytest
from matplotlib import pyplot


@pytest.fixture(autouse=True)
def _closed_figures():
    yield
    pyplot.close("all")
