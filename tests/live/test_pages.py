"""The commands of the pages about live clusters run, against an API server in process."""

from __future__ import annotations

import json
import re
import shlex
import signal
import socket
import subprocess
import threading
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import IO

import pytest

from kubeclassic.cli import run
from tests.apiserver.app import serving_store
from tests.apiserver.resources import NEW_SERVER, OLD_SERVER
from tests.apiserver.store import Store
from tests.conftest import ROOT
from tests.support.kubeconfigs import kubeconfig
from tests.support.pageblocks import commands_of
from tests.support.program import command

PAGES = ROOT / "docs" / "live"
BESIDE, LIVE, SERVE = (commands_of((PAGES / f"{name}.md").read_text(encoding="utf-8")) for name in ("beside", "live", "serve"))
SCHEDULING = [line for line in dict.fromkeys((*BESIDE, *LIVE)) if line.split()[1] in ("run", "shadow")]


def with_a_node(server: str) -> Store:
    """An API server's store with one node."""
    store = Store(server)
    store.handle("POST", "/api/v1/nodes", "", b'{"metadata":{"name":"a"}}', {"content-type": "application/json"})
    return store


def test_the_commands_that_look_run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Each command that reads a live cluster once runs against a server that the kubeconfig in the home folder names."""
    (tmp_path / ".kube").mkdir()
    monkeypatch.chdir(tmp_path)
    with serving_store(with_a_node(NEW_SERVER)) as address:
        kubeconfig(tmp_path / ".kube", {"server": address}).rename(tmp_path / ".kube" / "config")
        for line in (line for line in BESIDE if line not in SCHEDULING):
            assert run(shlex.split(line.replace("~", str(tmp_path)))[1:]) == 0
    assert (tmp_path / "cluster.json.gz").stat().st_size > 0
    assert (tmp_path / "names.json").stat().st_size > 0


@pytest.mark.parametrize("line", SCHEDULING)
def test_the_commands_that_schedule_do(line: str, tmp_path: Path) -> None:
    """Each command begins to schedule, and ends well at SIGTERM; here it does not listen, as others may run beside it."""
    more = ["--port=0"] if " run " in line and "--dry-run" not in line else []
    with serving_store(with_a_node(OLD_SERVER)) as address:
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


def test_the_commands_that_serve_and_ask_do() -> None:
    """The server of the page begins, and answers what the page asks, in JSON and as a page."""
    serve, *asked = SERVE
    port = _free_port()
    with subprocess.Popen(
        command(*shlex.split(serve.replace("8888", str(port)))[1:]), stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True, cwd=ROOT
    ) as process:
        assert process.stderr is not None
        limit = threading.Timer(60, process.kill)
        limit.start()
        said = list(_until(str(port), process.stderr))
        filtered, explained = (_answer(line.replace("8888", str(port))) for line in asked)
        process.send_signal(signal.SIGTERM)
        said += process.stderr
        assert process.wait(30) == 0, said
        limit.cancel()
    assert "gpu-b1" in json.loads(filtered)["FailedNodes"]
    assert "shop/orders-1" in explained
    assert "<html" in explained


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port


def _answer(line: str) -> str:
    """What the server answers to a line with ``curl``."""
    words = shlex.split(line)
    assert words[0] == "curl"
    body = words[words.index("--json") + 1].encode() if "--json" in words else None
    (address,) = (word for word in words if re.match("http://", word))
    request = urllib.request.Request(address, data=body, headers={"content-type": "application/json"} if body else {})
    with urllib.request.urlopen(request, timeout=30) as reply:
        text: str = reply.read().decode()
        return text
