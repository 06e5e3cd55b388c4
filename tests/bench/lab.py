"""How soon the lab follows: processor time of the server, size of its answer, and the browser's drawing where there is one.

It makes a dump as users have them (``tests/support/madedump.py``), lets some of its pods wait, and moves a weight, edits a pod and a node,
cordons, and changes the release, again and again. For each it prints p50 and p95 of the milliseconds of processor time from the
question to the encoded answer, the KiB of that, and the same of *why*, which the page asks after each step. ``--browser`` also opens
the page in Chromium and prints the milliseconds from the answer's arrival to the end of drawing.
"""

from __future__ import annotations

import argparse
import asyncio
import socket
import statistics
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import msgspec

from kubeclassic.api.load import load_documents
from kubeclassic.api.reading.documents import Document
from kubeclassic.cli.lab import lab_app
from kubeclassic.framework.options import options_of
from kubeclassic.framework.schedulerspec import SchedulerSpec
from kubeclassic.live.server.labapp import LabApp
from kubeclassic.simulation.bench.bench import calibration
from kubeclassic.simulation.lab.labconfiguration import LabConfiguration
from kubeclassic.simulation.lab.labinput import LabInput
from kubeclassic.simulation.lab.session import Given, Session
from kubeclassic.simulation.scenario import Files

Json = dict[str, Any]
WEIGHTS = (0, 10)
"""In turn: with and without the rule most pods go to other nodes."""
RULE = {False: "LeastRequestedPriority", True: "NodeResourcesFit"}


