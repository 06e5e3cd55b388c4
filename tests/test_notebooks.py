"""The notebooks of ``examples/`` run from start to end, and what is committed is what they say."""

import re

import nbformat
import pytest

from tests.support import notebooks

MOST_BYTES = 200_000


@pytest.fixture(scope="module", params=notebooks.NOTEBOOKS, ids=lambda path: path.stem)
def path(request):
    """A notebook."""
    return request.param


@pytest.fixture(scope="module")
def committed(path):
    """The notebook as it is in the repository."""
    return notebooks.read(path)


@pytest.fixture(scope="module")
def executed(path):
    """The notebook after a run."""
    return notebooks.executed(path)


def test_there_is_one():
    """The way from a dump to a verdict is among the examples."""
    assert "migration" in {path.stem for path in notebooks.NOTEBOOKS}


def test_it_is_well_formed(committed):
    """The file is what the format wants, and its cells of code ran once, in order."""
    nbformat.validate(committed)
    code = [cell for cell in committed.cells if cell.cell_type == "code"]
    assert [cell.execution_count for cell in code] == list(range(1, len(code) + 1))


def test_it_says_what_is_committed(committed, executed):
    """A run gives the committed outputs, the texts and the words of the pictures alike;
    tests.support.notebooks writes them."""
    assert notebooks.texts(executed) == notebooks.texts(committed)
    assert notebooks.words(executed) == notebooks.words(committed)


def test_it_shows_pictures(committed):
    """Clusters and results are shown as HTML."""
    shown = [page for pages in notebooks.words(committed) for page in pages if page]
    assert len(shown) >= 4
    assert "11 nodes with 8 pods; 22 pods wait." in shown[0]


def test_it_ends_with_a_verdict(committed):
    """The last outputs are the verdict and the profile."""
    *_, verdict, profile = notebooks.texts(committed)
    assert verdict[0].startswith("The profile decides as the Policy does under 1.16: of 22 decisions ")
    assert profile[0].startswith("apiVersion: kubescheduler.config.k8s.io/v1\n")


def test_it_tells_no_paths_and_times(path):
    """The file has no path of a machine and no time of a run, and is small."""
    text = path.read_text()
    assert not re.search(r"/home/|/tmp/|/root/|/Users/|\d{4}-\d\d-\d\dT\d\d:", text)
    assert "iopub" not in text
    assert len(text) < MOST_BYTES
