"""Commands about kubeclassic itself: ``kubeclassic releases``, ``schema``, ``completion`` and ``examples``."""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
from importlib import import_module
from pathlib import Path
from typing import Any

import click
from click.shell_completion import get_completion_class

from ..api.record import API_VERSION, DocumentRecord, Record, schema_of
from ..api.words import count_of
from ..exceptions import UnknownNameError, did_you_mean
from .console.output import OutputError, note
from .declaring.commands import command
from .declaring.flags import FILE, options_of


@command(short_help="What the releases are, and how two of them differ.")
@click.argument("release", required=False)
@click.option(
    "--diff", "pair", nargs=2, metavar="A B", help="What release B does differently from release A."
)
@options_of("""
--all-gates | switch | | Show gates that no decision depends on, too.
-o form | table,json,yaml table | |
""")
def releases(release: str | None, pair: tuple[str, str] | None, all_gates: bool, form: str) -> None:
    """List the releases, or describe RELEASE: its predicates and priorities or its plugins in running order,
    gates, behaviour.

    With --diff: what two releases do differently. Between one with predicates and priorities and one with
    plugins: what took the place of what, at which extension points, and what became different in arithmetic,
    messages and defaults.

    \b
    kubeclassic releases 1.16
    kubeclassic releases --diff 1.15 1.16
    kubeclassic releases --diff 1.16 1.36
    kubeclassic releases --diff 1.27 1.36
    """
    if pair and release:
        raise click.UsageError("expected RELEASE or --diff, got both")
    from ..framework.describe import ReleaseList, describe_any, diff_any, summaries
    from .answering import write_answer
    from .report.releasetables import described, differing, of_all
    from .report.tables import width_of

    width = width_of(sys.stdout)
    found: DocumentRecord
    if pair:
        found = diff = diff_any(*pair, all_gates=all_gates)
        lines = differing(diff, width)
    elif release is not None:
        found = one = describe_any(release, all_gates=all_gates)
        lines = described(one, width)
    else:
        found = listed = ReleaseList(summaries())
        lines = of_all(listed, width)
    if form == "table":
        sys.stdout.writelines(f"{line}\n" for line in lines)
    else:
        write_answer(form, found, sys.stdout)


# --- what the JSON of the commands holds, as JSON Schemas ---------------------------------------------------


DOCUMENTS = dict(
    line.split()
    for line in """
        capacity questions.capacity.answer:CapacityDocument
        compare questions.compare.comparison:ComparisonDocument
        conform simulation.conform:ConformanceDocument
        drain questions.drain.plan:DrainDocument
        explain simulation.explain.values:ExplanationDocument
        new-nodes questions.newnodes.answer:NewNodesDocument
        policy-check algorithmprovider.check:PolicyCheck
        policy-migrate framework.migrate.profiles:WrittenConfiguration
        policy-check-profile framework.profilecheck:ProfileCheck
        releases framework.describe:ReleasesDocument
        replay-line questions.replay.simulatedcluster:ReplayLine
        simulate questions.simulate.ask:SimulationDocument
        simulate-line core.decision.decision:CycleRecord
        sweep questions.sweep.ask:SweepDocument
        upgrade questions.upgrade.upgrade:UpgradeDocument
        what-if questions.whatif.suggestion:WhatIfDocument
    """.strip().splitlines()
)
"""Name -> the class of what is printed, or a union, as ``package.module:Class``. A name with ``-line`` is
that of a line of JSON Lines."""


def names() -> list[str]:
    """The names of schemas, sorted."""
    return sorted(DOCUMENTS)


def text_of(name: str) -> str:
    """The schema of that *name* as JSON. Raises :class:`~kubeclassic.exceptions.UnknownNameError` if there is
    none."""
    if name not in DOCUMENTS:
        raise UnknownNameError(
            f'schema: expected one of {", ".join(names())}, got "{name}"{did_you_mean(name, names())}'
        )
    module, _, found = DOCUMENTS[name].partition(":")
    schema = schema_of(getattr(import_module(f"...{module}", __name__), found), _leading)
    head = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:kubeclassic:{name}:{API_VERSION.rpartition('/')[2]}",
        "title": f"kubeclassic {name}",
    }
    return json.dumps(
        {**head, **{word: value for word, value in schema.items() if word != "title"}}, indent=2
    )


def _leading(record: type[Record]) -> dict[str, Any]:
    """The fields that a document has before its own."""
    if issubclass(record, DocumentRecord):
        return {"apiVersion": {"const": API_VERSION}, "kind": {"const": record.KIND}}
    return {}


@command(short_help="What the JSON of the commands holds.")
@click.argument(
    "name",
    required=False,
    shell_complete=lambda *given: [name for name in DOCUMENTS if name.startswith(given[-1])],
)
def schema(name: str | None) -> None:
    """Print the JSON Schema (draft 2020-12) of NAME, or list the names.

    NAME is a command, such as simulate, whose `-o json` the schema describes. A name that ends in -line is
    that of one line of JSON Lines. The last part of a schema's $id is its version, which documents have as
    apiVersion. It changes when a field goes or changes its meaning; fields may be added.

    \b
    kubeclassic schema simulate
    """
    click.echo("\n".join(names()) if name is None else text_of(name))


# --- the script that completes commands and options in a shell ----------------------------------------------


@command(short_help="Print the script that completes commands in a shell.")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print the completion script for SHELL.

    \b
    kubeclassic completion bash > ~/.local/share/bash-completion/completions/kubeclassic
    kubeclassic completion fish > ~/.config/fish/completions/kubeclassic.fish
    """
    found = get_completion_class(shell)
    if found is None:
        raise click.BadParameter(f"got {shell}, which click cannot complete")
    click.echo(found(context.find_root().command, {}, "kubeclassic", "_KUBECLASSIC_COMPLETE").source())


# --- the clusters, policies and rules that the documentation speaks of --------------------------------------


HERE = Path(__file__).resolve().parent.parent / "examples"


@command(short_help="Write the examples of the documentation to a folder.")
@click.argument("folder", type=FILE, default=Path("examples"), metavar="[DIR]")
def examples(folder: Path) -> None:
    """Write the examples of the documentation to the new folder DIR, by default examples.

    Exit status 0: written, 2: DIR exists, or cannot be written.

    \b
    kubeclassic examples
    kubeclassic simulate examples/cluster
    """
    if folder.is_symlink() or folder.exists():
        raise UnknownNameError(f"DIR: expected the name of a new folder, got {folder}, which exists")
    try:
        with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f".{folder.name}-") as half:
            made = shutil.copytree(
                HERE, Path(half, "made"), ignore=shutil.ignore_patterns("__pycache__", ".*")
            )
            os.rename(made, folder)
    except OSError as error:
        raise OutputError(f"{folder}: {error.strerror or error}") from None
    files = sum(path.is_file() for path in folder.rglob("*"))
    note(f"{folder}: {count_of(files, 'file')}; begin with: kubeclassic simulate {folder / 'cluster'}")
