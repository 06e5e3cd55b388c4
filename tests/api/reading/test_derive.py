"""Readers derived from attrs classes: names, annotations, and where a field says otherwise."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs
import pytest

from kubeclassic.api.objects import NO_STRINGS, Map
from kubeclassic.api.objects.quantity import INT32, INT64, Int32, Quantity
from kubeclassic.api.reading.derive import INLINE, UNREAD, Field, Form, Schema, json_name, over
from kubeclassic.api.reading.fields import Mismatch, remembered, text
from kubeclassic.api.reading.shapes import ANYTHING, Shape, named, unknown_fields
from tests.support.refusals import refusal_text


@attrs.frozen
class Part:
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


@attrs.frozen
class Whole:
    part: Part = Part()
    other: Part | None = None
    parts: tuple[Part, ...] = ()


@attrs.frozen
class Named:
    name: str = ""


@attrs.frozen
class Odd:
    value: complex = 0j


def read(schema: Schema, kind: type[Any], **document: Any) -> Any:
    """What *schema* makes of a document."""
    return schema.reader(kind)(document)


def refusal(schema: Schema, kind: type[Any], **document: Any) -> str:
    """Why *schema* refuses a document."""
    return refusal_text(Mismatch, lambda: schema.reader(kind)(document))


class TestNames:
    @pytest.mark.parametrize(
        ("attribute", "name"),
        [
            ("name", "name"),
            ("node_name", "nodeName"),
            ("pod_anti_affinity", "podAntiAffinity"),
            ("provider_id", "providerID"),
            ("id", "id"),
            ("pod_cidr", "podCIDR"),
            ("cluster_ips", "clusterIPs"),
            ("disk_uri", "diskURI"),
            ("enable_https", "enableHTTPS"),
            ("ip_families", "ipFamilies"),
            ("fs_type", "fsType"),
            ("csi", "csi"),
            ("claim_template_ref", "claimTemplateRef"),
        ],
    )
    def test_are_in_camel_case(self, attribute: str, name: str) -> None:
        """Words after the first begin with a capital, initialisms among them are all capitals."""
        assert json_name(attribute) == name


class TestAnnotations:
    def test_of_single_values_and_maps(self) -> None:
        """Every annotation that objects use has its reader."""
        found = read(
            Schema(), Leaves, text="a", flag=True, number=2**40, small=5, content="eHk=", amount="1500m", labels={"a": "b"}, raw={"c": 1}
        )
        assert found == Leaves("a", True, 2**40, 5, b"xy", Quantity.of("1500m"), Map(a="b"), {"c": 1})

    @pytest.mark.parametrize(
        ("document", "wanted"),
        [
            ({"text": 1}, "text: got 1, wanted a string"),
            ({"flag": "yes"}, 'flag: got "yes", wanted true or false'),
            ({"small": 1.5}, "small: got 1.5, wanted a whole number"),
            ({"content": "?"}, 'content: got "(hidden)", wanted bytes in base64'),
            ({"raw": []}, "raw: got an empty list, wanted an object"),
            ({"names": ["a", 1]}, "names[1]: got 1, wanted a string"),
        ],
    )
    def test_other_values_are_refused(self, document: dict[str, Any], wanted: str) -> None:
        """A value of another type is refused with its path."""
        assert refusal(Schema(), Leaves, **document) == wanted

    def test_absent_null_and_unknown_fields(self) -> None:
        """What is absent or null keeps the default of the class, what is unknown is ignored."""
        assert read(Schema(), Leaves, text=None, unknown=1) == Leaves()

    def test_of_classes_and_lists(self) -> None:
        """Classes are read within classes and in lists; a null item stands for the defaults."""
        found = read(Schema(), Whole, part={"partName": "a"}, other={}, parts=[{"weight": 3}, None])
        assert found == Whole(Part("a"), Part(), (Part(weight=3), Part()))
        assert refusal(Schema(), Whole, parts=[{}, {"weight": "3"}]) == 'parts[1].weight: got "3", wanted a whole number'

    def test_null_items_may_be_refused(self) -> None:
        """A list has no null for a class that is never null, but null for a text is an empty one."""
        schema = Schema(never_null=(Part,))
        assert refusal(schema, Whole, parts=[None]) == "parts[0]: got null, wanted an object"
        assert read(schema, Leaves, names=[None]).names == ("",)

    def test_without_a_reader(self) -> None:
        """An annotation that has no reader is an error, unless a leaf or an override gives one."""
        with pytest.raises(TypeError, match=r"got the annotation <class 'complex'>, which has no reader"):
            Schema().reader(Odd)
        assert read(Schema(leaves={complex: Form(complex)}), Odd, value="1j") == Odd(1j)
        assert read(Schema({Odd: {"value": complex}}), Odd, value="2j") == Odd(2j)
        assert read(Schema({Odd: {"value": UNREAD}}), Odd, value="2j") == Odd()


class TestFields:
    def test_with_another_name(self) -> None:
        """A given name takes the place of the derived one."""
        schema = Schema({Part: {"part_name": Field("id")}})
        assert read(schema, Part, id="a", partName="b") == Part("a")

    def test_in_an_inner_object(self) -> None:
        """Several attributes may stand in one inner object, and others in objects in it."""
        schema = Schema({Part: {"part_name": Field(inside="spec"), "weight": Field("share", inside="spec.limits")}})
        assert read(schema, Part, spec={"partName": "a", "limits": {"share": 2}}) == Part("a", 2)
        assert refusal(schema, Part, spec={"limits": {"share": "2"}}) == 'spec.limits.share: got "2", wanted a whole number'

    def test_absent_from_its_object(self) -> None:
        """An object without the field stands for the given value, an absent object for the default of the class."""
        schema = Schema({Part: {"part_name": Field("name", inside="claim", absent="unnamed")}})
        documents: list[dict[str, Any]] = [{}, {"claim": {}}, {"claim": {"name": "a"}}]
        assert [read(schema, Part, **document).part_name for document in documents] == ["", "unnamed", "a"]

    def test_with_a_reader_of_their_own(self) -> None:
        """A reader takes the place of the one that the annotation asks for."""
        schema = Schema({Part: {"weight": lambda value: len(text(value))}})
        assert read(schema, Part, weight="four") == Part(weight=4)

    def test_that_change_the_class_in_one_place(self) -> None:
        """Fields of the class of an attribute may differ for that attribute alone."""
        schema = Schema({Whole: {"parts": Field(fields={"part_name": Field("label"), "weight": UNREAD})}})
        found = read(schema, Whole, parts=[{"label": "a", "weight": 1}], part={"partName": "b", "weight": 2})
        assert found == Whole(parts=(Part("a"),), part=Part("b", 2))

    def test_inline(self) -> None:
        """An inline attribute is made from the fields of the object itself."""
        schema = Schema({Whole: {"part": INLINE}})
        assert read(schema, Whole, partName="a", other={"partName": "b"}) == Whole(Part("a"), Part("b"))
        assert refusal(schema, Whole, partName=1) == "partName: got 1, wanted a string"

    @pytest.mark.parametrize(
        ("overrides", "text"),
        [
            ({Part: {"wieght": text}}, "got overrides of wieght, which Part does not have"),
            ({Part: {"weight": Field("partName")}}, "got the field partName twice"),
            ({Part: {"weight": Field("x", inside="partName")}}, "got the field partName twice"),
            ({Whole: {"part": INLINE, "other": Field("weight")}}, "got the field weight twice"),
        ],
    )
    def test_that_make_no_sense(self, overrides: dict[type[Any], dict[str, Any]], text: str) -> None:
        """An override of nothing, and a field of two attributes, are errors."""
        with pytest.raises(TypeError, match=text):
            Schema(overrides).reader(next(iter(overrides)))


class TestSchemas:
    def test_derive_once(self) -> None:
        """A class has one reader, whoever asks."""
        schema = Schema()
        assert schema.reader(Part) is schema.reader(Part)

    def test_wrappers_change_all_forms_of_an_annotation(self) -> None:
        """With a wrapper that remembers, equal values become one object, wherever they are."""
        found = read(Schema(wrappers={Part: over(remembered)}), Whole, part={"weight": 1}, parts=[{"weight": 1}])
        assert found.part is found.parts[0]

    def test_extended(self) -> None:
        """An extended schema has the overrides of both, attribute by attribute; the first one stays as it is."""
        first = Schema({Part: {"part_name": Field("a"), "weight": Field("b")}}, known={Part: named("x")})
        more = first.extended({Part: {"weight": Field("c")}, Named: {"name": Field("d")}}, known={Named: named("y")})
        assert [set(first.shape(kind).fields or ()) for kind in (Part, Named)] == [{"a", "b", "x"}, {"name"}]
        assert [set(more.shape(kind).fields or ()) for kind in (Part, Named)] == [{"a", "c", "x"}, {"d", "y"}]


class TestShapes:
    def test_tell_the_fields_and_the_limits(self) -> None:
        """A shape has the fields of objects and of items of lists, inner objects included, and the width of integers."""
        part = Shape({"partName": ANYTHING, "weight": Shape(limits=INT32)})
        assert Schema().shape(Whole) == Shape({"part": part, "other": part, "parts": part})
        assert (Schema().shape(Leaves).fields or {})["number"].limits == INT64
        inside = Schema({Part: {"weight": Field(inside="spec")}}).shape(Part)
        assert inside == Shape({"partName": ANYTHING, "spec": Shape({"weight": Shape(limits=INT32)})})
        absent = Schema({Part: {"part_name": Field("name", inside="spec", absent="x"), "weight": UNREAD}}).shape(Part)
        assert absent == Shape({"spec": Shape({"name": ANYTHING})})

    def test_unknown_fields_have_a_path(self) -> None:
        """Unknown fields are told at any depth, in the order of the document; objects of any keys are not looked into."""
        document = {"labels": {"a": "b"}, "part": {"weight": 1, "nam": 1}, "parts": [{}, {"x": {"y": 1}}], "Other": 1}
        shape = Schema({Whole: {"other": text}}, known={Whole: named("labels")}).shape(Whole)
        assert list(unknown_fields(document, shape)) == ["part.nam", "parts[1].x", "Other"]
