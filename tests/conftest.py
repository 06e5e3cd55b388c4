"""Setup for all tests: the package, also from a bare checkout, the helpers as ``tests.*``, Hypothesis
profiles, the larger data."""

import gc
import importlib.util
import itertools
import os
import sys
from collections import defaultdict
from contextlib import suppress
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import Phase, settings

ROOT = Path(__file__).resolve().parent.parent
CLUSTER = str(ROOT / "examples" / "cluster")
SHARED = Path(os.environ.get("KUBECLASSIC_SHARED", ROOT.parent / "shared"))
CONFORMANCE = os.environ.get("KUBECLASSIC_CONFORMANCE", "sample")
"""The cases of a conformance family that are run: a ``sample``, or the ``full`` family."""

EXAMPLES = {"quick": 10, "thorough": 30, "mutants": 30, "search": 400}
"""Hypothesis profile -> how many examples a test tries; those with :func:`tests.support.examples.examples`
more or fewer."""
REPEATABLE = {"thorough", "mutants"}
"""These try the same examples in every run of the same test, so that a run can be repeated; others try new
ones each time."""
for name, count in EXAMPLES.items():
    settings.register_profile(name, max_examples=count, deadline=None, derandomize=name in REPEATABLE)
# Whether a fault is found is all that is asked of a mutant: to make the example small takes up to five
# minutes.
settings.register_profile("mutants", settings.get_profile("mutants"), phases=(Phase.explicit, Phase.generate))
# `pytest --hypothesis-profile NAME` counts before the environment.
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "quick"))


os.environ.setdefault(
    "KUBECLASSIC_PROGRESS", "0"
)  # what tests read on standard error must not depend on how busy the machine is
os.environ.pop("KUBECONFIG", None)  # no test looks at a cluster of its user


def _keep_compiled():
    """Where Python is told to write no compiled files, let the tests and the processes that they start share
    some in ``build``."""
    if os.environ.pop("PYTHONDONTWRITEBYTECODE", ""):
        os.environ["PYTHONPYCACHEPREFIX"] = sys.pycache_prefix = str(ROOT / "build" / "pycache")
        sys.dont_write_bytecode = False


def _alias_checkout():
    """Make the root of the repository importable as ``kubeclassic`` where the package is not installed."""
    if importlib.util.find_spec("kubeclassic") is None:
        spec = importlib.util.spec_from_file_location(
            "kubeclassic", ROOT / "__init__.py", submodule_search_locations=[str(ROOT)]
        )
        sys.modules["kubeclassic"] = module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        link = ROOT / "build" / "bare" / "kubeclassic"  # processes of a pool look for the package by its name
        link.parent.mkdir(parents=True, exist_ok=True)
        with suppress(FileExistsError):
            link.symlink_to(ROOT)
        sys.path.append(str(link.parent))


def pytest_configure():
    """Stop where ``import kubeclassic`` finds a copy that is not what stands here: a change would not be
    tested."""
    if CONFORMANCE not in ("sample", "full"):
        raise pytest.UsageError(f"KUBECLASSIC_CONFORMANCE: expected sample or full, got {CONFORMANCE}")
    spec = importlib.util.find_spec("kubeclassic")
    found = Path(spec.origin).resolve().parent if spec is not None and spec.origin else ROOT
    stale = [] if found == ROOT else list(itertools.islice(_differing(found), 3))
    if stale:
        wanted = "install it again, or once and for all with pip install --editable '.[test]'"
        raise pytest.UsageError(
            f"these tests would run on the copy in {found}, in which {', '.join(stale)} is not as here: {wanted}"
        )


WHOLE = (
    "browser",
    "deploy",
    "live/server/test_serving.py",
    "live/test_live_bench.py",
    "live/test_pages.py",
    "questions/drain/test_drain_openb.py",
    "cli/test_commandline.py",
    "test_docs_site.py",
    "test_notebooks.py",
    "test_packaging.py",
    "test_docs.py",
    "documentation",
    "test_house.py",
)
"""Files and folders whose tests have the mark ``whole``: they start browsers, sites, processes or servers,
read the largest data, or hold the documentation and its words, which `.ci/run` does."""


