"""What users of conform stumbled over: files that are not what they should be, and families without a
case."""

import gzip
import json

import pytest
import yaml

from kubeclassic.exceptions import ManifestError
from kubeclassic.questions.conform.ask import families_in
from kubeclassic.questions.conform.options import ConformOptions
from kubeclassic.simulation.conform import check_family, find_families, read_cases
from tests.support.refusals import refusal_text

PROBLEM = {"name": "a", "version": "1.16", "pending": []}
SCRIPT = {"name": "a", "version": "1.27", "podPriority": True, "script": [{"op": "pop"}]}
GOOD = json.dumps(PROBLEM).encode()


def packed(content):
    """*content* as gzip data, without a time."""
    return gzip.compress(content, mtime=0)


def told(path):
    """The one line about a file of cases that is refused."""
    text = refusal_text(ManifestError, list, read_cases(path))
    assert "\n" not in text
    return text.removeprefix(str(path)).removeprefix(", ")


@pytest.mark.parametrize(
    "content, text",
    [
        (GOOD + b"\n{", "line 2, column 2: broken JSON: it ends in the middle (expecting property name"),
        (GOOD + b"\n\xff\n", "line 2: byte 0: expected UTF-8, got bytes that are no text"),
        (GOOD + b"\n\n" + b"[" * 100_000, "line 3: JSON nested too deeply"),
        (GOOD + b'\n{"a": NaN}', "line 2: broken JSON: expected a number, got NaN"),
        (
            GOOD + b'\n{"a": ' + b"9" * 5000 + b"}",
            "line 2: broken JSON: got a number of more than 4,300 digits",
        ),
        (packed(GOOD + b"\n" + GOOD[:-9]), "line 2, column "),
        (
            packed(GOOD + b"\n") + packed(GOOD + b'\n["\xff"]'),
            "line 3: byte 2: expected UTF-8, got bytes that are no text",
        ),
        (GOOD + b"\n\n5\n", "line 3: expected object, got int"),
        (packed((GOOD + b"\n") * 500)[:-9], ": broken gzip data after line 500"),
        (packed(GOOD + b"\n") * 3 + packed(GOOD)[:-30], ": broken gzip data after line 3"),
        (packed(GOOD)[:20] + b"xxxxxxxxxxxx", ": broken gzip data"),
    ],
)
def test_a_broken_file_is_told_in_one_line(tmp_path, content, text):
    """Bytes that are no text, no JSON or no gzip end with the file and what is wrong."""
    path = tmp_path / "x.cases.jsonl"
    path.write_bytes(content)
    assert told(path).startswith(text)


@pytest.mark.parametrize(
    "changes, text",
    [
        ("version: 1.16", "version: expected str, got float"),
        ("pending: {}", "pending: expected array, got object"),
        ("pending: [a]", "pending[0]: expected object, got str"),
        ("pending: [{event: add}]", "pending[0]: object missing required field object"),
        ("pending: [{event: bring, object: {}}]", "pending[0]: event: invalid enum value 'bring'"),
        ("objects: [1]", "objects[0]: expected object, got int"),
        ("nominated: {a: 1}", "nominated[...]: expected str, got int"),
        ("config: []", "config: expected object | null, got array"),
        ("config: {policy: p}", "config.policy: expected object | null, got str"),
        ("config: {preemption: 1}", "config.preemption: expected bool, got int"),
        (
            "config: {percentageOfNodesToScore: 1099511627776}",
            "config.percentageOfNodesToScore: expected int <= 2147483647",
        ),
        ("config: {polcy: {}}", "config: object contains unknown field polcy"),
    ],
)
def test_a_problem_with_wrong_fields_is_told_in_one_line(tmp_path, changes, text):
    """A field of a case that is missing, unknown or of another type is named."""
    path = tmp_path / "x.cases.jsonl"
    path.write_text(json.dumps(PROBLEM | yaml.safe_load(changes)))
    assert told(path).startswith(f"line 1: {text}")


@pytest.mark.parametrize(
    "operation, text",
    [
        ("op: []", ": op: expected one of add, addIfNotPresent, update, pop, unschedulable, delete, "),
        ("op: peek", ": op: expected one of add, addIfNotPresent, update, pop, unschedulable, delete, "),
        ("op: add", ": object missing required field pod"),
        ("{op: add, pod: ns/a}", ": pod: expected object, got str"),
        ("{op: delete, pod: {}}", ": pod: expected str, got object"),
        ("op: advance", ": object missing required field seconds"),
        ("{op: advance, seconds: -1}", ": seconds: expected float >= 0.0"),
        ("{op: advance, seconds: 1.0e+300}", ": seconds: expected float <= 1000000000.0"),
        ("{op: nominate, pod: ns/a}", ": object missing required field node"),
        (
            "{op: move, event: NodeAd}",
            ': event: expected an event of the framework, got "NodeAd"; did you mean "NodeAdd"',
        ),
        ("{op: unschedulable, pod: ns/a, plugins: x}", ": plugins: expected array, got str"),
        ("{op: pop, pods: 1}", ": object contains unknown field pods"),
        ("{op: pop, plugins: []}", ": object contains unknown field plugins"),
    ],
)
def test_a_script_with_wrong_operations_is_told_in_one_line(tmp_path, operation, text):
    """An operation of a script that cannot be carried out is named by its number."""
    path = tmp_path / "x.cases.jsonl"
    path.write_text(json.dumps(SCRIPT | {"script": [{"op": "pop"}, yaml.safe_load(operation)]}))
    assert told(path).startswith(f"line 1: script[1]{text}")


@pytest.mark.parametrize("families", ["typo", "taint,typo", "taint,taints"])
def test_a_family_that_is_not_there(tmp_path, families):
    """Each family that is asked for has to be there."""
    (tmp_path / "taint.cases.jsonl").write_bytes(GOOD)
    name = families.split(",")[-1]
    said = refusal_text(ManifestError, families_in, tmp_path, ConformOptions(families=(families,)))
    hint = '; did you mean "taint"?' if name == "taints" else ""
    assert said == f"no family {name} in {tmp_path}{hint}"


def test_a_family_without_a_case_is_an_error(tmp_path):
    """An empty file of cases proves nothing, so it is refused."""
    for kind in ("cases", "answers"):
        (tmp_path / f"x.{kind}.jsonl.gz").write_bytes(packed(b"\n"))
    (family,) = find_families([tmp_path])
    with pytest.raises(ManifestError, match="expected at least one, got no case"):
        check_family(family)
