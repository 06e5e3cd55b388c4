"""README's commands do what it says."""

from __future__ import annotations

import re
import shlex
import signal
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import IO

import pytest

from kubeclassic.cli import run
from tests.apiserver.app import serving_store
from tests.apiserver.resources import NEW_SERVER, OLD_SERVER
from tests.apiserver.store import Store
from tests.support.kubeconfigs import kubeconfig
from tests.support.program import command

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(heading: str) -> list[str]:
    """The code blocks under a heading of README."""
    section = re.split(r"^## ", README, flags=re.MULTILINE)
    found = next(part for part in section if part.startswith(heading + "\n"))
    return [block.strip("\n") for block in re.findall(r"^```\n(.*?)^```$", found, flags=re.MULTILINE | re.DOTALL)]


COMMANDS = [line for heading in ("Use it", "How fast") for block in blocks(heading) for line in block.splitlines()]
SOME_UNSCHEDULABLE = 1


@pytest.mark.parametrize("line", COMMANDS)
def test_a_command_runs(line: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Each command under "Use it" and "How fast" runs at the root, with status 1 where an example's unschedulable pod takes part."""
    monkeypatch.chdir(ROOT)
    program, *arguments = shlex.split(line)
    assert program == "kubeclassic"
    placed = not {"examples/cluster", "examples/gang/cluster.yaml"} & set(arguments) or {"shop/orders-1", "capacity"} & set(arguments)
    assert run(arguments) == (0 if placed else SOME_UNSCHEDULABLE)
    assert capsys.readouterr().out


def test_the_commands_for_live_clusters_run(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each command under "Live clusters" runs against a server that the kubeconfig in the home folder names."""
    (tmp_path / ".kube").mkdir()
    monkeypatch.chdir(tmp_path)
    store = Store(NEW_SERVER)
    store.handle("POST", "/api/v1/nodes", "", b'{"metadata":{"name":"a"}}', {"content-type": "application/json"})
    with serving_store(store) as address:
        kubeconfig(tmp_path / ".kube", {"server": address}).rename(tmp_path / ".kube" / "config")
        for line in "\n".join(blocks("Live clusters")).splitlines():
            assert run(shlex.split(line.replace("~", str(tmp_path)))[1:]) == 0
    assert (tmp_path / "cluster.json.gz").stat().st_size > 0
    assert (tmp_path / "names.json").stat().st_size > 0


@pytest.mark.parametrize("line", [line for block in blocks("Run it") for line in block.splitlines()])
def test_the_commands_that_run_a_scheduler_do(line: str, tmp_path: Path) -> None:
    """Each command under "Run it" begins to schedule, and ends well at SIGTERM; here it does not listen, as others may run beside it."""
    store = Store(OLD_SERVER)
    store.handle("POST", "/api/v1/nodes", "", b'{"metadata":{"name":"a"}}', {"content-type": "application/json"})
    more = ["--port=0"] if " run " in line and "--dry-run" not in line else []
    with serving_store(store) as address:
        file = kubeconfig(tmp_path, {"server": address})
        arguments = [*shlex.split(line.replace("~/.kube/config", str(file)))[1:], *more]
        with subprocess.Popen(command(*arguments), stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True) as process:
            assert process.stderr is not None
            limit = threading.Timer(60, process.kill)
            limit.start()
            said = list(_until("scheduling begins", process.stderr))
            process.send_signal(signal.SIGTERM)
            said += process.stderr
            assert process.wait(30) == 0, said
            limit.cancel()


def _until(text: str, lines: IO[str]) -> Iterator[str]:
    """The lines up to the one that has *text*."""
    for line in lines:
        yield line
        if text in line:
            return


@pytest.mark.parametrize("heading", ["Try it", "Test it"])
def test_the_first_commands_are_one_line(heading: str) -> None:
    """The commands that do all the set-up are one line each, and make their own environment."""
    (block,) = blocks(heading)
    assert len(block.splitlines()) == 1
    assert block.startswith("python3 -m venv .venv && ")


def test_the_python_examples_run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """The Python code, block after block, runs at the repository's root, and a rule of one's own has its say."""
    monkeypatch.chdir(ROOT)
    program = "\n".join(re.findall(r"^```python\n(.*?)^```$", README, flags=re.MULTILINE | re.DOTALL))
    exec(compile(program, "README.md", "exec"), {"__name__": "readme"})
    first, failed, totals, *others, explained, plugin = capsys.readouterr().out.splitlines()
    assert re.fullmatch(r"database-\w\d \d+", first)
    assert failed == """["node(s) had taints that the pod didn't tolerate"]"""
    assert re.fullmatch(r"\[\d+( \d+)+\]", totals)
    assert len(others) == 21
    assert sum("0/11 nodes are available: " in line for line in others) == 1
    assert "'database-b1': ['node(s) were in a zone that is worked on']" in explained
    assert plugin == "NodeResourcesFit"


def test_links_lead_somewhere() -> None:
    """Every relative link of README leads to a file or folder that is there."""
    targets = [target for target in re.findall(r"\]\(([^)]+)\)", README) if "://" not in target]
    assert targets
    assert [target for target in targets if not (ROOT / target).exists()] == []
