"""The program: `tapescope`, or `python -m tapescope`."""

import signal
import sys

from ._extension import native


def main() -> int:
    """Runs the command line of this process; returns its exit code."""
    # Ctrl-C is for the program: Python would only look at it when the command has ended.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    return int(native().main([sys.executable, "-m", "tapescope"], sys.argv[1:]))


if __name__ == "__main__":
    sys.exit(main())
