"""Objects as JSON in the original's form, against the bodies that the original sent."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kubeclassic.algorithmprovider.releases import RELEASES
from kubeclassic.api.objects.quantity import Quantity
from kubeclassic.api.wire.goform import go_form, go_json
from kubeclassic.framework.releases import DEFAULT_FRAMEWORK


def lines(file: Path) -> Iterator[Any]:
    """The values of a file of JSON lines."""
    with gzip.open(file, "rt", encoding="utf-8") as stream:
        yield from map(json.loads, stream)


def sent(file: Path) -> Iterator[tuple[str, str, Any]]:
    """Case, kind and object of what the original sent to extenders; not victims, nor nodes of which an earlier extender left the name."""
    for answer in lines(file):
        for call in (call for cycle in answer.get("cycles", ()) for call in cycle["http"]):
            yield answer["name"], "Pod", call["body"]["Pod"]
            for node in (call["body"].get("Nodes") or {}).get("items") or ():
                if node["metadata"]["creationTimestamp"] is not None:
                    yield answer["name"], "Node", node


def identity(kind: str, item: Any) -> tuple[str, str, str]:
    """Kind, namespace and name."""
    return kind, item["metadata"].get("namespace", "default") if kind == "Pod" else "", item["metadata"]["name"]


RECORDED = (*RELEASES, DEFAULT_FRAMEWORK)
"""The releases with calls of extenders by the original."""


@pytest.mark.parametrize("version", RECORDED)
def test_objects_are_written_as_the_original_does(version: str, shared: Path) -> None:
    """Each pod and node of a case has the bytes that the original sent, nominations apart."""
    folder = shared / "conformance-extenders" / version
    cases = {case["name"]: case for case in lines(folder / "extenders.cases.jsonl.gz")}
    compared = 0
    for name, kind, body in sent(folder / "extenders.answers.jsonl.gz"):
        given = {identity(item["kind"], item): item for item in (*cases[name]["objects"], *cases[name]["pending"])}
        if (manifest := given.get(identity(kind, body))) is not None:
            body["status"].pop("nominatedNodeName", None)
            written = go_form(kind, {**manifest, "status": {**manifest["status"], "nominatedNodeName": ""}}, version)
            assert json.dumps(written) == json.dumps(body)
            compared += 1
    assert compared > 500


def test_text_is_escaped() -> None:
    """What HTML would read as a tag is escaped, other letters stay."""
    assert go_json({"a": "<ü>&"}) == b'{"a":"\\u003c\xc3\xbc\\u003e\\u0026"}'


def test_a_release_drops_what_it_does_not_know() -> None:
    """A field of a later release is lost, and one of an earlier release too."""
    spec = {"containers": [], "topologySpreadConstraints": [], "overhead": {"cpu": "1"}, "schedulingGates": [{"name": "a"}]}
    assert go_form("Pod", {"spec": spec}, "1.15")["spec"] == {"containers": []}
    assert go_form("Pod", {"spec": spec}, "1.16")["spec"] == {"containers": [], "overhead": {"cpu": "1"}}
    assert go_form("Pod", {"spec": spec}, "1.27")["spec"]["schedulingGates"] == [{"name": "a"}]


def test_empty_and_absent() -> None:
    """Fields without omitempty are written as null or in their empty form, times are null, structs have their fields."""
    node = go_form("Node", {}, "1.27")
    assert node["metadata"] == {"creationTimestamp": None}
    assert node["status"]["daemonEndpoints"] == {"kubeletEndpoint": {"Port": 0}}
    assert go_form("Pod", {}, "1.27")["spec"] == {"containers": None}
    assert go_form("Pod", {"spec": {"priority": 0, "hostNetwork": False}}, "1.27")["spec"] == {"containers": None, "priority": 0}


def test_times_are_in_utc_and_whole_seconds() -> None:
    """A time is written in UTC; fractions of a second are cut off, but not those of micro times."""
    metadata = {"creationTimestamp": "2026-01-01T01:30:00.75+01:00"}
    assert go_form("Pod", {"metadata": metadata}, "1.27")["metadata"] == {"creationTimestamp": "2026-01-01T00:30:00Z"}


@pytest.mark.parametrize(
    ("written", "sent_as"),
    [("4000m", "4"), ("+1500m", "+1500m"), ("1.", "1."), ("0.5Gi", "512Mi"), ("0E3", "0"), ("2e0", "2e0"), ("1500E-3", "1500E-3")],
)
def test_quantities(written: str, sent_as: str) -> None:
    """A quantity is sent as it was written where that looks canonical to the original, else in its canonical form."""
    assert Quantity.parse(written).written == sent_as
