"""One browser for the tests of a process, and pages that are rendered once."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.browser.chromium import Chromium, Visits, executable
from tests.browser.rendering import Subject, Workshop
from tests.browser.runninglab import Running, running_lab


@pytest.fixture(scope="session")
def chromium() -> Iterator[Chromium]:
    """The browser; its tests are skipped where there is none, unless KUBECLASSIC_BROWSER=required."""
    executable()
    found = Chromium()
    yield found
    found.stop()


@pytest.fixture
def visit(chromium: Chromium) -> Iterator[Visits]:
    """Opens pages; the test fails if a page logs an error, throws one, or asks for anything that is not in the page."""
    with chromium.in_use() as visits:
        yield visits
        assert visits.faults == []


@pytest.fixture(scope="session")
def workshop(tmp_path_factory: pytest.TempPathFactory) -> Workshop:
    """Renders pages into a folder that all processes of this run share."""
    own = tmp_path_factory.getbasetemp()
    folder = (own.parent if "PYTEST_XDIST_WORKER" in os.environ else own) / "pages"
    folder.mkdir(exist_ok=True)
    return Workshop(folder)


@pytest.fixture
def page_file(subject: Subject, workshop: Workshop, request: pytest.FixtureRequest) -> Path:
    """The page of the test's *subject*, rendered once in a run; openb needs the larger data."""
    shared = request.getfixturevalue("shared") if subject.needs_shared else None
    return workshop.page(subject, shared)


@pytest.fixture
def lab() -> Iterator[Running]:
    """A lab on the example cluster."""
    with running_lab() as found:
        yield found
