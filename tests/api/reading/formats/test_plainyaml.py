"""What is read line by line is what PyYAML reads: every short text, texts of pieces, and dumps with damage."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from typing import Any, NoReturn

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from kubeclassic.api.reading.formats import yamlvalues
from kubeclassic.api.reading.formats.plainyaml import documents
from kubeclassic.api.reading.formats.yamlevents import PlainScalars, Uncommon
from kubeclassic.exceptions import ManifestError
from tests.support.examples import examples

KINDS = ("a: 1", "b:", "- c", "- d: e", "f: |", "g: 'x", "y'", "-", "", "# h", "---", "- |-", "[]")
PIECES = st.sampled_from([
    "a", "b: ", "c:", "\n", "\n  ", "\n- ", "\n  - ", "- ", "\n---\n", "\n...\n", "&x ", "*x", "!!str ", "<<: ", "'", "''", '"',
    "{", "}", "[]", "{}", ", ", "? ", ": ", "1", "0x1f", "1.5", "~", "null", "yes: ", "2020-01-01", "=", "#", " # ", "|\n", "|-\n  ",
    ">-\n", "\\", "\\n", "\\ud800", "é", "\x85", "\u2028", "\xa0", "\ufeff", "%YAML 1.1", "\t", "\r\n", "\0", "k: 1\n", "m: 'it''s'\n",
    "\n    ", ":", "-", " ",
])  # fmt: skip
DUMP = """\
apiVersion: v1
items:
- apiVersion: v1
  kind: Pod
  metadata:
    annotations:
      kubectl.kubernetes.io/last-applied-configuration: |
        {"apiVersion":"v1","kind":"Pod","spec":{"a":["b: c"]}}
      note: 'it''s [folded], as
        PyYAML does it: at 80 columns'
      script: |-
        #!/bin/sh

          echo "a: b" # c
      other: folded without any quotes, which
        is - as common
    creationTimestamp: "2020-01-01T00:00:00Z"
    labels: {app: web, tier: 'x'}
    managedFields:
    - fieldsV1:
        f:metadata:
          f:labels:
            .: {}
            f:app: {}
        f:spec:
          k:{"name":"main"}:
            f:image: {}
    name: web-0
    uid: 1e5f0a3c-00ff-4e1a-9e3a-0123456789ab
  spec:
    containers:
    - args: ["--v=2"]
      command:
      - /bin/sh
      - -c
      - "echo \\"hi\\"\\n"
      image: registry.example.com:5000/team/web@sha256:0123456789abcdef
      resources:
        limits: {}
        requests:
          cpu: 100m
          memory: 1.5Gi
      volumeMounts: []
    nodeName:
    priority: -10
    hostIP: 10.0.0.1
    hostIPv6: fe80::1
    ratio: 0.5
    mode: 0644
    answer: yes
    host: ~
    tolerations:
      - effect: NoExecute
        tolerationSeconds: 300
# the end
kind: List
metadata:
  resourceVersion: ""
