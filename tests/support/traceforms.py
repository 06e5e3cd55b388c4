"""Helpers for tests of trace readers."""

CREATED, DELETED, RUNS = (f"kubeclassic/{name}-time" for name in ("creation", "deletion", "run"))


def write(folder, name, text):
    """A file with *text*."""
    (folder / name).write_text(text)
    return folder / name


def requests(pod):
    """The requests of a pod's container."""
    return pod["spec"]["containers"][0]["resources"]["requests"]


def times(item):
    """The annotations of an object, which have its times."""
    return item["metadata"].get("annotations", {})
