"""How far a reader walks to follow one pod through ``schedule``: how often the call that comes next stands in another file.

A switch is counted where two Python functions of the package are called one after the other, in time, and the second stands in another
file than the first. Only calls count: a return does not, nor does a function outside the package (numpy, attrs, the standard library and
generated ``__init__`` among them); those that it calls back do. What Python calls by itself, for the hash of a key or for an attribute, is
no step either. A generator counts as called each time that it goes on.

The pod is the last of some equal ones on a small cluster; those before it were scheduled and assumed, so that every cache is warm. For
``preemption`` it is one that fits nowhere, so that another pod has to go. ``manifest`` begins at a Python program's
:class:`~kubeclassic.Scheduler`, with a manifest that has not been read before.
"""

from __future__ import annotations

import argparse
import itertools
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from types import FrameType

import click

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import kubeclassic
from kubeclassic.core.decision.decision import Decision
from kubeclassic.core.run import Run
from kubeclassic.simulation.conform import build, read_items
from tests.bench.cases import CaseSize

Step = tuple[str, str]
"""(file seen from the package, function) of a call."""
SHAPES: Mapping[str, CaseSize] = {
    "basic": CaseSize(nodes=100, existing=0, pods=12),
    **{kind: CaseSize(kind=kind, nodes=100, existing=0, pods=21) for kind in ("affinity", "antiaffinity", "spread")},
    "mixed": CaseSize(kind="mixed", nodes=100, existing=0, pods=20),
    "preemption": CaseSize(kind="preemption", nodes=100, existing=300, pods=5),
}
"""Kind -> the cluster and its pods. ``basic`` was the same from the fifth pod on, and for ten times as many nodes. The last pod is the
third of its group, of which there are ten, and in ``mixed`` the third of its kind, of which there are eight."""
MANIFEST = "manifest"
"""The pods of ``basic``, from their manifests."""
Way = tuple[str, str, bool]
"""Kind, release, whether details are kept."""
WAYS: list[Way] = [("basic", "1.16", True), ("basic", "1.27", True)]
WAYS += [(kind, release, False) for kind in (*SHAPES, MANIFEST) for release in ("1.16", "1.27")]
BY_ITSELF = ("__hash__", "__eq__", "__get__")
ROOT = str(Path(kubeclassic.__file__).parent) + "/"


def walk(kind: str, release: str, details: bool) -> list[Step]:
    """The calls of ``schedule`` for the last of the pods, in order."""
    decide = _from_manifests(release, details) if kind == MANIFEST else _cycles(kind, release, details)
    steps: list[Step] = []
    sys.setprofile(partial(_note, steps))
    try:
        decision = decide()
    finally:
        sys.setprofile(None)
    assert decision.host is not None if decision.preemption is None else kind == "preemption"
    return steps


def _cycles(kind: str, release: str, details: bool) -> Callable[[], Decision]:
    """Decides about the last pod of the kind, after the others."""
    case = SHAPES[kind].case(release)
    run = Run(build(case, {}), details)
    *before, last = (item for _, item in read_items(case))
    for pod in before:
        run.cycle(pod)
    return partial(run.engine.schedule, last, details=details)


def _from_manifests(release: str, details: bool) -> Callable[[], Decision]:
    """The same for ``basic``, by the public scheduler."""
    case = SHAPES["basic"].case(release)
    scheduler = kubeclassic.Scheduler(kubeclassic.Cluster(list(case["objects"])), release)
    *before, last = case["pending"]
    for manifest in before:
        scheduler.schedule(manifest, details=details)
    return partial(scheduler.schedule, last, details=details)


def _note(steps: list[Step], frame: FrameType, event: str, _: object) -> None:
    """Keep the call of a function of the package."""
    code = frame.f_code
    file = code.co_filename.removeprefix(ROOT)
    # The environment of a checkout is a folder in it.
    if event == "call" and file != code.co_filename and "site-packages" not in file and code.co_name not in BY_ITSELF:
        steps.append((file, code.co_qualname))


def switches(steps: Sequence[Step]) -> int:
    """How often a step stands in another file than the one before it."""
    return sum(one[0] != other[0] for one, other in itertools.pairwise(steps))


def main() -> None:
    """Print the switches of each way, and with ``-v`` the steps."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-v", "--verbose", action="store_true", help="print every step as file:function")
    verbose = parser.parse_args().verbose
    for kind, release, details in WAYS:
        steps = walk(kind, release, details)
        way = "detailed" if details else "quick"
        files = len({file for file, _ in steps})
        click.echo(f"{kind:12} {release} {way:8}: {switches(steps):4} switches, {len(steps):4} calls, {files:3} files")
        for file, name in steps if verbose else ():
            click.echo(f"    {file}:{name}")


if __name__ == "__main__":
    main()
