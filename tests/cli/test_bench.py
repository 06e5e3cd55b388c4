"""``kubeclassic bench``: what it prints, checks, writes and refuses; no test looks at how long anything took."""

from __future__ import annotations

import json
import re
import shlex
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import click
import pytest
from click.shell_completion import ShellComplete

from kubeclassic.cli import cli, run
from kubeclassic.core.incremental.quick import Detour
from kubeclassic.framework.config.configuration import KIND
from kubeclassic.framework.config.defaults import GROUP
from kubeclassic.framework.releases import DEFAULT_FRAMEWORK
from kubeclassic.simulation.bench import bench as timing
from kubeclassic.simulation.bench.bench import calibration
from kubeclassic.simulation.bench.cases import FORMS, CaseSize
from kubeclassic.simulation.conform import read_items, read_lines
from tests.conftest import ROOT
from tests.support.build import obj
from tests.support.program import ran
from tests.support.schemas import checked

FIELDS = {
    "pods", "scheduled", "cpu_seconds", "wall_seconds", "pods_per_s", "median_pods_per_s", "loop_pods_per_s",
    "loop_median_pods_per_s", "prepare_seconds", "p50_ms", "p99_ms", "nodes", "peak_rss_mb", "load_seconds",
    "write_seconds", "calibration", "quick",
}  # fmt: skip
NOTHING_FITS = Detour.NOTHING_FITS.value
SMALL = ["--nodes", "20", "--existing", "20", "--pods", "10"]
GENERATED = ["--kind", "basic", "--nodes", "5", "--existing", "3", "--pods", "4", "--repeat", "2"]
PAGE = (ROOT / "docs" / "speed" / "bench.md").read_text(encoding="utf-8")


@pytest.fixture(autouse=True)
def _without_calibration(monkeypatch: pytest.MonkeyPatch) -> None:
    """The fixed loop takes longer than most of these benches: its time is made up."""
    monkeypatch.setattr(timing, "calibration", lambda: 0.1)


def lines(*arguments: str, status: int = 0) -> list[dict[str, Any]]:
    """The lines that ``bench`` prints."""
    return [checked(json.loads(line)) for line in ran("bench", *arguments, status=status).out.splitlines()]


def bench(*arguments: str, status: int = 0) -> dict[str, Any]:
    """The only line that ``bench`` prints of one run."""
    (found,) = lines(*arguments, "--repeat", "1", status=status)
    return found


def written(shape: CaseSize, path: Path) -> Path:
    """The case of *shape* as a case file of 1.16."""
    case = shape.case("1.16")
    path.write_text(json.dumps({name: list(value) if name in ("objects", "pending") else value for name, value in case.items()}) + "\n")
    return path


@pytest.fixture
def case(tmp_path: Path) -> Path:
    """A small case file."""
    return written(CaseSize(nodes=6, existing=6, pods=9), tmp_path / "small.jsonl")


