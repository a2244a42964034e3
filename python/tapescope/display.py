"""Figures, and what machines and traces show of themselves in a notebook, on a light page or a dark one."""

from __future__ import annotations

import base64
import html
from typing import TYPE_CHECKING, Callable, List, NoReturn, Optional, Tuple

from ._extension import options
from .errors import Whole
from .files import Path, check_ending, file_name, write_atomically

if TYPE_CHECKING:
    from ._machine import Machine

# The name of a file, whether it is dark, and other options: what is in the file.
Draw = Callable[[str, bool, List[str]], bytes]
# One of the two pictures is hidden where nobody says which page it is; what says so are the system, JupyterLab and VS Code.
STYLE = """<style>
@media (prefers-color-scheme: dark) {
  .tapescope-light { display: none !important } .tapescope-dark { display: block !important }
}
[data-jp-theme-light="true"] .tapescope-light, .vscode-light .tapescope-light { display: block !important }
[data-jp-theme-light="true"] .tapescope-dark, .vscode-light .tapescope-dark { display: none !important }
[data-jp-theme-light="false"] .tapescope-light, .vscode-dark .tapescope-light { display: none !important }
[data-jp-theme-light="false"] .tapescope-dark, .vscode-dark .tapescope-dark { display: block !important }
</style>"""


class Figure:
    """A figure that shows itself in a notebook. `str` of it is SVG."""

    def __init__(self, draw: Draw, dark: Optional[bool] = None) -> None:
        """For this module. `dark`: None is whatever the page is, and light where there is no page."""
        self._draw, self._dark = draw, dark
        # What cannot be drawn is refused here.
        self.svg = self._svg(bool(dark))

    svg: str
    """The figure as SVG."""

    def _svg(self, dark: bool) -> str:
        return self._draw("figure.svg", dark, []).decode()

    def save(self, path: Path, *, scale: Optional[float] = None, delay: Optional[Whole] = None) -> None:
        """Writes it as .svg, or, of an episode, as .png or .gif, which goes through it step by step. Whole or not at all.

        scale   pixels per unit of the page, of a PNG or GIF
        delay   milliseconds of every frame of a GIF
        """
        path = file_name("path", path)
        write_atomically(path, self._draw(path, bool(self._dark), options(scale=scale, delay=delay)))

    def __reduce__(self) -> NoReturn:
        raise TypeError("a figure cannot be pickled or copied, for it can still be drawn in other formats: pickle what it is "
                        "of, the trace or the machine, or str of it, its SVG")

    def __str__(self) -> str:
        return self.svg

    def __repr__(self) -> str:
        return f"<Figure: {title(self.svg)}>"

    def _repr_svg_(self) -> str:
        return self.svg

    def _repr_html_(self) -> str:
        if self._dark is not None:
            return image(self.svg)
        return STYLE + image(self.svg, "light") + image(self._svg(True), "dark")


def title(svg: str) -> str:
    """What a figure is of."""
    return html.unescape(svg.partition("<title>")[2].partition("</title>")[0])


def image(svg: str, page: Optional[str] = None) -> str:
    """A figure in HTML, apart from all else there; `page`: for which it is."""
    data = base64.b64encode(svg.encode()).decode()
    of, hidden = (f' class="tapescope-{page}"', "; display: none") if page == "dark" else (
        f' class="tapescope-{page}"' if page else "", "")
    return (f'<img{of} alt="{html.escape(title(svg), quote=True)}" style="max-width: 100%{hidden}" '
            f'src="data:image/svg+xml;base64,{data}"/>')


def only_svg(draw: Callable[[bool], str]) -> Draw:
    """What draws a figure that is nothing but SVG."""
    def drawn(path: str, dark: bool, more: List[str]) -> bytes:
        check_ending(path, ".svg", what="a learning curve ")
        return draw(dark).encode()
    return drawn


def machine_html(machine: Machine) -> str:
    """What it is as a table, and how it learned."""
    found, history = machine.validation, machine.history
    rows: List[Tuple[str, str]] = [("task", machine.preset["task"]["kind"]), ("machine", machine.words())]
    if found is not None:
        rows.append(("validation", f"{found['bits_per_sequence']:.3g} bits and {found['wrong_bits']:.3g} wrong bits per sequence, "
                                   f"{100 * found['perfect']:.4g} % perfect"))
    if machine.stopped_after is not None:
        rows.append(("stopped", f"after {machine.stopped_after:,} of {machine.preset['training']['sequences']:,} sequences"))
    cells = "".join(f'<tr><th style="text-align: left">{name}</th><td style="text-align: left">{html.escape(value)}</td></tr>'
                    for name, value in rows)
    curve = machine.curve()._repr_html_() if len(history) > 1 else ""
    return f"<b>{html.escape(machine.name)}</b><table>{cells}</table>{curve}"
