"""Long lists in YAML are read item by item: with the same objects, warnings and errors as lists that are read as a whole."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from kubeclassic.api.load import load
from kubeclassic.api.reading import documents
from kubeclassic.api.reading.documents import File
from kubeclassic.api.reading.formats import yamlvalues
from kubeclassic.api.reading.formats.jsonlists import Uncertain
from kubeclassic.exceptions import ManifestError
from tests.support.examples import examples

NODE: dict[str, Any] = {"kind": "Node", "metadata": {"name": "n", "labels": {"a": "1"}}, "status": {"allocatable": {"cpu": "4"}}}
PODS: list[dict[str, Any]] = [
    {"kind": "Pod", "metadata": {"name": f"p{number}", "annotations": {"a": f"x {number}\ny\n"}},
     "spec": {"nodeName": "n", "containers": [{"name": "c", "image": "é", "args": ["-c", "- d"]}]}}
    for number in range(3)
]  # fmt: skip
GOOD = yaml.safe_dump({"apiVersion": "v1", "kind": "List", "items": [NODE, *PODS], "metadata": {"resourceVersion": ""}}, allow_unicode=True)
BARE = "apiVersion: v1\nitems:\n- metadata:\n    name: a\n- metadata:\n    generateName: b\nkind: PodList\n"
BIG = "apiVersion: v1\nitems:\n- kind: PriorityClass\n  metadata:\n    name: a\n  value: 123456789012345678901234567890\nkind: List\n"
CHANGES = (
    ("name: p1", "name: p0"), ("name: p1", "name: 7"), ("name: p2", "name: p2\n    name: p3"), ("image:", "imag:"), ("nodeName", "nodeNam"),
    ("- kind: Node", "- kind: ''"), ("name: n", "name: 7"), ("kind: Pod", "kind: ConfigMap"), ("cpu: '4'", "cpu: x"),
    ("cpu: '4'", "memory: 20E"), ("kind: List", "kind: List\nkind: List"), ("kind: List", "kind: List\nitems: []"),
    ("kind: List", "kind: Pod"), ("kind: List", ""), ("metadata:\n  res", "---\nmetadata:\n  res"), ("- kind: Node", "- &a\n  kind: Node"),
    ("- kind: Node", "- kind: &a Node\n- *a"), ("apiVersion", "---\napiVersion"), ("- kind: Node", "-\n  kind: Node"),
    ("- kind: Node", "- []\n- kind: Node"), ("items:\n", "items: # none\n"), ("- kind: Node", "- a\nitems:\n- kind: Node"),
    ("- kind: Node", '- a: "b\n- c"\n  kind: Node'), ("items:\n", "items:\n\n# all\n"), ("- kind: Node", "# the first\n- kind: Node"),
    ("kind: List", "kind: List\nmore: 1"), ("metadata:\n  res", "  x: y\nmetadata:\n  res"), ("metadata:\n  res", "x\nmetadata:\n  res"),
    ("items:\n", "items:\n- \n"), ("image: é", "image: \x85"), ("kind: List", "kind: List\n...\n"),
)  # fmt: skip
PUT_IN = ("", "\n", "- ", "\n- ", "  ", ": ", "'", "kind: ", "\nitems:\n- ", "#", "\n---\n")


def outcome(path: Path, **options: Any) -> object:
    """What loading *path* gives, or the error."""
    try:
        found = load(path, **options)
    except ManifestError as error:
        return str(error)
    return found.objects, [repr(item) for item in found.objects], found.raw, found.passed_over, found.warnings


def both_ways(path: Path, monkeypatch: pytest.MonkeyPatch, **options: Any) -> list[object]:
    """The outcomes item by item, and as a whole without the quick ways."""
    found = []
    for least in (0, 1 << 30):
        monkeypatch.setattr(documents, "_LONG", least)
        monkeypatch.setattr(yamlvalues, "LONG", least)
        found.append(outcome(path, **options))
    return found


def items_of(text: str | bytes, name: str = "f.yaml") -> list[Any] | None:
    """The items of a long list, None where it is read as a whole."""
    found = File(text if isinstance(text, bytes) else text.encode(), "f", name).long_list()
    return None if found is None else list(found.items())


@pytest.fixture
def no_length(monkeypatch: pytest.MonkeyPatch) -> None:
    """Short texts count as long."""
    monkeypatch.setattr(documents, "_LONG", 0)


@pytest.mark.usefixtures("no_length")
class TestItems:
    @pytest.mark.parametrize("text", [GOOD, BARE, BIG, GOOD.rstrip("\n"), GOOD.partition("metadata:\n  res")[0], f"\ufeff{GOOD}"])
    def test_lists_are_split(self, text: str) -> None:
        """The items of a list are those that PyYAML reads."""
        assert items_of(text) == yaml.safe_load(text)["items"]

    def test_items_are_read_when_it_is_their_turn(self) -> None:
        """Items before a broken one are there."""
        found = File(GOOD.replace("name: p1", "name: p1: x").encode(), "f").long_list()
        assert found is not None
        items = found.items()
        assert [next(items), next(items)] == [NODE, PODS[0]]
        with pytest.raises(Uncertain):
            next(items)

    @pytest.mark.parametrize("text", [
        "apiVersion: v1\nitems: []\nkind: List", "apiVersion: v1\nitems:\n  - a\nkind: List", "kind: Pod\nitems:\n- a", "- a", "a: 1",
        f"---\n{GOOD}", f"{GOOD}---\n{GOOD}", GOOD.replace("\n", "\r\n"), f"a: b\n{GOOD}", "kind: 1\nitems:\n- a", GOOD.encode("latin-1"),
    ])  # fmt: skip
    def test_other_texts_are_read_as_a_whole(self, text: str | bytes) -> None:
        """Lists in another layout, with other keys, of several documents, or that are no text."""
        assert items_of(text) is None

    def test_files_named_for_json(self) -> None:
        """A file of that name must hold JSON."""
        assert items_of(GOOD, "f.json.gz") is None


@pytest.mark.parametrize("strict_fields", [False, True])
@pytest.mark.parametrize("text", [GOOD, BARE, BIG, *(GOOD.replace(old, new, 1) for old, new in CHANGES)])
def test_item_by_item_is_the_same(text: str, strict_fields: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Objects, warnings and errors are those of a list that is read as a whole, and an earlier file counts as ever."""
    (tmp_path / "a.yaml").write_text(yaml.safe_dump(PODS[0]), encoding="utf-8")
    (tmp_path / "b.yaml").write_text(text, encoding="utf-8")
    by_item, whole = both_ways(tmp_path, monkeypatch, strict_fields=strict_fields)
    assert by_item == whole


@examples(20)
@given(st.integers(0, len(GOOD)), st.integers(0, 12), st.sampled_from(PUT_IN))
def test_changed_lists(at: int, cut: int, put_in: str) -> None:
    """Where items of a changed list are read to the end, they are those that PyYAML reads."""
    text = GOOD[:at] + put_in + GOOD[at + cut :]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(documents, "_LONG", 0)
        try:
            found = items_of(text)
        except Uncertain:
            return
    if found is not None:
        ((value, repeats),) = yamlvalues._exact_values(text, "f")
        assert (found, repeats.paths(value)) == (value["items"], ())
