//! Caption: see a picture patch by patch, then a delimiter, then name its glyphs in reading order, and emit the end symbol.
//!
//! A picture has `grid` × `grid` patches of `patch` × `patch` pixels. Some patches have a glyph, the others are blank. A
//! symbol has a fixed glyph: random pixels of 0 and 1, a function of the key `dictionary`, no two alike and none blank. All
//! pixels have normal noise. Source step i shows patch i in reading order, so where to look is known. After its pixels a
//! patch has its row and its column, one-hot: rows of a memory have no order of their own.
//!
//! One episode without noise with 2 × 2 patches of 2 × 2 pixels, and 2 glyphs: symbol 1, a diagonal, in patch 0, and symbol
//! 0, the upper row, in patch 3; channels down, time to the right (`.` is 0):
//!
//! ```text
//!             input   | answer
//! input  pix0 1 . . 1 . . . .
//!        pix1 . . . 1 . . . .
//!        pix2 . . . . . . . .
//!        pix3 1 . . . . . . .
//!        row0 1 1 . . . . . .
//!        row1 . . 1 1 . . . .
//!        col0 1 . 1 . . . . .
//!        col1 . 1 . 1 . . . .
//!        delim. . . . 1 . . .
//! target sym0 . . . . . . 1 .
//!        sym1 . . . . . 1 . .
//!        end  . . . . . . . 1
//! mask        . . . . . 1 1 1
//! ```

use std::ops::{AddAssign, RangeInclusive};

use ndarray::{Array1, Array2, s};
use rand::RngExt;

use super::generate::{
    Alphabet, Generate, Measure, NOISE, check_symbols, fixed, normal, random_bits, shuffled,
};
use super::{Episode, Fault, Manual};
use crate::keys::Field::{Integer, Integer64, Number, Range};
use crate::keys::{Keys, Table};
use crate::math::{Random, random};

/// Parameters of caption.
#[derive(Clone, Debug, PartialEq)]
pub struct Caption {
    /// Patches of a side, 1 to 32; default 4.
    pub grid: usize,
    /// Glyphs in a picture, sampled uniformly; at most one in a patch; default 1 to 5.
    pub glyphs: RangeInclusive<usize>,
    /// Pixels of a side of a patch, 2 to 16; default 4.
    pub patch: usize,
    /// Symbols, each with its glyph, ≥ 2; default 8.
    pub symbols: usize,
    /// Standard deviation of the noise of every pixel; default 0.2.
    pub noise: f64,
    /// Seed of the glyphs; default 1.
    pub dictionary: u64,
}

impl Caption {
    /// The defaults.
    pub const DEFAULT: Self = Self {
        grid: 4,
        glyphs: 1..=5,
        patch: 4,
        symbols: 8,
        noise: 0.2,
        dictionary: 1,
    };

    /// Values of a source step: the pixels, the row and the column.
    fn values(&self) -> usize {
        self.patch.pow(2) + 2 * self.grid
    }

    /// Pixels of every symbol.
    fn patterns(&self) -> Vec<Array1<f32>> {
        let (random, mut all) = (&mut fixed(self.dictionary), Vec::new());
        while all.len() < self.symbols {
            let glyph = random_bits(random, 1, self.patch.pow(2)).row(0).to_owned();
            if glyph.sum() > 0.0 && !all.contains(&glyph) {
                all.push(glyph);
            }
        }
        all
    }

