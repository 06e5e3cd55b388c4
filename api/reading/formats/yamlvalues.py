"""The values of a YAML text, as the API reads it: dates stay texts, keys become texts, and aliases cannot fill the memory.

Long texts are tried line by line first (:mod:`.plainyaml`), plain ones are read from events (:mod:`.yamlevents`). Of all others PyYAML
makes nodes; here values are made of the nodes, so that no tag can call for more than a JSON value.
Upstream: sigs.k8s.io/yaml, which turns YAML into JSON.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from typing import TYPE_CHECKING, Any

import attrs
import yaml
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from ....exceptions import ManifestError
from ..fields import shown
from .nodegraph import NodeError, check_aliases, merged
from .repeats import Repeats
from .surrogates import without_surrogates
from .yamlevents import PlainScalars, Uncommon, document_values

if TYPE_CHECKING:
    from .yamllists import PlainList

MAX_NESTING = 1000
LONG = 1 << 17
"""The length of texts that are read line by line: for shorter ones it takes longer to load :mod:`.plainyaml` than it saves."""
UNREADABLE = (Uncommon, yaml.YAMLError, ValueError, RecursionError)
"""What the quick ways raise."""
_TAG = "tag:yaml.org,2002:"
_STRING, _MAPPING, _SEQUENCE, _MERGE = (f"{_TAG}{name}" for name in ("str", "map", "seq", "merge"))
_INTEGER = re.compile(r"[-+]?(?:0b[01]+|0x[0-9a-fA-F]+|0[0-7]+|0|[1-9][0-9]*)\Z")
_NUMBER = re.compile(r"[-+]?(?:[0-9]+\.[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?\Z")
_BASES = {"0b": 2, "0x": 16}
_MAX_DIGITS = 4300

_Loader: type[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def yaml_values(text: str, where: str) -> Iterator[tuple[Any, Repeats]]:
    """Each document of *text* that is not empty. Raises :class:`~kubeclassic.exceptions.ManifestError` with line and column."""
    told = 0
    for read in (_plain_values, _quick_values) if len(text) >= LONG else (_quick_values,):
        try:
            for value, repeats in islice(read(text), told, None):
                told += 1
                if value is not None:
                    yield value, repeats
            return
        except UNREADABLE:
            pass  # the exact way has the words for what is wrong
    for value, repeats in islice(_exact_values(text, where), told, None):
        if value is not None:
            yield value, repeats


def yaml_list(text: str) -> PlainList | None:
    """The list that *text* is, its items unread; None if it is something else, or only :func:`yaml_values` can tell."""
    from .yamllists import plain_list

    return plain_list(text, PlainScalars(_plain), _quick_values, UNREADABLE)


def _plain_values(text: str) -> Iterator[tuple[Any, Repeats]]:
    from .plainyaml import documents

    return ((value, Repeats()) for value in documents(text, PlainScalars(_plain), _quick_values))


def _quick_values(text: str) -> Iterator[tuple[Any, Repeats]]:
    loader, has_escapes = _ManifestLoader(text), _has_escapes(text)
    try:
        for value, repeats in document_values(loader.get_event, PlainScalars(_plain)):
            yield without_surrogates(value) if has_escapes else value, repeats
    finally:
        loader.dispose()


def _exact_values(text: str, where: str) -> Iterator[tuple[Any, Repeats]]:
    """The value of each document, None for an empty one."""
    has_aliases, has_escapes = "*" in text and "&" in text, _has_escapes(text)
    try:
        for root in _roots(text):
            if has_aliases:
                check_aliases(root)
            values = _Values()
            value = values.of(root)
            yield without_surrogates(value) if has_escapes else value, values.repeats
    except (yaml.MarkedYAMLError, NodeError) as error:
        mark = error.problem_mark or error.context_mark
        place = f", line {mark.line + 1}, column {mark.column + 1}" if mark else ""
        raise ManifestError(f"{where}{place}: broken YAML: {error.problem or error.context}") from None
    except RecursionError:
        raise ManifestError(f"{where}: YAML nested too deeply") from None
    except (yaml.YAMLError, ValueError) as error:
        raise ManifestError(f"{where}: broken YAML: {str(error).splitlines()[0]}") from None


def _has_escapes(text: str) -> bool:
    return "\\u" in text or "\\U" in text


def _roots(text: str) -> Iterator[Node]:
    loader = _ManifestLoader(text)
    try:
        while loader.check_node():
            yield loader.get_node()
    finally:
        loader.dispose()


class _ManifestLoader(_Loader):  # type: ignore[misc]  # its base is chosen at run time
    """Makes nodes: dates and times get the tag of texts, and there are no numbers in base 60."""

    depth = 0

    def descend_resolver(self, current_node: Node | None, current_index: object) -> None:
        """Called for each node before those in it: count how deep it is."""
        self.depth += 1
        if self.depth > MAX_NESTING:
            raise NodeError(f"nested too deeply, wanted at most {MAX_NESTING:,} levels", current_node)

    def ascend_resolver(self) -> None:
        """Called for each node after those in it."""
        self.depth -= 1


_DROPPED = {f"{_TAG}{name}" for name in ("timestamp", "int", "float", "value")}
_ManifestLoader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag not in _DROPPED]
    for first, resolvers in _Loader.yaml_implicit_resolvers.items()
}
_ManifestLoader.add_implicit_resolver(f"{_TAG}int", _INTEGER, list("-+0123456789"))
_ManifestLoader.add_implicit_resolver(f"{_TAG}float", _NUMBER, list("-+.0123456789"))


# --- from nodes to values -------------------------------------------------------------------------------------------


@attrs.define
class _Values:
    """Makes the values of one document. Parts with an alias are shared. It works level by level, so no depth is too much."""

    repeats: Repeats = attrs.field(factory=Repeats)
    _made: dict[int, Any] = attrs.field(factory=dict)
    _unfilled: list[tuple[Node, Any]] = attrs.field(factory=list)

    def of(self, root: Node) -> Any:
        """The value of a node."""
        value = self._begun(root)
        while self._unfilled:
            node, made = self._unfilled.pop()
            if isinstance(node, MappingNode):
                self._fill(node, made)
            else:
                made += map(self._begun, node.value)
        return value

    def _begun(self, node: Node) -> Any:
        """A single value; or an object or list, which is filled later."""
        if isinstance(node, ScalarNode):
            return node.value if node.tag == _STRING else _scalar(node)
        if (known := self._made.get(id(node))) is not None:
            return known
        is_mapping = isinstance(node, MappingNode)
        if node.tag not in (_MAPPING if is_mapping else _SEQUENCE, "!"):
            raise NodeError(f"got the tag {_named(node.tag)}, wanted a value of JSON", node)
        made: Any = {} if is_mapping else []
        self._made[id(node)] = made
        self._unfilled.append((node, made))
        return made

    def _fill(self, node: MappingNode, made: dict[str, Any]) -> None:
        own = node.value
        if any(key.tag == _MERGE for key, _ in own):
            made.update((_key(key), self._begun(value)) for key, value in merged(node))
            own = [pair for pair in own if pair[0].tag != _MERGE]
        seen = set()
        for key_node, value_node in own:
            key = _key(key_node)
            if key in seen:
                self.repeats.add(made, key)
            seen.add(key)
            made[key] = self._begun(value_node)


def _key(node: Node) -> str:
    """A key as JSON has it. Upstream: numbers and booleans become texts, and anything else is refused."""
    if isinstance(node, ScalarNode):
        if node.tag == _STRING:
            return str(node.value)
        key = _scalar(node)
        if isinstance(key, bool):
            return "true" if key else "false"
        if key is not None:
            return str(key)
    got = "null" if isinstance(node, ScalarNode) else "a list" if isinstance(node, SequenceNode) else "an object"
    raise NodeError(f"got {got}, wanted a string for a key", node)


# --- single values --------------------------------------------------------------------------------------------------


def _scalar(node: ScalarNode) -> Any:
    read = _SCALARS.get(node.tag)
    if read is None:
        raise NodeError(f"got the tag {_named(node.tag)}, wanted a value of JSON", node)
    try:
        return read(node.value)
    except (ValueError, KeyError):
        wanted = f", wanted at most {_MAX_DIGITS:,} digits" if len(node.value) > _MAX_DIGITS else ""
        raise NodeError(f"got {shown(node.value)} for {_named(node.tag)}{wanted}", node) from None


def _named(tag: str) -> str:
    return tag.replace(_TAG, "!!")


def _integer(text: str) -> int:
    if not _INTEGER.match(text) or len(text) > _MAX_DIGITS:
        raise ValueError(text)
    digits, sign = text.lstrip("+-"), -1 if text.startswith("-") else 1
    base = _BASES.get(digits[:2]) or (8 if digits.startswith("0") else 10)
    return sign * int(digits[2:] if base in (2, 16) else digits, base)


def _number(text: str) -> float:
    number = float(text) if _NUMBER.match(text) or _INTEGER.match(text) else float("inf")
    if number in (float("inf"), float("-inf")):
        raise ValueError(text)
    return number


def _decoded(text: str) -> str:
    try:
        return base64.b64decode(text).decode()
    except binascii.Error:
        raise ValueError(text) from None


_SCALARS: Mapping[str, Callable[[str], Any]] = {
    "!": str,
    _STRING: str,
    _MERGE: str,
    f"{_TAG}value": str,
    f"{_TAG}timestamp": str,
    f"{_TAG}null": lambda text: None,
    f"{_TAG}bool": lambda text: yaml.SafeLoader.bool_values[text.lower()],
    f"{_TAG}int": _integer,
    f"{_TAG}float": _number,
    f"{_TAG}binary": _decoded,
}
"""Tag -> how its text is read. The keys of a mapping apart, ``<<`` is a text."""


def _plain(text: str) -> Any:
    """The value of a text without quotes."""
    for tag, pattern in _ManifestLoader.yaml_implicit_resolvers.get(text[:1], ()):
        if pattern.match(text):
            return _SCALARS[tag](text)
    return text
