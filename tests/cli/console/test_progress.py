"""Progress on standard error: a bar for people at a terminal, and nothing for what is quick."""

import io
import sys
import threading
import time
from pathlib import Path

import pytest

from kubeclassic.cli import run
from kubeclassic.cli.console import progress
from kubeclassic.cli.console.progress import Work, telling, working
from tests.conftest import CLUSTER
from tests.support.program import Terminal

POD = str(Path(CLUSTER).parent / "capacity" / "small-pod.yaml")
NO_PATIENCE = 60.0


@pytest.fixture(autouse=True)
def impatient(monkeypatch):
    """Progress is on, and nobody waits for it."""
    monkeypatch.setenv("KUBECLASSIC_PROGRESS", "1")
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setattr(progress, "TO_BAR", 0.0)
    monkeypatch.setattr(progress, "REFRESH", 0.01)


def stream_of(monkeypatch, kind):
    """A stream of *kind* in place of standard error."""
    stream = kind()
    monkeypatch.setattr(sys, "stderr", stream)
    return stream


def wait_for(stream, text):
    """Wait until *stream* has *text*."""
    end = time.monotonic() + NO_PATIENCE
    while text not in stream.getvalue():
        assert time.monotonic() < end, stream.getvalue()
        time.sleep(0.005)


@pytest.mark.parametrize(
    "work, told",
    [
        (Work("scheduling", 8152, "pods", 1200), "1,200 of 8,152 pods"),
        (Work("replaying", 90, "events", 30, "2h0m"), "30 of 90 events, 2h0m"),
        (Work("reading", word="cluster.json"), "cluster.json"),
        (Work("counting", unit="copies", done=4000), "4,000 copies"),
        (Work("scheduling", 10, "pods", 12), "10 of 10 pods"),
        (Work("explaining"), ""),
    ],
)
def test_it_says_how_far_it_is(work, told):
    """Progress shows the amount done, the total and the latest word, as far as they are known."""
    assert work.text() == told


# --- Bar ----------------------------------------------------------------------------------------------------


def test_it_counts(monkeypatch):
    """At a terminal a bar says what is done and of how much, and is gone in the end."""
    stream = stream_of(monkeypatch, Terminal)
    with working("emptying", 200, "nodes") as work:
        work.tell(120, "node-7")
        wait_for(stream, "120 of 200 nodes, node-7")
    assert stream.getvalue().endswith("\x1b[2K")


def test_a_total_can_come_late(monkeypatch):
    """Where the total is known only when the work has begun, it is shown from then on."""
    stream = stream_of(monkeypatch, Terminal)
    with working("sweeping", unit="runs") as work:
        wait_for(stream, "sweeping")
        work.at(3, 40)
        wait_for(stream, "3 of 40 runs")


def test_names_are_no_markup(monkeypatch):
    """A name with brackets is shown as it is."""
    stream = stream_of(monkeypatch, Terminal)
    with telling("reading") as tell:
        tell("[bold]a[/bold].yaml")
        wait_for(stream, "[bold]a[/bold].yaml")


# --- Quiet --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name, value", [("KUBECLASSIC_PROGRESS", "0"), ("TERM", "dumb")])
def test_it_can_be_turned_off(name, value, monkeypatch):
    """With KUBECLASSIC_PROGRESS=0, or on a terminal that cannot move its cursor, there is none, and no
    thread either."""
    monkeypatch.setenv(name, value)
    stream = stream_of(monkeypatch, Terminal)
    with telling("reading"):
        assert [thread for thread in threading.enumerate() if thread.name == "progress"] == []
    assert stream.getvalue() == ""


def test_quick_work_is_silent(monkeypatch):
    """Work that is over before its time comes says nothing, nor does any where nobody looks."""
    stream = stream_of(monkeypatch, io.StringIO)
    with telling("reading"):
        time.sleep(0.02)
    assert stream.getvalue() == ""
    monkeypatch.setattr(progress, "TO_BAR", NO_PATIENCE)
    stream = stream_of(monkeypatch, Terminal)
    with working("scheduling", 5, "pods"):
        pass
    assert stream.getvalue() == ""


def test_work_within_work_is_part_of_it(monkeypatch):
    """Of two nested displays only the outer one is shown; when it is over, the next one may be."""
    stream = stream_of(monkeypatch, Terminal)
    with telling("trying"), working("scheduling", 1, "pods"):
        wait_for(stream, "trying")
    assert "scheduling" not in stream.getvalue()
    with telling("reading"):
        wait_for(stream, "reading")


def test_a_failure_ends_it(monkeypatch):
    """Work that fails ends its progress before the error is told."""
    stream = stream_of(monkeypatch, Terminal)
    with pytest.raises(ZeroDivisionError):
        fail(stream)
    assert [thread for thread in threading.enumerate() if thread.name == "progress"] == []


def fail(stream):
    """Work that fails once it has been told."""
    with telling("dividing"):
        wait_for(stream, "dividing")
        _ = 1 // 0


@pytest.mark.parametrize(
    "arguments, told",
    [
        (("simulate", CLUSTER), {"reading", "scheduling"}),
        (("explain", CLUSTER, "shop/orders-1"), {"reading", "explaining"}),
        (("explain", CLUSTER, "analytics/yearly-report", "--what-if"), {"reading", "trying changes"}),
        (("compare", CLUSTER, "--a", "release=1.15", "--b", "release=1.16"), {"reading", "scheduling"}),
        (("replay", CLUSTER, "--until", "60"), {"reading", "replaying"}),
        (("capacity", CLUSTER, "--pod", POD), {"reading", "counting"}),
        (("drain", CLUSTER, "gpu-b1"), {"reading", "scheduling", "emptying"}),
    ],
    ids=lambda value: value[0] if isinstance(value, tuple) else "",
)
def test_each_command_says_what_it_does(arguments, told, monkeypatch):
    """Each piece of work of a command is shown if it takes long enough, under its own word."""
    seen = []

    def show(work, over):
        seen.append(work.what)

    monkeypatch.setattr(progress, "_bar", show)
    stream_of(monkeypatch, Terminal)
    assert run(arguments) in (0, 1)
    assert set(seen) == told
    assert len(seen) >= len(told)
