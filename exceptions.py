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


class WrongTypeError(KubeclassicError, TypeError):
    """A value of a type that cannot be used here; the text says what was got and what is wanted. It is a TypeError too."""


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


def check_type(name: str, value: object, kinds: type | tuple[type, ...], wanted: str) -> None:
    """Raise :class:`WrongTypeError` unless *value* is of one of *kinds*; True and False are no numbers.

    >>> check_type("release", 1.16, str, 'a text such as "1.16"')
    Traceback (most recent call last):
    kubeclassic.exceptions.WrongTypeError: release: got 1.16 (float), wanted a text such as "1.16"
    """
    expected = kinds if isinstance(kinds, tuple) else (kinds,)
    if not isinstance(value, expected) or (isinstance(value, bool) and bool not in expected and object not in expected):
        raise wrong_type(name, value, wanted)


def wrong_type(name: str, value: object, wanted: str) -> WrongTypeError:
    """The error that *name* got *value* where *wanted* was wanted."""
    text = repr(value)
    got = f"{text} ({type(value).__name__})" if len(text) <= 60 else f"a value of type {type(value).__name__}"
    return WrongTypeError(f"{name}: got {got}, wanted {wanted}")
