"""Which label keys, label values and selectors are valid: the original's checks, with its texts.

Upstream: k8s.io/apimachinery pkg/util/validation IsQualifiedName, IsValidLabelValue; pkg/labels
NewRequirement
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

from ...exceptions import KubeclassicError

_NAME = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
_DNS_LABEL = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_SUBDOMAIN = rf"{_DNS_LABEL}(\.{_DNS_LABEL})*"
_VALUE = f"({_NAME})?"
_MAX_NAME = 63
_MAX_SUBDOMAIN = 253
_INT64_DIGITS = 19

_CHARACTERS = "consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character"
_BAD_NAME = f"must {_CHARACTERS} (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '{_NAME}')"
_BAD_VALUE = (
    f"a valid label must be an empty string or {_CHARACTERS} "
    f"(e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '{_VALUE}')"
)
_BAD_SUBDOMAIN = (
    "a DNS-1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with "
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
def is_valid_label_key(key: str) -> tuple[str, ...]:
    """What is wrong with a label key (a qualified name), in upstream's words; empty for a valid one."""
    prefix, slash, name = key.partition("/")
    if "/" in name:
        return (
            f"a qualified name {_BAD_NAME} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')",
        )
    if not slash:
        return tuple(_faults_of_name(key))
    return tuple(f"prefix part {fault}" for fault in _faults_of_prefix(prefix)) + tuple(_faults_of_name(name))


def _faults_of_prefix(prefix: str) -> list[str]:
    if not prefix:
        return ["must be non-empty"]
    faults = [f"must be no more than {_MAX_SUBDOMAIN} characters"] if _length(prefix) > _MAX_SUBDOMAIN else []
    return faults if re.fullmatch(_SUBDOMAIN, prefix) else [*faults, _BAD_SUBDOMAIN]


def _faults_of_name(name: str) -> list[str]:
    faults = []
    if not name:
        faults.append("name part must be non-empty")
    elif _length(name) > _MAX_NAME:
        faults.append(f"name part must be no more than {_MAX_NAME} characters")
    return faults if re.fullmatch(_NAME, name) else [*faults, f"name part {_BAD_NAME}"]


@lru_cache(maxsize=1 << 16)
def is_valid_label_value(value: str) -> tuple[str, ...]:
    """What is wrong with a label value, in upstream's words; empty for a valid one."""
    faults = [f"must be no more than {_MAX_NAME} characters"] if _length(value) > _MAX_NAME else []
    return tuple(faults if re.fullmatch(_VALUE, value) else [*faults, _BAD_VALUE])


def _length(text: str) -> int:
    """Upstream: lengths count bytes of UTF-8."""
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


def check_requirement(key: str, operator: str, values: Sequence[str]) -> None:
    """Raise :class:`SelectorError` for an expression that upstream refuses; *operator* is a known one."""
    if faults := is_valid_label_key(key):
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


def check_pairs(pairs: Mapping[str, str]) -> None:
    """Raise :class:`SelectorError` for the first pair, in order of keys, whose key or value is not valid."""
    for key in sorted(pairs):
        check_requirement(key, "In", (pairs[key],))