class TestBench:
    @pytest.mark.parametrize("kind", FORMS)
    def test_each_kind_is_made_and_timed(self, kind: str) -> None:
        """One line of JSON with all fields; pods of each kind find nodes."""
        found = bench("--kind", kind, *SMALL)
        assert found.keys() >= FIELDS
        assert (found["nodes"], found["pods"], found["scheduled"]) == (20, 10, 10)

    def test_the_best_and_the_median_of_the_runs(self, case: Path) -> None:
        """With the preparation and without: the best run and the median of all, and the loop alone is the quicker one."""
        (found,) = lines(str(case), "--repeat", "3")
        assert (found["pods_per_s"], found["median_pods_per_s"]) == (max(found["runs"]), sorted(found["runs"])[1])
        assert found["loop_pods_per_s"] >= found["loop_median_pods_per_s"] > found["median_pods_per_s"]
        assert found["prepare_seconds"] > 0

    def test_the_fixed_loop_takes_time(self) -> None:
        """What machines compare by is a time."""
        assert calibration() > 0

    def test_preemption_takes_a_retry_each(self) -> None:
        """With the nodes full of pods of lower priority, each pod is tried, makes room and is tried again."""
        found = bench("--kind", "preemption", "--nodes", "5", "--pods", "5")
        assert (found["scheduled"], found["decisions"]) == (5, 10)

    def test_a_case_file_is_of_its_own_release(self, case: Path) -> None:
        """The release is the case's, unless --release says another."""
        assert bench(str(case))["release"] == "1.16"
        assert bench(str(case), "--release", "1.13")["release"] == "1.13"

    def test_manifests_will_do(self, tmp_path: Path) -> None:
        """Of manifests those pods wait that have no node."""
        made = CaseSize(nodes=4, existing=3, pods=2).case("1.16")
        (tmp_path / "all.json").write_text(json.dumps({"kind": "List", "items": [*made["objects"], *made["pending"]]}))
        found = bench(str(tmp_path / "all.json"))
        assert (found["nodes"], found["pods"], found["scheduled"]) == (4, 2, 2)

    @pytest.mark.parametrize("memory", [["--no-memory"], ["--memory", "1Ki"], ["--memory", "64Mi"], []])
    def test_hosts_are_checked(self, memory: list[str], case: Path, tmp_path: Path) -> None:
        """What --output writes --check takes, whatever may be remembered; another host is exit status 1."""
        hosts = tmp_path / "hosts.json"
        bench(str(case), "--output", str(hosts))
        bench(str(case), "--check", str(hosts), *memory)
        wrong = json.loads(hosts.read_text())
        wrong["hosts"][3] = "elsewhere"
        hosts.write_text(json.dumps(wrong))
        bench(str(case), "--check", str(hosts), *memory, status=1)

    @pytest.mark.parametrize(
        ("arguments", "quick"),
        [
            (["--kind", "basic"], {"share": 1.0, "decisions": 10, "detours": {}}),
            (["--kind", "basic", "--no-memory"], {"share": 0.0, "decisions": 10, "detours": {Detour.NO_CACHE.value: 10}}),
            (["--kind", "basic", "--nodes", "1", "--existing", "35"], {"share": 0.5, "decisions": 10, "detours": {NOTHING_FITS: 5}}),
            (["--kind", "basic", "--release", DEFAULT_FRAMEWORK], {"share": 1.0, "decisions": 10, "detours": {}}),
        ],
    )
    def test_verbose_says_how_decisions_were_made(
        self, arguments: list[str], quick: dict[str, Any]
    ) -> None:
        """The JSON has the share of decisions that were read off boards and the reasons of the others; -v tells people the same."""
        found = ran("bench", *SMALL, "--repeat", "1", *arguments, "-v")
        assert found.document["quick"] == quick
        taken = 10 - sum(quick["detours"].values())
        assert found.err.splitlines() == [
            f"read off boards: {taken} of 10 decisions ({10 * taken}.0%)",
            *(f"  {reason}: {count} ({10 * count}.0%)" for reason, count in quick["detours"].items()),
        ]

    def test_without_verbose_nothing_is_told(self, capsys: pytest.CaptureFixture[str]) -> None:
        """Without -v standard error stays empty."""
        assert (run(["bench", *SMALL, "--repeat", "1", "--kind", "basic"]), capsys.readouterr().err) == (0, "")

    def test_hosts_by_release_and_name(self, case: Path, tmp_path: Path) -> None:
        """Hosts may be given by release, and pods without their namespace."""
        hosts = tmp_path / "hosts.json"
        bench(str(case), "--output", str(hosts))
        plain = json.loads(hosts.read_text())
        by_release = {"pods": [key.partition("/")[2] for key in plain["pods"]], "hosts": {"1.16": plain["hosts"]}}
        hosts.write_text(json.dumps(by_release))
        bench(str(case), "--check", str(hosts))