    /// The episode that shows these symbols, one for every patch, or `None` for a blank one; with noise.
    pub fn episode_of(&self, patches: &[Option<usize>], random: &mut Random) -> Episode {
        let (patterns, pixels) = (self.patterns(), self.patch.pow(2));
        let noise = || (self.noise * normal(random)) as f32;
        let noise = Array2::from_shape_simple_fn((patches.len(), pixels), noise);
        let mut source = Array2::zeros((patches.len(), self.values()));
        let mut named = Vec::new();
        for (patch, symbol) in patches.iter().enumerate() {
            let mut row = source.row_mut(patch);
            row.slice_mut(s![..pixels]).assign(&noise.row(patch));
            if let Some(symbol) = *symbol {
                row.slice_mut(s![..pixels]).add_assign(&patterns[symbol]);
                named.push((symbol, patch..patch + 1));
            }
            for place in [patch / self.grid, self.grid + patch % self.grid] {
                row[pixels + place] = 1.0;
            }
        }
        Episode {
            size: named.len(),
            ..self.naming(&source, &named)
        }
    }
}

impl Keys for Caption {
    #[rustfmt::skip] // A row for every key.
    fn keys(&mut self, to: &mut Table<'_>) {
        to.key("grid", Integer(&mut self.grid, 1..=32), "patches of each side of the picture");
        let most = self.most_size();
        to.key("glyphs", Range(&mut self.glyphs, 1..=most), "glyphs in a picture, at most `grid` × `grid`");
        to.key("patch", Integer(&mut self.patch, 2..=16), "pixels of each side of a patch");
        // As many glyphs as there are, but the blank one.
        let most = (1 << self.patch.saturating_pow(2).min(10)) - 1;
        to.key("symbols", Integer(&mut self.symbols, 2..=most), "symbols, each with its glyph; at most 15 with patches of 2 × 2 pixels");
        to.key("noise", Number(&mut self.noise, &NOISE), "standard deviation of the noise of every pixel; ink is 1");
        to.key("dictionary", Integer64(&mut self.dictionary, 0..=u64::MAX), "seed of the glyphs; the same in every episode");
    }
}

impl Generate for Caption {
    fn alphabet(&self) -> Option<Alphabet> {
        Some(Alphabet {
            value: "pixel",
            values: self.values(),
            symbols: self.symbols,
        })
    }

    fn channel_name(&self, side: usize, channel: usize) -> String {
        let place = channel.checked_sub(self.patch.pow(2)).filter(|_| side == 0);
        match place {
            Some(place) if place < self.grid => format!("row {place}"),
            Some(place) if place < 2 * self.grid => format!("column {}", place - self.grid),
            _ => self.named_channel(side, channel),
        }
    }

    fn measure(&self) -> Measure {
        Measure::Items
    }

    fn size_mut(&mut self) -> &mut RangeInclusive<usize> {
        &mut self.glyphs
    }

    fn most_size(&self) -> usize {
        self.grid.saturating_pow(2)
    }

    fn longest(&self) -> usize {
        self.grid.pow(2) + self.glyphs.end() + 2
    }

    fn longest_source(&self) -> usize {
        self.grid.pow(2) + 1
    }

    fn sample(&self, random: &mut Random) -> Episode {
        let glyphs = random.random_range(self.glyphs.clone());
        let mut patches = vec![None; self.grid.pow(2)];
        for patch in shuffled(random, patches.len()).into_iter().take(glyphs) {
            patches[patch] = Some(random.random_range(0..self.symbols));
        }
        self.episode_of(&patches, random)
    }

