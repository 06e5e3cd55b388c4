"""The live scheduler on virtual time, in one process: what becomes of pods when requests fail and schedulers are killed; see ../README.md.

It prints a line of JSON for each run, and ends with status 1 if a pod was lost, bound twice, put on a full node or left waiting beside
room.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

import attrs
import click

sys.path[:0] = [str(Path(__file__).resolve().parents[2])]
import conftest  # noqa: E402, F401  # makes the helpers importable as tests.*

from tests.support.livetrial import Plan, shown, tried  # noqa: E402


def are_clean(asked: argparse.Namespace) -> bool:
    """Play all trials; whether each of them was clean."""
    is_clean = True
    for release in asked.release:
        for seed in asked.seed:
            given = {field.name: getattr(asked, field.name) for field in attrs.fields(Plan) if field.name not in ("release", "seed")}
            outcome = tried(Plan(release=release, seed=seed, **given))
            click.echo(json.dumps({"release": release, "seed": seed, **shown(outcome)}))
            if asked.verbose:
                click.echo("\n".join(outcome.reports), err=True)
            is_clean &= outcome.is_clean
    return is_clean


def main() -> None:
    """Play what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--release", nargs="+", default=["1.16", "1.27"])
    parser.add_argument("--nodes", type=int, default=200)
    parser.add_argument("--pods", type=int, default=3000)
    parser.add_argument("--seed", type=int, nargs="+", default=[0])
    parser.add_argument("--verbose", action="store_true", help="print what the schedulers reported")
    parser.add_argument("--share", type=float, default=0.05, help="of all requests, those that fail")
    parser.add_argument("--rate", type=float, default=20.0, help="new pods a virtual second")
    parser.add_argument("--fill", type=float, default=0.9, help="what all pods ask for, as a share of what all nodes have")
    parser.add_argument("--leaving", type=float, default=0.1, help="share of pods that are deleted again")
    parser.add_argument("--urgent", type=float, default=0.0, help="share of pods that may preempt others")
    parser.add_argument("--kills", type=int, default=3)
    parser.add_argument("--restarts", type=int, default=2, help="of the API server")
    parser.add_argument("--replicas", type=int, default=1, help="schedulers at once; more than one elect a leader")
    sys.exit(0 if are_clean(parser.parse_args()) else 1)


if __name__ == "__main__":
    main()
