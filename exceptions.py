"""Everything that kubeclassic raises on purpose; catch :class:`KubeclassicError` to catch them all."""

from __future__ import annotations

from collections.abc import Iterable

_LONGEST_NAME = 300
"""The characters of a long name that are compared."""


_LONGEST = 4000
"""The most characters of an error: upstream's texts can hold long names and values of the input."""


class KubeclassicError(Exception):
    """The base of all errors that are caused by the input, not by the program. The middle of a text of
    thousands of characters is left out."""

    def __str__(self) -> str:
        return _without_middle(super().__str__(), _LONGEST)


class ManifestError(KubeclassicError):
    """A manifest cannot be read; the text says where (file, document, field), what was expected and what was
    found."""

    def __str__(self) -> str:
        return one_line(super().__str__())


class QuantityError(KubeclassicError, ValueError):
    """A text is not a Kubernetes quantity."""


class PolicyError(KubeclassicError):
    """A scheduler configuration is refused; the text is upstream's own where upstream has one."""


class UnknownNameError(KubeclassicError):
    """A named release, gate, provider, rule or object does not exist; the text suggests similar names."""


class RuleError(KubeclassicError):
    """A user's own rule or plugin failed; *frames* are the lines of the traceback that are in the user's
    files."""

    def __init__(self, text: str, frames: str = "") -> None:
        super().__init__(text, frames)
        self.text = text
        self.frames = frames

    def __str__(self) -> str:
        return self.text


class RuleWarning(UserWarning):
    """A user's own rule asks for something that does not exist, such as a resource by a wrong name."""


class WrongTypeError(KubeclassicError, TypeError):
    """A value has a type that cannot be used here; the text says what was expected and what was found. It is
    a TypeError too."""


class CacheError(KubeclassicError):
    """A transition that the scheduler's cache or queue refuses; the text is upstream's."""


class ExtenderError(KubeclassicError):
    """A call to an HTTP extender failed."""


def one_line(text: str, longest: int = 1000) -> str:
    """*text* as one line that a terminal can show: control characters are escaped, the middle of a long text
    is left out.

    >>> one_line("a\\tb\\x1b[1m"), one_line("0123456789" * 3, longest=15)
    ('a\\\\tb\\\\x1b[1m', '01234 ... 56789')
    """
    return visible(_without_middle(text, longest))


def visible(text: str) -> str:
    """*text* with escapes for what a terminal would obey: control characters, line breaks, and marks that
    change the direction of writing.

    >>> visible("a b"), visible("a\\u202e\\n")
    ('a b', 'a\\\\u202e\\\\n')
    """
    if text.isprintable():
        return text
    return "".join(
        char if char.isprintable() else char.encode("unicode_escape").decode("ascii") for char in text
    )


def _without_middle(text: str, longest: int) -> str:
    if len(text) <= longest:
        return text
    half = (longest - 5) // 2
    return f"{text[:half]} ... {text[-half:]}"


def did_you_mean(name: str, names: Iterable[str]) -> str:
    """``; did you mean "a" or "b"?`` for the *names* that are near *name*, else nothing.

    >>> did_you_mean("DefaultProvidor", ["ClusterAutoscalerProvider", "DefaultProvider"])
    '; did you mean "DefaultProvider"?'
    """
    near = [f'"{found}"' for found in near_names(name, names)]
    return f"; did you mean {' or '.join(near)}?" if near else ""


def near_names(name: str, names: Iterable[str]) -> list[str]:
    """The *names* that are near *name*, the nearest first, three at most.

    >>> near_names("genral", ["general", "gpu"])
    ['general']
    """
    from difflib import get_close_matches  # needed only once something is wrong

    return get_close_matches(name[:_LONGEST_NAME], list(dict.fromkeys(names)), n=3)


def check_type(name: str, value: object, kinds: type | tuple[type, ...], wanted: str) -> None:
    """Raise :class:`WrongTypeError` unless *value* is of one of *kinds*; True and False are no numbers.

    >>> check_type("release", 1.16, str, 'a text such as "1.16"')
    Traceback (most recent call last):
    kubeclassic.exceptions.WrongTypeError: release: expected a text such as "1.16", got 1.16 (float)
    """
    expected = kinds if isinstance(kinds, tuple) else (kinds,)
    if not isinstance(value, expected) or (
        isinstance(value, bool) and bool not in expected and object not in expected
    ):
        raise wrong_type(name, value, wanted)


def wrong_type(name: str, value: object, wanted: str) -> WrongTypeError:
    """The error for *value* as *name*; *wanted*: the expected kind."""
    text = repr(value)
    got = f"{text} ({type(value).__name__})" if len(text) <= 60 else f"a value of type {type(value).__name__}"
    hint = "; its .cluster() is a Cluster" if callable(getattr(value, "cluster", None)) else ""
    kind, stop, more = wanted.partition("; ")
    return WrongTypeError(f"{name}: expected {kind}, got {got}{stop}{more}{hint}")
