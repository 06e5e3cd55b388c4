"""The cost of whole commands on a dump like a real cluster's, beside ``json.load`` of the same file in the
same run.

    python tests/bench/real.py [--nodes 1000,5000,15000] [--only simulate,drain] [--packed]

Each command runs in its own process. A table in Markdown has the user CPU of the process and its children,
also as a ratio to that of ``json.load``; its peak memory; and how many of its decisions were read off a
board. Ratios hold on a busy machine, seconds do not.
"""

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

import attrs
import click

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import yaml

from tests.bench.realdump import RealDump
from tests.support.manifests import manifest

JSON = "json.load"
LOAD = "load"
LAB = "a step of the lab"
POD = manifest(
    "Pod",
    "more",
    apiVersion="v1",
    spec=yaml.safe_load("{containers: [{name: main, resources: {requests: {cpu: 500m, memory: 1Gi}}}]}"),
)
"""The pod template for ``capacity``."""
HEAD = "| {} nodes, {:,.0f} MB | user CPU, s | of json.load | peak memory, MB | decisions that were quick |\n|---|---:|---:|---:|---:|"


@attrs.frozen
class Cost:
    """The cost of a process."""

    seconds: float
    megabytes: float
    decisions: int
    """The number of decisions; each try of a pod is one."""
    detours: dict
    """The reason why decisions were not quick -> their number."""

    def line(self, name, base):
        """The row in the table; *base*: the seconds of ``json.load``."""
        detours = "; ".join(f"{count:,} {why}" for why, count in self.detours.items())
        quick = (
            f"{self.decisions - sum(self.detours.values()):,} of {self.decisions:,}" if self.decisions else ""
        )
        ratio = self.seconds / base if base else 0.0
        told = quick + (f" ({detours})" if detours else "")
        return f"| {name} | {self.seconds:.2f} | {ratio:.2f} | {self.megabytes:,.0f} | {told} |"


def commands(dump, path, pod):
    """Name of a measurement -> the words of the command, or of another task."""
    return {
        JSON: [JSON, path],
        LOAD: [LOAD, path],
        **{
            f"simulate {release}": ["simulate", path, "--release", release, "-o", "name"]
            for release in ("1.16", "1.27", "1.34")
        },
        "explain of the last pod": ["explain", path, dump.last_pod, "--release", "1.34"],
        "capacity": ["capacity", path, "--pod", pod, "--release", "1.34"],
        "drain of one node": [
            "drain",
            path,
            dump.node_name(0),
            "--release",
            "1.34",
            "--ignore-daemonsets",
            "--delete-emptydir-data",
        ],
        "compare 1.16 with 1.34": ["compare", path, "--a", "release=1.16", "--b", "release=1.34"],
        "upgrade over all releases": ["upgrade", path, "--from", "1.12", "--to", "1.34"],
        LAB: [LAB, path],
    }


def measured(dump, only):
    """The lines of the table of one dump, each as soon as it is measured."""
    with TemporaryDirectory() as folder:
        path = Path(folder, "dump.json")
        pod = Path(folder, "pod.json")
        dump.write(path)
        pod.write_text(json.dumps(POD))
        yield HEAD.format(f"{dump.nodes:,}", path.stat().st_size / 1e6)
        base = 0.0
        for name, words in commands(dump, str(path), str(pod)).items():
            if name == JSON or not only or any(name.startswith(one) for one in only):
                cost = cost_of(words)
                base = base or cost.seconds
                yield cost.line(name, base)


def cost_of(words):
    """The cost of *words* in their own process. Raises :class:`click.ClickException` where it fails."""
    with TemporaryDirectory() as folder:
        notes = Path(folder, "notes")
        errors = Path(folder, "errors")
        with errors.open("w") as stream:
            child = subprocess.Popen(
                [sys.executable, __file__, "--child", str(notes), *words],
                stdout=subprocess.DEVNULL,
                stderr=stream,
            )
            _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode not in (0, 1) or not notes.exists():
            raise click.ClickException(
                f"{' '.join(words)}: {errors.read_text(encoding='utf-8').strip()[-500:]}"
            )
        found = json.loads(notes.read_text())
        return Cost(found.pop("seconds", used.ru_utime), used.ru_maxrss * 1024 / 1e6, **found)


# --- in the child -------------------------------------------------------------------------------------------


def child(notes, words):
    """Run *words*, write the counts to *notes*, and return the exit status."""
    found = {"decisions": 0, "detours": {}}
    status = 0
    if words[0] == JSON:
        with Path(words[1]).open() as file:
            json.load(file)
    elif words[0] == LOAD:
        from kubeclassic import Cluster

        Cluster.load(words[1])
    elif words[0] == LAB:
        found["seconds"] = lab_step(words[1])
    else:
        status, decisions = run_command(words)
        found["decisions"] = decisions.total()
        found["detours"] = {why.value: count for why, count in decisions.most_common() if why}
    notes.write_text(json.dumps(found))
    return status


def run_command(words):
    """Run ``kubeclassic`` as a user does. Returns the exit status, and the number of decisions of all
    schedulers that were not quick, by reason; None: those that were."""
    from kubeclassic.__main__ import main as program
    from kubeclassic.core.incremental.quick import QuickPath

    decisions = Counter()
    prepare = QuickPath.__init__
    read = QuickPath.row

    def prepared(self, **named):
        prepare(self, **named)
        self.detours = decisions  # the path itself is not kept, so schedulers run as without the count

    def row(self, cycle):
        found = read(self, cycle)
        decisions[None] += found is not None
        return found

    QuickPath.__init__ = prepared  # type: ignore[method-assign]
    QuickPath.row = row  # type: ignore[method-assign]
    sys.argv = ["kubeclassic", *words]
    try:
        program()
    except SystemExit as ended:
        return int(ended.code or 0), decisions
    return 0, decisions


def lab_step(path):
    """The seconds of one step of the lab, the change of a weight, after its first answer."""
    from resource import RUSAGE_SELF, getrusage

    from msgspec.structs import replace

    from kubeclassic.questions.lab.scenarios import StateRules
    from kubeclassic.simulation.simulate import Files
    from tests.support.labbuild import answered, lab_on

    lab = lab_on(Files.read([Path(path)]), release="1.16")
    answered(lab, lab.start)
    rule, weight = next(iter(StateRules(lab.spec, lab.start).known.scorers.items()))
    before = getrusage(RUSAGE_SELF).ru_utime
    answered(lab, replace(lab.start, weights={rule: weight + 1}))
    return getrusage(RUSAGE_SELF).ru_utime - before


@click.command(help=__doc__)
@click.option("--nodes", default="1000,5000,15000", show_default=True, help="Sizes, with commas.")
@click.option("--waiting", default=RealDump().waiting, show_default=True, help="Pods that wait.")
@click.option(
    "--only", default="", help="What is measured, by how its name begins, with commas; by default everything."
)
@click.option("--packed", is_flag=True, help="A dump without kubectl's spaces.")
def main(nodes, waiting, only, packed):
    """Measure, and print a table for each size."""
    # Commands run from compiled files, as an installed package does.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    for size in map(int, nodes.split(",")):
        for line in measured(
            RealDump(nodes=size, waiting=waiting, packed=packed), only.split(",") if only else ()
        ):
            click.echo(line)
        click.echo()


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        sys.exit(child(Path(sys.argv[2]), sys.argv[3:]))
    main()
