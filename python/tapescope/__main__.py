"""The command line: `tapescope`, or `python -m tapescope`."""

import signal
import sys

from ._extension import MissingExtensionError, native


def main() -> int:
    """Runs the command line of this process and returns its exit code."""
    try:
        run = native().main
    except MissingExtensionError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    # The program handles Ctrl-C; Python would react only after the command has ended.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    return int(run([sys.executable, "-m", "tapescope"], sys.argv[1:]))


if __name__ == "__main__":
    sys.exit(main())
