"""Entry points of fuzzing, each what reads input and good input for it; here those for questions and traces."""

from __future__ import annotations

import json
import shlex
import tempfile
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import attrs
import msgspec

import kubeclassic
from kubeclassic.exceptions import KubeclassicError
from kubeclassic.questions.importing import columnmap, simkube
from tests.conftest import ROOT
from tests.support.keywords import keywords_of
from tests.support.program import inside

EXAMPLES = ROOT / "examples"
TRACES = EXAMPLES / "traces"
EDITS = (
    b"pod shop/* requests.cpu=500m", b"node pool=general taints-=x unschedulable=true",
    b"pod storefront-* tolerations+=dedicated=gpu:NoSchedule",
    b"node 'pool in (gpu, general),!canary' 'spec.taints=[{key: a, effect: NoSchedule}]'",
    b"node * allocatable.cpu*=2 labels.disk=ssd", b"deploy * spec.replicas=3 spec.template.spec.containers[0].image=x",
)  # fmt: skip
CAPACITY = (
    {"pod": "small", "pods": 5}, {"pod": ["small", "web"], "ratio": [3, 1], "max_limit": 20}, {"pod": "web", "exclude_nodes": "pool=gpu"},
    {"pod": "small", "max_limit": 9, "exclude_nodes": ["general-a1", "pool in (database)"], "pending_first": True, "order": "queue"},
)  # fmt: skip
DRAIN = (
    {"nodes": ["worker-1", "worker-2"], "ignore_daemonsets": True, "order": "priority"}, {"auto": True, "keep": 1, "force": True},
    {"zone": "north-a", "ignore_daemonsets": True, "delete_emptydir_data": True, "pod_selector": "app!=web"},
    {"node_selector": "!gpu", "ignore_daemonsets": True, "recreate_bare": True, "disable_eviction": True},
)  # fmt: skip
ARGUMENTS = (
    b"capacity CLUSTER --pod POD --pods 5 -o json", b"capacity CLUSTER --pod POD --pod WEB --ratio 3:1 --max-limit 9 -o wide",
    b"capacity CLUSTER --pod POD --exclude-nodes pool=gpu --pods 4",
    b"drain DRAINED worker-1 worker-2 --ignore-daemonsets -o csv", b"drain DRAINED --auto --keep 2 --force --ignore-daemonsets -o json",
    b"drain DRAINED --zone north-a -l !gpu --pod-selector app=web --delete-emptydir-data", b"drain DRAINED --node worker-3 --recreate-bare",
)  # fmt: skip
PLACES = {
    "CLUSTER": EXAMPLES / "cluster", "DRAINED": EXAMPLES / "drain" / "cluster.yaml", "POD": EXAMPLES / "capacity" / "small-pod.yaml",
    "WEB": EXAMPLES / "capacity" / "web.yaml",
}  # fmt: skip
TEMPLATES = {"small": str(PLACES["POD"]), "web": str(PLACES["WEB"])}
JOBS = (
    b"job_name,organization,gpu_model,cpu_request,gpu_request,worker_num,submit_time,duration,job_type\n"
    b"j-1,o,A10,12,1,2,5,3600,HP\nj-2,o,,4,0,1,0,,Spot\n"
)


@cache
def _folder() -> tempfile.TemporaryDirectory[str]:
    """One folder for all tries of a process: to make and remove one takes longer than most tries."""
    return tempfile.TemporaryDirectory()


def file_with(content: bytes, name: str) -> Path:
    """A file of that name with *content*."""
    path = Path(_folder().name, name)
    path.write_bytes(content)
    return path


@attrs.frozen
class Entry:
    """An entry point: what reads input of its kind, and good input."""

    read: Callable[[bytes], object]
    seeds: Callable[[], list[bytes]]


def bytes_of(*files: Path) -> list[bytes]:
    """What is in *files*."""
    return [file.read_bytes() for file in files]


# --- questions ------------------------------------------------------------------------------------------------------


class NotOneLineError(AssertionError):
    """A run that ended in another way than with an answer or with errors of one line."""


def _keywords(content: bytes) -> dict[str, Any]:
    try:
        found = json.loads(content)
    except (ValueError, RecursionError):
        raise KubeclassicError("no JSON") from None
    if not isinstance(found, dict):
        raise KubeclassicError("no arguments")
    return found


