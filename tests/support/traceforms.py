"""What tests of readers of traces share."""

CREATED, DELETED, RUNS = (f"kubeclassic/{name}-time" for name in ("creation", "deletion", "run"))


def write(folder, name, text):
    """A file with *text*."""
    (folder / name).write_text(text)
    return folder / name


def requests(pod):
    """What a pod's container requests."""
    return pod["spec"]["containers"][0]["resources"]["requests"]


def times(item):
    """The annotations of an object."""
    return item["metadata"].get("annotations", {})
