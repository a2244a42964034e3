//! The close-up of a machine file: a card for each quantity, from left to right as they are computed, the flow from what a
//! statement reads to what it makes, and its line with the numbers in it.

use super::{CloseUp, edge};
use crate::figure::facts::numbers;
use crate::figure::facts::quantities::{Colouring, Quantity};
use crate::figure::facts::stage::Stage;
use crate::figure::facts::statements::{Statement, before, of_head};
use crate::figure::scene::annotations::text_on;
use crate::figure::scene::fonts::{cut, lines, width_of};
use crate::figure::scene::motion::{between, within};
use crate::figure::scene::paint::{Draw, Surface};
use crate::figure::scene::panel::{PlacedPanel, shades};
use crate::figure::{Area, Ink, PanelId, Picture, Scale, Style, mix};
use crate::model::Place;

/// The least width of a card, at the usual size.
const CARD: f32 = 92.0;
/// The largest width of a card, at the usual size.
const WIDEST: f32 = 330.0;
/// Room between two columns of cards, at the usual size.
const APART: f32 = 30.0;
/// The height of the name of a card, and the least and largest ones of a vector or a number below it, at the usual size.
const NAME: f32 = 19.0;
const VECTOR: [f32; 2] = [17.0, 52.0];
/// The largest cells of a table.
const CELL: f32 = 26.0;
/// When what a statement reads arrives, and when what it makes appears.
const ARRIVE: [f32; 2] = [0.0, 0.5];
const APPEAR: [f32; 2] = [0.4, 1.0];

/// A statement on the page, with a picture for each quantity that it makes.
struct Card<'a> {
    statement: usize,
    area: Area,
    pictures: Vec<(&'a Quantity, Area)>,
}

