"""Selectors over labels and nodes: what matches, and upstream's words for what is not valid."""

import pytest
import yaml

from kubeclassic.api.meaning.labels import (
    SelectorError,
    compile_node_term,
    compile_selector,
    everything,
    is_valid_label_key,
    is_valid_label_value,
    match_expressions_selector,
    node_selector_matches,
    nothing,
    pairs_match,
    parse_selector,
    quoted,
    selector_matches,
    set_selector,
    tolerates,
    toleration_tolerates,
)
from kubeclassic.api.objects import (
    LabelSelector,
    Map,
    NodeSelector,
    NodeSelectorTerm,
    Requirement,
    Taint,
    Toleration,
)
from tests.support.refusals import refusal_text

NAME = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
CHARACTERS = "consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character"
BAD_NAME = f"name part must {CHARACTERS} (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '{NAME}')"
BAD_VALUE = (
    f"a valid label must be an empty string or {CHARACTERS} "
    f"(e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '({NAME})?')"
)


def asks(key, operator, *values):
    return Requirement(key=key, operator=operator, given_values=values)


def selector(*expressions, **pairs):
    return LabelSelector(match_labels=Map(pairs), match_expressions=expressions)


@pytest.mark.parametrize(
    "chosen, labels, matches",
    [
        (None, "a: '1'", False),
        (selector(), "{}", True),
        (selector(a="1"), "{a: '1', b: '2'}", True),
        (selector(a="1"), "a: '2'", False),
        (selector(asks("b", "Exists"), a="1"), "a: '1'", False),
        (selector(asks("a", "In", "1", "2")), "a: '2'", True),
        (selector(asks("a", "In", "1", "2")), "{}", False),
        (selector(asks("a", "NotIn", "1")), "{}", True),
        (selector(asks("a", "NotIn", "1")), "a: '1'", False),
        (selector(asks("a", "Exists")), "a: ''", True),
        (selector(asks("a", "DoesNotExist")), "a: ''", False),
        (selector(asks("a", "DoesNotExist")), "b: ''", True),
        (selector(asks("a", "In", "")), "a: ''", True),
        (selector(asks("a", "In", "")), "{}", False),
    ],
)
def test_matching(chosen, labels, matches):
    """No selector matches nothing, an empty one everything; otherwise all pairs and expressions must
    match."""
    assert selector_matches(chosen, yaml.safe_load(labels)) is matches


@pytest.mark.parametrize(
    "expression, text",
    [
        (asks("a", "Foo"), '"Foo" is not a valid pod selector operator'),
        (asks("a", "Gt", "1"), '"Gt" is not a valid pod selector operator'),
        (asks("a", "In"), "for 'in', 'notin' operators, values set can't be empty"),
        (asks("a", "Exists", "1"), "values set must be empty for exists and does not exist"),
        (asks("bad key!", "Exists"), f'invalid label key "bad key!": {BAD_NAME}'),
        (asks("gen", "In", "bad value!"), f'invalid label value: "bad value!": at key: "gen": {BAD_VALUE}'),
    ],
)
def test_invalid_ones_say_why(expression, text):
    """An invalid selector raises upstream's text."""
    assert refusal_text(SelectorError, compile_selector, selector(expression)) == text


def test_text_without_key():
    """The error of a bad value also has the text of the releases that leave out the key."""
    with pytest.raises(SelectorError) as caught:
        compile_selector(selector(a="bad value!"))
    assert caught.value.without_key == f'invalid label value: "bad value!": {BAD_VALUE}'


def test_the_first_fault_counts():
    """The key is looked at before the number of values, that before the values."""
    with pytest.raises(SelectorError, match="invalid label key"):
        compile_selector(selector(asks("-", "In")))


def test_compiled_once():
    """Equal selectors share one test; all and nothing are the well-known functions."""
    assert compile_selector(selector(a="1")) is compile_selector(selector(a="1"))
    assert (compile_selector(None), compile_selector(selector())) == (nothing, everything)


# --- Set selector -------------------------------------------------------------------------------------------


def test_pairs_must_all_hold():
    """A plain map asks for all of its pairs; none asks for nothing."""
    assert set_selector(Map(a="1"))({"a": "1", "b": "2"})
    assert not set_selector(Map(a="1"))({"a": "2"})
    assert set_selector(None) is set_selector(Map()) is everything


