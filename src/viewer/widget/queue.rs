//! The commands of a frame, in a queue of egui's context: any part of the window can add to it.

use egui::{Context, Id};

use super::super::command::Command;

fn queue<R>(ctx: &Context, with: impl FnOnce(&mut Vec<Command>) -> R) -> R {
    let id = Id::unique("commands");
    ctx.data_mut(|data| with(data.get_temp_mut_or_default(id)))
}

/// Adds a command to the queue.
pub fn send(ctx: &Context, command: impl Into<Command>) {
    let command = command.into();
    queue(ctx, |commands| commands.push(command));
}

/// Returns whether the queue has such a command.
pub fn is_sent(ctx: &Context, is_it: impl Fn(&Command) -> bool) -> bool {
    queue(ctx, |commands| commands.iter().any(is_it))
}

/// Takes the commands from the queue, in order.
pub fn take_commands(ctx: &Context) -> Vec<Command> {
    queue(ctx, std::mem::take)
}
