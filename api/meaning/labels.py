"""Selectors of labels and nodes, compiled. Equal selectors are compiled once.

A compiled selector is a function of the labels. It is :func:`everything` or :func:`nothing` itself where it
can be, so that a caller may test ``matcher is everything``. Upstream: k8s.io/apimachinery pkg/labels;
pkg/apis/core/v1/helper/helpers.go
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from operator import gt, lt
from typing import Any, TypeAlias

from ...exceptions import KubeclassicError
from ..objects import LabelSelector, Map, NodeSelector, NodeSelectorTerm, Requirement, Taint, Toleration

# --- Validity of keys, values and selectors -----------------------------------------------------------------
# The original's checks, with its texts. Upstream: k8s.io/apimachinery pkg/util/validation IsQualifiedName,
# IsValidLabelValue; pkg/labels NewRequirement


_NAME = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
_DNS_LABEL = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_SUBDOMAIN = rf"{_DNS_LABEL}(\.{_DNS_LABEL})*"
_VALUE = f"({_NAME})?"
_MAX_NAME = 63
_MAX_SUBDOMAIN = 253
LabelWords = tuple[str, str, str]
LABEL_WORDS: LabelWords = ("a qualified name", "a DNS-1123 subdomain", "characters")
"""The words in faults for a label's key, for the prefix of a key, and for the unit of lengths."""
_INT64_DIGITS = 19

_CHARACTERS = "consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character"
_BAD_NAME = f"must {_CHARACTERS} (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '{_NAME}')"
_BAD_VALUE = (
    f"a valid label must be an empty string or {_CHARACTERS} "
    f"(e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '{_VALUE}')"
)
_BAD_SUBDOMAIN = (
    "must consist of lower case alphanumeric characters, '-' or '.', and must start and end with "
    f"an alphanumeric character (e.g. 'example.com', regex used for validation is '{_SUBDOMAIN}')"
)

_ESCAPES = {
    "\a": r"\a",
    "\b": r"\b",
    "\f": r"\f",
    "\n": r"\n",
    "\r": r"\r",
    "\t": r"\t",
    "\v": r"\v",
    '"': r"\"",
    "\\": r"\\",
}


class SelectorError(KubeclassicError, ValueError):
    """A label or node selector is not valid; the text is upstream's.

    *without_key* is the text of the releases that do not name the key of an invalid value; for other faults
    the two are equal.
    """

    def __init__(self, text: str, without_key: str | None = None) -> None:
        super().__init__(text)
        self.without_key: str = text if without_key is None else without_key


def quoted(text: str) -> str:
    """*text* in double quotes, escaped as Go's ``%q`` does."""
    return '"' + "".join(map(_escaped, text)) + '"'


def _escaped(char: str) -> str:
    if char in _ESCAPES or char.isprintable():
        return _ESCAPES.get(char, char)
    code = ord(char)
    if code < 0x20 or code == 0x7F:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


@lru_cache(maxsize=1 << 16)
def is_valid_label_key(key: str, words: LabelWords = LABEL_WORDS) -> tuple[str, ...]:
    """The faults of a label key (a qualified name), in upstream's *words*; none for a valid one."""
    prefix, slash, name = key.partition("/")
    if "/" in name:
        return (
            f"{words[0]} {_BAD_NAME} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')",
        )
    if not slash:
        return tuple(_faults_of_name(key, words))
    prefix_faults = (f"prefix part {fault}" for fault in _faults_of_prefix(prefix, words))
    return (*prefix_faults, *_faults_of_name(name, words))


def _faults_of_prefix(prefix: str, words: LabelWords) -> list[str]:
    if not prefix:
        return ["must be non-empty"]
    faults = [_too_long(_MAX_SUBDOMAIN, words)] if _length(prefix) > _MAX_SUBDOMAIN else []
    return faults if re.fullmatch(_SUBDOMAIN, prefix) else [*faults, f"{words[1]} {_BAD_SUBDOMAIN}"]


def _faults_of_name(name: str, words: LabelWords) -> list[str]:
    faults = []
    if not name:
        faults.append("name part must be non-empty")
    elif _length(name) > _MAX_NAME:
        faults.append(f"name part {_too_long(_MAX_NAME, words)}")
    return faults if re.fullmatch(_NAME, name) else [*faults, f"name part {_BAD_NAME}"]


@lru_cache(maxsize=1 << 16)
def is_valid_label_value(value: str, words: LabelWords = LABEL_WORDS) -> tuple[str, ...]:
    """The faults of a label value, in upstream's *words*; none for a valid one."""
    faults = [_too_long(_MAX_NAME, words)] if _length(value) > _MAX_NAME else []
    return tuple(faults if re.fullmatch(_VALUE, value) else [*faults, _BAD_VALUE])


