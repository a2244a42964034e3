"""Figures, and the display of machines and traces in light and dark notebooks."""

from __future__ import annotations

import base64
import html
from typing import Callable, List, NoReturn, Optional

from ._extension import options
from .errors import Whole
from .files import Path, check_ending, file_name, write_atomically

# (file name, whether it is dark, other options) -> contents of the file.
Draw = Callable[[str, bool, List[str]], bytes]
# Both pictures are in the page, and this hides one of them: by the system's theme, or by that of JupyterLab or VS Code.
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
    """A figure. A notebook shows it; `str(figure)` is its SVG."""

    def __init__(self, draw: Draw, dark: Optional[bool] = None) -> None:
        """Internal. `dark`: None follows the theme of the page, and is light without a page."""
        self._draw, self._dark = draw, dark
        # Raises here for what cannot be drawn.
        self.svg = self._svg(bool(dark))

    svg: str
    """The figure as SVG."""

    def _svg(self, dark: bool) -> str:
        return self._draw("figure.svg", dark, []).decode()

    def save(self, path: Path, *, scale: Optional[float] = None, delay: Optional[Whole] = None) -> None:
        """Writes the figure, atomically: as .svg, or for an episode also as .png, .gif (an animation, step by step) or
        .html (a page with a player, which needs no network).

        path    name of the file; its ending selects the format
        scale   pixels per unit of the page, for PNG and GIF
        delay   milliseconds per frame, for GIF

        Raises FormatError for another ending and FileError if the file cannot be written.
        """
        path = file_name("path", path)
        write_atomically(path, self._draw(path, bool(self._dark), options(scale=scale, delay=delay)))

    def page(self) -> str:
        """Returns the page with a player that `save` writes as .html. Raises FormatError for a learning curve."""
        return self._draw("figure.html", bool(self._dark), []).decode()

    def __reduce__(self) -> NoReturn:
        raise TypeError("a figure cannot be pickled or copied, because it can still be drawn in other formats; pickle its "
                        "trace or machine, or its SVG, str(figure)")

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
    """Returns the title of a figure."""
    return html.unescape(svg.partition("<title>")[2].partition("</title>")[0])


def image(svg: str, page: Optional[str] = None) -> str:
    """Returns a figure as an HTML image. `page`: "light" or "dark" if it is for one theme only."""
    data = base64.b64encode(svg.encode()).decode()
    of, hidden = (f' class="tapescope-{page}"', "; display: none") if page == "dark" else (
        f' class="tapescope-{page}"' if page else "", "")
    return (f'<img{of} alt="{html.escape(title(svg), quote=True)}" style="max-width: 100%{hidden}" '
            f'src="data:image/svg+xml;base64,{data}"/>')


def only_svg(draw: Callable[[bool], str]) -> Draw:
    """Wraps a function that draws SVG only."""
    def drawn(path: str, dark: bool, more: List[str]) -> bytes:
        check_ending(path, ".svg", what="a learning curve ")
        return draw(dark).encode()
    return drawn
