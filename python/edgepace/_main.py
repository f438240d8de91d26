"""The program `edgepace`, as it comes with the package."""

from __future__ import annotations

import signal
import sys


def main() -> int:
    """Does what the command line asks for."""
    from edgepace import _edgepace
    from edgepace.sweeping import _on_ray

    # Ctrl-C is the program's: Python would only see it once the program has ended.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    return _edgepace.main(["edgepace", *sys.argv[1:]], _on_ray)