def _too_long(limit: int, words: LabelWords) -> str:
    return f"must be no more than {limit} {words[2]}"


def _length(text: str) -> int:
    """The length of *text*. Upstream: in bytes of UTF-8."""
    return len(text.encode("utf-8", "surrogatepass"))


def int64_or_none(text: str) -> int | None:
    """The integer in *text*, base 10; None if it is no integer or does not fit into 64 bits."""
    if not re.fullmatch(r"[-+]?[0-9]+", text):
        return None
    digits = text.lstrip("-+").lstrip("0")
    if len(digits) > _INT64_DIGITS:
        return None
    number = -int(digits or "0") if text.startswith("-") else int(digits or "0")
    return number if -(2**63) <= number < 2**63 else None


def check_requirement(
    key: str, operator: str, values: Sequence[str], words: LabelWords = LABEL_WORDS
) -> None:
    """Raise :class:`SelectorError` for an expression that upstream refuses; *operator* is a known one."""
    if faults := is_valid_label_key(key, words):
        raise SelectorError(f"invalid label key {quoted(key)}: {'; '.join(faults)}")
    fault = None
    if operator in ("In", "NotIn"):
        fault = None if values else "for 'in', 'notin' operators, values set can't be empty"
    elif operator in ("Exists", "DoesNotExist"):
        fault = "values set must be empty for exists and does not exist" if values else None
    elif len(values) != 1:
        fault = "for 'Gt', 'Lt' operators, exactly one value is required"
    elif int64_or_none(values[0]) is None:
        fault = "for 'Gt', 'Lt' operators, the value must be an integer"
    if fault is not None:
        raise SelectorError(fault)
    for value in values:
        if faults := is_valid_label_value(value):
            reasons = "; ".join(faults)
            raise SelectorError(
                f"invalid label value: {quoted(value)}: at key: {quoted(key)}: {reasons}",
                without_key=f"invalid label value: {quoted(value)}: {reasons}",
            )


def check_pairs(pairs: Mapping[str, str], words: LabelWords = LABEL_WORDS) -> None:
    """Raise :class:`SelectorError` for the first pair, in order of keys, whose key or value is not valid."""
    for key in sorted(pairs):
        check_requirement(key, "In", (pairs[key],), words)


# --- Compiled selectors -------------------------------------------------------------------------------------


Labels: TypeAlias = Mapping[str, str]
Matcher: TypeAlias = Callable[[Labels], bool]
NodeMatcher: TypeAlias = Callable[[Labels, "str | None"], bool]

_CACHED = 1 << 16
_LABEL_OPERATORS = frozenset({"In", "NotIn", "Exists", "DoesNotExist"})
_NODE_OPERATORS = _LABEL_OPERATORS | {"Gt", "Lt"}


def everything(labels: Labels) -> bool:
    """Matches any labels."""
    return True


def nothing(labels: Labels) -> bool:
    """Matches no labels."""
    return False


# --- label selectors ----------------------------------------------------------------------------------------


def selector_matches(selector: LabelSelector | None, labels: Labels) -> bool:
    """Whether *selector* matches; None matches nothing, an empty one everything. Raises
    :class:`SelectorError` for an invalid one."""
    return compile_selector(selector)(labels)


def selects(selector: LabelSelector | None, labels: Labels) -> bool:
    """As :func:`selector_matches`, but an invalid one matches nothing."""
    try:
        return compile_selector(selector)(labels)
    except SelectorError:
        return False


def selects_some(selector: LabelSelector | None, labels: Labels) -> bool:
    """As :func:`selects`, but an empty one, which says nothing, matches nothing."""
    return selector is not None and not selector.is_empty and selects(selector, labels)


@lru_cache(maxsize=_CACHED)
def compile_selector(selector: LabelSelector | None, words: LabelWords = LABEL_WORDS) -> Matcher:
    """The test for *selector*. Raises :class:`SelectorError` with upstream's text for an invalid one.

    Upstream: pkg/apis/meta/v1/helpers.go LabelSelectorAsSelector
    """
    if selector is None:
        return nothing
    if selector.is_empty:
        return everything
    check_pairs(selector.match_labels, words)
    tests = _tests(selector.match_expressions, _LABEL_OPERATORS, "pod", words)
    return _all_of([_pairs_test(selector.match_labels), *tests] if selector.match_labels else tests)


