//! A drawing as SVG 1.1: axes and text are vectors, every picture is one embedded PNG.

use std::fmt::Write;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use png::Compression;

use crate::figure::out::raster::png;
use crate::figure::{Anchor, Area, Drawing, Image, Ink, Mark, Rgb, Style, Text, Weight};

impl Drawing {
    /// The page as SVG.
    pub fn to_svg(&self) -> String {
        self.svg_of(&self.marks, |image| {
            let png = STANDARD.encode(png(image, None, Compression::High));
            format!("data:image/png;base64,{png}")
        })
    }

    /// Writes the page with these marks only; `link` returns the address of an image.
    pub(crate) fn svg_of<'m>(
        &self,
        marks: impl IntoIterator<Item = &'m Mark>,
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
        for mark in marks {
            svg.push_str(&element(mark, &mut link));
            svg.push('\n');
        }
        svg + "</svg>\n"
    }
}

fn element<'m>(mark: &'m Mark, link: &mut impl FnMut(&'m Image) -> String) -> String {
    match mark {
        Mark::Rect { area, fill } => format!("<rect {} {}/>", place(area), filled(*fill)),
        Mark::Edge { area, ink, inside } => {
            let by = if *inside { 0.5 } else { -0.5 };
            let (left, top) = (area.left + by, area.top + by);
            let (right, bottom) = ((area.right - by).max(left), area.bottom - by);
            let corners = [[left, top], [right, top], [right, bottom], [left, bottom]];
            format!(
                "<path d=\"{}Z\" fill=\"none\" stroke=\"{}\"{} stroke-width=\"1\"/>",
                path(&corners),
                hex(ink.colour),
                opacity("stroke", *ink)
            )
        }
        Mark::Line {
            points,
            ink,
            width,
            dashes,
        } => {
            let opacity = opacity("stroke", *ink);
            let dashes: Vec<_> = dashes.iter().map(|&length| short(length)).collect();
            let dashes = match dashes.join(" ") {
                none if none.is_empty() => none,
                some => format!(" stroke-dasharray=\"{some}\""),
            };
            format!(
                "<path d=\"{}\" fill=\"none\" stroke=\"{}\"{opacity} stroke-width=\"{}\"{dashes}/>",
                path(points),
                hex(ink.colour),
                short(*width)
            )
        }
        Mark::Shape { points, fill } => {
            format!("<path d=\"{}Z\" {}/>", path(points), filled(*fill))
        }
        Mark::Text(text) => text_element(text),
        Mark::Image { area, image } => image_element(area, &link(image)),
    }
}

fn filled(ink: Ink) -> String {
    format!("fill=\"{}\"{}", hex(ink.colour), opacity("fill", ink))
}

fn opacity(of: &str, ink: Ink) -> String {
    if ink.opacity < 1.0 {
        format!(" {of}-opacity=\"{}\"", short(ink.opacity))
    } else {
        String::new()
    }
}

fn text_element(text: &Text) -> String {
    let (Style { size, ink, .. }, [x, y]) = (text.style, text.at);
    // From the middle of the capitals down to the line they stand on.
    let drop = 0.36 * size;
    let place = if text.style.upwards {
        format!(
            "transform=\"translate({} {}) rotate(-90)\"",
            short(x + drop),
            short(y)
        )
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
    format!(
        "<text {place} font-size=\"{}\" {}{anchor}{weight}>{}</text>",
        short(size),
        filled(ink),
        escape(&text.text)
    )
}

fn image_element(area: &Area, link: &str) -> String {
    format!(
        "<image {} preserveAspectRatio=\"none\" image-rendering=\"optimizeSpeed\" style=\"image-rendering:pixelated\" \
         xlink:href=\"{link}\"/>",
        place(area)
    )
}

fn place(area: &Area) -> String {
    format!(
        "x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"",
        short(area.left),
        short(area.top),
        short(area.width()),
        short(area.height())
    )
}

fn path(points: &[[f32; 2]]) -> String {
    let mut path = String::new();
    for (index, [x, y]) in points.iter().enumerate() {
        let letter = if index == 0 { 'M' } else { 'L' };
        let _ = write!(path, "{letter}{} {}", short(*x), short(*y));
    }
    path
}

/// Formats with at most two digits after the point.
fn short(value: f32) -> String {
    let text = format!("{value:.2}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0" } else { text }.to_owned()
}

fn hex([r, g, b]: Rgb) -> String {
    format!("#{r:02x}{g:02x}{b:02x}")
}

/// Text that is safe between tags.
fn escape(text: &str) -> String {
    let mut safe = String::new();
    for c in text.chars() {
        match c {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            // XML has no place for control characters, nor for these two.
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => safe.push(' '),
            c => safe.push(c),
        }
    }
    safe
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
