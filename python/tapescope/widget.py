"""Widgets of notebooks: players of episodes, and learning curves of runs. Needs anywidget."""

from __future__ import annotations

import base64
import html
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import zlib
from typing import Any, Callable, Dict, List, Mapping, Optional, Tuple

try:
    import anywidget
    import traitlets
except ImportError as error:
    raise ImportError("widgets need anywidget: pip install anywidget") from error

from .arrays import PARTS
from .display import image
from .errors import ArgumentError, StepError, meant, whole

Bundle = Tuple[Dict[str, Any], Dict[str, Any]]
# Where scripts are removed from a page, the frame is too, and the image takes its place.
FALLBACK = """<style>.tapescope-page + img {{ display: none }}</style><div style="container-type: inline-size">
<iframe class="tapescope-page" sandbox="allow-scripts" title="{title}" style="width: 100%; height: {height}; border: 0" srcdoc="{page}"></iframe>
{still}</div>"""
# Widgets on screen, each with the cell that made it and the execution of this cell.
_on_screen: List[Tuple[_Widget, str, str]] = []


def _cell() -> Tuple[str, str, bool]:
    """Returns names of the cell that runs and of this execution, empty outside of a kernel of Jupyter; and whether a notebook is
    open. Programs that execute notebooks, such as nbconvert, name no cell and have no session."""
    kernel = sys.modules.get("ipykernel.zmqshell")
    if kernel is None or not kernel.ZMQInteractiveShell.initialized():
        return "", "", True
    parent = kernel.ZMQInteractiveShell.instance().get_parent()
    cell = parent.get("metadata", {}).get("cellId")
    is_open = cell or "google.colab" in sys.modules or {"JPY_SESSION_NAME", "SERVER_SOFTWARE"} & os.environ.keys()
    return str(cell or parent.get("content", {}).get("code", "")), str(parent.get("header", {}).get("msg_id", "")), bool(is_open)


class _Widget(anywidget.AnyWidget):
    """A widget that ends when its cell runs again. Notebooks would keep every widget and its page otherwise."""

    _esm = pathlib.Path(__file__).with_name("player.js")

    def __init__(self, **traits: Any) -> None:
        cell, execution, self._is_open = _cell()
        for widget, its_cell, its_execution in list(_on_screen):
            # marimo closes the channel of a widget when its cell runs again, and nothing else.
            is_gone = widget.comm is None or getattr(widget.comm, "_closed", False)
            if is_gone or cell and cell == its_cell and execution != its_execution:
                widget.close()
        self._bundles: List[Dict[str, Any]] = []
        super().__init__(**traits)
        _on_screen.append((self, cell, execution))

    def close(self) -> None:
        """Removes the widget from the notebook."""
        _on_screen[:] = [entry for entry in _on_screen if entry[0] is not self]
        # Before the end for the browser, which keeps closed widgets. marimo has ended the channel already.
        if self.comm is not None and not getattr(self.comm, "_closed", False):
            self._release()
        self.layout.close()
        super().close()
        self._release()
        for bundle in self._bundles:
            bundle.clear()

    def _release(self) -> None:
        """Releases what is large."""

    def _still(self) -> str:
        """Returns HTML for a notebook without a kernel."""
        return ""

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"

    def _repr_mimebundle_(self, **kwargs: Any) -> Optional[Bundle]:
        bundle: Optional[Bundle] = super()._repr_mimebundle_(**kwargs)
        if bundle is not None:
            # ASCII takes half of the memory in a browser. IPython keeps the bundle, also of a cell that has run again.
            bundle[0]["text/html"] = self._still().encode("ascii", "xmlcharrefreplace").decode()
            self._bundles.append(bundle[0])
            if not self._is_open:
                del bundle[0]["application/vnd.jupyter.widget-view+json"]
        return bundle


