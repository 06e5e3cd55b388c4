"""JSON and YAML texts as values, and what their objects have twice."""

import json

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from kubeclassic.api.reading.formats import jsonvalues, yamlvalues
from kubeclassic.api.reading.formats.jsonvalues import Repeats, json_values
from kubeclassic.api.reading.formats.yamlvalues import MAX_NESTING, yaml_text, yaml_values
from kubeclassic.exceptions import ManifestError
from tests.support.refusals import refusal_text

TEXTS = st.text(st.sampled_from('ab,"\\:{}[] \n\u002cé'), max_size=5)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**6), 10**6) | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=12,
)


def repeated(text):
    ((value, repeats),) = json_values(text.encode(), "f")
    return repeats.paths(value)


# --- Json ---------------------------------------------------------------------------------------------------


@given(st.dictionaries(TEXTS, VALUES) | st.lists(VALUES), st.sampled_from([None, 2]), st.booleans())
def test_good_input_is_what_json_says(value, indent, ascii_only):
    """Values come as the standard library reads them, with no key given twice."""
    text = json.dumps(value, indent=indent, ensure_ascii=ascii_only)
    ((found, repeats),) = json_values(text.encode(), "f")
    assert (found, repeats.paths(found)) == (value, ())


@pytest.mark.parametrize("quick", [True, False])
@pytest.mark.parametrize(
    "text, wanted",
    [
        ('{"a": 1, "a": 2}', ("a",)),
        ('{"a": {"b" : [1, {"c": ",", "c": 2}]}}', ("a.b[1].c",)),
        ('{"items": [{"a": 1}, {"a": 1, "a": 1}], "x": 1}', ("items[1].a",)),
        ('{"a": 1, "\\u0061": 2}', ("a",)),
        ('{"a": "\\u002c", "b": 1, "b": 2}', ("b",)),
        ('{"a": {"x": 1, "x": 2}, "a": {}}', ("a",)),
        ('{"a": 1, "a": 1, "a": 1}', ("a",)),
        ('{"a": 1, "b": 1, "a": 1, "b": 1}', ("a", "b")),
    ],
)
def test_keys_given_twice_in_json(text, wanted, quick, monkeypatch):
    """Each key that an object has twice is told by its path, with a quick reader and without."""
    if not quick:
        monkeypatch.setattr(jsonvalues, "quick_value", lambda content: None)
    assert repeated(text) == wanted


def test_lines_count_from_the_first():
    """Errors of a line in a file have the line's number."""
    with pytest.raises(ManifestError, match=r"^f, line 7, column 2: broken JSON"):
        list(json_values(b"{x", "f", 7))


# --- Yaml ---------------------------------------------------------------------------------------------------


@given(st.dictionaries(TEXTS, VALUES) | st.lists(VALUES))
def test_what_is_written_is_read(value):
    """Values survive being written as YAML."""
    ((found, repeats),) = yaml_values(yaml_text(value, allow_unicode=True), "f")
    assert (found, repeats.paths(found)) == (value, ())


@given(st.from_regex(r"[-+]?[0-9_.]{0,5}([oxOXbBeE][-+]?[0-9_.]{0,3})?|[yYnNoO]\w{0,2}", fullmatch=True))
def test_texts_like_numbers_are_written_in_quotes(text):
    """Texts that look like other values stay texts, as keys too, for PyYAML as well."""
    written = yaml_text({text: text})
    ((found, _),) = yaml_values(written, "f")
    assert found == yaml.safe_load(written) == {text: text}


def test_keys_given_twice():
    """A repeated key is told by its path; one that replaces a merged key is none."""
    ((value, repeats),) = yaml_values("a: {b: 1, b: 2}\nc: {<<: {d: 1}, d: 2}\ne: [{f: 1, 'f': 2}]", "f")
    assert repeats.paths(value) == ("a.b", "e[0].f")


def test_parts_with_an_alias_are_shared():
    """An alias is the value itself, not a copy."""
    ((value, _),) = yaml_values("a: &a [1]\nb: *a", "f")
    assert value["a"] is value["b"]


