//! Messages: each leaves after a while; those of errors are counted until the list of messages is opened.

/// Duration of a success notification, in seconds.
const SECONDS: f32 = 4.0;
/// Duration of a notice, in seconds.
const NOTICE_SECONDS: f32 = 12.0;
/// Duration of an error, in seconds: after that the status line counts it.
const PROBLEM_SECONDS: f32 = 15.0;
/// Older messages give way beyond this number.
const MOST: usize = 2;
/// Messages remembered.
const MOST_SAID: usize = 100;
/// The kind of a notification.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Something was done.
    Done,
    /// Something was done, and there is something to know about it.
    Notice,
    /// Something could not be done.
    Problem,
}

/// A message.
#[derive(Clone, Debug)]
pub struct Toast {
    /// Tells it from others.
    pub id: u64,
    /// The kind.
    pub kind: Kind,
    /// The words.
    pub text: String,
    /// The subject, where a newer message about it replaces this one.
    subject: Option<&'static str>,
    /// Remaining time, in seconds.
    left: f32,
}

/// All messages on screen.
#[derive(Clone, Debug, Default)]
pub struct Toasts {
    /// The notifications on screen, oldest first.
    pub shown: Vec<Toast>,
    /// All that was said, oldest first.
    said: Vec<(Kind, String)>,
    /// Number of problems since the messages were last opened.
    pub problems: usize,
    /// True while the pointer is on a message: it stays until time passes next.
    pub held: bool,
    next: u64,
}

impl Toasts {
    /// Adds a message.
    pub fn add(&mut self, kind: Kind, text: impl Into<String>) {
        let text = text.into();
        self.next += 1;
        self.said.push((kind, text.clone()));
        self.problems += usize::from(kind == Kind::Problem);
        if self.said.len() > MOST_SAID {
            self.said.remove(0);
        }
        // Who says the same again says it once, and last.
        self.shown
            .retain(|toast| (toast.kind, &toast.text) != (kind, &text));
        self.shown.push(Toast {
            id: self.next,
            kind,
            text,
            subject: None,
            left: match kind {
                Kind::Done => SECONDS,
                Kind::Notice => NOTICE_SECONDS,
                Kind::Problem => PROBLEM_SECONDS,
            },
        });
        while self.shown.len() > MOST {
            // Problems outlive notices, but the newest message is always shown.
            let older = &self.shown[..self.shown.len() - 1];
            let done = older.iter().position(|toast| toast.kind == Kind::Done);
            self.shown.remove(done.unwrap_or(0));
        }
    }

    /// Adds a success message in the place of the one about the same subject.
    pub fn update(&mut self, subject: &'static str, text: String) {
        self.withdraw(subject);
        self.add(Kind::Done, text);
        if let Some(toast) = self.shown.last_mut() {
            toast.subject = Some(subject);
        }
    }

    /// Removes the message about a subject: it is no longer true.
    pub fn withdraw(&mut self, subject: &'static str) {
        self.shown.retain(|toast| toast.subject != Some(subject));
    }

    /// Lets time pass.
    pub fn advance(&mut self, seconds: f32) {
        if std::mem::take(&mut self.held) {
            return;
        }
        for toast in &mut self.shown {
            toast.left -= seconds;
        }
        self.shown.retain(|toast| toast.left > 0.0);
    }

    /// All that was said, the newest first.
    pub fn history(&self) -> impl Iterator<Item = &(Kind, String)> {
        self.said.iter().rev()
    }

    /// Returns the seconds until a notification expires, if one does.
    pub fn next_change_in(&self) -> Option<f64> {
        let left = self.shown.iter().map(|toast| f64::from(toast.left));
        left.min_by(f64::total_cmp)
    }
}

impl Kind {
    /// In a word or two.
    pub fn mark(self) -> &'static str {
        match self {
            Self::Done => "Done",
            Self::Notice => "Note",
            Self::Problem => "Problem",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_newer_message_replaces_the_one_about_its_subject() {
        let mut toasts = Toasts::default();
        toasts.add(Kind::Notice, "a notice");
        toasts.update("speed", "4 steps per second".to_owned());
        toasts.update("speed", "1 step per second".to_owned());
        let texts = |toasts: &Toasts| -> Vec<_> {
            toasts
                .shown
                .iter()
                .map(|toast| toast.text.clone())
                .collect()
        };
        assert_eq!(texts(&toasts), ["a notice", "1 step per second"]);
        toasts.withdraw("speed");
        assert_eq!(texts(&toasts), ["a notice"]);
    }
}
