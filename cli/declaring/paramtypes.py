"""The types of options: files, whole numbers, and a format where an older form of the command took a file."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import click

from ...exceptions import QuantityError

if TYPE_CHECKING:
    NumberType: TypeAlias = click.ParamType[int]
    TextType: TypeAlias = click.ParamType[str]
    ChoiceType: TypeAlias = click.Choice[str]
else:  # click before 8.2 does not know these types as generic
    NumberType, TextType, ChoiceType = click.ParamType, click.ParamType, click.Choice


class FileName(click.Path):
    """A file's name, which has at least one character, and no NUL."""

    def __init__(self, *, allow_dash: bool = True) -> None:
        super().__init__(path_type=Path, allow_dash=allow_dash)
        self.name = "file"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """*value* as a path; ``-`` stands for a standard stream."""
        text = os.fspath(value)
        if not text or "\0" in text:
            self.fail(f"expected the name of a file, got {text!r}", param, ctx)
        return super().convert(value, param, ctx)


class Whole(NumberType):
    """A whole number in plain digits: no other alphabet's digits and no underscores, which Python would read too."""

    name = "integer"

    def __init__(self, minimum: int | None = None, maximum: int | None = None) -> None:
        self.minimum: int | None = minimum
        self.maximum: int | None = maximum

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """*value* as a number."""
        if isinstance(value, int):
            return value
        number = plain_number(value)
        if number is None:
            self.fail(f"expected a whole number, got {value!r}", param, ctx)
        if (self.minimum is not None and number < self.minimum) or (self.maximum is not None and number > self.maximum):
            wanted = f"{self.minimum} or more" if self.maximum is None else f"{self.minimum} to {self.maximum}"
            self.fail(f"expected {wanted}, got {value}", param, ctx)
        return number


def plain_number(text: str) -> int | None:
    """The whole number that *text* writes in ASCII digits, perhaps with a sign; None if it does not, or has more than 30 digits.

    >>> plain_number("50"), plain_number("\\u0665"), plain_number("5_0")
    (50, None, None)
    """
    digits = text[1:] if text[:1] in ("-", "+") else text
    return int(text) if digits.isascii() and digits.isdecimal() and len(digits) <= 30 else None


def ratio(text: str) -> tuple[int, ...]:
    """Whole numbers of 1 or more with colons between them, such as ``3:1``."""
    numbers = [number for part in text.split(":") if (number := plain_number(part)) is not None and number > 0]
    if len(numbers) <= text.count(":"):
        raise click.BadParameter(f"expected whole numbers of 1 or more with colons between them, such as 3:1, got {text!r}")
    return tuple(numbers)


def seconds(value: Any) -> float:
    """A duration as seconds."""
    from ...questions.replay.inputs.times import DURATION, parse_duration

    found = parse_duration(value)
    if found is None:
        raise click.BadParameter(f'expected {DURATION}, got "{value}"')
    return found


FILE = FileName()
WHOLE = Whole()
_GIB = 1 << 30


# --- configurations in words ----------------------------------------------------------------------------------------


class ConfigurationText(TextType):
    """A configuration such as ``release=1.16 policy=p.json``; see :mod:`.setup`."""

    name = "text"
    FILES = ("policy", "profile", "config")

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """*value* as it is."""
        return value

    def files(self, value: str | None) -> Iterable[str]:
        """The files that it names."""
        import shlex

        try:
            words = [word.partition("=") for word in shlex.split(value or "")]
        except ValueError:
            return []  # it is refused where it is read
        return [file for key, _, file in words if key in self.FILES and file]


CONFIGURATION = ConfigurationText()


class ExtendersOption(click.Option):
    """``off``, ``record FILE`` or ``replay FILE``: the file may be a word of its own."""

    def add_to_parser(self, parser: Any, ctx: click.Context) -> None:
        """Let the option take a second word where it needs one."""
        super().add_to_parser(parser, ctx)
        for name in self.opts:
            found = parser._long_opt[name]
            found.process = partial(self._process, found.process)

    def _process(self, process: Callable[[str, Any], None], value: str, state: Any) -> None:
        if value in ("record", "replay"):
            if not state.rargs:
                raise click.BadOptionUsage(self.opts[0], f"{self.opts[0]}: expected {value} FILE, got {value}")
            value = f"{value} {state.rargs.pop(0)}"
        process(value, state)


def in_bytes(context: click.Context, parameter: click.Parameter, value: str | None) -> int | None:
    """A number of bytes that is given as a quantity, such as 64Mi."""
    if value is None:
        return None
    from ...api.objects.quantity import Quantity

    try:
        size = Quantity.parse(value).value()
    except QuantityError as error:
        raise click.BadParameter(str(error)) from None
    if size < 0:
        raise click.BadParameter(f"expected 0 bytes or more, got {value}")
    return size
