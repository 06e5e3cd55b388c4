"""Small clusters that show a fact: on each, the release and the release without the fact answer differently.

Some are made by hand (``tests/framework/facts``); the others are conformance cases cut down.

``python -m tests.support.factshows [--fact ID]... PATHS`` looks in the conformance cases of files and folders
for a cluster for each other fact without one (or for the facts named), makes it as small as it can, and
writes all to ``tests/conformance/facts.jsonl.gz``.
"""

import gzip
import json
import os
import sys
import time
from pathlib import Path

import click

from kubeclassic.core.release.fact import CONFIGURATION
from kubeclassic.exceptions import KubeclassicError
from kubeclassic.framework.releases import ALL_RELEASES, FACTS, release_before, undone
from kubeclassic.simulation.conform import CaseSettings, answer_case, differences, find_families, read_cases
from kubeclassic.simulation.conformcases import FIELDS
from tests.framework.facts.forms import CLUSTERS
from tests.framework.facts.trials import TRIALS

FILE = Path(__file__).parents[1] / "conformance" / "facts.jsonl.gz"
FOUND = ("host", "error", "feasible", "failed")
"""The fields of a cycle that releases with predicates and those with plugins have in common."""
BY_HAND = {*CLUSTERS, *TRIALS}
SMALLEST = 400
"""The most tries to make one case smaller."""
SECONDS = float(os.environ.get("SECONDS_A_FACT", "40"))


def cut_down():
    """Fact -> the case that was found to show it."""
    if not FILE.exists():
        return {}
    with gzip.open(FILE, "rt") as stream:
        return {found["fact"]: found["case"] for found in map(json.loads, filter(str.strip, stream))}


def sides(fact):
    """The release of *fact*, and a release without it: the same with the cells undone, or, if the fact has no
    cells, the release before."""
    release = ALL_RELEASES[fact.release]
    return release, undone(release, [fact]) if fact.cells else release_before(fact.release)


def answers(case, fact):
    """The answers to *case* of the release of *fact*, and of the release without it."""
    with_it, without = sides(fact)
    return answer_of(case, with_it), answer_of(case, without)


def answer_of(case, release):
    """The answer of *release* to *case*, without the feature gates that it does not allow to be set so."""
    config = case.get("config") or {}
    gates = {
        name: on for name, on in (config.get("featureGates") or {}).items() if _may_set(release, name, on)
    }
    return answer_case(
        {**case, "version": release.version, "config": {**config, "featureGates": gates}},
        CaseSettings(release=release),
    )


def _may_set(release, gate, on):
    known = release.gates.get(gate)
    return known is not None and (not known.locked or known.default == on)


def differs(case, fact):
    """Whether the two answers of :func:`answers` differ in what *fact* is about.

    A refused configuration shows nothing of facts about pods. If a fact has no cells, the two releases name
    their rules differently.
    """
    try:
        one, other = answers(case, fact)
    except KubeclassicError:
        return False
    if "error" in one or "error" in other:
        return one != other and (
            fact.plugin == CONFIGURATION or not {"policy", "profile"}.isdisjoint(fact.needs)
        )
    if not fact.decides:
        return one != other
    return bool(differences(one, other, FIELDS if fact.cells else FOUND))


def seems_to_differ(case, fact):
    """The result of :func:`differs` for the search: an error of a release without a fact is printed, and does
    not end the search."""
    try:
        return differs(case, fact)
    except Exception as error:
        sys.stdout.write(f"{fact.release} {fact.id}, {case['name']}: {type(error).__name__}: {error}\n")
        return False


