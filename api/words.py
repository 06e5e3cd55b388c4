"""Numbers with their nouns, lists of names and durations, as people write them."""

from __future__ import annotations

from collections.abc import Sequence

LISTED = 5
"""How many names a sentence lists; the others are counted."""


def count_of(number: int, noun: str, several: str = "") -> str:
    """*number* and *noun*, which takes an s unless there is one of it; *several* is another plural.

    >>> count_of(1, "pod"), count_of(1523, "node"), count_of(2, "class", "classes")
    ('1 pod', '1,523 nodes', '2 classes')
    """
    return f"{number:,} {noun if number == 1 else several or f'{noun}s'}"


def count_doing(number: int, noun: str, verb: str, adverb: str = "") -> str:
    """*number*, *noun* and what they do; the verb takes an s where there is one of them.

    >>> count_doing(1, "pod", "wait", "still"), count_doing(2, "decision", "differ")
    ('1 pod still waits', '2 decisions differ')
    """
    words = (count_of(number, noun), adverb, f"{verb}s" if number == 1 else verb)
    return " ".join(word for word in words if word)


def listed(names: Sequence[str], most: int = LISTED) -> str:
    """Names one after another, not more than *most*.

    >>> listed(["a"]), listed(["a", "b"]), listed(["a", "b", "c"], 2)
    ('a', 'a and b', 'a, b and 1 more')
    """
    *shown, last = names if len(names) <= most else [*names[:most], f"{len(names) - most:,} more"]
    return f"{', '.join(shown)} and {last}" if shown else last


def duration(seconds: float) -> str:
    """A number of seconds as people say it.

    >>> duration(42), duration(3725.4), duration(200000)
    ('42 s', '1 h 2 min 5 s', '2 d 7 h 33 min')
    """
    left, parts = round(seconds), list[str]()
    for size, unit in ((86400, "d"), (3600, "h"), (60, "min"), (1, "s")):
        count, left = divmod(left, size)
        if count or (unit == "s" and not parts):
            parts.append(f"{count} {unit}")
    return " ".join(parts[:3])
