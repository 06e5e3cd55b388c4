"""The commands of the pages about live clusters run, against an API server in process; those of serve.md in
``server``."""

import shlex
import signal
import subprocess
import threading

import pytest

from kubeclassic.cli import run
from tests.apiserver import NEW_SERVER, OLD_SERVER, Store, User, serving_store
from tests.conftest import ROOT
from tests.support.kubeconfigs import kubeconfig
from tests.support.pageblocks import commands_of, files_of
from tests.support.program import command, started

PAGES = ROOT / "docs" / "live"
BESIDE, LIVE = (commands_of((PAGES / f"{name}.md").read_text()) for name in ("beside", "live"))
SCHEDULING = [line for line in dict.fromkeys((*BESIDE, *LIVE)) if line.split()[1] in ("run", "shadow")]


def with_a_node(server):
    """An API server's store with one node."""
    store = Store(server)
    User(store).create("nodes", {"metadata": {"name": "a"}})
    return store


def test_the_commands_that_look_run(workdir):
    """Each command that reads a live cluster once runs against a server that the kubeconfig in the home
    folder names."""
    (workdir / ".kube").mkdir()
    with serving_store(with_a_node(NEW_SERVER)) as address:
        kubeconfig(workdir / ".kube", {"server": address}).rename(workdir / ".kube" / "config")
        for line in (line for line in BESIDE if line not in SCHEDULING):
            assert run(shlex.split(line.replace("~", str(workdir)))[1:]) == 0
    assert (workdir / "cluster.json.gz").stat().st_size > 0
    assert (workdir / "names.json").stat().st_size > 0


@pytest.mark.whole
@pytest.mark.parametrize("line", SCHEDULING)
def test_the_commands_that_schedule_do(line, tmp_path):
    """Each command begins to schedule, and ends well at SIGTERM; here it does not listen, as others may run
    beside it."""
    ports = ["--port=0"]
    more = ports if " run " in line and "--dry-run" not in line else []
    with serving_store(with_a_node(OLD_SERVER)) as address:
        file = kubeconfig(tmp_path, {"server": address})
        for name, text in files_of((PAGES / "beside.md").read_text()).items():
            (tmp_path / name).write_text(text.replace("/etc/kubernetes/kubeclassic.conf", str(file)))
        arguments = [*shlex.split(line.replace("~/.kube/config", str(file)))[1:], *more]
        with started(command(*arguments), stdout=subprocess.DEVNULL, cwd=tmp_path) as process:
            assert process.stderr is not None
            limit = threading.Timer(60, process.kill)
            limit.start()
            said = list(_until("scheduling begins", process.stderr))
            process.send_signal(signal.SIGTERM)
            said += process.stderr
            assert process.wait(60) == 0, said
            limit.cancel()


def _until(text, lines):
    """The lines up to the one that has *text*."""
    for line in lines:
        yield line
        if text in line:
            return