@pytest.mark.parametrize(
    "text, wanted",
    [
        (
            "a: yes\nb: Off\nc: TRUE\nd: tRUE\ne: y\nf: 'yes'\ng: ~\nh: Null\ni:",
            [True, False, True, "tRUE", True, "yes", None, None, None],
        ),
        (
            "a: !!binary YQ==\nb: !!float 1\nc: !!str 1\nd: !!bool y\ne: !!null ~\nf: ! 1\ng: !!map {b: c}\nh: !!seq [!!int 7]",
            ["a", 1, "1", True, None, "1", {"b": "c"}, [7]],
        ),
        (
            "a: |\n  x\n\n  y\nb: >-\n  x\n  y\nc: 'it''s\n  x'\nd: x\n  y\ne: \"\\u00e9\"",
            ["x\n\ny\n", "x y", "it's x", "x y", "é"],
        ),
        ("{1: 0, true: 0, no: 0, 1.5: 0, '<<': 0, ? b}", [0, 0, 0, 0, 0, None]),
        (
            "a: &x {b: 1, c: 2}\nd: {<<: *x, c: 3}\ne: {<<: [{c: 4}, *x]}\nf: {<<: {<<: *x, b: 5}}\n&k g: *k",
            [{"b": 1, "c": 2}, {"b": 1, "c": 3}, {"b": 1, "c": 4}, {"b": 5, "c": 2}, "g"],
        ),
        ("a: {b: 1, <<: {b: 2}}\nb: {<<: {b: 1}, <<: {b: 2}}", [{"b": 2}, {"b": 2}]),
        ("a: &x 1\nb: &x 2\nc: *x", [1, 2, 2]),
    ],
)
@pytest.mark.parametrize("loader", [yamlvalues._Loader, yaml.SafeLoader])
def test_values(text, wanted, loader, monkeypatch):
    """Plain texts, tags, quotes, anchors and merge keys have the right values, with libyaml and without."""
    monkeypatch.setattr(yamlvalues, "_Loader", loader)
    ((value, repeats),) = yaml_values(text, "f")
    assert (repr(list(value.values())), repeats.paths(value)) == (repr(wanted), ())


# Recorded from YAMLToJSON of sigs.k8s.io/yaml 1.6.0.
SCALARS = """
08 8 | 019 19 | 010 8 | -010 -8 | 00 0 | +1 1 | -0 0 | 0_8 8 | 1_000 1000 | 1_ 1 | +_1 1 | 1_0.5 10.5 | _1 "_1"
0x1F 31 | 0X1f 31 | -0x1f -31 | 0x_1 1 | 0x "0x" | 0b11 3 | 0B11 3 | 0b2 "0b2" | 0o17 15 | 0O17 15 | 0o8 "0o8"
1e3 1000 | 1E+3 1000 | 1e-3 0.001 | 1.5e3 1500 | 1.0 1 | .5 0.5 | 5. 5 | .5e1 5 | 1e21 1e+21 | 1e400 "1e400"
18446744073709551615 18446744073709551615 | 0x1ffffffffffffffff "0x1ffffffffffffffff" | 1e-400 0 | -.5 -0.5
100000000000000000000000 1e+23 | 0777777777777777777777777 7.777777777777778e+23 | 1e "1e" | 1Ki "1Ki" | 1.2.3 "1.2.3"
1:30 "1:30" | 2020-01-01 "2020-01-01" | 1,000 "1,000" | inf "inf" | NaN "NaN" | << "<<" | = "=" | 0x1p4 "0x1p4"
y true | Y true | n false | N false | yEs "yEs" | ON true | oFF "oFF" | True true | ~ null | NULL null | nil "nil"
"""


@pytest.mark.parametrize(
    "written, wanted", [pair.split() for pair in SCALARS.replace("\n", "|").split("|") if pair]
)
def test_scalars(written, wanted):
    """Texts without quotes are what Kubernetes reads."""
    ((value, _),) = yaml_values(f"[{written}]" if "," not in written else f"- {written}", "f")
    assert repr(value) == repr([json.loads(wanted)])


def test_keys_are_texts():
    """Numbers and booleans become texts as Go writes them."""
    ((value, _),) = yaml_values("{1.0: 0, y: 0, no: 0, 1.10: 0, 0x10: 0, '<<': 0, 1e6: 0, -.5: 0, ? b}", "f")
    assert list(value) == ["1", "true", "false", "1.1", "16", "<<", "1e+06", "-0.5", "b"]


def test_documents_come_one_by_one():
    """Empty documents are left out, and those before an error are there."""
    found = yaml_values("a: {b: [1, 'x']}\n---\n# nothing\n---\nc: true\n---\n[", "f")
    assert [next(found)[0], next(found)[0]] == [{"a": {"b": [1, "x"]}}, {"c": True}]
    with pytest.raises(ManifestError, match="f, line 8, column 1: broken YAML"):
        next(found)


