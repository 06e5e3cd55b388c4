"""The work of a decision in counts, not in seconds: calls of kubeclassic's functions, calls of numpy, and
rows that rules read.

Counts are the same on every machine, so a change that makes decisions dearer is seen at once.
``tests/test_counts.py`` compares them with the figures in ``counts.json``; ``python tests/bench/counts.py
--write`` writes today's.
"""

import argparse
import json
import sys
from functools import partial
from pathlib import Path

import click
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import kubeclassic
from kubeclassic.core.arrays.batch import Batch
from kubeclassic.core.run import Run
from kubeclassic.simulation.conform import build, decisions, read_items
from tests.bench.cases import CaseSize

FIGURES = Path(__file__).with_name("counts.json")
ROOT = str(Path(kubeclassic.__file__).parent) + "/"
TESTS = ROOT + "tests/"
LIBRARIES = "/site-packages/"
"""The folder of other packages, which is below the root if the checkout has an environment."""
RULES = tuple(ROOT + folder for folder in ("predicates/", "priorities/", "framework/plugins/"))
SHAPES = {
    kind: CaseSize(kind=kind, nodes=300, existing=100, pods=200)
    for kind in ("basic", "affinity", "antiaffinity", "spread", "mixed")
}
OWN = CaseSize(kind="basic", nodes=300, existing=100, pods=200, templates=200)
PREEMPTION = CaseSize(kind="preemption", nodes=60, pods=20)
CASES = {
    **{
        f"{kind} {release}": (shape, release, 100)
        for kind, shape in SHAPES.items()
        for release in ("1.16", "1.27")
    },
    "basic 1.12": (SHAPES["basic"], "1.12", 100),
    "basic, adaptive 1.16": (SHAPES["basic"], "1.16", 0),
    "every pod a template 1.16": (OWN, "1.16", 100),
    "every pod a template 1.27": (OWN, "1.27", 100),
    "preemption 1.16": (PREEMPTION, "1.16", 100),
    "preemption 1.27": (PREEMPTION, "1.27", 100),
}
"""Name -> cluster, release, percentage of nodes to score."""

CALLS = "calls"
NUMPY_CALLS = "numpy calls"
ROWS = "rows"


def counted(name):
    """The counts of the decisions of one case, without loading its cluster."""
    shape, release, percentage = CASES[name]
    case = shape.case(release, percentage)
    run = Run(build(case, {}), details=False)
    items = read_items(case)
    run.engine.warm()
    found = {CALLS: 0, NUMPY_CALLS: 0, ROWS: 0}
    sys.setprofile(partial(_count, found))
    try:
        for _ in decisions(run, items, {}):
            pass
    finally:
        sys.setprofile(None)
    return found


def _count(found, frame, event, called):
    code = frame.f_code
    if (
        not code.co_filename.startswith(ROOT)
        or code.co_filename.startswith(TESTS)
        or LIBRARIES in code.co_filename.removeprefix(ROOT)
    ):
        return
    # Comprehensions are functions in some versions of Python and none in others.
    if code.co_name.startswith("<"):
        return
    if event == "call":
        found[CALLS] += 1
        if code.co_filename.startswith(RULES):
            nodes = frame.f_locals.get("nodes")
            found[ROWS] += nodes.n if isinstance(nodes, Batch) else 0
    elif event == "c_call" and _is_of_numpy(called):
        found[NUMPY_CALLS] += 1


def _is_of_numpy(called):
    """Whether *called* is a numpy function. The look-up of one element does not count, neither
    ``scores.item(row)`` nor ``scores[row]``."""
    if getattr(called, "__name__", "") == "item":
        return False
    owner = getattr(called, "__self__", None)
    return isinstance(owner, np.ndarray | np.generic | np.ufunc) or str(
        getattr(called, "__module__", "")
    ).startswith("numpy")


def main():
    """Print each case's counts per pod, and write the counts to the file of figures if asked."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--write", action="store_true", help="write the figures to counts.json")
    asked = parser.parse_args()
    figures = {name: counted(name) for name in CASES}
    for name, counts in figures.items():
        pods = CASES[name][0].pods
        click.echo(
            f"{name:22} "
            + ", ".join(f"{number / pods:10.1f} {what}" for what, number in counts.items())
            + " a pod"
        )
    if asked.write:
        FIGURES.write_text(json.dumps(figures, indent=1) + "\n")


if __name__ == "__main__":
    main()
