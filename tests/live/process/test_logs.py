"""Log lines: klog's form and JSON, their levels, their place, and the last one of a process."""

import asyncio
import json
import os
import signal
import threading
import time
from functools import partial

import pytest

from kubeclassic.live.process.logs import JSON_LINES, Log
from tests.apiserver import NEW_SERVER, Store, StoreTransport, User, make_app, serving, serving_store
from tests.live.scheduler.worlds import at
from tests.support.kubeconfigs import kubeconfig
from tests.support.logs import LINE
from tests.support.program import command, started

QUICK = (
    "--leader-elect-lease-duration=3s",
    "--leader-elect-renew-deadline=1s",
    "--leader-elect-retry-period=0.2s",
)
QUIET = ("--port=0",)


def log_of(lines, **settings):
    """A log that writes to *lines*, at a certain time."""
    return Log(lines.append, **settings, wall=lambda: 1e9 + 0.25)  # type: ignore[arg-type]  # the tests give proper ones


# --- Lines --------------------------------------------------------------------------------------------------


def test_klogs_form():
    """Severity, month, day, time, process and the caller's place come before the text."""
    lines = []
    log = log_of(lines)
    log.info("a")
    log.warning("b")
    log.error("c")
    found = [match for line in lines if (match := LINE.fullmatch(line))]
    assert [(match["severity"], match["file"], match["text"]) for match in found] == [
        ("I", "test_logs.py", "a"),
        ("W", "test_logs.py", "b"),
        ("E", "test_logs.py", "c"),
    ]
    assert [int(match["line"]) - int(found[0]["line"]) for match in found] == [0, 1, 2]
    assert f" {os.getpid():7} " in lines[0]
    assert ".250000 " in lines[0]


def test_json():
    """A line is one JSON object with the time in milliseconds, severity, place, text, and the level of
    what is no fault."""
    lines = []
    log = log_of(lines, form=JSON_LINES, level=2)
    log.info("a", 2)
    log.warning("b\n\x1b[1m")
    first, second = map(json.loads, lines)
    place = first.pop("caller")
    assert place.startswith("process/test_logs.py:")
    assert first == {"ts": 1e12 + 250, "severity": "INFO", "msg": "a", "v": 2}
    assert (second["severity"], second["msg"], "v" in second) == ("WARNING", "b\n\x1b[1m", False)
    assert all(line.isprintable() for line in lines)


def test_text_from_outside():
    """Control characters and line breaks in text from outside are escaped."""
    lines = []
    log_of(lines).warning("a\x1b[1m\nW1124 forged")
    assert lines[0].endswith("] a\\x1b[1m\\nW1124 forged")


@pytest.mark.parametrize("release", ["1.16", "1.36"])
@pytest.mark.parametrize(
    "level, said",
    [
        ("0", []),
        (
            "2",
            [
                "pod default/small: bound to node-0",
                "pod default/big: no node: 0/1 nodes are available: 1 Insufficient cpu.",
            ],
        ),
        ("3", ["pod default/small: attempt 1", "pod default/big: attempt 1"]),
        ("6", ["POST /api/v1/namespaces/default/pods/small/binding 201 in 0 ms"]),
    ],
)
async def test_what_each_level_says(release, level, said):
    """From level 2 on what became of each pod, from 3 on each attempt, from 6 on each request."""
    every = {"pod default/small: bound to node-0", "pod default/small: attempt 1"}
    async with at(release) as site:
        site.add_node("node-0", cpu="1")
        replica = site.start(v=level)
        site.add_pod("small")
        site.add_pod("big", cpu="8")
        await asyncio.sleep(5.0)
        for text in said:
            assert [line for line in replica.said if line.startswith(text)] != [], replica.said
        if not said:
            assert not every & set(replica.said)


@pytest.mark.whole
class TestAsAProgram:
    @pytest.mark.parametrize("form", ["text", "json"])
    @pytest.mark.parametrize("number, status", [(signal.SIGTERM, 0), (signal.SIGINT, 130)])
    def test_the_last_line_says_why(self, tmp_path, form, number, status):
        """At a signal the last line names it, what was under way, the lease and the exit status; every line
        has the form asked for."""
        with serving_store(Store(NEW_SERVER)) as address:
            lines, code = _run(tmp_path, address, number, f"--logging-format={form}")
        texts = [json.loads(line)["msg"] if form == "json" else _text(line) for line in lines]
        told = "no pod was being bound; lease kube-system/kube-scheduler given back"
        assert (code, texts[-1]) == (status, f"stopped by {number.name}: {told}; exit status {status}")
        assert texts[0].startswith("starting as kube-scheduler v1.36.")
        assert "scheduling begins" in texts

    @pytest.mark.parametrize("number", [None, signal.SIGTERM])
    def test_nothing_is_said_of_events_under_way(self, tmp_path, number):
        """Events that have no answer when the lease is lost, or at a signal, are dropped: the last line stays
        the last, with no word of another try."""
        store = Store(NEW_SERVER)
        with serving(make_app(Silent(store))) as address:
            lines, code = _run(tmp_path, address, number or partial(_steal, store), *QUICK)
        texts = [_text(line) for line in lines]
        if number is None:
            assert (code, lines[-1][0], texts[-1]) == (
                1,
                "E",
                "leaderelection lost: lost lease; exit status 1",
            )
        else:
            assert (code, texts[-1].partition(":")[0]) == (0, "stopped by SIGTERM")
        assert [text for text in texts if "may retry" in text] == []
        assert any("not sent: 2 seconds were over" in text for text in texts) == (number is not None)

    def test_a_plugin_that_hangs(self, tmp_path):
        """A line says which plugin is waited for; a signal in that time ends it, and the plugin, as at any
        other time."""
        plugin = tmp_path / "hang"
        plugin.write_text("#!/bin/sh\nexec sleep 600\n")
        plugin.chmod(0o755)
        user = {
            "exec": {
                "apiVersion": "client.authentication.k8s.io/v1",
                "command": str(plugin),
                "interactiveMode": "Never",
            }
        }
        began = time.monotonic()
        lines, code = _run(
            tmp_path, "http://127.0.0.1:9", signal.SIGTERM, user=user, at=f"waiting for plugin {plugin}"
        )
        assert (code, [_text(line) for line in lines]) == (
            0,
            [f"waiting for plugin {plugin}", "stopped by SIGTERM; exit status 0"],
        )
        assert time.monotonic() - began < 30.0


class Silent(StoreTransport):
    """An API server that does not answer to events."""

    async def send(self, request):
        if request.method == "POST" and request.path.endswith("/events"):
            await asyncio.sleep(60.0)
        return await super().send(request)


def _steal(store):
    """Another one takes the lease."""
    User(store).patch(
        "leases", "kube-scheduler", {"spec": {"holderIdentity": "another"}}, namespace="kube-system"
    )


def _text(line):
    found = LINE.fullmatch(line)
    assert found is not None, line
    return found["text"]


def _run(folder, address, then, *flags, user=None, at="scheduling begins"):
    """The lines and the status of ``run``, to which *then* happens at a line with *at*: a signal, or a
    function."""
    file = kubeconfig(folder, {"server": address}, user or {})
    words = command("run", "--release", "1.36", "--kubeconfig", str(file), *QUIET, *flags)
    with started(words) as process:
        limit = threading.Timer(60, process.kill)
        limit.start()
        assert process.stderr is not None
        lines = []
        for line in process.stderr:
            lines.append(line.rstrip("\n"))
            if at in line and isinstance(then, signal.Signals):
                process.send_signal(then)
            elif at in line and callable(then):
                then()
        limit.cancel()
        return lines, process.wait(60)
