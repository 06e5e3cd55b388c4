"""The names that users choose among, and the defaults, for the help. Nothing heavy is imported for them.

Each equals the value in the module that its comment names; tests/test_choices.py checks that.
"""

from __future__ import annotations

DEFAULT_RELEASE = "1.16"  # algorithmprovider/releases.py
DEFAULT_FRAMEWORK = "1.27"  # framework/releases.py
NEWEST_RELEASE = "1.36"  # framework/releases.py
FIRST_FRAMEWORK = "1.17"  # framework/releases.py
TIE_BREAKS = ("release", "round-robin", "first", "random")  # algorithmprovider/cells.py
ORDERS = ("input", "priority", "queue")  # simulation/simulate.py
DELAYS = {  # questions/replay/simulatedcluster.py
    "cycle": 0.0,
    "binding": 0.0,
    "provisioning": 0.0,
    "startup": 0.0,
    "termination": 0.0,
    "failure": 300.0,
}
LOCKED = "locked"  # simulation/sides.py
MODES = ("locked", "free")  # simulation/sides.py
LEAVE_OUT = "leave-out"  # framework/options.py
KIND = "KubeSchedulerConfiguration"  # framework/config/configuration.py