def cluster(nodes: int, pods: int, waiting: int) -> Files:
    """The files of a made dump in which *waiting* pods of ReplicaSets, and those that wait anyway, have no node."""
    sys.path[:0] = [str(Path(__file__).resolve().parents[2])]
    from tests import conftest  # noqa: F401  # makes the helpers importable as tests.*
    from tests.support.madedump import Size, made

    objects = made(Size(nodes=nodes, pods=pods))
    loose = [item for item in objects if item["kind"] == "Pod" and _owner(item) == "ReplicaSet" and "nodeName" in item["spec"]]
    for item in loose[:: max(len(loose) // max(waiting, 1), 1)][:waiting]:
        del item["spec"]["nodeName"]
        item["status"] = {"phase": "Pending"}
    return Files(load_documents([Document(item, "made") for item in objects]))


def _owner(pod: Json) -> str:
    owners = pod["metadata"].get("ownerReferences") or [{}]
    return str(owners[0].get("kind", ""))


def lab(files: Files, release: str) -> LabApp:
    """A lab on *files*."""
    session = Session.begin(LabInput(files), LabConfiguration.of(SchedulerSpec.of(options_of({"release": release})).read()))
    return lab_app(session, Given(("cluster/",)), token="token")


def actions(app: LabApp, release: str) -> dict[str, Iterator[Json]]:
    """Kind of step -> such steps, each of which changes something."""
    session = app.questions.session
    scenario = session.bench.scenario(session.state)
    rule = RULE[session.state.configuration.runs_profiles]
    pods, nodes = scenario.pending, [node for node in scenario.nodes if not node.spec.unschedulable]
    there = [item for item in scenario.objects if item.kind == "Pod"]
    other = {"1.27": "1.31", "1.16": "1.14"}.get(release, "1.27")
    count = range(1000)
    return {
        "weight": ({"do": "weight", "rule": rule, "weight": WEIGHTS[at % 2]} for at in count),
        "pod that waits": ({"do": "edit", "text": f"pod {pods[7 * at % len(pods)].key} requests.cpu={300 + at}m"} for at in count),
        "pod with a node": ({"do": "edit", "text": f"pod {there[7 * at].key} requests.cpu={300 + at}m"} for at in count),
        "node": ({"do": "edit", "text": f"node {nodes[11 * at].name} allocatable.cpu={20 + at}"} for at in count),
        "cordon": ({"do": "cordon", "node": nodes[13 * at + 5].name} for at in count),
        "drain": ({"do": "drain", "node": nodes[17 * at + 9].name} for at in count),
        "copy": ({"do": "copy", "node": nodes[19 * at + 7].name, "count": 1} for at in count),
        "release": ({"do": "release", "value": (other, release)[at % 2]} for at in count),
    }  # fmt: skip


def measured(app: LabApp, steps: Iterator[Json], repeat: int) -> dict[str, list[float]]:
    """Milliseconds of processor time of *repeat* steps and of *why* after each, after a first one that is not counted, and KiB."""
    first = app.questions.look({})
    seen = {"seen": first["session"]["number"], "plot": first["plot"]["number"]}
    pod = first["plot"]["pods"][first["plot"]["waiting"] // 2][0]
    found: dict[str, list[float]] = {"step": [], "why": [], "KiB": []}
    for _ in range(repeat + 1):
        began = time.process_time()
        answer = app.questions.do({**next(steps), **seen})
        body = msgspec.json.encode(answer)
        found["step"].append(1000 * (time.process_time() - began))
        found["KiB"].append(len(body) / 1024)
        seen = {"seen": answer["session"]["number"], "plot": answer["placement"]["plot"]}
        began = time.process_time()
        app.questions.why({"pod": pod})
        found["why"].append(1000 * (time.process_time() - began))
    return {name: values[1:] for name, values in found.items()}


def p95(values: list[float]) -> float:
    """The value that one in twenty is above."""
    return sorted(values)[min(int(0.95 * len(values)), len(values) - 1)]


# --- the browser ----------------------------------------------------------------------------------------------------

STEP = """async (action) => {
  const lab = document.lab, found = { drawn: 0 }, take = lab.take;
  lab.take = (answer) => { const began = performance.now(); take.call(lab, answer); found.drawn = performance.now() - began; };
  await lab.act(action);
  lab.take = take;
  return found.drawn;
}"""


def drawn(app: LabApp, wanted: dict[str, Iterator[Json]], repeat: int) -> dict[str, list[float]]:
    """Milliseconds from the arrival of an answer to the end of drawing, in Chromium, by kind of step."""
    import uvicorn
    from playwright.sync_api import sync_playwright

    from tests.browser.chromium import ARGUMENTS, executable

    with socket.create_server(("127.0.0.1", 0)) as place, sync_playwright() as playwright:
        server = uvicorn.Server(uvicorn.Config(app, log_config=None, lifespan="off", ws="none"))
        thread = threading.Thread(target=lambda: asyncio.run(server.serve([place])), daemon=True)
        thread.start()
        browser = playwright.chromium.launch(executable_path=executable(), args=ARGUMENTS)
        page = browser.new_page(viewport={"width": 1400, "height": 1000})
        page.goto(f"http://127.0.0.1:{place.getsockname()[1]}/token/")
        page.wait_for_selector("body[data-state]")
        found = {kind: [page.evaluate(STEP, next(steps)) for _ in range(repeat + 1)][1:] for kind, steps in wanted.items()}
        browser.close()
        server.should_exit = True
        thread.join(10)
    return found


def main() -> None:
    """Measure, and print a line for each release and kind of step."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, default=5000)
    parser.add_argument("--pods", type=int, default=15_000)
    parser.add_argument("--waiting", type=int, default=740, help="Besides those that wait anyway.")
    parser.add_argument("--repeat", type=int, default=20)
    parser.add_argument("--release", nargs="+", default=["1.16", "1.27"])
    parser.add_argument("--only", nargs="+", help="These kinds of step alone.")
    parser.add_argument("--browser", action="store_true")
    asked = parser.parse_args()
    files = cluster(asked.nodes, asked.pods, asked.waiting)
    for release in asked.release:
        app = lab(files, release)
        plot = app.questions.look({})["plot"]
        told = f"{release}: {len(plot['nodes'])} nodes, {len(plot['pods'])} pods, {plot['waiting']} of which wait"
        click.echo(f"{told}; calibration {calibration():.3f}")
        wanted = {kind: steps for kind, steps in actions(app, release).items() if not asked.only or kind in asked.only}
        for kind, steps in wanted.items():
            found = measured(app, steps, asked.repeat)
            parts = [f"{name} p50 {statistics.median(values):.0f} p95 {p95(values):.0f}" for name, values in found.items()]
            click.echo(f"  {kind:16}{', '.join(parts)}")
        if asked.browser:
            for kind, times in drawn(app, wanted, asked.repeat).items():
                click.echo(f"  page: {kind:16}p50 {statistics.median(times):.0f} p95 {p95(times):.0f} ms")
        app.worker.close()


if __name__ == "__main__":
    main()
