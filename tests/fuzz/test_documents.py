"""Mutated manifests: whatever a file holds, reading it gives objects or a KubeclassicError."""

from __future__ import annotations

import gzip
import io
import json
from copy import deepcopy
from typing import Any

import yaml
from hypothesis import given
from hypothesis import strategies as st

from kubeclassic.api.inventory import read_inventory
from kubeclassic.api.reading.notices import in_groups
from kubeclassic.exceptions import KubeclassicError

SEEDS: tuple[dict[str, Any], ...] = (
    {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "p", "labels": {"a": "b"}, "ownerReferences": [{"kind": "ReplicaSet", "name": "r", "controller": True}]},
        "spec": {
            "priority": 5,
            "containers": [{"name": "c", "resources": {"requests": {"cpu": "100m", "memory": "1Gi"}}, "ports": [{"hostPort": 80}]}],
            "tolerations": [{"key": "k", "operator": "Exists", "tolerationSeconds": 5}],
            "affinity": {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [{"topologyKey": "z", "labelSelector": {}}]}},
            "volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "c"}}],
        },
    },
    {
        "kind": "Node",
        "metadata": {"name": "n"},
        "status": {"allocatable": {"cpu": "4", "memory": "8Gi"}, "images": [{"names": ["i"], "sizeBytes": 7}]},
    },
    {
        "kind": "List",
        "items": [
            {"kind": "Deployment", "metadata": {"name": "d"}, "spec": {"replicas": 3, "template": {"spec": {"containers": [{}]}}}},
            {"kind": "PersistentVolume", "metadata": {"name": "v"}, "spec": {"capacity": {"storage": "1Gi"}, "csi": {"driver": "d"}}},
        ],
    },
)
ODD: tuple[Any, ...] = (
    None, True, -1, 2**31, 2**63, 10**400, 1.5, 1e300, float("inf"), "", "x" * 5000, "\x1b[31m", "\ud800", "\0", "9" * 5000,
    "1e9999", "-1Ei", [], {}, [[]], [None], {"": ""}, {"a": {"a": {}}}, ["a"] * 50, "!!bool x", "&a [*a]", 1_000_000_000,
)  # fmt: skip
PIECES = (
    "{", "}", "[", "]", ":", ",", "-", "- ", "? ", "&a ", "*a", "<<: ", "!!int ", "!!binary ", "!!set ", "!x ", "---\n", "...\n",
    "%YAML 9\n", "|\n", ">-\n", "'", '"', "\\", "\\ud800", "\n", "\t", "\0", "\ufeff", "é", "#", "~", ".nan", "0x", "1e999", "9" * 30,
    "[" * 1200, "kind: Pod\n", "@", "`",
)  # fmt: skip


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The paths to all parts of a value."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(found for key, item in inner for found in places(item, (*path, key)))]


@st.composite
def changed_objects(draw: st.DrawFn) -> Any:
    """A good manifest with some of its values or keys replaced, renamed or left out."""
    document = json.loads(json.dumps(draw(st.sampled_from(SEEDS))))
    for _ in range(draw(st.integers(1, 4))):
        path = draw(st.sampled_from([path for path in places(document) if path] or [("kind",)]))
        holder = document
        for key in path[:-1]:
            holder = holder[key]
        match draw(st.sampled_from(["replace", "replace", "rename", "leave out"])):
            case "rename" if isinstance(holder, dict):
                holder[draw(st.sampled_from(["", "nam", "x.y/z", "items", "kind", "9", "k" * 3000]))] = holder.pop(path[-1], None)
            case "leave out" if path[-1] in holder or isinstance(holder, list):
                del holder[path[-1]]
            case _:
                holder[path[-1]] = deepcopy(draw(st.sampled_from(ODD)))
    return document


@st.composite
def changed_texts(draw: st.DrawFn) -> bytes:
    """A manifest as YAML or JSON, with pieces put in, cut out or doubled."""
    document = draw(st.sampled_from(SEEDS))
    text = draw(st.sampled_from([json.dumps(document, indent=1), json.dumps(document), yaml.safe_dump(document)]))
    for _ in range(draw(st.integers(1, 5))):
        start = draw(st.integers(0, len(text)))
        end = draw(st.integers(start, min(len(text), start + 20)))
        text = text[:start] + draw(st.sampled_from([*PIECES, "", text[start:end] * 3])) + text[end:]
    raw = text.encode(draw(st.sampled_from(["utf-8", "utf-8", "utf-8", "utf-16", "latin-1"])), "replace")
    if draw(st.booleans()):
        return raw
    packed = gzip.compress(raw)
    return packed[: draw(st.integers(2, len(packed)))] if draw(st.booleans()) else packed


def check(content: str | bytes, defaults: bool = True) -> None:
    """Read *content* and what it stands for; what there is to say must be of one line."""
    told = said(io.StringIO(content) if isinstance(content, str) else io.BytesIO(content), defaults)
    assert all(line.isprintable() for line in told), told


def said(stream: io.StringIO | io.BytesIO, defaults: bool) -> list[str]:
    """The error or the warnings for what *stream* holds."""
    try:
        return in_groups(read_inventory("-", stdin=stream, defaults=defaults).warnings)
    except KubeclassicError as error:
        return [str(error)]


@given(changed_objects(), st.booleans(), st.booleans())
def test_changed_objects_are_read_or_refused(document: Any, as_yaml: bool, defaults: bool) -> None:
    """A manifest with wrong values gives objects or a KubeclassicError, as JSON and as YAML."""
    check(yaml.safe_dump(document) if as_yaml else json.dumps(document), defaults)


@given(changed_texts())
def test_changed_texts_are_read_or_refused(content: bytes) -> None:
    """A text with pieces put in, cut out or doubled gives objects or a KubeclassicError."""
    check(content)


@given(st.binary(max_size=200) | st.text().map(str.encode))
def test_any_bytes_are_read_or_refused(content: bytes) -> None:
    """Any bytes at all give objects or a KubeclassicError."""
    check(content)
