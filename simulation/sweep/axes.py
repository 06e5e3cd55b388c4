"""What a sweep can vary: the keys of a grid, and which values each takes; and how another value is refused."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NoReturn

import attrs

from ...algorithmprovider.cells import TIE_BREAKS
from ...api.reading.fields import shown
from ...exceptions import ManifestError, did_you_mean
from ...framework.options import FIELDS, declared_of
from ..scenario import ORDERS

SHUFFLED = "shuffled"
ALL_ORDERS = (*ORDERS, SHUFFLED)
WEIGHT = "weights."
"""What the keys of weights begin with: ``weights.LeastRequestedPriority``."""
MOST_WEIGHT = 1_000_000_000
INPUT, SEED, ORDER, EDITS = "input", "seed", "order", "set"
FILES = ("policy", "profile", "config")
"""Keys whose values are files."""
_LONGEST = 100
"""Characters of a list or an object that is shown as it is."""


@attrs.frozen(repr=False)
class SweepAxis:
    """The values of a key: what they must be, in words, and the test that they are."""

    wanted: str
    holds: Callable[[Any], bool]


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and bool(value)


def _is_whole(value: Any, least: int, most: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and least <= value <= most


def _whole(least: int, most: int) -> SweepAxis:
    return SweepAxis(f"a whole number from {least} to {most}", lambda value: _is_whole(value, least, most))


def _one_of(*names: str) -> SweepAxis:
    return SweepAxis(f"one of {', '.join(names)}", lambda value: isinstance(value, str) and value in names)


def _or_nothing(axis: SweepAxis) -> SweepAxis:
    return SweepAxis(f"{axis.wanted}, or null for none", lambda value: value is None or axis.holds(value))


def _are_edits(value: Any) -> bool:
    return _is_text(value) or (isinstance(value, list) and bool(value) and all(map(_is_text, value)))


_FILE = _or_nothing(SweepAxis("a file", lambda value: _is_text(value) or isinstance(value, os.PathLike)))
_WEIGHT = _whole(0, MOST_WEIGHT)

AXES: Mapping[str, SweepAxis] = {
    "release": SweepAxis('a text such as "1.16"', _is_text),
    "policy": _FILE,
    "profile": _FILE,
    "config": _FILE,
    "provider": _or_nothing(SweepAxis("a name such as DefaultProvider", _is_text)),
    "feature-gates": _or_nothing(SweepAxis("a text such as EvenPodsSpread=true", _is_text)),
    "percentage": _whole(0, 100),
    "hard-pod-affinity-weight": _whole(1, 100),
    "preemption": SweepAxis("true or false", lambda value: isinstance(value, bool)),
    "tie-break": _one_of(*TIE_BREAKS),
    SEED: _whole(0, 2**63 - 1),
    ORDER: _one_of(*ALL_ORDERS),
    EDITS: _or_nothing(SweepAxis('an edit such as "pod web/* requests.cpu=500m", or a list of them', _are_edits)),
}
"""Key -> its values; ``weights.NAME`` comes on top of these."""
_NAMES = {declared_of(field).key or name.replace("_", "-"): name for name, field in FIELDS.items()}
OPTIONS: Mapping[str, str] = {key: _NAMES[key] for key in AXES if key in _NAMES}
"""Key -> the option of :class:`~kubeclassic.Scheduler` that it is."""
KEYS = (*AXES, f"{WEIGHT}NAME")


def axis_of(key: str) -> SweepAxis | None:
    """The axis of *key*; None if there is none.

    >>> axis_of("percentage").wanted, axis_of("weights.EqualPriority").holds(3), axis_of("weights.")
    ('a whole number from 0 to 100', True, None)
    """
    if key.startswith(WEIGHT):
        return _WEIGHT if len(key) > len(WEIGHT) else None
    return AXES.get(key)


# --- refusals -------------------------------------------------------------------------------------------------------


def refuse(where: str, got: Any, wanted: str, near: str = "") -> NoReturn:
    """Raise the error that *where* has *got*."""
    raise ManifestError(f"{where}: got {_told(got)}, wanted {wanted}{near}")


def _told(got: Any) -> str:
    text = json.dumps(got, default=repr) if isinstance(got, list | tuple | dict) else ""
    return text if 0 < len(text) <= _LONGEST else shown(got)


def check_keys(where: str, given: Any, known: Iterable[str]) -> Mapping[str, Any]:
    """*given*, which must be an object with *known* keys alone."""
    names = tuple(known)
    if not isinstance(given, Mapping):
        refuse(where, given, f"an object with {', '.join(names)}")
    for key in given:
        if key not in names:
            refuse(where, key, f"one of {', '.join(names)}", did_you_mean(str(key), names))
    return given