@lru_cache(maxsize=_CACHED)
def set_selector(pairs: Map[str] | None) -> Matcher:
    """The test for a map of labels; None, an empty map, and one with an invalid key or value match
    everything.

    Upstream: pkg/labels/selector.go SelectorFromSet (1.27 has dropped the check: :func:`pairs_match`)
    """
    try:
        check_pairs(pairs or {})
    except SelectorError:
        return everything  # Upstream: one invalid pair makes the whole selector match everything.
    return _pairs_test(pairs) if pairs else everything


def pairs_match(pairs: Labels | None, labels: Labels) -> bool:
    """Whether *labels* have all of *pairs*, valid or not."""
    return not pairs or pairs.items() <= labels.items()


def _pairs_test(pairs: Labels) -> Matcher:
    required = pairs.items()
    return lambda labels: required <= labels.items()


def _all_of(tests: list[Matcher]) -> Matcher:
    if len(tests) == 1:
        return tests[0]
    return lambda labels: all(test(labels) for test in tests)


def _tests(
    expressions: Iterable[Requirement], operators: frozenset[str], kind: str, words: LabelWords
) -> list[Matcher]:
    """The tests of *expressions* of a selector of pods or nodes. Raises :class:`SelectorError`."""
    tests = []
    for expression in expressions:
        if expression.operator not in operators:
            raise SelectorError(f"{quoted(expression.operator)} is not a valid {kind} selector operator")
        check_requirement(expression.key, expression.operator, expression.values, words)
        tests.append(_test(expression))
    return tests


def _test(expression: Requirement) -> Matcher:
    """The test of one valid expression."""
    key = expression.key
    values = frozenset(expression.values)
    match expression.operator:
        case "In":
            return lambda labels: labels.get(key) in values
        case "NotIn":
            return lambda labels: labels.get(key) not in values
        case "Exists":
            return lambda labels: key in labels
        case "DoesNotExist":
            return lambda labels: key not in labels
    bound = int(expression.values[0])

    def compare(labels: Labels) -> bool:
        number = int64_or_none(labels.get(key, ""))
        return number is not None and (number > bound if expression.operator == "Gt" else number < bound)

    return compare


# --- node selectors -----------------------------------------------------------------------------------------


@lru_cache(maxsize=_CACHED)
def match_expressions_selector(
    expressions: tuple[Requirement, ...], words: LabelWords = LABEL_WORDS
) -> Matcher:
    """The test for a node selector's expressions; without any it matches nothing. Raises
    :class:`SelectorError`.

    Upstream: pkg/apis/core/v1/helper/helpers.go NodeSelectorRequirementsAsSelector
    """
    if not expressions:
        return nothing
    return _all_of(_tests(expressions, _NODE_OPERATORS, "node", words))


def node_selector_matches(selector: NodeSelector, labels: Labels, name: str | None) -> bool:
    """Whether one of the terms matches a node; an empty or invalid term matches nothing.

    *name* is the node's name; ``""`` if fields count as empty, None to ignore match_fields.
    Upstream: pkg/apis/core/v1/helper/helpers.go MatchNodeSelectorTerms
    """
    return compile_node_selector(selector)(labels, name)


@lru_cache(maxsize=_CACHED)
def compile_node_selector(selector: NodeSelector) -> NodeMatcher:
    """The test for a whole node selector, a function of a node's labels and name."""
    terms = [compile_node_term(term) for term in selector.node_selector_terms]
    if len(terms) == 1:
        return terms[0]
    return lambda labels, name: any(term(labels, name) for term in terms)


@lru_cache(maxsize=_CACHED)
def compile_node_term(term: NodeSelectorTerm) -> NodeMatcher:
    """The test for one term, a function of a node's labels and name."""
    if not term.match_expressions and not term.match_fields:
        return _no_node
    try:
        if term.match_expressions:
            by_labels = match_expressions_selector(term.match_expressions)
        else:
            by_labels = everything
    except SelectorError:
        return _no_node
    if any(field.operator not in ("In", "NotIn") or len(field.values) != 1 for field in term.match_fields):
        return _no_node
    if not term.match_fields:
        return lambda labels, name: by_labels(labels)
    fields = term.match_fields
    return lambda labels, name: (
        by_labels(labels) and (name is None or all(_field_holds(field, name) for field in fields))
    )


def _no_node(labels: Labels, name: str | None) -> bool:
    return False


def _field_holds(field: Requirement, name: str) -> bool:
    """Whether *field* holds for the node *name*. Upstream: a field other than metadata.name counts as
    empty."""
    actual = name if field.key == "metadata.name" else ""
    return (actual == field.values[0]) == (field.operator == "In")


# --- selectors as texts, taints, zones ----------------------------------------------------------------------


