"""One browser for the tests of a process, and pages that are rendered once."""

import os

import pytest

from tests.browser.chromium import Chromium, executable
from tests.browser.rendering import Workshop
from tests.browser.runninglab import running_lab


@pytest.fixture(scope="session")
def chromium():
    """The browser; its tests are skipped where there is none, unless KUBECLASSIC_BROWSER=required."""
    executable()
    found = Chromium()
    yield found
    found.stop()


@pytest.fixture
def visit(chromium):
    """Opens pages; the test fails if a page logs an error, throws one, or asks for anything that is not in
    the page."""
    with chromium.in_use() as visits:
        yield visits
        assert visits.faults == []


@pytest.fixture(scope="session")
def workshop(tmp_path_factory):
    """Renders pages into a folder that all processes of this run share."""
    own = tmp_path_factory.getbasetemp()
    folder = (own.parent if "PYTEST_XDIST_WORKER" in os.environ else own) / "pages"
    folder.mkdir(exist_ok=True)
    return Workshop(folder)


@pytest.fixture
def page_file(subject, workshop, request):
    """The page of the test's *subject*, rendered once in a run; openb needs the larger data."""
    shared = request.getfixturevalue("shared") if subject.needs_shared else None
    return workshop.page(subject, shared)


@pytest.fixture
def lab():
    """A lab on the example cluster."""
    with running_lab() as found:
        yield found