class TestRefusals:
    @pytest.mark.parametrize("arguments", [["--profile", "flame.html"], ["--profile", "flame.json"], ["--flame-graph", "flame.yaml"]])
    def test_a_flame_graph_needs_a_profiler(
        self, arguments: list[str], case: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Without pyinstrument --flame-graph, or --profile in its place, says how to get it, before anything is timed."""
        monkeypatch.setitem(sys.modules, "pyinstrument", None)
        assert "pip install 'kubeclassic[bench]'" in ran("bench", str(case), *arguments, status=2).err


class TestProfiles:
    def test_the_release_that_runs_them(self, case: Path) -> None:
        """--release may be that of the framework, on a case of another release too."""
        found = bench(str(case), "--release", DEFAULT_FRAMEWORK)
        assert (found["release"], found["scheduled"]) == (DEFAULT_FRAMEWORK, 9)

    def test_gates_that_there_are_no_more(self, tmp_path: Path) -> None:
        """Gates of the case that the release does not know are left out, and said to be."""
        spread = written(CaseSize(kind="spread", nodes=6, existing=6, pods=9), tmp_path / "spread.jsonl")
        told = ran("bench", str(spread), "--repeat", "1", "--release", DEFAULT_FRAMEWORK)
        assert told.err == f"left out, as release {DEFAULT_FRAMEWORK} has no such gates: EvenPodsSpread\n"
        assert told.document["scheduled"] == 9

    @pytest.mark.parametrize("option", ["--profile", "--scheduler-profile"])
    @pytest.mark.parametrize("name", ["p.yaml", "p.yml", "p.json"])
    def test_a_profile_decides(self, option: str, name: str, case: Path, tmp_path: Path) -> None:
        """A profile in YAML or JSON is what is timed, under --profile as well, and it changes the hosts."""
        hosts, profile = tmp_path / "hosts.json", profile_file(tmp_path / name)
        bench(str(case), "--release", DEFAULT_FRAMEWORK, "--output", str(hosts))
        found = bench(str(case), option, str(profile), "--check", str(hosts), status=1)
        assert (found["release"], found["scheduled"]) == (DEFAULT_FRAMEWORK, 9)

    @pytest.mark.parametrize("content", [None, "{}", '{"kind": "Node", "metadata": {"name": "a"}}', "no JSON"])
    def test_other_json_is_where_a_flame_graph_goes(
        self, content: str | None, case: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """JSON that holds no configuration, or is not there, is for speedscope."""
        path = tmp_path / "flame.json"
        if content is not None:
            path.write_text(content)
        monkeypatch.setitem(sys.modules, "pyinstrument", profiler())
        monkeypatch.setitem(sys.modules, "pyinstrument.renderers", profiler())
        bench(str(case), "--profile", str(path))
        assert path.read_text() == "speedscope of a run"
        bench(str(case), "--flame-graph", str(tmp_path / "flame.html"), "--profile", str(profile_file(path)))
        assert (tmp_path / "flame.html").read_text() == "page of a run"


def profile_file(path: Path) -> Path:
    """A profile that fills nodes up, as YAML or, being that, as JSON."""
    args = {"scoringStrategy": {"type": "MostAllocated", "resources": [{"name": "cpu"}]}}
    plugins = {"score": {"disabled": [{"name": "*"}], "enabled": [{"name": "NodeResourcesFit"}]}}
    profiles = [{"plugins": plugins, "pluginConfig": [{"name": "NodeResourcesFit", "args": args}]}]
    path.write_text(json.dumps({"apiVersion": f"{GROUP}/v1", "kind": KIND, "profiles": profiles}))
    return path


def profiler() -> ModuleType:
    """What stands in for pyinstrument and its renderers."""
    module = ModuleType("pyinstrument")
    fields = {"start": lambda self: None, "stop": lambda self: None, "output": lambda self, renderer: f"{renderer} of a run"}
    module.Profiler = lambda interval: type("Profiler", (), fields)()  # type: ignore[attr-defined]  # a module made by hand
    module.SpeedscopeRenderer, module.HTMLRenderer = (lambda: "speedscope"), (lambda: "page")  # type: ignore[attr-defined]  # as above
    return module


class TestShapes:
    @pytest.mark.parametrize("kind", ["basic", "affinity", "antiaffinity", "spread", "mixed"])
    def test_they_are_those_of_the_bench_cases(self, kind: str, shared: Path) -> None:
        """What is made is, field by field that scheduling reads, what the case files of that kind hold."""
        (given,) = read_lines(shared / "bench" / f"{kind}-5000.jsonl.gz")
        made = CaseSize(kind=kind, nodes=5000).case("1.16")
        for ours, theirs in zip(read_items(made), read_items(given), strict=True):
            assert (ours[1].spec, ours[1].labels) == (theirs[1].spec, theirs[1].labels)  # type: ignore[attr-defined]  # they are pods
        nodes = [[obj(item) for item in case["objects"] if item["kind"] == "Node"] for case in (made, given)]
        for mine, yours in zip(*nodes, strict=True):
            assert (mine.labels, mine.spec, mine.status) == (yours.labels, yours.spec, yours.status)
        bound = [[item["spec"]["nodeName"] for item in case["objects"] if item["kind"] == "Pod"] for case in (made, given)]
        assert bound[0] == bound[1]


CASES = (
    "basic-1000", "basic-5000", "basic-adaptive-5000", "basic-15000", "affinity-5000", "antiaffinity-5000", "spread-5000", "mixed-5000",
)  # fmt: skip


class TestTheOriginalsCases:
    @pytest.mark.parametrize("name", CASES)
    def test_the_timed_run_has_the_originals_hosts(self, name: str, shared: Path) -> None:
        """The run that README quotes decides, pod by pod, what the original decided."""
        case, hosts = shared / "bench" / f"{name}.jsonl.gz", shared / "bench" / f"{name}.hosts.json.gz"
        found = bench(str(case), "--check", str(hosts))
        assert found["scheduled"] == found["pods"] > 0


# --- tables, other schedulers and earlier runs ----------------------------------------------------------------------


def printing(line: str) -> str:
    """A command that prints *line*."""
    return f"{shlex.quote(sys.executable)} -c {shlex.quote(f'print({line!r})')}"


def columns(table: str) -> list[str]:
    """The headers of a table."""
    return re.split(" {3,}", table.splitlines()[0])


class TestTables:
    def test_times_and_throughput(self) -> None:
        """One table has the times of decisions, the other how many there are a second, a row for each case."""
        times, throughput = ran("bench", *GENERATED, "-o", "table").out.split("\n\n")
        assert columns(times)[5:9] == ["PODS/S", "MEDIAN", "LOOP PODS/S", "LOOP MEDIAN"]
        assert columns(times)[9:13] == ["P50 MS", "P90 MS", "P95 MS", "P99 MS"]
        for table in (times, throughput):
            assert [row.split()[0] for row in table.splitlines()] == ["CASE", "basic-5n-3e-4p"]

    def test_ratios(self) -> None:
        """Beside another scheduler there is a third table."""
        ratios = ran("bench", *GENERATED, "-o", "table", "--against", printing('{"pods_per_s": 1}')).out.split("\n\n")[2].splitlines()
        assert columns(ratios[0]) == ["CASE", "RUNS", "OURS, PODS/S", "THEIRS, PODS/S", "RATIO"]
        name, runs, ours, theirs, ratio = ratios[1].split()
        assert (name, runs, theirs) == ("basic-5n-3e-4p", "2", "1")
        assert float(ratio) == pytest.approx(float(ours), abs=1)


class TestAgainst:
    def test_medians(self) -> None:
        """The other scheduler is run as often as ours, and the medians are compared."""
        (found,) = lines(*GENERATED, "--against", printing('{"pods_per_s": 50.0, "scheduled": 4}'))
        ours, theirs = sum(found["runs"]) / 2, found["against"]
        assert (theirs["runs"], theirs["pods_per_s"], theirs["scheduled"]) == ([50.0, 50.0], 50.0, 4)
        assert theirs["ratio"] == pytest.approx(ours / 50, abs=0.01)

    def test_other_work(self) -> None:
        """Another number of placed pods is warned of."""
        said = ran("bench", *GENERATED, "--against", printing('{"pods_per_s": 50, "scheduled": 3}')).err
        assert said == "warning: basic-5n-3e-4p: the other scheduler gave 3 pods a node, this one 4: not the same work\n"


class TestCompare:
    def test_two_files(self, tmp_path: Path) -> None:
        """What bench printed twice is compared, as a table or as JSON; releases are shown where they differ."""
        a, b = tmp_path / "a.json", tmp_path / "b.json"
        a.write_text(json.dumps(lines(*GENERATED)[0]))
        b.write_text(json.dumps(lines(*GENERATED, "--release", "1.12")[0] | {"calibration": 0.2}))
        (found,) = lines("compare", str(a), str(b), "-o", "json")
        (pair,) = found["cases"]
        assert pair["calibrated_ratio"] == pytest.approx(2 * pair["ratio"], abs=0.01)
        told = ran("bench", "compare", str(a), str(b))
        assert columns(told.out)[:3] == ["CASE", "RELEASE A", "RELEASE B"]
        assert told.err.startswith("warning: calibrations differ by more than 5% in 1 of 1 cases")

    def test_it_is_a_command_of_bench(self) -> None:
        """The help of bench names it, it has a help and usage of its own, and a case of that name can still be timed."""
        assert "compare  How much faster one file" in ran("bench", "--help").out
        assert ran("bench", "compare", "--help").out.startswith("Usage: kubeclassic bench compare [OPTIONS] A B")
        assert "Missing argument 'B'" in ran("bench", "compare", "a.json", status=2).err
        assert "compare: no such file or directory" in ran("bench", "./compare", status=2).err

    def test_it_is_completed(self) -> None:
        """A shell completes its name beside the files of cases."""
        found = ShellComplete(cli, {}, "kubeclassic", "_C").get_completions(["bench"], "com")
        assert "compare" in [item.value for item in found]
        assert isinstance(cli.commands["bench"], click.Command)


@pytest.mark.parametrize("line", [command for command in re.findall(r"^kubeclassic .*$", PAGE, flags=re.MULTILINE) if "--kind" in command])
def test_the_commands_of_its_page_run(line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each command of docs/speed/bench.md that needs nothing but the repository runs at its root."""
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr("sys.argv", ["kubeclassic"])
    assert ran(*shlex.split(line)[1:], "--repeat", "1").out