ONE_IN = {
    "test_no_output_has_a_credential": 4,
    "test_the_same_decisions": 3,
    "test_every_host_is_the_original_s": 3,
    "test_a_template_goes_with_its_last_pod": 3,
    "test_filter_prioritize_and_preemption": 3,
    "test_cases_of_neighbours": 3,
}
"""Tests of many rows: of so many README's run has one."""
MANY_RELEASES = 20
"""A test of so many releases is run there with those of :data:`~.support.examples.ENDS`."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Mark what README's run leaves out as ``whole``; conformance begins, as it takes longest and processes
    are to end together."""
    from tests.support.examples import ENDS

    tests = defaultdict(list)
    for item in items:
        tests[item.nodeid.split("[")[0]].append(item)
    for name, rows in tests.items():
        is_whole = any(rows[0].path.is_relative_to(ROOT / "tests" / part) for part in WHOLE)
        one_in = ONE_IN.get(name.rpartition("::")[2], 1)
        releases = [
            str(item.callspec.params.get("release")) if hasattr(item, "callspec") else "" for item in rows
        ]
        most = ENDS if ENDS[-1] in releases and len(set(releases)) >= MANY_RELEASES else releases
        for number, (item, release) in enumerate(zip(rows, releases, strict=True)):
            if is_whole or number % one_in or release not in most:
                item.add_marker("whole")
    cases = [item for item in items if item.path.name == "test_conformance.py"]
    others = [item for item in items if item.path.name != "test_conformance.py"]
    half = len(others) // 2
    items[:] = [*cases[::2], *others[:half], *cases[1::2], *others[half:]]


def _differing(found):
    """The files of the package that are not in the copy *found* as they are here."""
    parts = [ROOT / part.name for part in found.iterdir() if not part.name.startswith((".", "__pycache__"))]
    for file in itertools.chain(*(part.rglob("*") if part.is_dir() else [part] for part in parts)):
        name = file.relative_to(ROOT)
        if not file.is_file() or "__pycache__" in file.parts:
            continue
        if not (found / name).is_file() or (found / name).read_bytes() != file.read_bytes():
            yield str(name)


def _alias_tests():
    """Make the helpers beside the tests importable as ``tests.support.build`` and so on, whatever else is
    called ``tests``."""
    package = ModuleType("tests")
    package.__path__ = [str(ROOT / "tests")]
    sys.modules["tests"] = package


_keep_compiled()
_alias_checkout()
_alias_tests()
gc.set_threshold(50_000, 20, 50)  # there are many objects, and most of them stay
_collect = gc.collect
# A bench and a server begin with a full collection; here that goes through all that thousands of tests keep,
# for up to three seconds.
gc.collect = lambda generation=1: _collect(min(generation, 1))
_modules = itertools.count(1)


@pytest.fixture(autouse=True, scope="module")
def _garbage_goes():
    """Nothing stays frozen; after each 64 modules all is collected, which Python puts off while commands
    freeze what there is."""
    yield
    assert gc.get_freeze_count() == 0, (
        "something is frozen and never thawed: its garbage is kept, and each load goes through all of it"
    )
    if next(_modules) % 64 == 0:
        _collect()


@pytest.fixture(scope="session")
def root():
    """The repository's root."""
    return ROOT


@pytest.fixture(scope="session")
def shared():
    """The folder of the larger data, ``KUBECLASSIC_SHARED`` (default ``../shared``); who needs it is skipped
    only where it is absent."""
    if not SHARED.is_dir():
        pytest.skip(f"the larger data is absent: no folder {SHARED} (KUBECLASSIC_SHARED names it)")
    return SHARED


@pytest.fixture
def workdir(tmp_path, monkeypatch):
    """An empty folder, in which the test runs."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def at_the_root(monkeypatch):
    """The test runs in the repository's root."""
    monkeypatch.chdir(ROOT)
