"""How soon the lab follows a slider: processor time of the server, size of its answer, and the browser's drawing where there is one.

It makes a cluster of three sizes of nodes with pods on them and more that wait, in memory, and moves the weight of a priority again and
again. It prints the medians for each release: milliseconds of processor time from the question to the encoded answer, and KiB of it.
``--browser`` also opens the page in Chromium and prints the milliseconds from the answer's arrival to the end of drawing.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import socket
import statistics
import sys
import threading
import time
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
from kubeclassic.simulation.lab.saved import Given
from kubeclassic.simulation.lab.session import Session
from kubeclassic.simulation.scenario import Files

Json = dict[str, Any]
ZONE, HOST = "failure-domain.beta.kubernetes.io/zone", "kubernetes.io/hostname"
WEIGHTS = (0, 10)
"""In turn: with and without the rule most pods go to other nodes."""
RULE = {False: "LeastRequestedPriority", True: "NodeResourcesFit"}


def cluster(nodes: int, bound: int, waiting: int) -> Files:
    """The files of a cluster, drawn by a fixed seed."""
    draw = random.Random(1)
    items = [node(f"node-{number}", number % 3, draw) for number in range(nodes)]
    items += [pod(f"there-{number}", draw, f"node-{draw.randrange(nodes)}") for number in range(bound)]
    items += [pod(f"new-{number}", draw) for number in range(waiting)]
    return Files(load_documents([Document(item, "made") for item in items]))


def node(name: str, zone: int, draw: random.Random) -> Json:
    """A node of 4, 8 or 16 cores."""
    allocatable = {"cpu": draw.choice(["4", "8", "16"]), "memory": draw.choice(["16Gi", "32Gi", "64Gi"]), "pods": "110"}
    labels = {HOST: name, ZONE: f"zone-{zone}"}
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels}, "status": {"allocatable": allocatable}}


def pod(name: str, draw: random.Random, on: str = "") -> Json:
    """A pod of one of sixteen sizes."""
    requests = {"cpu": draw.choice(["100m", "250m", "500m", "1"]), "memory": draw.choice(["128Mi", "256Mi", "512Mi", "1Gi"])}
    spec: Json = {"containers": [{"name": "main", "resources": {"requests": requests}}], **({"nodeName": on} if on else {})}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": "default"}, "spec": spec}


def lab(files: Files, release: str) -> LabApp:
    """A lab on *files*."""
    session = Session.begin(LabInput(files), LabConfiguration.of(SchedulerSpec.of(options_of({"release": release})).read()))
    return lab_app(session, Given(("cluster/",)), token="token")


def measured(app: LabApp, repeat: int) -> tuple[list[float], list[int], int]:
    """Milliseconds of processor time and bytes of *repeat* moves, after a first one that is not counted; and the pods that moved last."""
    first = app.questions.look({})
    rule = RULE[first["session"]["profiles"]]
    seen = {"seen": first["session"]["number"], "plot": first["plot"]["number"]}
    times, sizes, moved = [], [], 0
    for number in range(repeat + 1):
        began = time.process_time()
        found = app.questions.do({"do": "weight", "rule": rule, "weight": WEIGHTS[number % 2], **seen})
        body = msgspec.json.encode(found)
        moved = found["difference"]["counts"]["moved"]
        times.append(1000 * (time.process_time() - began))
        sizes.append(len(body))
        seen["seen"] = found["session"]["number"]
    return times[1:], sizes[1:], moved


# --- the browser ----------------------------------------------------------------------------------------------------

SLIDE = """async ([rule, weight]) => {
  const lab = document.lab, found = { drawn: 0 }, take = lab.take;
  lab.take = (answer) => { const began = performance.now(); take.call(lab, answer); found.drawn = performance.now() - began; };
  await lab.act({ do: "weight", rule, weight });
  lab.take = take;
  return found.drawn;
}"""


def drawn(app: LabApp, repeat: int) -> list[float]:
    """Milliseconds from the arrival of an answer to the end of drawing, in Chromium."""
    sys.path[:0] = [str(Path(__file__).resolve().parent.parent)]
    import conftest  # noqa: F401  # makes the helpers importable as tests.*
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
        rule = RULE[app.questions.session.state.configuration.runs_profiles]
        found = [page.evaluate(SLIDE, [rule, WEIGHTS[number % 2]]) for number in range(repeat + 1)]
        browser.close()
        server.should_exit = True
        thread.join(10)
    return found[1:]


def main() -> None:
    """Measure, and print a line for each release."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, default=5000)
    parser.add_argument("--bound", type=int, default=10_000)
    parser.add_argument("--waiting", type=int, default=1000)
    parser.add_argument("--repeat", type=int, default=7)
    parser.add_argument("--release", nargs="+", default=["1.12", "1.16", "1.27"])
    parser.add_argument("--browser", action="store_true")
    asked = parser.parse_args()
    files = cluster(asked.nodes, asked.bound, asked.waiting)
    click.echo(f"{asked.nodes} nodes, {asked.bound} pods on them, {asked.waiting} pods wait; calibration {calibration():.3f}")
    for release in asked.release:
        app = lab(files, release)
        times, sizes, moved = measured(app, asked.repeat)
        line = f"{release}: {moved} pods move, server {statistics.median(times):.0f} ms of processor time"
        line += f", answer {statistics.median(sizes) / 1024:.0f} KiB"
        if asked.browser:
            line += f", page {statistics.median(drawn(app, asked.repeat)):.0f} ms"
        click.echo(line)
        app.worker.close()


if __name__ == "__main__":
    main()
