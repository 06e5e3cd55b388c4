"""Affinity between pods for tests: terms, nodes in zones, and existing pods."""

from tests.support.build import node, pod

A, B, C = (
    node(name, labels={"zone": zone, "host": name}) for name, zone in (("a", "x"), ("b", "x"), ("c", "y"))
)


def term(app="a", key="zone", **more):
    """A term that selects pods with ``app: a``, by zone; with *app* None any pod."""
    return {"labelSelector": {"matchLabels": {"app": app}} if app else {}, "topologyKey": key, **more}


def affinity(want=(), refuse=(), like=(), dislike=()):
    """The field ``affinity`` of a pod's spec; *want* and *refuse*: required terms, *like* and *dislike*:
    (weight, term)."""

    def part(required, preferred):
        weighted = [{"weight": weight, "podAffinityTerm": found} for weight, found in preferred]
        given = {"required": list(required), "preferred": weighted}
        return {
            f"{name}DuringSchedulingIgnoredDuringExecution": terms for name, terms in given.items() if terms
        }

    parts = {"podAffinity": part(want, like), "podAntiAffinity": part(refuse, dislike)}
    return {name: found for name, found in parts.items() if found}


def peer(name="f", on="a", app="a", **terms):
    """An existing pod, with these terms."""
    return pod(name, on=on, app=app, affinity=affinity(**terms))
