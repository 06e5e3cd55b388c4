"""``kubeclassic policy migrate``: a Policy as a profile of the newer framework, and what that changes."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import attrs
import click

from ..exceptions import UnknownNameError
from ..questions.migrate.options import MigrateOptions
from ..questions.options import OptionsError
from .declaring.commands import command
from .declaring.flags import (
    FILE,
    Output,
    click_option,
    environments_max_pd_vols,
    options_of,
    output_options,
    takes_cluster,
)

if TYPE_CHECKING:
    from ..questions.migrate.ask import MigrateResult
    from ..simulation.scenario import Scenario

REPORTS = (".html", ".json", ".txt")
OPTIONS = {name: click_option(field) for name, field in MigrateOptions.declared().items() if name != "check"}


def _declared(function: Any) -> Any:
    """*function* with the options that are not about its files."""
    for option in reversed(OPTIONS.values()):
        function = option(function)
    return function


@command("migrate", short_help="The Policy as a KubeSchedulerConfiguration.", help=MigrateOptions.__doc__)
@click.argument("file", type=FILE)
@click.option(
    "--check",
    "paths",
    type=FILE,
    multiple=True,
    metavar="PATH",
    help="Compare both on this cluster; more paths may follow.",
)
@takes_cluster()
@_declared
@output_options(
    "yaml,json",
    "The format.",
    default="yaml",
    what="the profile",
    headers=False,
    page=False,
    verbose="List every warning about the cluster of --check.",
)
@options_of(
    "--report | FILE | | Write the whole comparison to this file: .html (a page to file), .json or .txt."
)
@click.argument("more", type=FILE, nargs=-1)
def migrate(
    file: Path,
    paths: tuple[Path, ...],
    output: Output,
    report: str | None,
    more: tuple[Path, ...],
    **values: Any,
) -> None:
    from ..questions.migrate import ask
    from ..simulation.scenario import Files
    from .answering import answer, tell_line, write_yaml
    from .opening import Console, reading

    if more and not paths:
        raise click.UsageError(f"expected --check before {more[0]}")
    if report is not None and not paths:
        raise OptionsError("--report needs --check")
    if report is not None and Path(report).suffix not in REPORTS:
        raise UnknownNameError(f'--report: expected a name that ends in {", ".join(REPORTS)}, got "{report}"')
    chosen = {name.removeprefix("own_"): value for name, value in values.items() if value is not None}
    forms_asked = ["page"] if report is not None else []
    options = MigrateOptions(**chosen, check=paths or None, forms=forms_asked, called=MigrateOptions.flag_of)
    given = ask.migrating(file, options, environments_max_pd_vols())
    cluster = None
    if paths:
        with reading((*paths, *more)):
            cluster = Files.read((*paths, *more), keeps_manifests=options.extenders is not None).scenario(
                given.scheduler_names
            )
    found = ask.migrate.ask(given, attrs.evolve(options, check=cast(Any, cluster)), Console(output.verbose))
    forms = {
        "yaml": lambda stream: write_yaml(found.profile, stream),
        "json": lambda stream: stream.write(json.dumps(found.profile, indent=2) + "\n"),
    }
    if (
        cluster is not None and report is not None
    ):  # it is the larger one: where it cannot be written, nothing is
        _report(found, report, cluster, (file, *paths, *more))
    status = answer(found, output, forms=forms)
    if cluster is None:
        for told in found.notes:
            tell_line(told)
    else:
        # Say what the check found on standard error.
        from .answering import tell_unread
        from .console.output import note
        from .report.tables import write_view

        note("")
        with suppress(OSError):
            write_view(found.view(), sys.stderr)
        tell_unread(notice for group in found.warnings for notice in group.notices)
    sys.exit(status)


def _report(found: MigrateResult, report: str, cluster: Scenario, read: Sequence[Path]) -> None:
    """Write the whole proof to the file *report*, in the form that its name says."""
    from ..api.view import CodeText, Words
    from .answering import about, page_of, write_report
    from .report.listing import indented
    from .report.tables import write_view

    def made() -> str:
        form = Path(report).suffix
        if form == ".json":
            return indented(found.proof())
        if form == ".txt":
            text = io.StringIO()
            write_view(found.proof_view(), text)
            return text.getvalue()
        rules = [Words(f"{found.report.source}: ", CodeText(str(read[0])))]
        noted = attrs.evolve(
            cluster, warnings=tuple(notice for group in found.warnings for notice in group.notices)
        )
        releases = [found.report.release, found.report.target]
        return page_of(found.view(), about(noted, read, releases=releases, rules=rules))

    write_report(report, made)