class Player(_Widget):
    """An episode with its player, from `Trace.widget` or `Machine.widget`. `observe(function, "step")` reports what the user
    does, and an assignment changes the figure.

    step        the step on screen, from 0; None until the page is loaded, unless it was given
    stage       the name of the stage in it, such as "content"; empty for the whole step. Raises ArgumentError for stages that
                the figure does not have
    head        the head whose stages are shown, such as "W0"; None for a figure without one
    selection   the value that was clicked: {"picture": …, "step": …, "row": …, "column": …, "value": …}; None without one.
                `column` is None in pictures over time. An assignment needs no `value`; the page fills it in
    trace       the episode; an assignment shows another one, at its last step if it has no such `step`. None after `close`
    changes     the changed values, as in `intervene`

    Moving the slider of a gate runs the episode of a machine again and assigns `trace`. A player ends when its cell runs
    again, so that a notebook does not grow.
    """

    step = traitlets.Int(None, allow_none=True).tag(sync=True)
    stage = traitlets.Unicode("").tag(sync=True)
    head = traitlets.Unicode(None, allow_none=True).tag(sync=True)
    selection = traitlets.Dict(default_value=None, allow_none=True).tag(sync=True)
    trace = traitlets.Any()
    changes: Dict[str, Any]
    # The page, its height in CSS, gates by head and array, and a message.
    _page = traitlets.Unicode("").tag(sync=True)
    _height = traitlets.Unicode("").tag(sync=True)
    _gates = traitlets.Dict().tag(sync=True)
    _message = traitlets.Unicode("").tag(sync=True)

    def __init__(self, trace: Any, draw: Callable[[Any, Optional[int]], str],
                 run: Optional[Callable[[Mapping[str, Any]], Any]] = None, step: Optional[Any] = None) -> None:
        """Internal. `draw`: from a trace and its first step on screen to its page. `run`: from changes to the episode with them."""
        self._draw, self._run, self.changes, self._kind = draw, run, {}, type(trace)
        super().__init__()
        self.on_msg(self._told)
        try:
            self._first = None if step is None else _step(step, trace.steps)
            self.trace, self.step = trace, self._first
        except Exception:
            self.close()
            raise

    def change(self, place: str, value: Any) -> Any:
        """Runs the episode again with a changed value, as `Machine.trace(intervene={place: value})`, shows it and returns the new
        trace. Earlier changes remain. Raises ArgumentError for the player of a trace, which has no machine."""
        return self._again({**self.changes, place: value})

    def reset(self) -> Any:
        """Runs the episode without the changes, shows it and returns its trace."""
        return self._again({})

    def _again(self, changes: Dict[str, Any]) -> Any:
        if self._run is None:
            raise ArgumentError("shows a recorded trace", place="the player", expected="a player of Machine.widget")
        trace = self._run(changes)
        self.changes, self.trace = changes, trace
        return trace

    def _release(self) -> None:
        self._run = self.trace = None
        # A browser keeps the state, and the one before.
        self._message = "This player is closed."

    def _told(self, _: Any, content: Dict[str, Any], __: Any) -> None:
        try:
            self.reset() if content.get("reset") else self.change(str(content["place"]), float(content["value"]))
            self._message = ""
        except Exception as error:
            self._message = str(error)

    @traitlets.observe("trace")
    def _show(self, _: Any) -> None:
        trace = self.trace
        page = "" if trace is None else self._draw(trace, self._first and min(self._first, trace.steps - 1))
        size = re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', page)
        self._stages: List[str] = []
        with self.hold_sync():
            if trace is not None and self.step is not None:
                self.step = min(self.step, trace.steps - 1)
            self._height = f"calc({float(size[2]) / float(size[1]):.4f} * 100cqw + 112px)" if size else ""
            self._gates = {} if trace is None or self._run is None else _gates(trace)
            self._page = page

    @traitlets.validate("step")
    def _in_trace(self, proposal: Any) -> Any:
        step = proposal["value"]
        return step if step is None or self.trace is None else _step(step, self.trace.steps)

    @traitlets.validate("trace")
    def _an_episode(self, proposal: Any) -> Any:
        trace = proposal["value"]
        if trace is not None and not isinstance(trace, self._kind):
            raise ArgumentError(f"is {trace!r}", place="`trace`", expected=f"a {self._kind.__name__}")
        return trace

    @traitlets.validate("stage")
    def _of_page(self, proposal: Any) -> Any:
        stage = proposal["value"]
        if stage and self._page:
            self._stages = self._stages or _stages(self._page)
            if stage not in self._stages:
                known = meant(stage, self._stages) if self._stages else "; this figure has no stages"
                raise ArgumentError(f"is {stage!r}{known}", place="`stage`")
        return stage

    @traitlets.validate("head")
    def _of_trace(self, proposal: Any) -> Any:
        head = proposal["value"]
        known = [] if self.trace is None else [_label(name) for name in self.trace.heads]
        if head is None or not known or _label(head) in known:
            return head and _label(head)
        raise ArgumentError(f"is {head!r}{meant(head, known)}", place="`head`")

    @traitlets.validate("selection")
    def _of_picture(self, proposal: Any) -> Any:
        selection = proposal["value"]
        if selection is not None and not {"picture", "step", "row"} <= selection.keys():
            raise ArgumentError(f"is {selection!r}", place="`selection`",
                                expected='{"picture": …, "step": …, "row": …, "column": …}, or None')
        return selection

    def _still(self) -> str:
        still = self._page.partition('<div id="picture">')[2].partition("</div>")[0]
        page, title = (html.escape(text, quote=True) for text in (self._page, repr(self.trace)))
        return FALLBACK.format(page=page, still=image(still), title=title, height=self._height)