@pytest.mark.parametrize("pairs", [{"a": "1", "b": "not valid"}, {"bad key": "1"}])
def test_one_invalid_pair_matches_everything(pairs):
    """One invalid pair makes the whole selector match everything."""
    assert set_selector(Map(pairs)) is everything


def test_pairs_match_does_not_validate():
    """Where nothing is validated, an invalid value matches what is literally equal."""
    assert pairs_match({"a": "not valid"}, {"a": "not valid"})
    assert not pairs_match({"a": "not valid"}, {"a": "x"})
    assert pairs_match(None, {})


# --- Node selector ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "expression, labels, matches",
    [
        (asks("gen", "Gt", "5"), {"gen": "6"}, True),
        (asks("gen", "Gt", "5"), {"gen": "5"}, False),
        (asks("gen", "Lt", "5"), {"gen": "-4"}, True),
        (asks("gen", "Lt", "5"), {"gen": "1.5"}, False),
        (asks("gen", "Lt", "5"), {}, False),
        (asks("gen", "Gt", "5"), {"gen": "99999999999999999999"}, False),
        (asks("gen", "Gt", "5"), {"gen": "٩"}, False),
        (asks("gen", "Gt", "05"), {"gen": "6"}, True),
    ],
)
def test_comparisons(expression, labels, matches):
    """Gt and Lt compare 64-bit whole numbers; a label that is none does not match."""
    assert match_expressions_selector((expression,))(labels) is matches


@pytest.mark.parametrize(
    "expression, text",
    [
        (asks("a", "Foo"), '"Foo" is not a valid node selector operator'),
        (asks("a", "Gt", "1", "2"), "for 'Gt', 'Lt' operators, exactly one value is required"),
        (asks("a", "Lt", "x"), "for 'Gt', 'Lt' operators, the value must be an integer"),
        (asks("a", "Lt", "99999999999999999999"), "for 'Gt', 'Lt' operators, the value must be an integer"),
        (asks("gen", "Gt", "-5"), f'invalid label value: "-5": at key: "gen": {BAD_VALUE}'),
    ],
)
def test_invalid_expressions_say_why(expression, text):
    """An invalid expression raises upstream's text; a negative bound is a number but no label value."""
    assert refusal_text(SelectorError, match_expressions_selector, (expression,)) == text


def test_no_expressions_match_nothing():
    """An empty list of expressions matches nothing."""
    assert match_expressions_selector(()) is nothing


def test_one_term_must_match():
    """Terms are alternatives; none at all, an empty one and an invalid one match no node."""
    valid = NodeSelectorTerm(match_expressions=(asks("a", "Exists"),))
    invalid = NodeSelectorTerm(match_expressions=(asks("a", "Foo"),))
    assert node_selector_matches(
        NodeSelector(node_selector_terms=(invalid, NodeSelectorTerm(), valid)), {"a": ""}, "n"
    )
    assert not node_selector_matches(
        NodeSelector(node_selector_terms=(invalid, NodeSelectorTerm())), {"a": ""}, "n"
    )
    assert not node_selector_matches(NodeSelector(), {"a": ""}, "n")


@pytest.mark.parametrize(
    "field, name, matches",
    [
        (asks("metadata.name", "In", "n1"), "n1", True),
        (asks("metadata.name", "In", "n1"), "n2", False),
        (asks("metadata.name", "NotIn", "n1"), "n2", True),
        (asks("metadata.name", "In", "n1", "n2"), "n1", False),
        (asks("metadata.name", "Exists"), "n1", False),
        (asks("metadata.uid", "In", "n1"), "n1", False),
        (asks("metadata.uid", "NotIn", "n1"), "n1", True),
        (asks("metadata.uid", "In", ""), "n1", True),
        (asks("metadata.name", "In", "n1"), "", False),
        (asks("metadata.name", "In", "n1"), None, True),
    ],
)
def test_fields(field, name, matches):
    """Only metadata.name has a value, only In and NotIn with one value are valid; without a name fields
    are ignored."""
    assert compile_node_term(NodeSelectorTerm(match_fields=(field,)))({}, name) is matches


def test_expressions_and_fields_must_both_hold():
    """A term with expressions and fields asks for both."""
    term = NodeSelectorTerm(
        match_expressions=(asks("a", "Exists"),), match_fields=(asks("metadata.name", "In", "n"),)
    )
    found = [
        compile_node_term(term)(labels, name)
        for labels, name in (({"a": ""}, "n"), ({}, "n"), ({"a": ""}, "m"))
    ]
    assert found == [True, False, False]


