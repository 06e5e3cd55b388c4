"""Classes with annotations, and the values of JSON that are read into them, quickly and value by value."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubeclassic.api import objects as o
from kubeclassic.api.objects import NO_STRINGS, Map
from kubeclassic.api.objects.metadata import json_name
from kubeclassic.api.objects.quantity import Int32, Quantity
from kubeclassic.api.reading.decode import fields_of, quickly
from kubeclassic.api.reading.typed import Mismatch, ReadBy, read, text
from tests.support.drawn import documents, marred
from tests.support.examples import examples
from tests.support.refusals import refusal_text

KINDS = [pytest.param(kind, id=kind.kind) for kind in o.KINDS.values()]


def _length(value):
    return len(text(value))


@attrs.frozen
class Inner:
    part_name: str = ""
    weight: Int32 = 0


@attrs.frozen
class Leaves:
    text: str = ""
    flag: bool = False
    number: int = 0
    small: Int32 | None = None
    content: bytes = b""
    amount: Quantity | None = None
    labels: Map[str] = NO_STRINGS
    raw: Mapping[str, Any] | None = None
    names: tuple[str, ...] | None = None
    other: str = attrs.field(default="", metadata={"name": "odd-name"})
    length: Annotated[int, ReadBy(_length)] = 0
    unread: complex = attrs.field(default=0j, metadata={"unread": True})


@attrs.frozen
class WholeNumber:
    part: Inner = Inner()
    parts: tuple[Inner, ...] = ()


@attrs.frozen
class Odd:
    value: complex = 0j


@pytest.mark.parametrize(
    "attribute, name",
    [
        ("name", "name"),
        ("node_name", "nodeName"),
        ("provider_id", "providerID"),
        ("id", "id"),
        ("cluster_ips", "clusterIPs"),
        ("disk_uri", "diskURI"),
        ("enable_https", "enableHTTPS"),
        ("ip_families", "ipFamilies"),
        ("csi", "csi"),
    ],
)
def test_names_are_in_camel_case(attribute, name):
    """Words after the first begin with a capital, initialisms among them are all capitals."""
    assert json_name(attribute) == name


def test_of_single_values_and_maps():
    """Every annotation has its reader; a field may have another name, or a reader of its own."""
    document = {
        "text": "a",
        "flag": True,
        "number": 2**40,
        "small": 5,
        "content": "eHk=",
        "amount": "1500m",
        "labels": {"a": "b"},
    }
    found = read(Leaves, {**document, "raw": {"c": 1}, "odd-name": "o", "length": "four", "unread": 1})
    assert found == Leaves(
        "a", True, 2**40, 5, b"xy", Quantity.of("1500m"), Map(a="b"), {"c": 1}, other="o", length=4
    )


@pytest.mark.parametrize(
    "document, wanted",
    [
        ({"text": 1}, "text: expected a string, got 1"),
        ({"text": True}, "text: expected a string, got true; in YAML, y, n, yes, no, on and off need quotes"),
        ({"flag": "yes"}, 'flag: expected true or false, got "yes"'),
        ({"small": 1.5}, "small: expected a whole number, got 1.5"),
        ({"small": 2**31}, "small: expected a whole number from -2147483648 to 2147483647, got 2147483648"),
        ({"content": "?"}, 'content: expected bytes in base64, got "(hidden)"'),
        ({"content": "é"}, 'content: expected bytes in base64, got "(hidden)"'),
        ({"raw": []}, "raw: expected an object, got an empty list"),
        ({"names": ["a", 1]}, "names[1]: expected a string, got 1"),
    ],
)
def test_other_values_are_refused(document, wanted):
    """A value of another type is refused with its path."""
    assert refusal_text(Mismatch, read, Leaves, document) == wanted


@pytest.mark.parametrize(
    "written, wanted",
    [
        ("2020-01-02T03:04:05Z", "2020-01-02T03:04:05Z"),
        ("2020-01-01T00:30:00.999+02:00", "2019-12-31T22:30:00Z"),
        ("2020-01-02T03:04:05,5-00:30", "2020-01-02T03:34:05Z"),
        ("0099-01-02T03:04:05.5Z", "0099-01-02T03:04:05Z"),
        *dict.fromkeys(
            ["2020-01-02", "2020-13-02T03:04:05Z", "2020-01-02T03:04:05", "0001-01-01T00:00:00+01:00", ""]
        ).items(),
    ],
)
def test_times(written, wanted):
    """Times of RFC 3339 are read in UTC, to the second, as the API keeps them; others are refused."""
    document = {"startTime": written}
    if wanted is None:
        said = refusal_text(Mismatch, quickly, o.PodStatus, document)
        assert said == f'startTime: expected a time such as 2026-01-31T12:00:00Z, got "{written}"'
    else:
        assert quickly(o.PodStatus, document) == read(o.PodStatus, document) == o.PodStatus(start_time=wanted)


def test_of_classes_and_lists():
    """Classes are read within classes and in lists; a null item stands for the defaults, and what is
    unknown is ignored."""
    found = read(WholeNumber, {"part": {"partName": "a", "x": 1}, "parts": [{"weight": 3}, None]})
    assert found == WholeNumber(Inner("a"), (Inner(weight=3), Inner()))
    assert (
        refusal_text(Mismatch, read, WholeNumber, {"parts": [{}, {"weight": "3"}]})
        == 'parts[1].weight: expected a whole number, got "3"'
    )
    assert read(Leaves, {"names": [None], "text": None}).names == ("",)


def test_without_a_reader():
    """An annotation that has no reader is an error."""
    with pytest.raises(TypeError, match=r"got the annotation <class 'complex'>, which has no reader"):
        read(Odd, {})


def test_tell_the_fields():
    """The fields of objects and of items of lists have fields of their own."""
    inner = {"partName": None, "weight": None}
    assert fields_of(WholeNumber) == {"part": inner, "parts": inner}


@pytest.mark.parametrize("strict", [True, False])
@pytest.mark.parametrize("kind", KINDS)
def test_give_the_same(kind, strict, monkeypatch):
    """msgspec reads the same as the reader value by value, and refuses nothing that all fields may have."""
    alone = []
    monkeypatch.setitem(quickly.__globals__, "read", lambda *args: alone.append(args) or read(*args))

    @examples(0.9)
    @given(st.data())
    def check(data):
        document = data.draw(documents(kind))
        assert quickly(kind, document, strict) == read(kind, document, strict)

    check()
    assert not alone


@pytest.mark.parametrize("kind", KINDS)
def test_refuse_the_same(kind):
    """Both accept or refuse the same nulls, unknown fields and values of other types."""

    @examples(1.3)
    @given(st.data(), st.booleans())
    def check(data, strict):
        document = data.draw(marred(documents(kind)))
        assert outcome(quickly, kind, document, strict) == outcome(read, kind, document, strict)

    check()


def outcome(way, *given):
    """The value that is read, or the error."""
    try:
        return way(*given)
    except Mismatch as mismatch:
        return str(mismatch)