    fn manual_example(&self) -> &'static str {
        "symbols such as [3,null,1,4], with null for a blank patch"
    }

    fn fit(&mut self, given: &Manual) -> Result<(), Fault> {
        let (glyphs, patches) = (given.symbols.iter().flatten().count(), self.grid.pow(2));
        let is_wrong = given.symbols.len() != patches || glyphs == 0;
        let allowed = is_wrong.then(|| {
            format!(
                "{patches} symbols in reading order, null for a blank patch, at least one not null"
            )
        });
        check_symbols(given, self.symbols, true, allowed)?;
        self.set_size(glyphs);
        Ok(())
    }

    fn episode_showing(&self, given: &Manual) -> Option<Episode> {
        Some(self.episode_of(&given.symbols, &mut random(0, 0)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::random;
    use crate::task::Task;
    use crate::task::tests::picture;

    #[test]
    fn docs_example_is_reproduced() {
        let task = |dictionary| Caption {
            grid: 2,
            glyphs: 1..=2,
            patch: 2,
            symbols: 2,
            noise: 0.0,
            dictionary,
        };
        let wanted = [[1., 1., 0., 0.], [1., 0., 0., 1.]].map(Array1::from_iter);
        let task = (0..100_000)
            .map(task)
            .find(|task| task.patterns() == wanted);
        let task = task.unwrap();
        let patches = [Some(1), None, None, Some(0)];
        let episode = task.episode_of(&patches, &mut random(1, 1));
        let (input, target, mask) = picture(include_str!("caption.rs"), &[]);
        assert_eq!(episode.input, input);
        assert_eq!(episode.target, target);
        assert_eq!(episode.mask, mask);
        assert_eq!(
            task.alignment(&episode)[5..],
            [Some(0..1), Some(3..4), None]
        );
        assert_eq!((episode.size, episode.scored_bits()), (2, 3));
        let names = [3, 4, 7, 8].map(|channel| task.channel_name(0, channel));
        assert_eq!(names, ["pixel 3", "row 0", "column 1", "delimiter"]);
        assert_eq!(task.channel_name(1, 1), "symbol 1");
    }

    #[test]
    fn glyphs_are_uniform_and_named_in_reading_order() {
        let task = Task::Caption(Caption::DEFAULT);
        let (mut sizes, mut places, mut noise) = ([0; 6], [0; 16], Vec::new());
        for index in 0..2000 {
            let episode = task.episode(3, index);
            sizes[episode.size] += 1;
            assert!(episode.steps() <= task.longest());
            let alignment = task.alignment(&episode);
            let shown: Vec<usize> = alignment
                .into_iter()
                .flatten()
                .map(|from| from.start)
                .collect();
            assert!(shown.is_sorted() && shown.len() == episode.size);
            for (patch, count) in places.iter_mut().enumerate() {
                if shown.contains(&patch) {
                    *count += 1;
                } else {
                    noise.extend(episode.input.row(patch).iter().take(16).copied());
                }
            }
        }
        assert!(
            sizes[1..].iter().all(|n| (330..470).contains(n)),
            "{sizes:?}"
        );
        // 375 expected, standard deviation 17.
        assert!(places.iter().all(|n| (300..450).contains(n)), "{places:?}");
        let mean = noise.iter().sum::<f32>() / noise.len() as f32;
        let squares = noise.iter().map(|x| x * x).sum::<f32>() / noise.len() as f32;
        assert!(mean.abs() < 0.002 && (squares.sqrt() - 0.2).abs() < 0.002);
        // No picture has more glyphs than patches.
        assert_eq!(task.with_size(99).episode(1, 0).size, 16);
    }

    #[test]
    fn errors_name_key_value_and_range() {
        let message = |change: fn(&mut Caption)| {
            let mut task = Caption::DEFAULT;
            change(&mut task);
            Task::Caption(task).validate().unwrap_err().to_string()
        };
        let glyphs = message(|task| (task.grid, task.glyphs) = (2, 1..=5));
        assert_eq!(
            glyphs,
            "glyphs is [1, 5]; allowed: [lowest, highest] with 1 ≤ lowest ≤ highest ≤ 4"
        );
        let symbols = message(|task| (task.patch, task.symbols) = (2, 16));
        assert_eq!(symbols, "symbols is 16; allowed: 2 to 15");
        assert_eq!(
            message(|task| task.noise = -1.0),
            "noise is -1; allowed: 0 to 100"
        );
        assert_eq!(
            message(|task| task.grid = usize::MAX),
            format!("grid is {}; allowed: 1 to 32", usize::MAX)
        );
        assert_eq!(
            message(|task| task.patch = 1),
            "patch is 1; allowed: 2 to 16"
        );
    }
}
