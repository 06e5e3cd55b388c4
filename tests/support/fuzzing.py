"""Input that was changed at random: the entry points for it, seeds, changes of texts and of structures, and what came of each try."""

from __future__ import annotations

import copy
import gzip
import json
import random
import signal
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import yaml

from kubeclassic import Cluster, Scheduler
from kubeclassic.algorithmprovider import resolve
from kubeclassic.algorithmprovider.config import load_configuration as load_classic
from kubeclassic.algorithmprovider.config import load_policy
from kubeclassic.algorithmprovider.releases import RELEASES
from kubeclassic.api.inventory import read_inventory
from kubeclassic.api.reading.notices import in_groups
from kubeclassic.cli.declaring.setup import NamedSetup
from kubeclassic.exceptions import KubeclassicError, PolicyError
from kubeclassic.framework.building import build_engine
from kubeclassic.framework.config.configuration import load_configuration
from kubeclassic.questions.replay.inputs.inputs import read_inputs
from kubeclassic.simulation.conform import emitted, read_answers, read_cases
from tests.conftest import ROOT
from tests.support.livefuzzing import LIVE
from tests.support.questionfuzzing import QUESTIONS, Entry, bytes_of, file_with
from tests.support.runfuzzing import RUNS

SECONDS = 10
"""Seconds of CPU that one try may take."""
ANSWER, REFUSED, SLOW = "answer", "documented error", "too slow"
NODES = b"sn,cpu_milli,memory_mib,gpu,model\nn-1,4000,8192,2,T4\nn-2,8000,16384,0,\n"
PODS = (
    b"name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,scheduled_time\n"
    b"p-1,1000,1024,1,500,T4|V100,LS,Running,0,100,1\np-2,2000,64,0,0,,BE,Pending,5,90,7\n"
)
CONFIGURATIONS = (
    b"release=1.16 policy=p.json percentage=50",
    b"release=1.27 'profile=a b.yaml' tie-break=first feature-gates=A=true,B=false",
)
MANIFESTS: tuple[Any, ...] = (
    {"apiVersion": "v1", "kind": "Pod",
     "metadata": {"name": "p", "labels": {"a": "b"}, "ownerReferences": [{"kind": "ReplicaSet", "name": "r", "controller": True}]},
     "spec": {
         "priority": 5, "tolerations": [{"key": "k", "operator": "Exists", "tolerationSeconds": 5}],
         "containers": [{"name": "c", "resources": {"requests": {"cpu": "100m", "memory": "1Gi"}}, "ports": [{"hostPort": 80}]}],
         "affinity": {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [{"topologyKey": "z", "labelSelector": {}}]}},
         "volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "c"}}],
     }},
    {"kind": "List", "items": [
        {"kind": "Deployment", "metadata": {"name": "d"}, "spec": {"replicas": 3, "template": {"spec": {"containers": [{}]}}}},
        {"kind": "PersistentVolume", "metadata": {"name": "v"}, "spec": {"capacity": {"storage": "1Gi"}, "csi": {"driver": "d"}}},
    ]},
)  # fmt: skip
"""Small ones, of which a change hits a field that is read."""
ODD: tuple[Any, ...] = (
    None, True, -1, 0, 2**31, 2**63, -(2**63) - 1, 10**30, 10**400, 1_000_000_000, 1.5, float("nan"), float("inf"), "", "x", "-1",
    "1e999", "9" * 5000, "x" * 5000, "\0", "\x1b[31m", "\ud800", "\uff11\uff12", "😀", [], {}, [[]], {"": {}}, [None], {"a": None},
    "100000000Ei", "2006-01-02T15:04:05Z", "Infinity",
)  # fmt: skip
FAMILIES = (
    "1.13/queue", "1.27/queue", "1.16/preemption", "1.16/policy", "1.27/profile", "1.15/events", "1.12/volumebinding", "1.16/extenders",
    "1.27/extenders",
)  # fmt: skip
"""Release and family of the cases that are changed."""
WORDS = ("a", "edit", "arguments")
"""Entry points for words with blanks between them."""
LINES = ("watch", "requests")
"""Entry points for documents of one line each."""
TOKENS = (
    b"\0", b"\xff", b"\xed\xa0\x80", b"null", b"NaN", b"-1", b"1e999", b"9" * 20, b"!!bool x", b"!!int ''", b"!!timestamp x",
    b"&a [*a]", b"*a", b"<<: *a", b"? ", b"---\n", b"{", b"[", b'"', b"'", b"\\", b",", b"\n", b"\r", b"\t", b": ", b"- ", b"%",
    b"\xef\xbb\xbf", b"\xff\xfe", b"\x1f\x8b", b"|", b"[" * 2000, b"{a: " * 500, b"0x", b"\xd9\xa3",
)  # fmt: skip


