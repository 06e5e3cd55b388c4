"""The program, ``kubeclassic`` or ``python -m kubeclassic``: ready for Ctrl-C before anything large is
imported."""

from __future__ import annotations

import gc
import os
import sys


def main() -> None:
    """Run the command line and end the process."""
    os.environ.setdefault(
        "OPENBLAS_NUM_THREADS", "1"
    )  # no matrices are multiplied here, and numpy's threads for that wait busily
    gc.set_threshold(200_000, 20, 50)  # a start makes many objects that stay, and hardly any garbage
    try:
        from .cli import main as start

        start()
    except KeyboardInterrupt:
        sys.exit(130)
    except MemoryError:
        sys.stderr.write("kubeclassic: not enough memory\n")
        sys.exit(2)
    finally:
        gc.freeze()  # the process ends: garbage need not be looked for among all that it holds


if __name__ == "__main__":
    main()
