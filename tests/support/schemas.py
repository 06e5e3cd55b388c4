"""Validation of commands' JSON by the published schemas, but stricter: a field that they do not name is an
error."""

import json
from functools import cache

from jsonschema import Draft202012Validator

from kubeclassic.api.record import API_VERSION
from kubeclassic.cli.schema import names, text_of


def strict(schema):
    """*schema* that also refuses fields that it does not name."""
    if isinstance(schema, list):
        return [strict(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    found = {name: strict(part) for name, part in schema.items()}
    return (
        {"additionalProperties": False, **found}
        if found.get("type") == "object" and "properties" in found
        else found
    )


@cache
def _validator(name):
    schema = json.loads(text_of(name))
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(strict(schema))


def faults(name, document):
    """The faults of *document* by the schema *name*, each with its place; at most ten."""
    found = _validator(name).iter_errors(document)
    return [f"{error.json_path}: {error.message[:200]}" for error, _ in zip(found, range(10), strict=False)]


@cache
def _by_kind():
    """Kind of a document -> its schema."""
    found = {}
    for name in names():
        schema = json.loads(text_of(name))
        for part in (schema, *schema.get("$defs", {}).values()):
            if kind := part.get("properties", {}).get("kind", {}).get("const"):
                found[kind] = name
    return found


def checked(document):
    """*document*, validated by the schema of its kind if it is a document of kubeclassic."""
    if isinstance(document, dict) and document.get("apiVersion") == API_VERSION:
        assert faults(_by_kind()[document["kind"]], document) == []
    return document


def version_of(name):
    """The version in the ``$id`` of the schema *name*, in the form of a document's ``apiVersion``."""
    return f"{API_VERSION.partition('/')[0]}/{json.loads(text_of(name))['$id'].rpartition(':')[2]}"