_SET = re.compile(r"(\S+)\s+(in|notin)\s*\(([^()]*)\)")
_PAIR = re.compile(r"([^\s=!]+)\s*(==|=|!=)\s*([^\s=!]*)")
_KEY = re.compile(r"(!?)\s*([^\s=!()]+)")
_OPERATORS = {"in": "In", "notin": "NotIn", "=": "In", "==": "In", "!=": "NotIn"}


def parse_selector(text: str) -> Matcher:
    """The test that *text* describes; an empty one matches everything. Raises :class:`SelectorError`.

    >>> chosen = parse_selector("app=web, tier in (front, back), !canary")
    >>> chosen({"app": "web", "tier": "back"}), chosen({"app": "web", "tier": "back", "canary": ""})
    (True, False)
    """
    parts = re.split(r",(?![^(]*\))", text) if text.strip() else []
    return compile_selector(
        LabelSelector(match_expressions=tuple(_requirement(part.strip()) for part in parts))
    )


def _requirement(part: str) -> Requirement:
    if match := _SET.fullmatch(part):
        key, operator, inside = match.groups()
        return Requirement(
            key=key,
            operator=_OPERATORS[operator],
            given_values=tuple(value.strip() for value in inside.split(",")) if inside.strip() else (),
        )
    if match := _PAIR.fullmatch(part):
        key, operator, value = match.groups()
        return Requirement(key=key, operator=_OPERATORS[operator], given_values=(value,))
    if match := _KEY.fullmatch(part):
        return Requirement(key=match[2], operator="DoesNotExist" if match[1] else "Exists")
    raise SelectorError(
        f'expected KEY=VALUE, KEY!=VALUE, KEY in (A,B), KEY notin (A,B), KEY or !KEY, got "{part}"'
    )


def tolerates(tolerations: Iterable[Toleration], taint: Taint) -> bool:
    """Whether one of *tolerations* covers *taint*.

    Upstream: pkg/apis/core/v1/helper/helpers.go TolerationsTolerateTaint
    """
    return any(toleration_tolerates(toleration, taint) for toleration in tolerations)


NO_NEW_PODS = ("NoSchedule", "NoExecute")
"""The effects of taints that keep pods away."""


def first_untolerated(
    taints: Sequence[Taint], tolerations: Sequence[Toleration], effects: Sequence[str] = NO_NEW_PODS
) -> Taint | None:
    """The first of *taints* with one of *effects* that no toleration covers, None where there is none."""
    return next(
        (taint for taint in taints if taint.effect in effects and not tolerates(tolerations, taint)), None
    )


def toleration_tolerates(toleration: Toleration, taint: Taint) -> bool:
    """Whether *toleration* covers *taint*: an empty effect or key covers any; seconds do not count.

    Upstream: k8s.io/api core/v1/toleration.go ToleratesTaint
    """
    if toleration.effect and toleration.effect != taint.effect:
        return False
    if toleration.key and toleration.key != taint.key:
        return False
    if toleration.operator in ("", "Equal"):
        # Upstream: an empty key with operator Equal covers every key that has this value.
        return toleration.value == taint.value
    if toleration.operator in COMPARISONS:
        bound = whole_of(toleration.value)
        value = whole_of(taint.value)
        return None not in (bound, value) and COMPARISONS[toleration.operator](value, bound)
    return toleration.operator == "Exists"


COMPARISONS: Mapping[str, Callable[[Any, Any], bool]] = {"Gt": gt, "Lt": lt}
"""Operator of a toleration -> how the value of a taint compares with the toleration's."""
_WHOLE = re.compile(r"0|-?[1-9][0-9]*")


def whole_of(text: str) -> int | None:
    """The whole number of 64 bits that *text* is in its only form; None if it is none.

    >>> whole_of("-12"), whole_of("012"), whole_of("9223372036854775808")
    (-12, None, None)
    """
    return int64_or_none(text) if _WHOLE.fullmatch(text) else None


TOPOLOGY_ZONE = "topology.kubernetes.io/zone"
TOPOLOGY_REGION = "topology.kubernetes.io/region"
BETA_ZONE = "failure-domain.beta.kubernetes.io/zone"
BETA_REGION = "failure-domain.beta.kubernetes.io/region"
ZONES = (TOPOLOGY_ZONE, BETA_ZONE)
BETA_PLACES = (BETA_ZONE, BETA_REGION)
PLACES = (*ZONES, TOPOLOGY_REGION, BETA_REGION)
"""All labels that say where a node is."""


def zone_of(labels: Labels) -> str:
    """The zone that the *labels* of a node name, the newer label first; empty if none does.

    >>> zone_of({"topology.kubernetes.io/zone": "a"}), zone_of({})
    ('a', '')
    """
    return next((labels[label] for label in ZONES if labels.get(label)), "")
