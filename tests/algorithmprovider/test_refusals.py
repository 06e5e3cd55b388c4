"""Every configuration of the conformance data is accepted or refused as the original did, in its words."""

from __future__ import annotations

import gzip
import json
import re
from typing import Any

import msgspec
import pytest

from kubeclassic.algorithmprovider import RELEASES, resolve
from kubeclassic.exceptions import PolicyError

BEGINNINGS = re.compile(
    r'^(fatal: |couldn\'t create scheduler from policy: |couldn\'t create scheduler using provider "[^"]*": )'
)


class Case(msgspec.Struct):
    """The fields that are read of a case; its cluster is passed over."""

    name: str
    config: dict[str, Any]


def lines(file):
    """The JSON lines of a file."""
    with gzip.open(file, "rt") as stream:
        yield from stream


def refused_by_the_original(answers):
    """Name -> text of the cases that the original refused."""
    found = (json.loads(line) for line in lines(answers) if '"cycles"' not in line)
    return {answer["name"]: BEGINNINGS.sub("", answer["error"]) for answer in found}


def outcome(release, config):
    """The text with which a configuration is refused, None if it is accepted."""
    try:
        resolve(
            release,
            gates=config.get("featureGates"),
            policy=config.get("policy"),
            provider=config.get("provider") or "DefaultProvider",
            hard_pod_affinity_weight=config["hardPodAffinitySymmetricWeight"],
            percentage=config["percentageOfNodesToScore"],
            equivalence_cache=config.get("equivalenceCache", False),
        )
    except PolicyError as error:
        return str(error)
    return None


@pytest.mark.parametrize("version", RELEASES)
def test_accepted_and_refused_as_the_original(shared, version):
    """No case differs: neither a text nor whether there is one."""
    folder = shared / "conformance" / version
    cases = 0
    refused = 0
    for file in sorted(folder.glob("*.cases.jsonl.gz")):
        expected = refused_by_the_original(file.with_name(file.name.replace(".cases.", ".answers.")))
        for line in lines(file):
            case = msgspec.json.decode(line, type=Case)
            assert outcome(RELEASES[version], case.config) == expected.get(case.name), case.name
            cases = cases + 1
            refused = refused + (case.name in expected)
    assert cases > 2000
    assert refused > 15