def _capacity(content: bytes) -> None:
    given = _keywords(content)
    names = ("ratio", "pods", "max_limit", "exclude_nodes", "pending_first", "order")
    asked = given.get("pod", "small")
    pods = [TEMPLATES.get(name, name) if isinstance(name, str) else name for name in (asked if isinstance(asked, list) else [asked])]
    kubeclassic.capacity(str(PLACES["CLUSTER"]), pods, **keywords_of({name: given[name] for name in names if name in given}, "preemption"))


def _drain(content: bytes) -> None:
    names = {name for seed in DRAIN for name in seed}
    kubeclassic.drain(str(PLACES["DRAINED"]), **keywords_of({name: value for name, value in _keywords(content).items() if name in names}))


def _arguments(content: bytes) -> None:
    try:
        words = shlex.split(content.decode("utf-8", "surrogateescape"))
    except ValueError:
        raise KubeclassicError("no command line") from None
    if words[:1] not in (["capacity"], ["drain"]) or any(word.startswith(("--out", "--plot", "--ext", "/", "-\0")) for word in words):
        raise KubeclassicError("not to be run")
    done = inside(*(str(PLACES.get(word, word)) for word in words), cwd=Path())
    if done.returncode not in (0, 1, 2):
        raise NotOneLineError(f"exit status {done.returncode}: {done.stderr}")


# --- all of them ----------------------------------------------------------------------------------------------------


def _column_map(content: bytes) -> None:
    columns = columnmap.read_map(file_with(content, "map.yaml"))
    columnmap.read(TRACES / ("hosts.csv" if columns.kind == "nodes" else "tasks.csv"), columns)


QUESTIONS: Mapping[str, Entry] = {
    "edit": Entry(
        lambda content: kubeclassic.simulate(str(EXAMPLES / "cluster"), edits=[content.decode("utf-8", "surrogateescape")]),
        lambda: list(EDITS),
    ),
    "capacity": Entry(_capacity, lambda: [json.dumps(seed).encode() for seed in CAPACITY]),
    "drain": Entry(_drain, lambda: [json.dumps(seed).encode() for seed in DRAIN]),
    "arguments": Entry(_arguments, lambda: list(ARGUMENTS)),
    "table.csv": Entry(
        lambda content: columnmap.read(file_with(content, "tasks.csv"), columnmap.read_map(TRACES / "tasks.yaml")),
        lambda: bytes_of(TRACES / "tasks.csv"),
    ),
    "map.yaml": Entry(_column_map, lambda: bytes_of(TRACES / "tasks.yaml", TRACES / "hosts.yaml")),
    "simkube": Entry(
        lambda content: simkube.read(file_with(content, "trace.sktrace")),
        lambda: [msgspec.msgpack.encode(trace) for trace in _simkube_traces()],
    ),
    "jobs.csv": Entry(
        lambda content: columnmap.read(file_with(content, "jobs.csv"), columnmap.read_map(TRACES / "alibaba-2026-jobs.yaml")),
        lambda: [JOBS],
    ),
}


def _simkube_traces() -> list[Any]:
    """A trace of version 2 with an owner that changes, and an older one, which is a list."""
    spec = {"containers": [{"name": "c", "resources": {"requests": {"cpu": "1"}}}]}
    owner = {
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web", "namespace": "shop"},
        "spec": {"replicas": 2, "selector": {"matchLabels": {"a": "b"}}, "template": {"metadata": {"labels": {"a": "b"}}, "spec": spec}},
    }  # fmt: skip
    fewer = {**owner, "spec": {**owner["spec"], "replicas": 1}}  # type: ignore[dict-item]
    events = [
        {"ts": 0, "applied_objs": [owner], "deleted_objs": []}, {"ts": 60, "applied_objs": [fewer], "deleted_objs": []},
        {"ts": 90, "applied_objs": [], "deleted_objs": [owner]},
    ]  # fmt: skip
    lives = {"apps/v1.Deployment": {"shop/web": {"7": [{"Finished": [0, 50]}]}}}
    return [{"version": 2, "config": {}, "events": events, "index": {}, "pod_lifecycles": lives}, [{}, events, {}, {}]]
