//! A drawing as SVG 1.1: axes and text are vectors, every picture is one embedded PNG.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use png::Compression;

use crate::figure::out::raster::png;
use crate::figure::scene::fonts::{DROP, Drawn, digits, escape, is_whole, pieces, width_of};
use crate::figure::{Anchor, Area, Drawing, Image, Ink, Mark, Rgb, Style, Text, Weight};

impl Drawing {
    /// The page as SVG.
    pub fn to_svg(&self) -> String {
        let svg = self.svg_of(&self.marks, false, |image| {
            let png = STANDARD.encode(png(image, None, Compression::High));
            format!("data:image/png;base64,{png}")
        });
        let parts = self.parts.iter().map(|(area, words)| {
            let (place, words) = (place(area), escape(words));
            format!("<rect {place} fill=\"none\" pointer-events=\"all\" role=\"img\"><title>{words}</title></rect>\n")
        });
        let parts: String = parts.collect();
        svg.replacen("</svg>\n", &(parts + "</svg>\n"), 1)
    }

    /// Writes the page with these marks only; `link` returns the address of an image. `whole`: letters that the
    /// built-in fonts lack are drawn.
    pub(crate) fn svg_of<'m>(
        &self,
        marks: impl IntoIterator<Item = &'m Mark>,
        whole: bool,
        mut link: impl FnMut(&'m Image) -> String,
    ) -> String {
        let (width, height) = (short(self.width), short(self.height));
        let title = escape(&self.title);
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" xmlns:xlink=\"http://www.w3.org/1999/xlink\" \
             viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" \
             font-family=\"Inter, 'Helvetica Neue', Arial, sans-serif\" font-weight=\"500\">\n\
             <title>{title}</title>\n\
             <rect width=\"{width}\" height=\"{height}\" fill=\"{}\"/>\n",
            hex(self.ground)
        );
        let text = if whole {
            whole_text_element
        } else {
            text_element
        };
        for mark in marks {
            svg += &element(mark, text, &mut link);
            svg.push('\n');
        }
        svg + "</svg>\n"
    }
}

fn element<'m>(
    mark: &'m Mark,
    text_element: fn(&Text) -> String,
    link: &mut impl FnMut(&'m Image) -> String,
) -> String {
    match mark {
        Mark::Rect { area, fill } => format!("<rect {} {}/>", place(area), inked("fill", *fill)),
        Mark::Edge { area, ink, inside } => {
            let by = if *inside { 0.5 } else { -0.5 };
            let (left, top) = (area.left + by, area.top + by);
            let (right, bottom) = ((area.right - by).max(left), area.bottom - by);
            let corners = [[left, top], [right, top], [right, bottom], [left, bottom]];
            let (path, stroke) = (path(&corners), inked("stroke", *ink));
            format!("<path d=\"{path}Z\" fill=\"none\" {stroke} stroke-width=\"1\"/>")
        }
        Mark::Line {
            points,
            ink,
            width,
            dashes,
        } => {
            let dashes: Vec<_> = dashes.iter().map(|&length| short(length)).collect();
            let dashes = match dashes.join(" ") {
                none if none.is_empty() => none,
                some => format!(" stroke-dasharray=\"{some}\""),
            };
            let (path, stroke, width) = (path(points), inked("stroke", *ink), short(*width));
            format!("<path d=\"{path}\" fill=\"none\" {stroke} stroke-width=\"{width}\"{dashes}/>")
        }
        Mark::Shape { points, fill } => {
            format!("<path d=\"{}Z\" {}/>", path(points), inked("fill", *fill))
        }
        Mark::Text(text) => text_element(text),
        Mark::Image { area, image } => format!(
            "<image {} preserveAspectRatio=\"none\" image-rendering=\"optimizeSpeed\" \
             style=\"image-rendering:pixelated\" xlink:href=\"{}\"/>",
            place(area),
            link(image)
        ),
    }
}

/// A fill or stroke of this colour.
fn inked(of: &str, ink: Ink) -> String {
    let opacity = (ink.opacity < 1.0).then(|| short(ink.opacity));
    let opacity = opacity.map(|opacity| format!(" {of}-opacity=\"{opacity}\""));
    let colour = hex(ink.colour);
    format!("{of}=\"{colour}\"{}", opacity.unwrap_or_default())
}

fn text_element(text: &Text) -> String {
    text_in(text, None)
}

