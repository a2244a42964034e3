"""Opens the window in a separate process."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import threading

from ._extension import native
from .errors import DisplayError

# Seconds in which a window that fails to open has ended.
OPENS_WITHIN = 2.0


def show(name: str, data: bytes, wait: bool) -> None:
    """Opens the window with a file of this name and these contents. With `wait`, returns when it is closed. Raises DisplayError
    without a display, or if the window ends immediately."""
    native()
    if sys.platform.startswith("linux") and not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
        raise DisplayError("no display: neither DISPLAY nor WAYLAND_DISPLAY is set",
                           expected="a desktop; without one, Trace.figure() draws the episode")
    folder = tempfile.TemporaryDirectory(prefix="tapescope-")
    file = os.path.join(folder.name, name)
    with open(file, "wb") as to:
        to.write(data)
    # A new session, so that Ctrl-C and the stop button of a notebook do not reach the window.
    window = subprocess.Popen([sys.executable, "-m", "tapescope", "view", file], stderr=subprocess.PIPE, text=True,
                              start_new_session=True)
    said = []

    def ends() -> None:
        said.append(window.communicate()[1])
        folder.cleanup()
    thread = threading.Thread(target=ends, name="tapescope window", daemon=True)
    thread.start()
    thread.join(None if wait else OPENS_WITHIN)
    if window.returncode:
        lines = [line for line in "".join(said).splitlines() if line.strip()]
        raise DisplayError(f"the window ended: {lines[-1] if lines else f'exit code {window.returncode}'}")
