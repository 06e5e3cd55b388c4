"""The feature gates of each release, by the table ``gates.txt``: what is new or changed in it, release by
release, and what gates decide.

``alpha``, ``beta`` and the like are stages, with the default of most of their gates; ``on`` and ``off`` say
another one, and ``locked`` that it cannot be set. ``gone``: the release does not have them any more.
``needs``: a gate cannot be on without others; nothing after the colon: from now on it can. Upstream:
pkg/features/kube_features.go; the gates of apiserver, client-go and component-base, registered too.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pkgutil import get_data
from types import MappingProxyType
from typing import NamedTuple

from .release import FeatureGate

GateWords = Mapping[str, str]
"""Gate -> what it decides, or why it changes no answer; empty where another of these tables says it."""


class GatesOfRelease(NamedTuple):
    """The gates of a release."""

    known: Mapping[str, FeatureGate]
    needs: Mapping[str, tuple[str, ...]]
    """Gate -> the gates that it needs, but for those that are always on."""
    settled: frozenset[str]
    """The gates of older releases that are gone, and were on: what they guarded is always there."""


@cache
def _paragraphs() -> Mapping[str, Mapping[str, str]]:
    text = (get_data(__package__, "gates.txt") or b"").decode().replace("\n      ", " ")
    split = (paragraph.splitlines() for paragraph in text.split("\n\n"))
    return {
        head: {key: rest for key, _, rest in (line.strip().partition(": ") for line in lines)}
        for head, *lines in split
    }


def gates_that(table: str) -> GateWords:
    """The *table* of gates that "decides", "decided earlier", "changes no answer" or "decides up to 1.16"."""
    return _paragraphs()[table]


def gates_of(version: str) -> GatesOfRelease:
    """The gates of a release."""
    return _by_release()[version]


@cache
def _by_release() -> Mapping[str, GatesOfRelease]:
    found: dict[str, GatesOfRelease] = {}
    known: dict[str, FeatureGate] = {}
    needs: dict[str, tuple[str, ...]] = {}
    settled: set[str] = set()
    for version, kinds in _paragraphs().items():
        for kind, names in kinds.items() if version[0].isdigit() else ():
            for name in names.split():
                gate, _, needed = name.partition(":")
                if kind == "needs":
                    needs[gate] = tuple(filter(None, needed.split(",")))
                elif kind != "gone":
                    known[gate] = _gate(*kind.split())
                elif known.pop(gate).default:
                    settled.add(gate)
        gates = MappingProxyType(dict(sorted(known.items())))
        wanting = MappingProxyType({gate: needed for gate, needed in needs.items() if needed})
        found[version] = GatesOfRelease(gates, wanting, frozenset(settled - known.keys()))
    return found


def _gate(stage: str, *more: str) -> FeatureGate:
    default = "on" in more or (stage in ("beta", "ga", "locked") and "off" not in more)
    return FeatureGate(
        default, "" if stage in ("ga", "locked") else stage.upper(), "locked" in (stage, *more)
    )
