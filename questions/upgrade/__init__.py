"""``upgrade``: the same pods in every release of an upgrade, the release that moves each pod, and the fact
behind it."""