WORDS = {
    "volumes": ('"volumes"',),
    "pod affinity": ("odAffinity", "podAntiAffinity"),
    "constraints": ("topologySpreadConstraints",),
    "priorities": ('"priority"',),
    "owners": ('"Service"', "ReplicaSet", "ReplicationController", "StatefulSet"),
    "images": ('"image"',),
    "init containers": ("initContainers",),
    "sidecars": ("initContainers",),
    "overhead": ("overhead",),
    "orphans": ("nodeName",),
    "devices": ("resourceClaims",),
    "named nodes": ("matchFields",),
    "node preferences": ("preferredDuring",),
    "scheduling gates": ("schedulingGates",),
    "policy": ('"Policy"',),
    "profile": ("KubeSchedulerConfiguration",),
    "terminating": ("deletionTimestamp",),
    "attachments": ("VolumeAttachment",),
    "budgets": ("PodDisruptionBudget",),
    "pod resources": ('"resources"',),
    "resized pods": ("containerStatuses",),
    "node selectors": ("nodeSelector",),
    "preferring taints": ("PreferNoSchedule",),
}
"""Trait -> the words of which a case's text has one if it may have the trait."""


def may_show(fact, text):
    """Whether the case with *text* may have the traits that *fact* needs."""
    return all(
        any(word in text for trait in need.split("|") for word in WORDS.get(trait, ("",)))
        for need in fact.needs
    )


# --- looking for them ---------------------------------------------------------------------------------------


def candidates(fact, cases):
    """Cases that may show *fact*: of its release, then of the one before it, then of three later ones."""
    known = list(ALL_RELEASES)
    at = known.index(fact.release)
    for version in (known[at], known[at - 1], *known[at + 1 : at + 4]):
        for case, text in cases(version):
            if not may_show(fact, text):
                continue
            yield case


def smaller(case, fact):
    """The smallest case found within *case* that still shows *fact*."""
    tries = SMALLEST
    for field in ("pending", "objects"):
        size = max(1, len(case.get(field, ())) // 2)
        while size and tries:
            at = 0
            while at < len(case[field]) and tries:
                less = {**case, field: [*case[field][:at], *case[field][at + size :]]}
                tries -= 1
                if (field != "pending" or less[field]) and seems_to_differ(less, fact):
                    case = less
                else:
                    at += size
            size //= 2
    return case


def search(folders, wanted=()):
    """Look for a case for each fact that no case shows, and write the cases found."""
    found = cut_down()
    read = {}
    families = list(find_families(folders))

    def cases(version):
        if version not in read:
            its = [family for family in families if family.release == version]
            loaded = [case for family in its for case in read_cases(family.cases) if "script" not in case]
            loaded.sort(key=lambda case: len(case.get("pending", ())) * (len(case.get("objects", ())) + 1))
            read[version] = [(case, json.dumps(case)) for case in loaded]
        return read[version]

    for fact in sorted(FACTS, key=lambda fact: not fact.decides):
        if fact.id in BY_HAND or (wanted and fact.id not in wanted):
            continue
        if fact.id in found and differs(found[fact.id], fact):
            continue
        found.pop(fact.id, None)
        began = time.monotonic()
        for case in candidates(fact, cases):
            if time.monotonic() - began > SECONDS:
                break
            if seems_to_differ(case, fact):
                small = smaller(case, fact)
                found[fact.id] = {
                    key: small[key]
                    for key in ("name", "config", "objects", "pending", "nominated")
                    if key in small
                }
                break
        said = "found" if fact.id in found else "NONE"
        sys.stdout.write(f"{fact.release} {fact.id}: {said} {time.monotonic() - began:.0f} s\n")
        sys.stdout.flush()
        write(found)


def write(found):
    """Write the cases that show facts, in the order of facts."""
    lines = [
        json.dumps({"fact": fact.id, "case": found[fact.id]}, separators=(",", ":"))
        for fact in FACTS
        if fact.id in found
    ]
    with FILE.open("wb") as file, gzip.GzipFile(fileobj=file, mode="wb", mtime=0) as packed:
        packed.write(("\n".join(lines) + "\n").encode())


@click.command()
@click.option("--fact", "facts", multiple=True)
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path))
def search_for(facts, paths):
    """Look for cases that show facts."""
    search(paths, facts)


if __name__ == "__main__":
    search_for()
