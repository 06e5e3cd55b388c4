"""Everything that kubeclassic raises on purpose; catch :class:`KubeclassicError` to catch them all."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


class KubeclassicError(Exception):
    """The base of every error that the input causes, not the program."""


class ManifestError(KubeclassicError):
    """A manifest cannot be read; the text says where (file, document, field), what was got and what was wanted."""


class QuantityError(KubeclassicError, ValueError):
    """A text is not a Kubernetes quantity."""


class PolicyError(KubeclassicError):
    """A scheduler configuration is refused; the text is upstream's own where upstream has one."""


class UnknownNameError(KubeclassicError):
    """A release, gate, provider, rule or object is named that does not exist; suggests near names."""


class RuleError(KubeclassicError):
    """A user's own rule or plugin failed; *frames* are the lines of the traceback that are in the user's files."""

    def __init__(self, text: str, frames: str = "") -> None:
        super().__init__(text, frames)
        self.text = text
        self.frames = frames

    def __str__(self) -> str:
        return self.text


class CacheError(KubeclassicError):
    """A transition that the scheduler's cache or queue refuses; the text is upstream's."""


class ExtenderError(KubeclassicError):
    """A call to an HTTP extender failed."""


def did_you_mean(name: str, names: Iterable[str]) -> str:
    """``; did you mean "a" or "b"?`` for the *names* that are near *name*, else nothing.

    >>> did_you_mean("DefaultProvidor", ["ClusterAutoscalerProvider", "DefaultProvider"])
    '; did you mean "DefaultProvider"?'
    """
    near = [f'"{found}"' for found in get_close_matches(name, list(dict.fromkeys(names)), n=3)]
    return f"; did you mean {' or '.join(near)}?" if near else ""
