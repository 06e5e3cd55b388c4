"""How far a reader walks to follow one pod through ``schedule``: how often the call that comes next stands in another file.

A switch is counted where two Python functions of the package are called one after the other, in time, and the second stands in another
file than the first. Only calls count: a return does not, nor does a function outside the package (numpy, attrs, the standard library and
generated ``__init__`` among them); those that it calls back do. What Python calls by itself, for the hash of a key or for an attribute, is
no step either. A generator counts as called each time that it goes on.

The pod is the last of some equal ones on a small cluster; those before it were scheduled and assumed, so that every cache is warm.
"""

from __future__ import annotations

import argparse
import itertools
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from types import FrameType

import click

import kubeclassic
from kubeclassic.core.run import Run
from kubeclassic.simulation.bench.cases import Shape
from kubeclassic.simulation.conform import build, read_items

Step = tuple[str, str]
"""(file seen from the package, function) of a call."""
WAYS = [("1.16", False), ("1.16", True), ("1.27", False), ("1.27", True)]
"""(release, whether details are kept)."""
SHAPE = Shape(nodes=100, existing=0, pods=12)
"""The cluster: the walk was the same from the fifth pod on, and for ten times as many nodes."""
BY_ITSELF = ("__hash__", "__eq__", "__get__")
ROOT = str(Path(kubeclassic.__file__).parent) + "/"


def walk(release: str, details: bool) -> list[Step]:
    """The calls of ``schedule`` for the last of the pods, in order."""
    case = SHAPE.case(release)
    run = Run(build(case, {}), details)
    *before, last = (item for _, item in read_items(case))
    for pod in before:
        assert run.cycle(pod).host is not None
    steps: list[Step] = []
    sys.setprofile(partial(_note, steps))
    try:
        decision = run.engine.schedule(last, details=details)
    finally:
        sys.setprofile(None)
    assert decision.host is not None
    return steps


def _note(steps: list[Step], frame: FrameType, event: str, _: object) -> None:
    """Keep the call of a function of the package."""
    code = frame.f_code
    if event == "call" and code.co_filename.startswith(ROOT) and code.co_name not in BY_ITSELF:
        steps.append((code.co_filename.removeprefix(ROOT), code.co_qualname))


def switches(steps: Sequence[Step]) -> int:
    """How often a step stands in another file than the one before it."""
    return sum(one[0] != other[0] for one, other in itertools.pairwise(steps))


def main() -> None:
    """Print the switches of each way, and with ``-v`` the steps."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-v", "--verbose", action="store_true", help="print every step as file:function")
    verbose = parser.parse_args().verbose
    for release, details in WAYS:
        steps = walk(release, details)
        way = "detailed" if details else "quick"
        click.echo(f"{release} {way}: {switches(steps)} switches, {len(steps)} calls, {len({file for file, _ in steps})} files")
        for file, name in steps if verbose else ():
            click.echo(f"    {file}:{name}")


if __name__ == "__main__":
    main()