# --- entry points ---------------------------------------------------------------------------------------------------


def _manifests(content: bytes) -> None:
    said = in_groups(read_inventory(file_with(content, "cluster.yaml"), defaults=len(content) % 2 == 0).warnings)
    assert all(line.isprintable() for line in said), said


def _decisions(content: bytes) -> None:
    release = [*RELEASES, "1.27"][len(content) % (len(RELEASES) + 1)]
    list(Scheduler(Cluster.load(file_with(content, "cluster.yaml")), release).run())


def _cases(content: bytes) -> None:
    for case in read_cases(file_with(content, "x.cases.jsonl")):
        emitted(case)


def _a(content: bytes) -> None:
    wanted = NamedSetup.parse("a", content.decode("utf-8", "surrogateescape"))
    assert (wanted.setup.get("percentage_of_nodes_to_score") or 0) >= 0
    wanted.setup.spec.first_scheduler_name  # noqa: B018  # it reads the files


def _files(*patterns: str) -> list[bytes]:
    return bytes_of(*(path for pattern in patterns for path in sorted(ROOT.glob(pattern))))


def _few_lines(kind: str) -> list[bytes]:
    """Some short cases, or answers, of each sort."""
    found = []
    for family in FAMILIES:
        lines = gzip.decompress((ROOT / "tests" / "conformance" / f"{family}.{kind}.jsonl.gz").read_bytes()).splitlines()
        found += sorted(filter(None, lines), key=len)[:2]
    return found


ENTRY_POINTS: Mapping[str, Entry] = {
    "manifests": Entry(_manifests, lambda: [*_files("examples/cluster/*.yaml"), *(json.dumps(one).encode() for one in MANIFESTS)]),
    "decisions": Entry(
        _decisions, lambda: [b"\n---\n".join(_files("examples/cluster/*.yaml")), *_files("tests/fuzz/*.yaml")]
    ),
    "policy": Entry(
        lambda content: resolve(RELEASES["1.16"], policy=load_policy(file_with(content, "policy.json"))),
        lambda: _files("examples/policies/*.json"),
    ),
    "configuration": Entry(
        lambda content: load_classic(file_with(content, "config.yaml")), lambda: _files("examples/policies/scheduler-config.yaml")
    ),
    "profile": Entry(
        lambda content: build_engine(load_configuration(file_with(content, "profile.yaml"))),
        lambda: _files("examples/profiles/two-profiles.yaml"),
    ),
    "scenario": Entry(lambda content: read_inputs([file_with(content, "scenario.yaml")]), lambda: _files("examples/day.yaml")),
    "nodes.csv": Entry(
        lambda content: read_inputs([file_with(content, "nodes.csv"), file_with(PODS, "pods.csv")]), lambda: [NODES]
    ),
    "pods.csv": Entry(
        lambda content: read_inputs([file_with(NODES, "nodes.csv"), file_with(content, "pods.csv")]), lambda: [PODS]
    ),
    "cases": Entry(_cases, lambda: _few_lines("cases")),
    "answers": Entry(lambda content: list(read_answers(file_with(content, "x.answers.jsonl"))), lambda: _few_lines("answers")),
    "a": Entry(_a, lambda: list(CONFIGURATIONS)),
    **QUESTIONS, **LIVE, **RUNS,
}  # fmt: skip
"""Name -> what reads input of that kind, and good input."""


@cache
def seeds(entry: str) -> tuple[bytes, ...]:
    """Good input for an entry point."""
    return tuple(ENTRY_POINTS[entry].seeds())


# --- changes --------------------------------------------------------------------------------------------------------


def changed(entry: str, seed: int) -> bytes:
    """Input for an entry point, changed as *seed* says: its structure, its text, or both."""
    draw = random.Random(seed)
    content = draw.choice(seeds(entry))
    if draw.random() < 0.6:
        content = _restructured(entry, content, draw)
    for _ in range(draw.choice((0, 0, 0, 1, 2, 5))):
        content = _edited(content, draw, seeds(entry))
    if draw.random() < 0.02:
        content = content.decode("utf-8", "replace").encode(draw.choice(("utf-16", "latin-1")), "replace")
    return gzip.compress(content)[: draw.choice((None, -5))] if draw.random() < 0.02 else content