# --- Syntax -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("key", ["a", "A.b_c-9", "example.com/name", "a" * 63, "x" * 60 + ".com/" + "n" * 63])
def test_valid_keys(key):
    """Names of up to 63 characters, with a DNS subdomain before them or not, are keys."""
    assert not is_valid_label_key(key)


@pytest.mark.parametrize(
    "key, faults",
    [
        ("", ["name part must be non-empty", BAD_NAME]),
        ("-a", [BAD_NAME]),
        ("a\n", [BAD_NAME]),
        ("a" * 64, ["name part must be no more than 63 characters"]),
        ("/a", ["prefix part must be non-empty"]),
    ],
)
def test_invalid_keys(key, faults):
    """Each fault of a key is told in upstream's words."""
    assert list(is_valid_label_key(key)) == faults


@pytest.mark.parametrize(
    "key, beginning",
    [("a/b/c", "a qualified name must consist"), ("UP/a", "prefix part a DNS-1123 subdomain must")],
)
def test_bad_prefixes(key, beginning):
    """A second slash and a prefix that is no DNS subdomain are faults."""
    assert is_valid_label_key(key)[0].startswith(beginning)


def test_values():
    """A value may be empty, but has at most 63 bytes and a letter or digit at both ends."""
    assert not is_valid_label_value("")
    assert is_valid_label_value("-") == (BAD_VALUE,)
    assert is_valid_label_value("ä" * 32) == ("must be no more than 63 characters", BAD_VALUE)


def test_quoting():
    """Texts in messages are quoted as Go quotes them."""
    assert quoted('a"b\\\n\x01ä\u200b\U000e0001') == '"a\\"b\\\\\\n\\x01ä\\u200b\\U000e0001"'


# --- Which taints tolerations put up with -------------------------------------------------------------------


TAINT = Taint(key="gpu", value="yes", effect="NoSchedule")


@pytest.mark.parametrize(
    "toleration, covers",
    [
        (Toleration(key="gpu", operator="Equal", value="yes", effect="NoSchedule"), True),
        (Toleration(key="gpu", value="yes"), True),
        (Toleration(key="gpu", operator="Exists"), True),
        (Toleration(operator="Exists"), True),
        (Toleration(key="gpu", operator="Exists", value="other"), True),
        (Toleration(key="gpu", operator="Exists", effect="NoExecute"), False),
        (Toleration(key="gpu", value="no"), False),
        (Toleration(key="other", operator="Exists"), False),
        (Toleration(key="gpu", operator="exists"), False),
        (Toleration(), False),
        (Toleration(key="gpu", operator="Exists", toleration_seconds=0), True),
    ],
)
def test_key_value_and_effect(toleration, covers):
    """Effect and key are equal or left out; the value is equal, or the operator Exists; seconds do not
    matter."""
    assert toleration_tolerates(toleration, TAINT) is covers


def test_an_empty_key_covers_any_key_of_that_value():
    """An empty key with operator Equal covers every key that has this value."""
    assert toleration_tolerates(Toleration(operator="Equal", value="yes"), TAINT)


def test_one_of_several_is_enough():
    """A taint is put up with if any toleration covers it; none covers nothing."""
    assert tolerates([Toleration(key="a"), Toleration(key="gpu", operator="Exists")], TAINT)
    assert not tolerates([], TAINT)


# --- Label selectors as text, as kubectl reads them ---------------------------------------------------------


WEB = {"app": "web", "tier": "front"}


@pytest.mark.parametrize(
    "text, matches",
    [
        ("", True),
        ("app=web", True),
        ("app == web", True),
        ("app=db", False),
        ("app!=db", True),
        ("zone!=a", True),
        ("zone=", False),
        ("tier in (front,back)", True),
        ("tier notin (front , back)", False),
        ("zone notin (a)", True),
        ("app", True),
        ("!app", False),
        ("!zone", True),
        ("app=web,tier in (front, back),!zone", True),
        ("app=web,tier=back", False),
    ],
)
def test_a_selector_matches(text, matches):
    """Equality, sets and presence, all of which must hold; what must not be equal may be missing."""
    assert parse_selector(text)(WEB) is matches


@pytest.mark.parametrize(
    "text", ["app=web,", "a in b", "a in ()", "=web", "a=b=c", "a b", "in (x)", "app in (web", "-a=b"]
)
def test_a_broken_selector_is_refused(text):
    """A text that is no selector is an error, not a silent match."""
    with pytest.raises(SelectorError):
        parse_selector(text)
