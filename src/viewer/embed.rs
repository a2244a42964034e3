//! A frame inside another page: what that page asks for, and the name of the stage that it is told.

use super::command::{Command, Play, ViewCommand};
use super::state::{Parts, State};
use crate::figure::facts::stages::StageRef;
use crate::figure::head_named;

impl State {
    /// The name of the stage on screen; empty after a step, and while whole steps are shown.
    pub fn stage_name(&self) -> String {
        let open = self.session.open.as_ref();
        let open = open.filter(|_| !self.player.whole_steps());
        let stage = open.map(|open| open.facts.stages.at(self.player.stage()));
        stage.map_or_else(String::new, StageRef::name)
    }

    /// Returns the command that shows parts by their names, separated by commas; all where the text is empty.
    ///
    /// # Errors
    /// A sentence that names what is not known or not there, and what is.
    pub fn parts_asked_for(&self, names: &str) -> Result<Command, String> {
        if names.is_empty() {
            return Ok(Command::Parts(None));
        }
        if !self.embedded {
            return Err(format!(
                "parts={names}; the link of this page needs embed=1."
            ));
        }
        let parts = Parts::parse(names)?;
        let open = self.session.open.as_ref();
        open.map_or(Ok(()), |open| parts.check(open))?;
        Ok(Command::Parts(Some(parts)))
    }

    /// The commands that show a step, a stage of it by its name or else its end, and a head by its label, and play or pause.
    pub fn asked_for(
        &self,
        step: Option<usize>,
        stage: Option<&str>,
        head: Option<&str>,
        plays: Option<bool>,
    ) -> Vec<Command> {
        let mut commands: Vec<Command> = Vec::new();
        let head = head.and_then(|label| head_named(self.trace()?, label));
        commands.extend(head.map(|head| ViewCommand::Focus(head).into()));
        commands.extend(step.map(|step| Play::Seek(step).into()));
        let stages = self.session.open.as_ref().map(|open| &open.facts.stages);
        let named = |name: &str| stages?.iter().position(|stage| stage.name() == name);
        let stage = stage.and_then(named).map(Play::SeekStage);
        let shown = stage.or(step.map(|_| Play::StepEnd));
        commands.extend(shown.map(Command::from));
        let turns = plays.filter(|plays| *plays != self.player.playing());
        commands.extend(turns.map(|_| Play::Toggle.into()));
        commands
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::viewer::fixture::{config, copying, machine};
    use crate::viewer::state::{Settings, StartOptions};

    #[test]
    fn a_page_around_asks_for_a_step_a_stage_and_a_head_that_there_are() {
        let begin = StartOptions {
            embed: true,
            ..StartOptions::default()
        };
        let machines = vec![machine(config(), copying(2..=2))];
        let state = State::new(machines, Some(1), Settings::default(), begin, None);
        assert!(state.embedded && state.presenting && !state.pending.play);
        assert_eq!(state.stage_name(), "");
        let seek = Command::from(Play::Seek(3));
        let asked = state.asked_for(Some(3), Some("content"), Some("R9"), Some(false));
        let end = Command::from(Play::StepEnd);
        assert_eq!(asked, [seek.clone(), end.clone()], "nothing is open");
        let plays = state.asked_for(Some(3), None, None, Some(true));
        assert_eq!(plays, [seek, end, Play::Toggle.into()]);
        let unknown = state.parts_asked_for("notes").unwrap_err();
        assert!(unknown.starts_with("parts=notes; the parts are input, "));
        assert_eq!(state.parts_asked_for(""), Ok(Command::Parts(None)));
        let parts = Parts::parse("memory,player").ok();
        assert_eq!(
            state.parts_asked_for("memory,player"),
            Ok(Command::Parts(parts))
        );
    }
}
