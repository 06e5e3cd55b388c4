"""``kubeclassic run`` as processes, beside kube-apiserver, etcd and kube-scheduler, which must be there
already.

    python tests/bench/live --kube FOLDER --release 1.27              all scenarios
    python tests/bench/live burst faults --kube FOLDER --pods 5000    some
    python tests/bench/live burst --in-process                        with the API server of the tests, which needs no other program

It prints a table in Markdown, a row for each scenario with the load of the machine. Exit status 1: a pod was
lost, bound twice or put on a full node, a lease was lost in a burst, or a decision in lockstep differed; 77:
programs are missing, which one sentence names.
"""

import subprocess
import sys
from pathlib import Path
from tempfile import mkdtemp

import click

if "tests" not in sys.modules:
    sys.path[:0] = [str(Path(__file__).resolve().parents[2])]
    import conftest  # noqa: F401  # makes the helpers importable as tests.*

from kubeclassic.framework.releases import find_any_release
from tests.bench.live import burst, faults, lockstep
from tests.bench.live.programs import SKIPPED, Kubernetes, MissingProgramsError
from tests.bench.live.schedulers import Site, compact

SCENARIOS = {"lockstep": lockstep.run, "burst": burst.run, "faults": faults.run}
SIZES = {"lockstep": (300, 20), "burst": (5000, 200), "faults": (900, 50)}
"""Scenario -> its pods and nodes."""
HEADS = ("scenario", "scheduler", "API server", "load", "found", "wrong")


def row(cells):
    """A line of the table."""
    return f"| {' | '.join(cell.replace('|', '/') for cell in cells)} |"


@click.command(help=__doc__)
@click.argument("scenarios", nargs=-1, type=click.Choice(list(SCENARIOS)))
@click.option(
    "--kube",
    type=click.Path(path_type=Path),
    envvar="KUBECLASSIC_KUBE",
    help="The folder of kube-apiserver and kube-scheduler.",
)
@click.option(
    "--etcd",
    type=click.Path(path_type=Path),
    envvar="KUBECLASSIC_ETCD",
    help="The folder of etcd, instead of PATH.",
)
@click.option(
    "--in-process",
    is_flag=True,
    help="The API server of the tests; scenarios with kube-scheduler are left out.",
)
@click.option(
    "--release",
    default="1.27",
    show_default=True,
    callback=lambda context, option, value: find_any_release(value).version,
)
@click.option("--pods", type=int, help="Instead of those of the scenario.")
@click.option("--nodes", type=int, help="Instead of those of the scenario.")
@click.option("--qps", type=int, default=0, help="Requests a second; 0: the release's own limit.")
@click.option("--busy", type=int, default=0, help="So many other processes that do nothing but count.")
@click.option("--python", default="", help="The Python that runs kubeclassic, instead of this one.")
@click.option("--output", type=click.Path(path_type=Path), help="A folder for logs and recordings.")
def main(scenarios, kube, etcd, in_process, release, pods, nodes, qps, busy, python, output):
    try:
        kubernetes = None if in_process else Kubernetes.found(kube, etcd)
        others = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(busy)]
        try:
            folder = Path(mkdtemp(prefix="kubeclassic-live-")) if output is None else output
            chosen = scenarios or [name for name in SCENARIOS if not in_process or name != "lockstep"]
            click.echo(row(HEADS))
            click.echo(row(["---"] * len(HEADS)))
            found = [
                each
                for name in chosen
                for each in played(name, kubernetes, release, folder, pods, nodes, qps, python)
            ]
        finally:
            for other in others:
                other.kill()
    except MissingProgramsError as error:
        click.echo(str(error), err=True)
        sys.exit(SKIPPED)
    click.echo(f"logs: {folder}", err=True)
    sys.exit(1 if any(one.wrong for one in found) else 0)


def played(name, kubernetes, release, folder, pods, nodes, qps, python):
    """The outcomes of a scenario, each printed at once."""
    usual = SIZES[name]
    rows = SCENARIOS[name](
        Site(kubernetes, release, folder.resolve(), pods or usual[0], nodes or usual[1], qps, python=python)
    )
    for one in rows:
        cells = (
            one.scenario,
            one.who,
            one.server,
            f"{one.load:.0f}",
            compact(one.found),
            "; ".join(one.wrong) or "nothing",
        )
        click.echo(row(cells))
    return rows


if __name__ == "__main__":
    main()
