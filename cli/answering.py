"""Prints results: as text, CSV, documents for programs and pages, the same for all commands."""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from .. import __version__
from ..api.objects import Pod
from ..api.reading import Notice, in_groups, unread_sentences
from ..api.record import as_document
from ..api.words import count_doing, count_of
from ..questions.asking import Result
from ..simulation.simulate import Scenario
from .console.output import note, one_line, takes_unicode, writing
from .declaring.flags import HTML, Output
from .report.listing import indented, write_csv
from .report.tables import width_of, wrapped, write_view

NARROWEST = 40
"""Columns below which lines are not broken."""


def tell_notices(
    notices: Iterable[Notice], verbose: bool = False, concerns: Collection[str] | None = None
) -> None:
    """Print *notices* on standard error: one line for all that say the same, with their number; if *verbose*,
    a line for each.

    *concerns*: the objects that were asked about, kind and key; of those about others that are in a
    namespace, only the number is told. On a terminal lines are broken between words, so that they fit.
    """
    found = list(notices)
    told = found if concerns is None or verbose else [notice for notice in found if notice.bears_on(concerns)]
    lines = [str(notice) for notice in found] if verbose else in_groups(told)
    for line in lines:
        tell_line("warning: " + one_line(line))
    if len(lines) < len(found):
        count = count_of(len(found), "warning")
        others = len(found) - len(told)
        some = f", {others:,} of them about other objects" if others else ""
        note(
            f"(--verbose lists all {count}{some})"
            if told
            else f"({count} about other objects: see --verbose)"
        )


def tell_unread(notices: Iterable[Notice]) -> None:
    """Say on standard error, with the outcome, what does not count in it."""
    for text in unread_sentences(notices):
        tell_line(f"{one_line(text)}.")


def tell_line(line: str) -> None:
    """Print *line* on standard error; on a terminal it is broken between words, so that it fits."""
    width = width_of(sys.stderr)
    for part in wrapped([line], width if width and width >= NARROWEST else None, "  "):
        note(part)


def write_yaml(document: Any, stream: IO[str]) -> None:
    """Write *document* as it is ordered; characters that *stream* lacks, or a terminal would obey, are
    escapes, which YAML reads."""
    import yaml

    def shown(dumper: Any, value: str) -> Any:
        # Lone surrogates, which YAML cannot have, are written as a console shows them.
        return dumper.represent_str(value.encode("utf-8", "backslashreplace").decode("utf-8"))

    dumper: Any = type("AnyText", (getattr(yaml, "CSafeDumper", yaml.SafeDumper),), {})
    dumper.add_representer(str, shown)
    text = yaml.dump(document, Dumper=dumper, sort_keys=False, allow_unicode=takes_unicode(stream))
    if not text.replace("\n", "").isprintable():
        text = yaml.dump(document, Dumper=dumper, sort_keys=False)
    stream.write(text)


if TYPE_CHECKING:
    from ..api.view import Part, View
    from .report.page.document import About

Writer = Callable[[IO[str]], object]
DOCUMENT_FORMS = ("json", "yaml")


def answer(
    result: Result,
    output: Output,
    origin: Callable[[], About] | None = None,
    *,
    unread: bool = True,
    forms: Mapping[str, Writer] | None = None,
) -> int:
    """Write *result* in the form that *output* asks for, and its page where that is asked for; the exit
    status.

    *origin*: of what a page speaks.

    *unread*: whether text says at its end what does not count, and standard error beside CSV; *forms*: what
    writes the forms that this command alone has.
    """
    notices = [notice for group in result.warnings for notice in group.notices]
    with writing(output.file) as stream:
        if output.form == HTML and origin is not None:
            stream.write(page_of(result.view(), origin()))
        elif forms is not None and output.form in forms:
            forms[output.form](stream)
        elif output.form in DOCUMENT_FORMS:
            write_answer(output.form, result.document, stream)
        elif output.form == "csv":
            table = result.view().tables_of("csv")[0]
            write_csv(table.records("csv"), stream, headers=not output.no_headers, first=table.names("csv"))
            if unread:
                tell_unread(notices)
        else:
            write_view(result.view(), stream, wide=output.form == "wide", headers=not output.no_headers)
            # What does not count in an answer stands at the end of its text.
            sentences = [f"{text}." for text in unread_sentences(notices)] if unread else []
            if sentences:
                stream.writelines(f"{line}\n" for line in ("", *wrapped(sentences, width_of(stream), "  ")))
    if origin is not None:
        write_report(output.report, lambda: page_of(result.view(), origin()))
    return 0 if result.ok else 1


def write_answer(form: str, document: Any, stream: IO[str]) -> None:
    """Write *document*, a record or plain data, in *form*, one of :data:`DOCUMENT_FORMS`."""
    found = document if isinstance(document, dict) else as_document(document)
    if form == "yaml":
        write_yaml(found, stream)
    else:
        stream.write(indented(found) + "\n")


def write_report(report: str | None, made: Callable[[], str]) -> None:
    """Write the page that *made* makes to the file *report*, whole or not at all; nothing where *report* is
    None.

    Raises :class:`~..console.output.OutputError`.
    """
    if report is not None:
        with writing(report) as stream:
            stream.write(made().rstrip("\n") + "\n")


def page_of(view: View, origin: About) -> str:
    """*view* as a page."""
    from .report.page.document import page_html  # the templates of pages, which few runs print

    return page_html(view, origin)


def about(
    scenario: Scenario | None,
    paths: Iterable[Path],
    *,
    releases: Sequence[str] = (),
    rules: Sequence[Part] = (),
    warnings: Sequence[str] = (),
    unread: Sequence[str] = (),
    arguments: Sequence[str] | None = None,
) -> About:
    """The origin of a page about *scenario*, read from *paths*.

    *releases*: the versions that decided; *rules*: the policy, the profile and options that choose rules, as
    given; *warnings*: besides those of the scenario; *unread*: what does not count, where there is no
    scenario; *arguments*: the words after the program's name, by default those of this process.
    """
    from .report.page.document import About, made_at

    told = [*unread]
    found = [*warnings]
    if scenario is not None:
        told = list(unread_sentences(scenario.warnings))
        found = [*in_groups(scenario.warnings), *warnings]
    return About(
        inputs=map(str, dict.fromkeys(paths)),
        counts="" if scenario is None else counts(scenario),
        unread=told,
        warnings=dict.fromkeys(found),
        releases=tuple(dict.fromkeys(releases)),
        rules=tuple(rules),
        version=__version__,
        date=made_at(),
        command=("kubeclassic", *(sys.argv[1:] if arguments is None else arguments)),
    )


def counts(scenario: Scenario) -> str:
    """Nodes, pods that run, and pods that wait.

    >>> counts(Scenario((), ()))
    '0 nodes, 0 pods run, 0 pods wait'
    """
    running = sum(1 for found in scenario.objects if isinstance(found, Pod))
    pods = count_doing(running, "pod", "run"), count_doing(len(scenario.pending), "pod", "wait")
    return ", ".join([count_of(scenario.node_count, "node"), *pods])
