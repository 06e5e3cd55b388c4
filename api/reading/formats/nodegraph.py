"""What anchors, aliases and merge keys of YAML stand for: checked and bounded before anything is made of it."""

from __future__ import annotations

from collections.abc import Iterator

import yaml
from yaml.nodes import CollectionNode, MappingNode, Node, SequenceNode

MAX_EXPANDED = 1_000_000
"""How many values a document may have, each alias counted as all that it stands for. A document with more of its own may have ten times
as many as these."""
_MERGE = "tag:yaml.org,2002:merge"


class NodeError(yaml.MarkedYAMLError):
    """A node that has no value; the mark is its place."""

    def __init__(self, problem: str, node: Node | None = None) -> None:
        super().__init__(problem=problem, problem_mark=None if node is None else node.start_mark)


def check_aliases(root: Node) -> None:
    """Raise :class:`NodeError` for a node that holds itself, and where aliases stand for too many values."""
    sizes: dict[int, int] = {}
    own, total = 0, 0
    for node in _inner_first(root):
        parts = list(_parts(node))
        own += 1 + len(parts)
        total = sizes[id(node)] = 1 + sum(sizes.get(id(part), 1) for part in parts)
    if total > max(MAX_EXPANDED, 10 * own):
        raise NodeError(f"got aliases that stand for more than {MAX_EXPANDED:,} values", root)


def _inner_first(root: Node) -> Iterator[CollectionNode]:
    """The lists and mappings in *root*, each once, after those in it."""
    unfinished, begun, done = [root], set(), set()
    while unfinished:
        node = unfinished[-1]
        if id(node) in done or not isinstance(node, CollectionNode):
            unfinished.pop()
        elif id(node) in begun:
            unfinished.pop()
            done.add(id(node))
            yield node
        else:
            begun.add(id(node))
            for part in _parts(node):
                if id(part) in begun and id(part) not in done:
                    raise NodeError("got a value that holds itself, by an alias", part)
                unfinished.append(part)


def _parts(node: Node) -> Iterator[Node]:
    if isinstance(node, MappingNode):
        for key, value in node.value:
            yield key
            yield value
    elif isinstance(node, SequenceNode):
        yield from node.value


# --- merge keys -----------------------------------------------------------------------------------------------------


def merged(node: MappingNode) -> list[tuple[Node, Node]]:
    """The keys and values that the merge keys (``<<``) of *node* bring. Of two with one key, the one that counts is last."""
    found: dict[tuple[str, str, int], tuple[Node, Node]] = {}
    seen: set[int] = set()
    waiting = _sources(node)
    while waiting:
        source = waiting.pop(0)
        if id(source) in seen:
            continue
        seen.add(id(source))
        for key, value in source.value:
            if key.tag != _MERGE:
                found.setdefault(_identity(key), (key, value))
        waiting[:0] = _sources(source)
    return list(found.values())


def _identity(key: Node) -> tuple[str, str, int]:
    return (key.tag, key.value, 0) if isinstance(key.value, str) else ("", "", id(key))


def _sources(node: MappingNode) -> list[MappingNode]:
    """The mappings that the merge keys of *node* name, the one that wins first."""
    found: list[MappingNode] = []
    for key, value in node.value:
        if key.tag != _MERGE:
            continue
        for source in value.value if isinstance(value, SequenceNode) else [value]:
            if not isinstance(source, MappingNode):
                raise NodeError("got a merge key (<<) without a mapping, wanted one, or a list of such", source)
            found.append(source)
    return found
