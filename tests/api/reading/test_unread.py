"""Fields that nothing reads: the API's are known at every level, and all others are noticed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from kubeclassic.api import objects as o
from kubeclassic.api.reading.apifields import api_shape, has_only_api_fields
from kubeclassic.api.reading.fields import UNKNOWN, Mismatch
from kubeclassic.api.reading.schema import schema
from kubeclassic.api.reading.shapes import Shape, misnamed

OF_THE_OTHER: dict[type[Any], set[str]] = {
    o.Node: {"status.conditions.lastProbeTime"},
    o.Pod: {"spec.volumes.csi.volumeHandle"},
}
"""Fields that only one of two types has which are one class here."""
KINDS = [pytest.param(kind, id=kind.kind) for kind in o.KINDS.values()]


def paths(shape: Shape, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """The paths to all objects in a kind."""
    yield path
    for name, inner in (shape.fields or {}).items():
        if inner.fields is not None:
            yield from paths(inner, (*path, name))


def documents(path: tuple[str, ...], inner: Any, listed: tuple[bool, ...] = ()) -> Iterator[Any]:
    """*inner* at *path*, with a list or without one at each step."""
    if not path:
        yield inner
        return
    for step in documents(path[1:], inner):
        yield {path[0]: step}
        yield {path[0]: [step]}


def notices(kind: type[Any], document: Any) -> bool | None:
    """Whether reading *document* counts an unknown field; None if it cannot be read."""
    before = UNKNOWN.seen
    try:
        schema(strict=False).reader(kind)(document)
    except Mismatch:
        return None
    return UNKNOWN.seen != before


class TestEveryLevel:
    @pytest.mark.parametrize("kind", KINDS)
    def test_notices_a_field_that_the_api_does_not_have(self, kind: type[Any]) -> None:
        """At each level of each kind one unknown field is noticed, read or not, and none without it."""
        for path in paths(api_shape(kind.kind)):
            if len(path) > 5:  # deeper ones are of types that occur before
                continue
            found = [notices(kind, document) for document in documents(path, {"qqq": 1})]
            assert True in found, path
            assert all(notices(kind, document) is not True for document in documents(path, {})), path

    @pytest.mark.parametrize("kind", KINDS)
    def test_has_all_that_is_read(self, kind: type[Any]) -> None:
        """Each field that is read here is one that the API has."""
        read, api = schema(strict=False).shape(kind), api_shape(kind.kind)
        everything = {name: _example(shape) for name, shape in (read.fields or {}).items()}
        assert {path for path, _ in misnamed(everything, api)} == OF_THE_OTHER.get(kind, set())
        assert has_only_api_fields(kind.kind, everything) == (kind not in OF_THE_OTHER)


def _example(shape: Shape) -> Any:
    return 1 if shape.fields is None else {name: _example(inner) for name, inner in shape.fields.items()}


class TestRepeated:
    def test_a_part_that_was_seen_before_is_noticed_again(self) -> None:
        """Decoded parts are shared between objects, but not if they have unknown fields."""
        document = {"spec": {"tolerations": [{"ky": "a"}], "affinity": {"nodeAffinty": {}}}}
        assert [notices(o.Pod, document) for _ in range(3)] == [True] * 3


class TestKinds:
    @pytest.mark.parametrize(("kind", "version"), [("Service", "serving.knative.dev/v1"), ("Pod", "example.com/v1"), ("Route", "v1")])
    def test_of_others_nothing_is_known(self, kind: str, version: str) -> None:
        """A kind of another group, or one that is not read, may have any fields."""
        assert api_shape(kind, version).fields is None
        assert has_only_api_fields(kind, {"apiVersion": version, "x": 1})

    @pytest.mark.parametrize("version", ["apps/v1", "extensions/v1beta1", "", None])
    def test_of_all_versions_one_table(self, version: str | None) -> None:
        """Old API groups of a kind are known too."""
        assert has_only_api_fields("Deployment", {"apiVersion": version, "spec": {"rollbackTo": {"revision": 1}}})
        assert not has_only_api_fields("Deployment", {"apiVersion": version, "spec": {"rolbackTo": {}}})