@pytest.mark.parametrize(
    "text, wanted",
    [
        ("a: 1\nb: *x", "f, line 2, column 4: broken YAML: found undefined alias"),
        ("&a [*a]", "f, line 1, column 5: broken YAML: got a value that holds itself, by an alias"),
        ("a: &x {<<: *x}", "f, line 1, column 12: broken YAML: got a value that holds itself, by an alias"),
        (
            "a: {<<: 1}",
            "f, line 1, column 5: broken YAML: expected a mapping, or a list of mappings, after a merge key (<<)",
        ),
        (
            "a: {<<: [{b: 1}, c]}",
            "f, line 1, column 5: broken YAML: expected a mapping, or a list of mappings, after a merge key (<<)",
        ),
        ("~: a", "f, line 1, column 1: broken YAML: expected a string for a key, got null"),
        ("[a]: b", "f, line 1, column 1: broken YAML: expected a string for a key, got a list"),
        ("{a: b}: c", "f, line 1, column 1: broken YAML: expected a string for a key, got an object"),
        ("? " * 5000 + "a", "f, line 1, column 3: broken YAML: expected a string for a key, got an object"),
        ("a: !!set {b}", "f, line 1, column 4: broken YAML: expected a value of JSON, got the tag !!set"),
        ("a: !!str [b]", "f, line 1, column 4: broken YAML: expected a value of JSON, got the tag !!str"),
        ("a: !!python/object:os.system x", "expected a value of JSON"),
        ("1.23456789: a", "f, line 1, column 1: broken YAML: expected a string for a key, got 1.23456789"),
        ("a: !!int x", 'f, line 1, column 4: broken YAML: expected a value for !!int, got "x"'),
        ("a: !!null x", 'f, line 1, column 4: broken YAML: expected a value for !!null, got "x"'),
        ("a: !!bool yEs", 'f, line 1, column 4: broken YAML: expected a value for !!bool, got "yEs"'),
        ("a: !!binary /w==", 'f, line 1, column 4: broken YAML: expected a value for !!binary, got "/w=="'),
        ("a: !!binary Y=Q=", 'f, line 1, column 4: broken YAML: expected a value for !!binary, got "Y=Q="'),
        ("a: -.inf", 'f, line 1, column 4: broken YAML: expected a number of JSON, got "-.inf"'),
        ("a: [.NaN]", 'f, line 1, column 5: broken YAML: expected a number of JSON, got ".NaN"'),
    ],
)
def test_what_is_refused(text, wanted):
    """Errors have line and column."""
    assert wanted in refusal_text(ManifestError, list, yaml_values(text, "f"))


# --- Bounds -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("opened", ["[", "- ", "{a: "])
def test_depth(opened):
    """Lists and objects in one another, as many as are allowed and one more."""
    end = {"[": "]", "{a: ": "}"}.get(opened, "")
    assert list(yaml_values(f"{opened * MAX_NESTING}1{end * MAX_NESTING}", "f"))
    with pytest.raises(ManifestError, match="nested too deeply, expected at most 500 levels"):
        list(yaml_values(f"{opened * (MAX_NESTING + 1)}1{end * (MAX_NESTING + 1)}", "f"))


@pytest.mark.parametrize("levels, fits", [(5, True), (6, False), (60, False)])
@pytest.mark.parametrize("merged", [False, True])
def test_aliases_of_aliases(levels, fits, merged):
    """Ten aliases on each level are as many values as they stand for, in lists and after merge keys."""
    ten = [f"a{level}: &a{level} [{', '.join([f'*a{level - 1}'] * 10)}]" for level in range(1, levels)]
    text = "\n".join(["a0: &a0 [x, x, x, x, x, x, x, x, x]", *ten])
    if merged:
        text = text.replace("[", "{<<: [").replace("]", "]}").replace("x", "{}")
    if fits:
        assert len(list(yaml_values(text, "f"))) == 1
    else:
        with pytest.raises(ManifestError, match="got aliases that stand for more than 1,000,000 values"):
            list(yaml_values(text, "f"))


def test_many_aliases_of_few_values():
    """A long document may have more values than that when aliases are a small part of it."""
    text = "a: &a [1, 2, 3]\nb:\n" + "- *a\n" * 1000
    ((value, _),) = yaml_values(text, "f")
    assert value["b"][-1] is value["a"]


def test_a_shared_part_is_named_once():
    """A part that occurs twice has its first path."""
    part = {"a": 1}
    repeats = Repeats()
    repeats.add(part, "a")
    assert repeats.paths({"x": [part], "y": part}) == ("y.a",)
