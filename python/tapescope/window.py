"""The window, in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import threading

from ._extension import native
from .errors import DisplayError

# How long a window may take to say that it does not open, seconds.
OPENS_WITHIN = 2.0


def show(name: str, data: bytes, wait: bool) -> None:
    """Opens it on a file of this name. Raises DisplayError where there is no display, and where it ends at once."""
    native()
    if sys.platform.startswith("linux") and not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
        raise DisplayError("there is no display to open a window on: neither DISPLAY nor WAYLAND_DISPLAY is set",
                           expected="a desktop; elsewhere Trace.figure() draws what the window shows")
    folder = tempfile.TemporaryDirectory(prefix="tapescope-")
    file = os.path.join(folder.name, name)
    with open(file, "wb") as to:
        to.write(data)
    # In a session of its own: Ctrl-C, or the stop of a notebook, is not meant for it.
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
