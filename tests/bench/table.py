"""Measures every row of the table of times and memory in ``docs/speed/performance.md``, and puts them there with ``--write``.

Each figure is the median of five runs (``--runs``), each run a process of its own; the runs of all rows take turns, so that a busy minute
of the machine spoils no single row.
"""

from __future__ import annotations

import argparse
import json
import resource
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs
import click
import yaml
from original import SHARED, put

HERE = Path(__file__).resolve().parent
BEGIN, END = "<!-- table: made by tests/bench/table.py -->", "<!-- end of table -->"
MEASURE = (str(HERE / "measure.py"),)
OPENB = ("openb/openb_node_list_all_node.csv", "openb/openb_pod_list_gpuspec33.csv")


@attrs.frozen
class Row:
    """One row: a command that prints a line of JSON, and which of its numbers counts."""

    name: str
    command: tuple[str, ...]
    key: str
    unit: str

    def measure(self) -> tuple[float, float | None]:
        """The number of one run, and the calibration that it came with."""
        run = subprocess.run([sys.executable, *self.command], capture_output=True, text=True, check=False)
        if run.returncode:
            raise click.ClickException(f"{self.name}: {run.stderr.strip()[-500:] or run.stdout.strip()[-500:]}")
        found = json.loads(run.stdout.strip().splitlines()[-1])
        return float(found[self.key]), found.get("calibration")


