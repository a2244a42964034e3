"""The program: `tapescope`, or `python -m tapescope`."""

import signal
import sys

from ._extension import MissingExtensionError, native


def main() -> int:
    """Runs the command line of this process; returns its exit code."""
    try:
        run = native().main
    except MissingExtensionError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    # Ctrl-C is for the program: Python would only look at it when the command has ended.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    return int(run([sys.executable, "-m", "tapescope"], sys.argv[1:]))


if __name__ == "__main__":
    sys.exit(main())
