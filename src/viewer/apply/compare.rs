//! Two episodes: how the other one comes and goes.

use std::path::{Path, PathBuf};

use crate::figure;
use crate::io::trace;
use crate::viewer::command::Compare;
use crate::viewer::state::{
    Baseline, CompareResult, ComparedFigure, Context, Job, Kind, Machine, Open, OpenedFile, State,
    WindowLayout, file_name, shown_at,
};

impl State {
    /// Commands about two episodes.
    pub(super) fn compare(&mut self, about: Compare) {
        match about {
            Compare::With(path) => self.read(path, Self::receive_other),
            Compare::KeepAsA => self.keep_as_a(),
            Compare::WithNtm => self.compare_with_ntm(),
            Compare::Swap => self.swap_sides(),
            Compare::SameInput => {
                if let Some(baseline) = self.comparing.baseline.clone() {
                    let (machine, rows) = (self.session.request.machine, self.session.request.rows);
                    self.session.choose_same_episode_as(machine, &baseline.open);
                    self.session.request.rows = rows;
                    self.record();
                }
            }
            Compare::ToggleDifference => {
                // Asked for in another arrangement, it is shown.
                let on = self.layout() != WindowLayout::Compare;
                self.view.difference = on || !self.view.difference;
                self.show_both();
            }
            Compare::FirstDifference => self.go_to_first_difference(),
            Compare::Tolerance(tolerance) => {
                self.view.tolerance = tolerance;
                self.compare_now();
            }
            Compare::End => self.end_comparison(),
        }
    }

    fn show_both(&mut self) {
        if self.pair().is_some() && self.settings.layout != Some(WindowLayout::Compare) {
            self.view.before = self.settings.layout;
            self.settings.layout = Some(WindowLayout::Compare);
            self.welcome.shown = false;
        }
    }

    fn keep_as_a(&mut self) {
        if let Some(open) = self.session.open.clone() {
            self.comparing.keep(open, true);
            let text = "Kept as A. Change the machine, seed, length or a bit to get B.";
            self.toasts.add(Kind::Done, text);
        }
    }

    /// Takes the contents of a file to compare with.
    pub(super) fn receive_other(&mut self, path: PathBuf, other: OpenedFile) {
        match (other, self.session.open.clone()) {
            // With nothing to compare it with it is opened.
            (other, None) => self.open(path, other),
            (OpenedFile::Trace(open), Some(screen)) => self.take_b(&path, *open, &screen),
            (OpenedFile::Machine(machine), Some(screen)) => {
                self.take_machine(&path, *machine, screen);
            }
            (OpenedFile::Run(run), Some(screen)) => {
                self.take_machine(&path, run.machine(&path), screen);
            }
        }
    }

    fn take_b(&mut self, path: &Path, open: Open, screen: &Open) {
        let (a, b) = (&screen.shown.recording, &open.shown.recording);
        if !self.refuses(path, &trace::obstacles(a, b)) {
            let open = self.session.numbered(open);
            self.verify(path.to_owned(), open.shown.clone());
            self.comparing.keep(open, false);
            self.settings.opened(path.to_owned());
            self.compare_now();
        }
    }

    /// Another machine runs on the episode on screen, which becomes A.
    fn take_machine(&mut self, path: &Path, machine: Machine, screen: Open) {
        let trace = &screen.shown.recording.trace;
        let (inputs, outputs) = (machine.task.inputs(), machine.task.outputs());
        let sizes = [
            ("input", trace.input.width(), inputs),
            ("output", trace.output.width(), outputs),
        ];
        let unlike = sizes.iter().filter(|(_, a, b)| a != b);
        let unlike = unlike.map(|(what, a, b)| format!("{what} channels: {a} and {b}"));
        if self.refuses(path, &unlike.collect::<Vec<_>>()) {
            return;
        }
        self.settings.opened(path.to_owned());
        self.comparing.keep(screen, true);
        let index = self.session.add(machine);
        self.session.choose_same_episode(index);
        self.session.begin(self.pending.begin.rows, None);
        self.record();
    }