/// Writes a text whose every letter is drawn: see [`pieces`].
fn whole_text_element(text: &Text) -> String {
    let ([x, y], style) = (text.at, text.style);
    if is_whole(&text.text) {
        return text_element(text);
    }
    let turn = if style.upwards { " rotate(-90)" } else { "" };
    let (x, y) = (short(x), short(y));
    let mut svg = format!("<g transform=\"translate({x} {y}){turn}\" xml:space=\"preserve\">");
    let mut left = -width_of(&text.text, &style) * style.anchor.share();
    let style = Style {
        anchor: Anchor::Start,
        upwards: false,
        ..style
    };
    for (text, drawn, width) in pieces(&text.text, &style) {
        let (at, text) = ([left, 0.0], text.to_owned());
        left += width * style.size;
        svg += &match drawn {
            Drawn::BuiltIn => text_element(&Text { text, at, style }),
            Drawn::By(font) => text_in(&Text { text, at, style }, Some(&font)),
            Drawn::Boxed => boxed(&text, at[0], left, style),
        };
    }
    svg + "</g>"
}

/// A letter that no font has: its number in a box.
fn boxed(letter: &str, left: f32, right: f32, style: Style) -> String {
    let (size, half) = (style.size, 0.56 * style.size);
    let area = Area::default()
        .across(left, right)
        .down(-half, half)
        .inset(0.06 * size, 0.0);
    let (edge, ink, width) = (
        path(&area.corners()),
        inked("stroke", style.ink),
        short(0.06 * size),
    );
    let mut svg = format!("<path d=\"{edge}Z\" fill=\"none\" {ink} stroke-width=\"{width}\"/>");
    let style = Style {
        size: 0.5 * size,
        ..style.mono().middle()
    };
    for (text, y) in digits(letter).into_iter().zip([-0.25, 0.25]) {
        let at = [area.middle(), y * size];
        svg += &text_element(&Text { text, at, style });
    }
    svg
}

/// Writes a text in its own font, or in this one.
fn text_in(text: &Text, font: Option<&str>) -> String {
    let (Style { size, ink, .. }, [x, y]) = (text.style, text.at);
    let drop = DROP * size;
    let place = if text.style.upwards {
        let (x, y) = (short(x + drop), short(y));
        format!("transform=\"translate({x} {y}) rotate(-90)\"")
    } else {
        format!("x=\"{}\" y=\"{}\"", short(x), short(y + drop))
    };
    let anchor = match text.style.anchor {
        Anchor::Start => "",
        Anchor::Middle => " text-anchor=\"middle\"",
        Anchor::End => " text-anchor=\"end\"",
    };
    let weight = match text.style.weight {
        Weight::Medium => "",
        Weight::Bold => " font-weight=\"600\"",
        Weight::Mono => " font-family=\"'JetBrains Mono', Menlo, Consolas, monospace\"",
    };
    let font = font.map(|font| format!(" font-family=\"{font}\""));
    let weight = font.as_deref().unwrap_or(weight);
    let (size, fill, text) = (short(size), inked("fill", ink), escape(&text.text));
    format!("<text {place} font-size=\"{size}\" {fill}{anchor}{weight}>{text}</text>")
}

fn place(area: &Area) -> String {
    let sides = [area.left, area.top, area.width(), area.height()];
    let [x, y, width, height] = sides.map(short);
    format!("x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\"")
}

pub(super) fn path(points: &[[f32; 2]]) -> String {
    let point = |[x, y]: &[f32; 2]| format!("{} {}", short(*x), short(*y));
    let points: Vec<_> = points.iter().map(point).collect();
    format!("M{}", points.join("L"))
}

/// Formats with at most two digits after the point.
pub(super) fn short(value: f32) -> String {
    let text = format!("{value:.2}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0" } else { text }.to_owned()
}

fn hex([r, g, b]: Rgb) -> String {
    format!("#{r:02x}{g:02x}{b:02x}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_text_is_xml() {
        let text: String = [
            'a', '\u{0}', '\u{7f}', '\u{fffe}', '\u{ffff}', '<', '&', '"',
        ]
        .iter()
        .collect();
        let document = format!("<a b=\"{0}\">{0}</a>", escape(&text));
        assert!(resvg::usvg::roxmltree::Document::parse(&document).is_ok());
        assert!(document.contains("&lt;&amp;&quot;"));
    }
}
