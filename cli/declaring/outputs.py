"""The options about the answer, declared once for all commands: its form, where it goes, and a page of it besides."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import attrs
import click

from .commands import OUTPUT, CommonOption
from .flags import packed
from .paramtypes import FileName

F = TypeVar("F", bound=Callable[..., Any])

HTML = "html"
"""The form of ``-o`` that is the page itself."""
_REPORT = click.option(
    "--report", cls=CommonOption, metavar="FILE",
    help="Also write a self-contained HTML page there.",
)


@attrs.frozen(kw_only=True, repr=False)
class Output:
    """How an answer is written, and where."""

    form: str = "table"
    file: str | None = None
    report: str | None = None
    headers: bool = True
    verbose: bool = False

    @classmethod
    def made(
        cls, form: str = "table", output: str | None = None, report: str | None = None, no_headers: bool = False, verbose: bool = False
    ) -> Output:
        """What options say."""
        return cls(form=form, file=output, report=report, headers=not no_headers, verbose=verbose)

    @property
    def wide(self) -> bool:
        """Whether text has everything."""
        return self.form == "wide"

    def widened(self) -> Output:
        """The same, but with all of text where ``--verbose`` is given."""
        return attrs.evolve(self, form="wide") if self.verbose and self.form == "table" else self

    @property
    def forms(self) -> set[str]:
        """The forms in which the answer is shown."""
        return {self.form, *(["page"] if self.makes_page else [])}

    @property
    def makes_page(self) -> bool:
        """Whether a page is wanted, alone or besides."""
        return self.form == HTML or self.report is not None


def output_options(
    forms: Sequence[str], help_of_forms: str, *, verbose: str | None, what: str = "the answer", headers: bool = True,
    page: bool = True, default: str = "table",
) -> Callable[[F], F]:  # fmt: skip
    """Give a command the options about the answer; it gets them as one :class:`Output`, named *output*. The texts are for the help."""
    if not forms:
        there = FileName(allow_dash=False)
        file = click.option("--output", cls=CommonOption, type=there, metavar="FILE", help=help_of_forms)
        return lambda command: packed(command, [file, _REPORT], OUTPUT, Output.made, "output")
    options = (
        click.option(
            "-o", "form", cls=CommonOption, type=click.Choice(list(forms)), default=default, show_default=True, help=help_of_forms,
        ),
        *([click.option("--no-headers", is_flag=True, help="Omit the headers of tables and CSV.")] if headers else []),
        click.option("--output", metavar="FILE", help=f"Write {what} to this file, whole or not at all."),
        *([_REPORT] if page else []),
        *([] if verbose is None else [click.option("--verbose", "-v", is_flag=True, help=verbose)]),
    )
    return lambda command: packed(command, options, OUTPUT, Output.made, "output")
