"""Long lists in JSON are read item by item: with the same objects, warnings and errors as lists that are read
as a whole."""

import io
import json

import pytest
import yaml

from kubeclassic.api.load import load
from kubeclassic.api.reading import documents
from kubeclassic.api.reading.formats import jsonvalues
from kubeclassic.api.reading.formats.jsonvalues import Uncertain, long_list, whole_value
from kubeclassic.exceptions import ManifestError
from tests.support.manifests import manifest

NODE = manifest("Node", "n", labels={"a": "1,2"}, status={"allocatable": {"cpu": "4"}})
PODS = [
    manifest("Pod", f"p{number}", spec=yaml.safe_load("{nodeName: n, containers: [{name: c, image: é}]}"))
    for number in range(3)
]
GOOD = json.dumps(
    {
        "apiVersion": "v1",
        "kind": "List",
        "items": [NODE, *PODS],
        "metadata": {"resourceVersion": "", "x": [1, 2]},
    }
)
BARE = '{"kind": "PodList", "items": [{"metadata": {"name": "a"}}, {"metadata": {"generateName": "b"}}]}'
BIG = '{"kind": "List", "items": [{"kind": "PriorityClass", "metadata": {"name": "a"}, "value": 123456789012345678901234567890}]}'


def outcome(path, **options):
    """The result of loading *path*, or the error."""
    try:
        found = load(path, **options)
    except ManifestError as error:
        return str(error)
    return found.objects, [repr(item) for item in found.objects], found.raw, found.ignored, found.warnings


COMPACT = json.dumps(
    {"kind": "List", "items": [*PODS, yaml.safe_load("{kind: Pod, x: [{kind: Pod}, {kind: 1}]}"), *PODS]},
    separators=(",", ":"),
)


def items(content):
    """The items of a list."""
    found = long_list(io.BytesIO(content))
    if found is None:
        raise Uncertain
    return [{name: whole_value(part) for name, part in parts.items()} for parts in found.items()]


@pytest.mark.parametrize(
    "text", [GOOD, json.dumps(json.loads(GOOD), indent=4), BARE, '{"kind": "List", "items": []}', COMPACT]
)
def test_lists_are_split(text, monkeypatch):
    """The items of a list, in any layout and through any window, are those that the standard library
    reads."""
    for window in (1, 50, 1 << 20):
        monkeypatch.setattr(jsonvalues, "_WINDOW", window)
        assert items(text.encode()) == json.loads(text)["items"]


@pytest.mark.parametrize(
    "text",
    [
        '{"kind": "List", "items": [{"a": 1, "a": 1}]}',
        '{"kind": "List", "items": [[{"a": [1], "a": {"b": {}}}], 2]}',
        '{"kind": "List", "items": [{}], "items": [{}]}',
        '{"kind": "List", "kind": "List", "items": []}',
        '{"kind": "List", "items": [], "metadata": {"a": 1, "a": 1}}',
        '{"kind": "List", "items": ["\\udc00"]}',
        '{"kind": "List", "items": [1e999]}',
        '{"kind": "List", "items": [NaN]}',
        '{"kind": "List", "items": [1]} x',
        '{"kind": "List"}',
        '{"kind": "Pod", "items": []}',
        '{"kind": "List", "items": {}}',
        '{"kind": "List", "items": [1], "more": 1}',
        "[1]",
        '{"kind": "List", "items": ["\\u002c", {"a": 1, "a": 2}]}',
        '{"kind": "List", "items": ["\t"]}',
        '{"kind": 1, "items": []}',
        '{"kind": "List", "items": [%s]}' % ("[" * 5000 + "]" * 5000),
    ],
)
def test_what_may_be_odd_is_left_to_the_exact_way(text):
    """Repeated keys, half characters, huge numbers, deep nesting and syntax errors are never ignored."""
    with pytest.raises(Uncertain):
        items(text.encode())


def test_bytes_that_are_no_text_are_left_to_the_exact_way():
    """Bytes that are no UTF-8 are never ignored, wherever they are."""
    for content in (b'{"kind": "List", "items": ["\xff"]}', b'{"kind": "List", "items": [{"\xff": 1}]}'):
        with pytest.raises(Uncertain):
            items(content)


@pytest.mark.parametrize("strict_fields", [False, True])
@pytest.mark.parametrize(
    "text",
    [
        GOOD,
        BARE,
        BIG,
        GOOD.replace('"p1"', '"p0"'),
        GOOD.replace('"p1"', "7"),
        GOOD.replace('"p2"', '"p2", "name": "p3"'),
        GOOD.replace('"image"', '"imag"'),
        GOOD.replace("nodeName", "nodeNam"),
        GOOD[:-1],
        GOOD + GOOD,
        GOOD.replace('"Node"', '""'),
        GOOD.replace('"n", "lab', '7, "lab') + "]",
        GOOD.replace('"n", "lab', '7, "lab'),
        GOOD.replace('"kind": "Pod"', '"kind": "ConfigMap"'),
        GOOD.replace('"cpu": "4"', '"cpu": "x"'),
        GOOD.replace('"cpu": "4"', '"memory": "20E"'),
        GOOD.replace('"List"', '"List", "kind": "List"'),
    ],
)
def test_item_by_item_is_the_same(text, strict_fields, tmp_path, monkeypatch):
    """Objects, warnings and errors are those of a list that is read as a whole, and an earlier file counts as
    ever."""
    (tmp_path / "a.json").write_text(json.dumps(PODS[0]))
    (tmp_path / "b.json").write_text(text)
    found = []
    for least in (0, 1 << 30):
        monkeypatch.setattr(documents, "_LONG", least)
        found += [
            outcome(tmp_path, strict_fields=strict_fields),
            outcome(tmp_path / "b.json", strict_fields=strict_fields),
        ]
    assert found[:2] == found[2:]


def test_a_list_without_kind_is_refused_before_it_is_read(tmp_path, monkeypatch):
    """A list's head and end show that it has no kind; nothing between is read."""
    monkeypatch.setattr(documents, "_LONG", 0)
    path = tmp_path / "a.json"
    path.write_text('{"items": [{"kind": "Pod"}, broken' + " " * (1 << 17) + "]}")
    assert outcome(path) == f"{path}, document 1: kind: expected the kind of a Kubernetes object, got nothing"
    path.write_text(GOOD.replace('"kind": "List", ', "")[:-1] + ', "kind": "List"}')
    assert isinstance(outcome(path), tuple)
