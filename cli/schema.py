"""``kubeclassic schema``: what the JSON of the commands holds, as JSON Schemas."""

from __future__ import annotations

import json
from importlib import import_module
from typing import Any

import click

from ..api.record import API_VERSION, DocumentRecord, Record, schema_of
from ..exceptions import UnknownNameError, did_you_mean
from .declaring.commands import command

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
        replay-line questions.replay.journal:ReplayLine
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
    module, _, type_name = DOCUMENTS[name].partition(":")
    schema = schema_of(getattr(import_module(f"...{module}", __name__), type_name), _document_fields)
    head = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:kubeclassic:{name}:{API_VERSION.rpartition('/')[2]}",
        "title": f"kubeclassic {name}",
    }
    return json.dumps(
        {**head, **{word: value for word, value in schema.items() if word != "title"}}, indent=2
    )


def _document_fields(record: type[Record]) -> dict[str, Any]:
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
