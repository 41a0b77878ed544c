//! A command in the making: its name and what of its arguments matters.

use super::names;
use super::replies::Told;
use super::subcommands;
use super::wait::Wait;
use crate::label::Label;
use crate::literal::Literals;
use crate::pipeline::Awaits;
use crate::{Salt, key};

/// Longer names, and longer arguments, are not read.
pub(super) const LONGEST: usize = 250;

/// What must be known of a command to read its reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Asked {
    /// One reply.
    One,
    /// So many confirmations, which may be pushed: of subscribing to channels, or of leaving them.
    Confirmations(u32),
}

/// Whether the server replies to a client (CLIENT REPLY).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Replies {
    #[default]
    On,
    Off,
    /// Not to the next command.
    Skip,
}

/// A command as far as it was read.
#[derive(Default)]
pub(super) struct Command {
    name: Option<&'static str>,
    subcommand: Option<&'static str>,
    /// ON, OFF or SKIP behind CLIENT REPLY.
    reply: Option<Replies>,
    arguments: u32,
    wait: Option<Wait>,
    pub literals: Literals,
}

impl Command {
    /// Takes the next word, of which the first is the name. `whole` is false if it is longer, or
    /// some of it was lost.
    pub(super) fn word(&mut self, word: &[u8], whole: bool, salt: &Salt) {
        self.arguments += 1;
        if let Some(wait) = &mut self.wait {
            wait.argument(whole.then_some(word));
        }
        match self.arguments {
            1 => {
                self.name = names::command(word).filter(|_| whole);
                self.wait = self.name.and_then(Wait::of);
            }
            2 if self.name.is_some_and(subcommands::has_subcommands) => {
                self.subcommand = subcommands::subcommand(word).filter(|_| whole);
            }
            _ if !whole => {}
            3 if (self.name, self.subcommand) == (Some("CLIENT"), Some("REPLY")) => {
                self.reply = reply(word);
            }
            // A password is no value to look for, not even hashed.
            _ if matches!(self.name, Some("AUTH" | "HELLO" | "ACL" | "CONFIG" | "MIGRATE")) => {}
            2 => key::literals(word, salt, &mut self.literals),
            _ => self.literals.add(salt, word),
        }
    }

    /// The name as messages have it.
    pub(super) fn kind(&self) -> &'static str {
        self.name.unwrap_or("(unknown)")
    }

    /// Its label.
    pub(super) fn label(&self, cx: &mut crate::context::Context<'_>) -> Label {
        let shared = &mut *cx.shared;
        shared.text.clear();
        shared.text.push_str(self.kind());
        if let Some(subcommand) = self.subcommand {
            shared.text.push(' ');
            shared.text.push_str(subcommand);
        }
        shared.labels.number(&shared.text)
    }

    /// For how long it may stand at the server by its client's wish; none if it asks for no wait.
    pub(super) fn may_wait_ns(&self) -> Option<i64> {
        self.wait.as_ref().and_then(Wait::ns)
    }

    /// What the server replies.
    pub(super) fn asked(&self) -> Asked {
        match self.name {
            // Without arguments all channels are left, and the first confirmation is the reply.
            Some(
                "SUBSCRIBE" | "PSUBSCRIBE" | "SSUBSCRIBE" | "UNSUBSCRIBE" | "PUNSUBSCRIBE"
                | "SUNSUBSCRIBE",
            ) => Asked::Confirmations((self.arguments - 1).max(1)),
            _ => Asked::One,
        }
    }

    /// What it says about replies from here on.
    pub(super) fn turns_replies(&self) -> Option<Replies> {
        self.reply
    }

    /// From here on the server sends its data to a replica.
    pub(super) fn replicates(&self) -> bool {
        matches!(self.name, Some("SYNC" | "PSYNC"))
    }
}

fn reply(word: &[u8]) -> Option<Replies> {
    let choices = [("ON", Replies::On), ("OFF", Replies::Off), ("SKIP", Replies::Skip)];
    let found = choices.into_iter().find(|it| word.eq_ignore_ascii_case(it.0.as_bytes()));
    found.map(|it| it.1)
}

impl Awaits for Asked {
    type Told = Told;

    fn takes(&self, told: &Told) -> bool {
        match (self, told) {
            (Self::Confirmations(_), Told::Confirmation | Told::Error) => true,
            (Self::Confirmations(_), _) | (Self::One, Told::Confirmation) => false,
            (Self::One, _) => true,
        }
    }

    fn is_confirmed(&self) -> bool {
        matches!(self, Self::Confirmations(_))
    }
}