    /// The included Neural Turing Machine runs on the episode on screen, which becomes A.
    fn compare_with_ntm(&mut self) {
        if let (Ok(index), Some(screen)) = (self.session.ntm_beside(), self.session.open.clone()) {
            // The head that reads is in both.
            self.select_head(0);
            self.comparing.keep(screen, true);
            self.session.choose_same_episode(index);
            self.record();
        }
    }

    /// Says why two cannot be compared, if they cannot; everything stays as it is.
    fn refuses(&mut self, path: &Path, obstacles: &[String]) -> bool {
        if obstacles.is_empty() {
            return false;
        }
        let (name, sizes) = (file_name(path), obstacles.join("; "));
        let text = format!(
            "{name} cannot be compared with the episode on screen: {sizes}. Choose a trace of the same task."
        );
        self.toasts.add(Kind::Problem, text);
        true
    }

    /// Has both compared, unless that has been done.
    pub(super) fn compare_now(&mut self) {
        if self.session.open.is_some()
            && let Some((path, opened)) = self.comparing.waiting.take()
        {
            self.receive_other(path, opened);
            return;
        }
        if let Some(screen) = &self.session.open
            && let Some(sides) = self.comparing.due(screen, &self.view)
        {
            let work = async move |_: Context<'_>| Ok(sides.compare());
            self.start(Job::new("Comparing two episodes", work, Self::compared).awaited());
        }
    }

    /// Both have been compared.
    fn compared(&mut self, found: CompareResult) {
        self.comparing.found = Some(found);
        let pair = self.pair().filter(|pair| !pair.is_old);
        let found = pair.and_then(|pair| pair.found);
        let obstacles = found.map(|found| found.as_ref().err().cloned());
        match obstacles {
            Some(None) if std::mem::take(&mut self.comparing.is_new) => self.show_both(),
            Some(Some(sizes)) if self.layout() != WindowLayout::Compare => {
                let text = format!("A and B cannot be compared: {}.", sizes.join("; "));
                self.toasts.add(Kind::Notice, text);
            }
            Some(_) | None => {}
        }
        self.follow_learner();
    }

    fn swap_sides(&mut self) {
        let (is_pair, stays) = (self.pair().is_some(), self.shows_learner());
        let Some(mut baseline) = self.comparing.baseline.take_if(|_| is_pair) else {
            return;
        };
        // The run in training stays on screen, on either side: the other one is pinned.
        if stays {
            baseline.is_a = !baseline.is_a;
            self.comparing.baseline = Some(baseline);
            return self.compare_now();
        }
        let heads = self.head_names();
        let before = self.session.exchange(baseline.open);
        self.select_named_head(heads);
        self.comparing.baseline = before.map(|open| Baseline { open, ..baseline });
        self.opened(true);
    }

    fn go_to_first_difference(&mut self) {
        if let Some((step, stage, head)) = self.first_difference() {
            self.player.pause();
            self.player.seek(step);
            self.player.seek_stage(stage);
            head.into_iter().for_each(|head| self.select_head(head));
        }
    }

    pub(super) fn end_comparison(&mut self) {
        self.comparing.end();
        if self.settings.layout == Some(WindowLayout::Compare) {
            self.settings.layout = self.view.before.take();
        }
    }

    /// Ends the comparison if it is on screen.
    pub(super) fn leave_comparison(&mut self) -> bool {
        let here = self.layout() == WindowLayout::Compare;
        if here {
            self.end_comparison();
        }
        here
    }

    /// The pictures of both, if they are on screen.
    pub fn comparison_figure(&self, options: &figure::Options) -> Option<ComparedFigure> {
        let options = figure::Options {
            step: Some(self.player.step()),
            ..options.clone()
        };
        let (pair, focus) = (self.pair_on_screen()?, self.view.focus);
        let stage = shown_at(pair.screen, &self.player, focus);
        pair.picture(options, focus, stage)
    }
}