@attrs.frozen
class Process(Row):
    """A row of a whole process: its processor time, reading and writing included. Status 1 is an answer too."""

    def measure(self) -> tuple[float, float | None]:
        """The seconds of one run."""
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        run = subprocess.run([sys.executable, *self.command], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        if run.returncode not in (0, 1):
            raise click.ClickException(f"{self.name}: {run.stderr.strip()[-500:]}")
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, None


@attrs.frozen
class Pair(Row):
    """A row that says how many times as long loading takes with the second file as with the first."""

    def measure(self) -> tuple[float, float | None]:
        """The ratio of one run."""
        first, second = (Row(self.name, (*self.command[:-2], file), self.key, "s").measure()[0] for file in self.command[-2:])
        return second / first, None


def bench(*arguments: str) -> tuple[str, ...]:
    """The command that times a case, best of three."""
    return "-m", "kubeclassic", "bench", *arguments, "--repeat", "3"


def process(name: str, *arguments: str) -> Process:
    """The row of a command of ours."""
    return Process(name, ("-m", "kubeclassic", *arguments), "", "s of CPU")


def rows(dump: Path) -> Iterator[Row]:
    """All rows; *dump* is the file of the row about loading."""
    yield from loops()
    yield from traces(dump.with_name("openb.json"))
    load = (str(HERE / "loading.py"), "--file")
    yield Row("load 5,000 nodes and 50,000 pods of kubectl's JSON", (*load, str(dump)), "load_cpu_seconds", "s of CPU")
    yield Row("the memory that this takes at most, with a scheduler fed", (*load, str(dump)), "peak_mb", "MB")
    small = [str(dump.with_name(f"small.{form}")) for form in ("json", "yaml")]
    yield Pair("load 250 nodes and 2,500 pods as YAML, against JSON", (*load, *small), "load_cpu_seconds", "times")
    yield process("`--version`, whole process", "--version")
    yield process("`simulate --help`, whole process", "simulate", "--help")
    yield process("`simulate examples/cluster`, whole process", "simulate", str(HERE.parents[1] / "examples" / "cluster"))


def loops() -> Iterator[Row]:
    """Rows of the loop alone."""
    for release in ("1.16", "1.27"):
        shape = ("--nodes", "5000", "--pods", "100", "--release", release)
        name = f"preempting pods, 5,000 nodes of 30 pods, the loop alone, {release}"
        yield Row(name, bench("--kind", "preemption", *shape), "loop_pods_per_s", "pods/s")
    details = (*MEASURE, "details", str(SHARED / "bench" / "mixed-5000.jsonl.gz"))
    yield Row("mixed-5000, decisions with all details, the loop alone", details, "loop_pods_per_s", "pods/s")


def traces(manifests: Path) -> Iterator[Row]:
    """Rows of openb, whose *manifests* are made once; none where the trace is absent."""
    given = [str(SHARED / "data" / name) for name in OPENB]
    if not all(Path(trace).exists() for trace in given):
        return
    for release in ("1.16", "1.27"):
        command = (*MEASURE, "openb", *given, "--release", release)
        yield Row(f"openb, the loop alone, {release}", command, "cpu_seconds", "s of CPU")
        yield Row(f"openb, the loop alone, {release}, with preemption", (*command, "--preemption"), "cpu_seconds", "s of CPU")
    path, policy = str(manifests), str(HERE.parents[1] / "examples" / "policies" / "kubernetes-defaults-spelled-out.json")
    sides = ("--a", "release=1.16", "--b", "release=1.27", "--mode", "locked", "-o", "json")
    yield process("`compare` of openb, 1.16 with 1.27, locked, whole process", "compare", path, *sides)
    yield process("`policy migrate --check` of openb, whole process", "policy", "migrate", policy, "--check", path)
    for release in ("1.16", "1.27"):
        yield process(f"`replay` of openb, {release}, whole process", "replay", path, "--release", release)


def table(found: Mapping[Row, Sequence[float]], calibrations: Sequence[float]) -> str:
    """The figures as Markdown."""
    lines = ["| what | kubeclassic |", "|---|---:|"]
    lines += [f"| {row.name} | {shown(statistics.median(numbers))} {row.unit} |" for row, numbers in found.items()]
    runs = len(next(iter(found.values())))
    return "\n".join([*lines, "", f"Medians of {runs} runs; `calibration` {statistics.median(calibrations):.3f}."])


def shown(number: float) -> str:
    """A number for people."""
    return f"{number:,.0f}" if number >= 100 else f"{number:.2f}"


def main() -> None:
    """Measure, print the table, and write it where asked."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--only", default="", help="rows whose name has this in it")
    parser.add_argument("--write", action="store_true", help="put the table into docs/speed/performance.md")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        found, calibrations = measured(Path(folder) / "dump.json", asked)
    text = table(found, calibrations)
    click.echo(text)
    if asked.write:
        put(text, BEGIN, END)


def measured(dump: Path, asked: Any) -> tuple[dict[Row, list[float]], list[float]]:
    """The numbers of every row, in turns."""
    found: dict[Row, list[float]] = {row: [] for row in rows(dump) if asked.only in row.name}
    prepare(dump, [argument for row in found for argument in row.command])
    calibrations: list[float] = []
    for _ in range(asked.runs):
        for row, numbers in found.items():
            number, calibration = row.measure()
            numbers.append(number)
            calibrations += [] if calibration is None else [calibration]
            click.echo(f"{row.name}: {shown(number)} {row.unit}", err=True)
    return found, calibrations or [float("nan")]


def prepare(dump: Path, named: Sequence[str]) -> None:
    """Make those files that commands have *named*."""
    sys.path.insert(0, str(HERE))
    from dump import write_dump

    small, openb = dump.with_name("small.json"), dump.with_name("openb.json")
    if str(dump) in named:
        write_dump(dump, 5000, 50_000)
    if str(small) in named:
        write_dump(small, 250, 2500)
        manifests = json.loads(small.read_text(encoding="utf-8"))
        small.with_suffix(".yaml").write_text(yaml.dump(manifests, Dumper=getattr(yaml, "CSafeDumper", yaml.SafeDumper)), encoding="utf-8")
    if str(openb) in named:
        given = [str(SHARED / "data" / name) for name in OPENB]
        subprocess.run([sys.executable, "-m", "kubeclassic", "import", "openb", *given, "--output", str(openb)], check=True)


if __name__ == "__main__":
    main()