class Curve(_Widget):
    """A learning curve that grows while a machine trains: `train(preset, progress=Curve())`. Notebooks show it by themselves.

    sequences   sequences trained so far
    machine     the best machine so far, at the last validation; None before the first
    """

    sequences = traitlets.Int(0).tag(sync=True)
    machine = traitlets.Any()
    # The curve in both themes, and the progress in words.
    _curves = traitlets.List(traitlets.Unicode()).tag(sync=True)
    _words = traitlets.Unicode("").tag(sync=True)

    def __init__(self) -> None:
        self._shown: Any = None
        self._last: Any = None
        super().__init__()

    def __call__(self, progress: Any) -> None:
        """Shows the progress of a training: a `Progress`."""
        if self._shown is None:
            kernel = sys.modules.get("IPython.core.display_functions")
            self._shown = kernel.display(self, display_id=True) if kernel is not None and _cell()[1] else False
        with self.hold_sync():
            self.sequences = progress.sequences
            self._words = str(progress).partition(" ")[2]
            if progress.validation is not self._last:
                self._last, self.machine = progress.validation, progress.machine()
                if len(self.machine.history) > 1:
                    self._curves = [self.machine.curve(dark=dark).svg for dark in (False, True)]

    def end(self) -> None:
        """Stores the curve in the notebook, where it remains without a kernel."""
        if self._shown:
            self._shown.update(self)

    def _release(self) -> None:
        self._curves, self.machine, self._words = [], None, ""

    def _still(self) -> str:
        curve = self.machine.curve()._repr_html_() if self._curves else ""
        return f"{curve}<code>{html.escape(self._words)}</code>"


def compared(first: Any, second: Any) -> str:
    """Returns the page of two traces side by side with their difference, as `tapescope render --compare` draws them."""
    found = [os.path.dirname(os.path.dirname(os.path.abspath(__file__))), os.environ.get("PYTHONPATH", "")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, found))}
    with tempfile.TemporaryDirectory(prefix="tapescope-") as folder:
        for name, trace in (("first.npz", first), ("second.npz", second)):
            trace.save(os.path.join(folder, name))
        done = subprocess.run(
            [sys.executable, "-m", "tapescope", "render", "first.npz", "--compare", "second.npz", "--out", "both.html"],
            cwd=folder, env=environment, capture_output=True, text=True, encoding="utf-8")
        if done.returncode:
            raise ArgumentError(done.stderr.strip().partition("error: ")[2] or done.stderr, place="`compare`")
        return pathlib.Path(folder, "both.html").read_text(encoding="utf-8")


def _step(step: Any, steps: int) -> int:
    """Returns a step from 0; negative ones count from the end. Raises StepError for others."""
    number = whole("step", step)
    if not -steps <= number < steps:
        raise StepError(f"there is no step {number}", expected=f"0 to {steps - 1}, or -{steps} to -1")
    return number % steps


def _stages(page: str) -> List[str]:
    """Returns the names of the stages in the frames of a page, in their order."""
    packed = page.partition(' id="frames">')[2].partition("<")[0]
    frames = json.loads(zlib.decompress(base64.b64decode(packed)))
    return list(dict.fromkeys(name for _, _, name, *_ in frames if name))


def _label(head: str) -> str:
    """Returns the label of a head in figures: W0 for write0."""
    return re.sub(r"^(read|write)(\d+)$", lambda match: match[1][0].upper() + match[2], head)


def _gates(trace: Any) -> Dict[str, Dict[str, List[float]]]:
    """Returns the values of every gate over time, by the label of its head and the name of the array."""
    gates = [name for name, array in PARTS.items() if array.dims == ("t",) and name.endswith("gate")]
    return {_label(head): {f"{head}.{name}": [round(float(value), 4) for value in trace[f"{head}.{name}"]]
                           for name in gates if f"{head}.{name}" in trace} for head in trace.heads}