"""

Told = list[object]


def told(values: Iterator[tuple[Any, Any]]) -> Told:
    """The values with the types of what is in them, the keys that they have twice, and None at the end if something is wrong."""
    found: Told = []
    try:
        found += ((repr(value), repeats.paths(value)) for value, repeats in values)
    except (*yamlvalues.UNREADABLE, ManifestError):
        found.append(None)
    return found


def check(text: str) -> bool:
    """Whether *text* is read line by line to its end; fail if PyYAML reads anything else, before its end too."""
    found = told(yamlvalues._plain_values(text))
    whole = found[-1:] != [None]
    if found != [None]:
        exact = told(yamlvalues._exact_values(text, "f"))
        assert found == exact if whole else exact[: len(found) - 1] == found[:-1], text
    return whole


def test_every_short_text() -> None:
    """All texts of three lines of some kinds, each with up to three blanks before it; hundreds of them are read."""
    lines = [" " * indent + kind for kind in KINDS for indent in range(4) if kind or not indent]
    assert sum(check("\n".join(chosen)) for chosen in product(lines, repeat=3)) > 500


@pytest.mark.parametrize("end", ["", "\n", "\n\n", "\nz: 1\n"])
def test_every_way_to_go_on(end: str) -> None:
    """Texts of several lines, with every two lines that may or may not belong to them."""
    firsts = ("a: |", "a: |-", "a: |+", "a: >", "a: 'x", "a: 'x ", "a: x", "- |", "- 'x", "- x", 'a: "x', "c:\n- a: 'x", "c:\n- x")
    below = ("y", "y'", "''", "", "# c", "b: z", "- z", "y:", ": y", "y #c", "'", "-", "y\\", "\ty")
    lines = [" " * indent + text for text in below for indent in range(3)]
    assert sum(check(f"{first}\n{one}\n{two}{end}") for first in firsts for one in lines for two in lines) > 1000


@examples(40)
@given(st.lists(PIECES, max_size=14).map("".join))
def test_texts_of_pieces(text: str) -> None:
    """Texts of pieces that mean something in YAML."""
    check(text)


@st.composite
def damaged(draw: st.DrawFn) -> str:
    """The dump, with lines left out, doubled, moved, indented in another way, and characters put in or taken away."""
    lines = DUMP.split("\n")
    for _ in range(draw(st.integers(1, 4))):
        at, other = draw(st.integers(0, len(lines) - 1)), draw(st.integers(0, len(lines) - 1))
        column = draw(st.integers(0, len(lines[at])))
        match draw(st.integers(0, 6)):
            case 0:
                lines[at : at + draw(st.integers(1, 3))] = [""]
            case 1:
                lines.insert(at, lines[other])
            case 2:
                lines[at], lines[other] = lines[other], lines[at]
            case 3:
                lines[at] = " " * draw(st.integers(0, 8)) + lines[at].lstrip()
            case 4:
                lines[at] = lines[at][:column] + lines[at][column + 1 :]
            case _:
                lines[at] = lines[at][:column] + draw(PIECES) + lines[at][column:]
    return "\n".join(lines)


@examples(40)
@given(damaged())
def test_damaged_dumps(text: str) -> None:
    """Whatever happens to a dump, it is read as PyYAML reads it, or not at all."""
    check(text)


def refused(*arguments: Any) -> NoReturn:
    """Stands where nothing may be asked."""
    raise AssertionError(arguments)


def test_what_tools_write_needs_no_other_reader() -> None:
    """Block scalars, folded texts, quotes, quantities, uids, images, field sets: all but what is in braces is read line by line."""
    text = "".join(line for line in DUMP.splitlines(keepends=True) if "{app" not in line and "args" not in line)
    assert list(documents(text, PlainScalars(yamlvalues._plain), refused)) == [yaml.safe_load(text.replace("0644", "420"))]
    assert check(DUMP)


@pytest.mark.parametrize("text", [
    "a: 1\na: 2", "a: &b 1\nc: *b", "a: !!str 1", "a: 1\n  b: 2", "a:\n    b: 1\n  c: 2", "a: {b: 1, b: 2}", "1: a", "yes: a", "~: a",
    "<<: a", "? a\n: b", "a: 1\n...\n", "%YAML 1.1\n---\na: 1", "--- a", "a: 1\r\nb: 2", "a: b\x85c: d", "a: 'b\u2028c'", "\ufeffa: 1",
    "a: \0", "a: 1\n---\n\0", "# \x01\na: 1", "a: '\x07'", "a\x7fb: c", "{a: 1}", "[a]", "a", " a: 1", "a: 1\n\tb: 2", "- a\nb: c",
    "a: 1\n- b", "a: 1" + "0" * 5000, "a: 1.0e999", "a: b: c", "a: 'b' c", "a: @b", "k" * 2000 + ": 1",
    " " * 300 + "a: 1", "a: [1, 2", "a: \"\\x\"",
])  # fmt: skip
def test_what_is_left_to_pyyaml(text: str) -> None:
    """Errors, repeated keys, keys that are no texts, anchors, tags, other line ends: none of this is read here."""
    with pytest.raises(yamlvalues.UNREADABLE):
        list(yamlvalues._plain_values(text))


@pytest.mark.parametrize("change", [
    lambda text: text, lambda text: f"{text}---\n{text}---\n", lambda text: f"{text}---\na: 1\na: 2\n---\n\tb",
    lambda text: f"{text}---\na: *x", lambda text: f"---\n\n{text}", lambda text: text.replace("\n", "\r\n"),
    lambda text: text.rstrip("\n"), lambda text: text.replace("'x'", "&x"),
])  # fmt: skip
def test_long_texts_are_read_as_ever(change: Callable[[str], str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Values, repeated keys and errors of a long text are those that it has without the quick ways, with their lines."""
    text, found = change(DUMP), []
    monkeypatch.setattr(yamlvalues, "LONG", 0)
    for _ in range(2):
        values: list[object] = []
        try:
            values += ((repr(value), repeats.paths(value)) for value, repeats in yamlvalues.yaml_values(text, "f"))
        except ManifestError as error:
            values.append(str(error))
        found.append(values)
        monkeypatch.setattr(yamlvalues, "_plain_values", _uncommon)
        monkeypatch.setattr(yamlvalues, "_quick_values", _uncommon)
    assert found[0] == found[1]


def _uncommon(text: str) -> NoReturn:
    raise Uncommon