impl<'a> CloseUp<'a, '_> {
    fn statements_of(&self) -> &'a [Statement] {
        &self.now.stages.statements
    }

    /// The statement of the present stage.
    fn statement_now(&self) -> Option<usize> {
        match self.now.stage()?.stage {
            Stage::Statement(index) => Some(index),
            _ => None,
        }
    }

    /// Paints the quantities of a machine file, and the statement that is computed.
    pub(super) fn statements(&self, on: &mut Surface<'_>, places: &mut Vec<PlacedPanel<'a>>) {
        let cards = self.cards();
        self.reads(on, &cards, false);
        for card in &cards {
            self.card(on, card, places);
        }
        self.reads(on, &cards, true);
        if let Some(index) = self.statement_now() {
            let own = &self.statements_of()[index];
            let numbers = own.with_most_changed(self.now.trace(), self.now.step);
            self.line(on, own.equation, numbers);
        } else if self.now.stage().is_some_and(|at| at.stage == Stage::Output) {
            self.line(on, self.now.trace().file_words().answer, None);
        }
    }

    /// The meanings of their colours.
    pub(super) fn statement_scales(&self) -> Vec<(&'static str, Scale)> {
        let all = &self.seen.facts.quantities;
        // Numbers are bars.
        let has =
            |is: fn(&Colouring) -> bool| all.iter().any(|own| !own.is_number() && is(&own.colours));
        let scales = [
            (true, "bit, gate 0 to 1", self.seen.shades[0]),
            (
                has(|own| *own == Colouring::Weighting),
                "weight 0 to 1",
                self.seen.shades[1],
            ),
            (
                has(|own| matches!(own, Colouring::Signed(_))),
                "± number at name",
                Scale::Signed(1.0),
            ),
            (
                has(|own| matches!(own, Colouring::UpTo(_))),
                "0 to number at name",
                Scale::UpTo(1.0),
            ),
        ];
        let there = scales.into_iter().filter(|(is_there, ..)| *is_there);
        there.map(|(_, words, scale)| (words, scale)).collect()
    }

    /// Draws these scales, whose numbers stand in their words or at the quantities; how many quantities have no room.
    pub(super) fn statement_legend(&self, on: &mut Surface<'_>) {
        let style = self.letters(10.0, self.page.colours.subdued);
        let y = self.plan.episode.top - self.size(16.0).max(11.0);
        let (mut left, mut end) = (self.plan.top.left, self.plan.top.right);
        let [shown, all] = [self.cards().len(), self.statements_of().len()];
        if shown < all {
            let words = format!("{shown} of {all} quantities");
            end -= width_of(&words, &style) + 12.0;
            on.text(words, [self.plan.top.right, y], style.end());
        }
        for (words, scale) in self.statement_scales() {
            let right = left + 34.0 + width_of(words, &style) + 6.0;
            if right > end {
                break;
            }
            shades(on, Area::new(left, y - 4.0, 34.0, 8.0), &[scale]);
            on.text(words, [left + 40.0, y], style);
            left = right + 18.0;
        }
    }

    /// Where the cards stand.
    fn cards(&self) -> Vec<Card<'a>> {
        let all = self.statements_of();
        let room = self
            .plan
            .middle
            .down(self.plan.rows().top - self.size(28.0), self.lines_top());
        let layers = all.iter().map(|own| own.layer + 1).max().unwrap_or(0);
        let apart = self.size(APART).max(20.0);
        let least = self.size(CARD).max(64.0) + apart;
        let fits = (((room.width() + apart) / least) as usize).clamp(1, layers.max(1));
        let now = self.statement_now();
        let last = match (now, self.now.place) {
            (Some(index), _) => all[index].layer,
            (None, 0) => 0,
            _ => layers.saturating_sub(1),
        };
        // Without room for all layers: that of the present stage, those of what it reads, and those before it.
        let reads = now.into_iter().flat_map(|now| &all[now].reads);
        let reads = reads.map(|read| all[read.statement].layer);
        let wanted = [last].into_iter().chain(reads).chain((0..last).rev());
        let mut shown: Vec<usize> = Vec::new();
        for layer in wanted.chain(last..layers) {
            if shown.len() < fits && !shown.contains(&layer) {
                shown.push(layer);
            }
        }
        shown.sort_unstable();
        let width = ((room.width() + apart) / fits as f32 - apart).min(self.size(WIDEST));
        let start = room.middle() - 0.5 * (fits as f32 * (width + apart) - apart);
        let mut cards = Vec::new();
        let count = |layer: usize| all.iter().filter(|own| own.layer == layer).count();
        let most = shown.iter().map(|layer| count(*layer)).max();
        let most = most.unwrap_or(1).max(1) as f32;
        let high = room.height() / most - self.size(NAME).max(12.0) - self.gap();
        let [least, most] = VECTOR.map(|height| self.size(height).max(12.0));
        let vector = high.clamp(least, most);
        for (place, layer) in shown.into_iter().enumerate() {
            let left = start + place as f32 * (width + apart);
            self.column(room.across(left, left + width), (layer, vector), &mut cards);
        }
        cards
    }

    /// Room between two cards.
    fn gap(&self) -> f32 {
        self.size(14.0).max(7.0)
    }

    /// Places the cards of a layer below each other.
    fn column(&self, room: Area, (layer, vector): (usize, f32), cards: &mut Vec<Card<'a>>) {
        let all = self.statements_of();
        let mut own: Vec<usize> = (0..all.len())
            .filter(|index| all[*index].layer == layer)
            .collect();
        let (gap, name) = (self.gap(), self.size(NAME).max(12.0));
        let tallest = |index: usize| {
            let heights = self.quantities_of(index).map(|own| match own.axes.len() {
                0 | 1 => vector,
                _ => {
                    let [rows, columns] = own.shape();
                    let count = all[index].parts.len() as f32;
                    let cell = (room.width() / count / columns as f32).min(self.size(CELL));
                    rows as f32 * cell
                }
            });
            heights.fold(0.0, f32::max)
        };
        // Those without room give way, those of the present statement last.
        let now = self.statement_now();
        let is_asked = |index: &usize| {
            let reads = now.map(|now| &all[now].reads);
            let is_read =
                reads.is_some_and(|reads| reads.iter().any(|read| read.statement == *index));
            is_read || now == Some(*index)
        };
        let most = ((room.height() + gap) / (name + vector + gap)) as usize;
        while own.len() > most.max(1) {
            let place = own.iter().rposition(|index| !is_asked(index));
            own.remove(place.unwrap_or(own.len() - 1));
        }
        let fixed = own.len() as f32 * (name + gap) - gap;
        let heights: Vec<f32> = own.iter().map(|index| tallest(*index)).collect();
        let free = room.height() - fixed;
        let shrunk = |share: f32| {
            let height = |height: &f32| height.min(vector.max(share * height));
            heights.iter().map(height).collect::<Vec<f32>>()
        };
        let shares = (0..=20).rev().map(|part| shrunk(part as f32 / 20.0));
        let mut fitting = shares.filter(|heights| heights.iter().sum::<f32>() <= free);
        let heights = fitting.next().unwrap_or_else(|| shrunk(0.0));
        let mut top = room.centre() - 0.5 * (fixed + heights.iter().sum::<f32>());
        for (statement, height) in own.into_iter().zip(heights) {
            let area = room.down(top, top + name + height);
            let parts: Vec<&Quantity> = self.quantities_of(statement).collect();
            let width = (room.width() + 4.0) / parts.len().max(1) as f32;
            let pictures = parts.into_iter().enumerate().map(|(index, own)| {
                let left = room.left + index as f32 * width;
                let area = area.across(left, left + width - 4.0);
                (own, area.down(top + name, top + name + height))
            });
            let pictures = pictures.collect();
            cards.push(Card {
                statement,
                area,
                pictures,
            });
            top += name + height + gap;
        }
    }

    fn quantities_of(&self, statement: usize) -> impl Iterator<Item = &'a Quantity> {
        let parts = &self.statements_of()[statement].parts;
        let all = self.seen.facts.quantities.iter();
        all.filter(|own| parts.contains(&own.part))
    }

    /// Paints the name of a card and the values of its quantities.
    fn card(&self, on: &mut Surface<'_>, card: &Card<'a>, places: &mut Vec<PlacedPanel<'a>>) {
        let (colours, own) = (self.page.colours, &self.statements_of()[card.statement]);
        let is_now = self.statement_now() == Some(card.statement);
        let symbols = card.pictures.iter().map(|(own, _)| own.array.symbol);
        // The same of each head, or several results.
        let is_same = symbols
            .clone()
            .all(|symbol| Some(symbol) == symbols.clone().next());
        let common = scale_of(&card.pictures, self.seen.shades[1]);
        if is_same {
            let heads = match (own.head, own.parts.len()) {
                ("", _) => String::new(),
                (head, 1) if own.has_namesake => head.to_owned(),
                (_, 1) => String::new(),
                (head, count) => format!("{head} 0–{}", count - 1),
            };
            let symbol = symbols.clone().next().unwrap_or_default();
            self.name_of(on, card.area, (own.name, symbol, &heads), common, is_now);
        }
        let is_marked = is_now && within(self.now.through, APPEAR) > 0.5;
        let changed = is_marked.then(|| own.most_changed(self.now.trace(), self.now.step));
        let changed = changed.flatten();
        for (part, (own, area)) in card.pictures.iter().enumerate() {
            let entry = changed
                .filter(|entry| entry.part == part)
                .map(|entry| entry.index);
            let mut scale = common;
            if !is_same {
                scale = own.scale(self.seen.shades[1]);
                let above = area.down(card.area.top, area.top);
                let [head, number, name] = of_head(own.array);
                let head = [head, number].concat();
                self.name_of(on, above, (name, own.array.symbol, &head), scale, is_now);
            }
            self.values(on, (card.statement, own, scale), *area, entry);
            self.outline(on, *area, is_now.then_some(colours.accent));
            let id = PanelId::new(Picture::Quantities).part(own.part).now();
            places.extend(self.seen.panel(id).map(|panel| panel.at(*area)));
        }
    }

    /// Writes name, symbol, heads and the end of the scale above pictures, as far as there is room.
    fn name_of(
        &self,
        on: &mut Surface<'_>,
        area: Area,
        (name, symbol, heads): (&str, &str, &str),
        scale: Scale,
        is_now: bool,
    ) {
        let colours = self.page.colours;
        let style = self.letters(11.5, colours.emphasis(is_now)).bold_if(is_now);
        let quiet = self.letters(10.0, colours.subdued);
        let y = area.top + self.size(8.0).max(5.0);
        let mut end = match scale {
            Scale::Signed(_) => format!("±{}", scale.end_texts()[1]),
            Scale::UpTo(_) => scale.end_texts()[1].clone(),
            _ => String::new(),
        };
        // Half of the room is for the name at least.
        if 2.0 * width_of(&end, &quiet) > area.width() {
            end.clear();
        }
        let mut right = area.right;
        if !end.is_empty() {
            right -= width_of(&end, &quiet) + 6.0;
            on.text(end, [area.right, y], quiet.end());
        }
        let room = right - area.left;
        // `controller hidden`, or `hidden` where there is no room for more.
        let last = name.rsplit('.').next().unwrap_or(name);
        let [whole, last] = [name, last].map(|own| own.replace(['.', '_'], " "));
        let name = if width_of(&whole, &style) <= room {
            whole
        } else {
            cut(&last, &style, room)
        };
        let mut left = area.left + width_of(&name, &style) + 6.0;
        let is_other = symbol != name;
        on.text(name, [area.left, y], style);
        for text in [if is_other { symbol } else { "" }, heads] {
            let width = width_of(text, &quiet);
            if !text.is_empty() && left + width <= right {
                on.text(text, [left, y], quiet);
                left += width + 6.0;
            }
        }
    }

    /// Paints the values of a quantity at the moment: those of the step before until its statement is computed.
    fn values(
        &self,
        on: &mut Surface<'_>,
        (statement, own, scale): (usize, &Quantity, Scale),
        area: Area,
        entry: Option<usize>,
    ) {
        let Some(series) = self.now.trace().series(Place::Machine, own.array) else {
            return;
        };
        let progress = self.now.progress(Stage::Statement(statement), None);
        let come = self.now.glide().unwrap_or(within(progress, APPEAR));
        let now = series.row(self.now.step);
        let before = before(self.now.trace(), own.array, self.now.step);
        let seen = between(0.45, 1.0, come);
        let value = |index: usize| {
            let before = before.get(index).copied().unwrap_or(0.0);
            between(before, now[index], come)
        };
        let colours = self.page.colours;
        on.rect(area, colours.well);
        if own.is_number() {
            let [low, high] = match scale {
                Scale::Signed(most) => [-most, most],
                Scale::UpTo(most) => [0.0, most],
                _ => [0.0, 1.0],
            };
            let x = |value: f32| {
                area.left + ((value - low) / (high - low)).clamp(0.0, 1.0) * area.width()
            };
            let [zero, end] = [x(0.0), x(value(0))];
            let ink = Ink::from(mix(colours.line, colours.subdued, 0.4)).faded(seen);
            on.rect(area.across(zero.min(end), zero.max(end)), ink);
            let style = self.letters(12.0, Ink::from(colours.strong).faded(seen));
            let text = numbers::short(value(0), 2);
            on.text(text, [area.left + 5.0, area.centre()], style.mono());
            return;
        }
        let [rows, columns] = match own.axes.len() {
            1 => [1, now.len()],
            _ => own.shape(),
        };
        // Never finer than can be seen.
        let shown = rows.min((area.height() / 2.0) as usize).max(1);
        let height = area.height() / shown as f32;
        for line in 0..shown {
            let first = line * rows / shown * columns;
            let top = area.top + line as f32 * height;
            let row = area.down(top, top + height);
            self.cells(on, row, columns, scale, |column| {
                (value(first + column), seen)
            });
        }
        let names = own.entry_names();
        let cell = area.width() / columns as f32;
        let (quiet, is_row) = (
            self.letters(9.5, colours.text).middle(),
            own.axes.len() == 1,
        );
        let fits = |name: &String| width_of(name, &quiet) + 4.0 <= cell;
        if is_row && names.iter().all(fits) && quiet.size <= area.height() {
            for (index, name) in names.iter().enumerate() {
                let ink = Ink::from(text_on(colours.of(scale, value(index)))).faded(seen);
                let x = area.left + (index as f32 + 0.5) * cell;
                on.text(name, [x, area.centre()], Style { ink, ..quiet });
            }
        }
        if let Some(index) = entry {
            let [row, column] = [index / columns, index % columns];
            let [width, height] = [area.width() / columns as f32, area.height() / rows as f32];
            let cell = Area::new(
                area.left + column as f32 * width,
                area.top + row as f32 * height,
                width.max(3.0),
                height.max(3.0),
            );
            edge(on, cell, colours.strong.into(), 1.4);
        }
    }

    /// Draws the ways from what statements read to what they make: of the present statement, or of all others.
    fn reads(&self, on: &mut Surface<'_>, cards: &[Card<'a>], are_now: bool) {
        let colours = self.page.colours;
        let now = self.statement_now();
        let shown = cards
            .iter()
            .filter(|card| (now == Some(card.statement)) == are_now);
        for card in shown {
            for read in &self.statements_of()[card.statement].reads {
                let from = cards.iter().find(|other| other.statement == read.statement);
                let Some(from) = from.filter(|_| are_now || !read.is_before) else {
                    continue;
                };
                let way = self.way(cards, from, card);
                if !are_now {
                    on.line(&way, colours.line, 1.2);
                    continue;
                }
                on.line(&way, colours.accent, 1.8);
                self.travel(on, &way);
                if read.is_before {
                    let style = self.letters(9.5, colours.accent);
                    let down = (way[0][1] - way[2][1]).signum() * 0.7 * style.size;
                    on.text("t−1", [way[0][0] + 2.0, way[0][1] + down], style);
                }
            }
        }
    }

    /// A dot that runs along the way of the present statement.
    fn travel(&self, on: &mut Surface<'_>, way: &[[f32; 2]]) {
        let share = within(self.now.through, ARRIVE);
        if share <= 0.0 || share >= 1.0 {
            return;
        }
        let length = |ends: &[[f32; 2]]| {
            let [from, to] = [ends[0], ends[1]];
            (to[0] - from[0]).hypot(to[1] - from[1])
        };
        let mut left = share * way.windows(2).map(length).sum::<f32>();
        let Some(ends) = way.windows(2).find(|ends| {
            left -= length(ends);
            left <= 0.0
        }) else {
            return;
        };
        let through = 1.0 + left / length(ends).max(f32::MIN_POSITIVE);
        let at = [0, 1].map(|axis| between(ends[0][axis], ends[1][axis], through));
        let half = self.size(4.0).max(2.5);
        let dot = Area::new(at[0] - half, at[1] - half, 2.0 * half, 2.0 * half);
        on.rect(dot, self.page.colours.accent);
    }

    /// The way from one card to another: through the room between the cards of each layer that it passes, to the right, or
    /// back to the same or an earlier one.
    fn way(&self, cards: &[Card<'a>], from: &Card<'_>, to: &Card<'_>) -> Vec<[f32; 2]> {
        let all = self.statements_of();
        let layer = |card: &Card<'_>| all[card.statement].layer;
        let is_back = layer(to) <= layer(from);
        let [start, end] = [
            [from.area.right, from.area.centre()],
            [to.area.left, to.area.centre()],
        ];
        let passed: Vec<usize> = if is_back {
            (layer(to)..=layer(from)).rev().collect()
        } else {
            (layer(from) + 1..layer(to)).collect()
        };
        let out = self.size(9.0).max(5.0);
        let mut way = vec![start];
        for at in passed {
            let own = || cards.iter().filter(|card| layer(card) == at);
            let Some(Area { left, right, .. }) = own().next().map(|card| card.area) else {
                continue;
            };
            let middle = 0.5 * (left + right);
            let share = (middle - start[0]) / (end[0] - start[0]);
            let y = self.room_near(own(), between(start[1], end[1], share.clamp(0.0, 1.0)));
            // Ways from one card stay together, those from others beside them.
            let beside = (from.statement + 1) as f32 / (all.len() + 1) as f32 - 0.5;
            let y = y + 0.6 * self.gap() * beside;
            if is_back {
                way.extend([[right + out, y], [left - out, y]]);
            } else {
                bend(&mut way, [left, y]);
                way.push([right, y]);
            }
        }
        if is_back {
            way.insert(1, [start[0] + out, start[1]]);
            way.extend([[end[0] - out, end[1]], end]);
        } else {
            bend(&mut way, end);
        }
        way
    }

    /// The middle of the room above, below or between the cards of a layer that is nearest to this height.
    fn room_near<'c>(&self, cards: impl Iterator<Item = &'c Card<'a>> + Clone, y: f32) -> f32
    where
        'a: 'c,
    {
        let half = 0.5 * self.gap();
        let rooms = cards.flat_map(|card| [card.area.top - half, card.area.bottom + half]);
        let nearest = rooms.min_by(|one, other| (one - y).abs().total_cmp(&(other - y).abs()));
        nearest.unwrap_or(y)
    }

    /// The height of the lines of equations, of which there are at most as many: of the equation, and of its numbers.
    fn line_rows(&self) -> [usize; 2] {
        let style = self.line_style();
        let all = self.statements_of().iter().map(|own| own.equation);
        let all = all.chain([self.now.trace().file_words().answer]);
        let widths = all.map(|line| width_of(line, &style));
        match widths.fold(0.0, f32::max) / self.line_room() {
            ..0.75 => [1, 1],
            0.75..1.0 => [1, 2],
            _ => [2, 2],
        }
    }

    fn line_style(&self) -> Style {
        self.letters(13.5, self.page.colours.text).mono().middle()
    }

    fn line_room(&self) -> f32 {
        self.plan.middle.width() + 2.0 * self.size(60.0)
    }

    fn lines_top(&self) -> f32 {
        let rows: usize = self.line_rows().iter().sum();
        let legend = self.size(30.0).max(21.0);
        self.plan.episode.top - legend - rows as f32 * 1.35 * self.line_style().size
    }

    /// The line of the present statement, and below it with the numbers of the entry that changes most.
    fn line(&self, on: &mut Surface<'_>, equation: &str, numbers: Option<String>) {
        let colours = self.page.colours;
        let (room, style) = (self.line_room(), self.line_style());
        let words: Vec<_> = equation.split_whitespace().collect();
        let mut y = self.lines_top() + 1.2 * style.size;
        let texts = [
            (words.join(" "), colours.strong),
            (numbers.unwrap_or_default(), colours.text),
        ];
        for ((text, ink), rows) in texts.into_iter().zip(self.line_rows()) {
            let style = Style {
                ink: ink.into(),
                ..style
            };
            let mut broken = lines(&text, &style, room);
            if broken.len() > rows {
                let rest = broken.split_off(rows - 1).join(" ");
                broken.push(cut(&rest, &style, room));
            }
            for line in broken {
                on.text(line, [self.plan.middle.middle(), y], style);
                y += 1.35 * style.size;
            }
        }
    }
}

/// Goes on in a bend to a place.
fn bend(way: &mut Vec<[f32; 2]>, [end, last]: [f32; 2]) {
    const POINTS: usize = 16;
    let Some([start, first]) = way.last().copied() else {
        return;
    };
    way.extend((1..=POINTS).map(|point| {
        let share = point as f32 / POINTS as f32;
        let bent = share * share * (3.0 - 2.0 * share);
        [start + share * (end - start), first + bent * (last - first)]
    }));
}

/// One scale for all quantities of a card: those of several heads are compared.
fn scale_of(pictures: &[(&Quantity, Area)], weighting: Scale) -> Scale {
    let scales = pictures.iter().map(|(own, _)| own.scale(weighting));
    let common = scales.reduce(|one, other| match (one, other) {
        (Scale::UpTo(a), Scale::UpTo(b)) => Scale::UpTo(a.max(b)),
        (Scale::Signed(a), Scale::Signed(b) | Scale::UpTo(b))
        | (Scale::UpTo(a), Scale::Signed(b)) => Scale::Signed(a.max(b)),
        (one @ (Scale::Signed(_) | Scale::UpTo(_)), _) => one,
        (_, other) => other,
    });
    common.unwrap_or(Scale::Bits)
}