def _edited(content: bytes, draw: random.Random, others: tuple[bytes, ...]) -> bytes:
    start = draw.randrange(len(content) + 1)
    end = min(len(content), start + draw.choice((0, 1, 1, 3, 20, 300)))
    other = draw.choice(others)
    there = draw.randrange(len(other) + 1)
    middle = draw.choice((
        b"", draw.choice(TOKENS), draw.choice(TOKENS), bytes([draw.randrange(256)]), content[start:end] * 2, other[there : there + 60],
    ))  # fmt: skip
    return content[:start] + middle + content[end:]


def _restructured(entry: str, content: bytes, draw: random.Random) -> bytes:
    """The same with some values of its structure replaced, doubled or gone."""
    if entry.endswith(".csv") or entry in WORDS:
        separator = b"," if entry.endswith(".csv") else b" "
        parts = content.split(separator)
        parts[draw.randrange(len(parts))] = str(draw.choice(ODD)).encode("utf-8", "surrogatepass")
        return separator.join(parts)
    if entry == "simkube":
        return _repacked(content, draw)
    if entry in LINES:
        return _with_other_lines(content, draw)
    documents = [json.loads(content)] if entry in ("cases", "answers", "policy", "capacity", "drain") else _parsed(content)
    for _ in range(draw.choice((1, 1, 2, 4))):
        _change_one(documents, draw)
    return b"\n---\n".join(_written(document) for document in documents) if documents else b""


def _with_other_lines(content: bytes, draw: random.Random) -> bytes:
    """The same with some of its lines of JSON changed, each by itself, and perhaps in another order."""
    lines = content.split(b"\n")
    for _ in range(draw.choice((1, 3, 8))):
        where = draw.randrange(len(lines))
        try:
            document = [json.loads(lines[where])]
        except ValueError:  # changed before into what JSON has no text for
            continue
        for _ in range(draw.choice((1, 1, 2, 4))):
            _change_one(document, draw)
        lines[where] = _written(document[0]) if document else b""
    if draw.random() < 0.1:
        draw.shuffle(lines)
    return b"\n".join(lines)


@cache
def _parsed_once(content: bytes) -> str:
    return json.dumps(list(yaml.safe_load_all(content)), default=str)


def _parsed(content: bytes) -> list[Any]:
    found: list[Any] = json.loads(_parsed_once(content))
    return found


def _written(document: Any) -> bytes:
    return json.dumps(document).encode()


def _repacked(content: bytes, draw: random.Random) -> bytes:
    """A msgpack document with changed data, as far as msgpack can hold it."""
    document = [msgspec.msgpack.decode(content)]
    for _ in range(draw.choice((1, 1, 2, 4))):
        _change_one(document, draw)
    try:
        return msgspec.msgpack.encode(document[0] if document else None)
    except (OverflowError, UnicodeEncodeError):
        return content


def _change_one(root: Any, draw: random.Random) -> None:
    """Replace, double or drop one value anywhere below *root*."""
    places = list(_places(root))
    if not places:
        return
    holder, key = draw.choice(places)
    what = draw.random()
    if what < 0.6:
        holder[key] = copy.deepcopy(draw.choice(ODD))
    elif what < 0.75:
        other, there = draw.choice(places)
        holder[key] = copy.deepcopy(other[there])
    elif what < 0.85 and isinstance(holder, list):
        holder.insert(key, copy.deepcopy(holder[key]))
    elif what < 0.9 and isinstance(holder, dict):
        holder[str(draw.choice(ODD))] = holder[key]
    else:
        del holder[key]


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    keys = list(value) if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    for key in keys:
        yield value, key
        yield from _places(value[key])


# --- tries ----------------------------------------------------------------------------------------------------------


class TooSlow(BaseException):
    """A try took too long."""


def tried(entry: str, content: bytes) -> str:
    """What came of *content*: :data:`ANSWER`, :data:`REFUSED`, :data:`SLOW`, or the error that nobody documented and its place."""
    try:
        with _limited():
            ENTRY_POINTS[entry].read(content)
    except KubeclassicError as error:
        text = str(error) if not isinstance(error, PolicyError) else str(error).replace("\n", " ")  # upstream's own text, to the letter
        is_line = text.isprintable() if entry == "manifests" else "\n" not in text
        return REFUSED if is_line and len(text) < 5000 else f"an error of {len(text)} characters or several lines: {text[:80]!r}"
    except TooSlow:
        return SLOW
    except Exception as error:
        last = traceback.extract_tb(error.__traceback__)[-1]
        return f"{type(error).__name__}: {str(error)[:120]} ({Path(last.filename).name}:{last.lineno})"
    return ANSWER


@contextmanager
def _limited() -> Iterator[None]:
    def stop(number: int, frame: object) -> None:
        raise TooSlow

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
