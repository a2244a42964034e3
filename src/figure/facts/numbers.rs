//! Numbers as text: exact where they are read, of constant width where they change.

use crate::train::is_absent;

/// The shortest decimal that reads back as the same `f32`; scientific below 1e-4 and from 1e7.
pub fn exact(value: f32) -> String {
    if let Some(word) = word(value, ["not recorded", "not a number"]) {
        return word.to_owned();
    }
    let size = value.abs();
    let digits = if size != 0.0 && !(1e-4..1e7).contains(&size) {
        format!("{value:e}")
    } else {
        value.to_string()
    };
    digits.replace('-', "−")
}

/// The text in place of a value that is not finite, with the words for an absent one and for any other NaN.
fn word(value: f32, [absent, nan]: [&'static str; 2]) -> Option<&'static str> {
    match value {
        _ if is_absent(value) => Some(absent),
        f32::INFINITY => Some("∞"),
        f32::NEG_INFINITY => Some("−∞"),
        _ => value.is_nan().then_some(nan),
    }
}

/// Four digits after the point, always nine characters: nothing on screen moves while time does.
pub fn fixed(value: f32) -> String {
    fit(value, 4, 9)
}

/// `decimals` digits after the point, or as many as fit, right-aligned in `width` characters; scientific where a
/// small value would read as zero or a large one would not fit at all.
pub fn fit(value: f32, decimals: usize, width: usize) -> String {
    if let Some(word) = word(value, ["–", "NaN"]) {
        return format!("{word:>width$}");
    }
    let smallest = 0.5 * 10_f32.powf(-(decimals as f32));
    let tiny = value != 0.0 && value.abs() < smallest;
    let plain = (0..=decimals).rev();
    let mut plain = plain.map(|decimals| format!("{value:.decimals$}"));
    let plain = plain.find(|digits| digits.len() <= width && !tiny);
    let digits = plain.unwrap_or_else(|| format!("{value:.1e}").replace(".0e", "e"));
    format!("{:>width$}", digits.replace('-', "−"))
}

/// `decimals` digits after the point, right-aligned in `width` characters: a small value reads as zero.
pub fn plain(value: f32, decimals: usize, width: usize) -> String {
    if value.is_finite() {
        let digits = format!("{value:.decimals$}").replace('-', "−");
        return format!("{digits:>width$}");
    }
    fit(value, decimals, width)
}

/// Formats with at most `decimals` digits after the point, as short as possible: for sentences, not for columns.
pub fn short(value: f32, decimals: usize) -> String {
    fit(value, decimals, 9).trim_start().to_owned()
}

/// A share of 1 as a whole percentage.
pub fn percent(share: f32) -> String {
    if share > 0.0 && share < 0.005 {
        return "less than 1 %".to_owned();
    }
    format!("{:.0} %", share * 100.0)
}

/// A number in the cell of a picture: two digits, no leading zero.
pub fn cell(value: f32) -> String {
    if is_absent(value) {
        return "–".to_owned();
    }
    if !value.is_finite() {
        return "×".to_owned();
    }
    let text = format!("{:.2}", value.abs());
    let text = text.strip_prefix('0').unwrap_or(&text);
    let is_below = value < 0.0 && text != ".00";
    let sign = if is_below { "−" } else { "" };
    format!("{sign}{text}")
}

/// Formats a number next to a bar: the larger it is, the fewer digits after the point.
pub fn in_bar(value: f32) -> String {
    let decimals = match value.abs() {
        size if size.is_nan() || size < 9.995 => return cell(value),
        size if size < 99.95 => 1,
        _ => 0,
    };
    plain(value, decimals, 0)
}

/// A limit for a symmetric scale: rounded up to two digits.
pub fn round_up(limit: f32) -> f32 {
    if !limit.is_finite() || limit <= 0.0 {
        return 1.0;
    }
    let unit = 10_f32.powf(limit.log10().floor() - 1.0);
    (limit / unit - 1e-3).ceil() * unit
}

/// Returns a short number rounded to at most `letters` characters, as far as digits after its point can be dropped.
pub fn shortened(number: &str, letters: usize) -> String {
    let all = number.chars().count();
    let parts = number.split_once('.').filter(|_| all > letters);
    let value = number.replace('−', "-").parse::<f32>();
    let (Some((before, after)), Ok(value)) = (parts, value) else {
        return number.to_owned();
    };
    // A digit stays where nothing stands before the point.
    let is_bare = before.trim_start_matches('−').is_empty();
    let room = letters.saturating_sub(before.chars().count() + 1);
    let decimals = room.max(usize::from(is_bare)).min(after.len());
    let text = format!("{value:.decimals$}").replace('-', "−");
    text.replacen("0.", ".", usize::from(is_bare))
}

/// Formats with three significant digits, for axes and sentences; counts up to a million whole, with separators.
pub fn brief(value: f64) -> String {
    let size = value.abs();
    let digits = match size {
        _ if !value.is_finite() => return exact(value as f32),
        0.0 => "0".to_owned(),
        _ if !(1e-4..1e9).contains(&size) => format!("{size:.0e}").replace('-', "−"),
        _ if size >= 999_999.5 => format!("{} M", trimmed(size / 1e6, 2)),
        _ if size >= 9999.5 => {
            let size = size.round();
            format!("{},{:03.0}", (size / 1e3).floor(), size % 1e3)
        }
        _ => trimmed(size, (2.0 - size.log10().floor()).max(0.0) as usize),
    };
    let sign = if value < 0.0 { "−" } else { "" };
    format!("{sign}{digits}")
}

fn trimmed(value: f64, decimals: usize) -> String {
    without_zeros(&format!("{value:.decimals$}")).to_owned()
}

/// A number without zeros at the end of its decimals.
fn without_zeros(text: &str) -> &str {
    if text.contains('.') && !text.contains('e') {
        return text.trim_end_matches('0').trim_end_matches('.');
    }
    text
}

/// Formats a duration in seconds, minutes or hours.
pub fn time(seconds: f64) -> String {
    match seconds {
        _ if seconds < 9.95 => format!("{seconds:.1} s"),
        _ if seconds < 90.0 => format!("{seconds:.0} s"),
        _ if seconds < 5400.0 => format!("{:.1} min", seconds / 60.0),
        _ => format!("{:.1} h", seconds / 3600.0),
    }
}

/// A speed in words: steps per second, or seconds per step where it is slow.
pub fn speed(steps_per_second: f64) -> String {
    let seconds = (10.0 / steps_per_second).round() / 10.0;
    if steps_per_second >= 1.0 {
        format!("{steps_per_second:.0} steps/s")
    } else {
        format!("{seconds} s per step")
    }
}

/// A value at the end of a scale.
pub(crate) fn end_text(value: f32) -> String {
    without_zeros(&short(value, 2)).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exact_numbers_read_back() {
        for value in [
            0.0,
            1.0,
            0.982_135_06,
            -0.1,
            1e-4,
            3.0e-9,
            1.5e9,
            f32::MIN_POSITIVE,
        ] {
            let text = exact(value).replace('−', "-");
            assert_eq!(
                text.parse::<f32>().unwrap().to_bits(),
                value.to_bits(),
                "{text}"
            );
        }
        assert_eq!(exact(0.982_135_06), "0.98213506");
        assert_eq!(exact(0.000_05), "5e−5");
        assert_eq!(exact(f32::NAN), "not a number");
        assert_eq!(exact(f32::NEG_INFINITY), "−∞");
    }

    #[test]
    fn fixed_numbers_never_change_their_width() {
        for value in [
            0.0,
            -0.5,
            14.2,
            1e-7,
            -1e-7,
            123_456.7,
            1e30,
            f32::NAN,
            f32::INFINITY,
        ] {
            assert_eq!(fixed(value).chars().count(), 9, "{value}");
        }
        assert_eq!(fixed(14.2), "  14.2000");
        assert_eq!(fixed(0.000_01), "     1e−5");
        assert_eq!(fixed(0.000_012), "   1.2e−5");
        // A strength of 11 is no power of ten.
        assert_eq!(
            (fit(10.97, 2, 4), fit(123.4, 2, 4)),
            ("11.0".into(), " 123".into())
        );
    }

    #[test]
    fn limits_are_rounded_up() {
        for (limit, rounded) in [(0.961, 0.97), (1.0, 1.0), (13.4, 14.0), (0.0, 1.0)] {
            assert!((round_up(limit) - rounded).abs() < 1e-5, "{limit}");
        }
    }

    #[test]
    fn brief_numbers_and_times_are_readable() {
        let shown = [0.0, 0.001, 0.25, -2.0, 12.34, 0.4567, 250.0, 9999.4];
        let expected = ["0", "0.001", "0.25", "−2", "12.3", "0.457", "250", "9999"];
        assert_eq!(shown.map(brief), expected);
        let large = [9999.6, 20_000.0, 123_456.0, 999_999.6, 2.5e6, 3e-6, 6.6e20].map(brief);
        assert_eq!(
            large,
            [
                "10,000", "20,000", "123,456", "1 M", "2.5 M", "3e−6", "7e20"
            ]
        );
        let times = [0.04, 9.9, 9.96, 59.0, 123.0, 7200.0].map(time);
        assert_eq!(
            times,
            ["0.0 s", "9.9 s", "10 s", "59 s", "2.0 min", "2.0 h"]
        );
    }

    #[test]
    fn numbers_shorten_without_room() {
        let shown = [
            ("−5.21", 4),
            ("−5.21", 3),
            ("1.00", 1),
            (".018", 3),
            ("−.50", 1),
            ("12", 1),
        ];
        let shown = shown.map(|(number, letters)| shortened(number, letters));
        assert_eq!(shown, ["−5.2", "−5", "1", ".02", "−.5", "12"]);
        assert_eq!(shortened("1.00", 9), "1.00");
    }

    #[test]
    fn cells_are_short() {
        assert_eq!(cell(0.984), ".98");
        assert_eq!(cell(1.0), "1.00");
        assert_eq!(cell(-0.5), "−.50");
        assert_eq!(cell(f32::NAN), "×");
    }
}
