//! The statements that a connection has prepared.

use super::fields::Fields;
use super::reply::Prepared;
use super::values::Layout;
use crate::Salt;
use crate::label::Label;
use crate::literal::Literals;
use crate::memory::{of_map, of_queue};
use foldhash::fast::RandomState;
use std::collections::HashMap;
use std::collections::VecDeque;

/// More than this many are not remembered (MariaDB's max_prepared_stmt_count is 16,382).
const MOST: usize = 16_384;

/// MariaDB's number for the statement that was prepared last.
const LAST: u32 = u32::MAX;

/// The numbers of the commands that change what is known of a statement.
const SEND_LONG_DATA: u8 = 0x18;
const CLOSE: u8 = 0x19;
const RESET: u8 = 0x1a;
const RESET_CONNECTION: u8 = 0x1f;

struct Statement {
    label: Label,
    layout: Layout,
}

/// Prepared statements by number, and those whose number is not told yet.
#[derive(Default)]
pub(super) struct Statements {
    known: HashMap<u32, Statement, RandomState>,
    asked: VecDeque<Label>,
    last: Option<Label>,
    /// What the known ones' layouts take beside themselves.
    layout_bytes: usize,
}

impl Statements {
    /// The client asked to prepare a statement with this digest.
    pub(super) fn asked(&mut self, label: Label) {
        self.last = Some(label);
        if self.asked.len() < MOST {
            self.asked.push_back(label);
        }
    }

    /// The server answered: with the statement's number, or not.
    pub(super) fn answered(&mut self, prepared: Option<Prepared>) {
        let (Some(label), Some(Prepared { number, parameters })) =
            (self.asked.pop_front(), prepared)
        else {
            return;
        };
        if self.known.len() < MOST {
            let statement = Statement { label, layout: Layout::new(parameters) };
            let before = self.known.insert(number, statement);
            self.forgot(before);
        }
    }

    /// What is remembered of them, beside this itself.
    pub(super) fn held_bytes(&self) -> usize {
        of_map(&self.known) + of_queue(&self.asked) + self.layout_bytes
    }

    fn forgot(&mut self, statement: Option<Statement>) {
        self.layout_bytes -= statement.map_or(0, |it| it.layout.held_bytes());
    }

    /// Answers were lost: which was whose cannot be told.
    pub(super) fn forget_asked(&mut self) {
        self.asked.clear();
    }

    /// Takes note of any command. `payload` begins after its number.
    pub(super) fn commanded(&mut self, command: u8, payload: &[u8]) {
        if command == RESET_CONNECTION {
            return self.forget_known();
        }
        let mut fields = Fields(payload);
        let Some(number) = fields.integer(4) else { return };
        let number = number as u32;
        match command {
            CLOSE => {
                let closed = self.known.remove(&number);
                self.forgot(closed);
            }
            RESET => self.layout(number, Layout::reset),
            SEND_LONG_DATA => {
                if let Some(parameter) = fields.integer(2) {
                    self.layout(number, |layout| layout.sent(parameter as u16));
                }
            }
            _ => {}
        }
    }

    fn layout(&mut self, number: u32, change: impl FnOnce(&mut Layout)) {
        if let Some(statement) = self.known.get_mut(&number) {
            self.layout_bytes -= statement.layout.held_bytes();
            change(&mut statement.layout);
            self.layout_bytes += statement.layout.held_bytes();
        }
    }

    pub(super) fn clear(&mut self) {
        self.forget_known();
        self.asked.clear();
    }

    fn forget_known(&mut self) {
        self.known.clear();
        self.layout_bytes = 0;
    }

    /// The digest of the statement that an execution names, if its preparation was seen. `payload`
    /// begins after the command's number.
    pub(super) fn label(&self, payload: &[u8]) -> Option<Label> {
        match Fields(payload).integer(4)? as u32 {
            LAST => self.last,
            number => self.known.get(&number).map(|statement| statement.label),
        }
    }

    /// Adds the values of a COM_STMT_EXECUTE to `literals`.
    pub(super) fn values(
        &mut self,
        payload: &[u8],
        salt: &Salt,
        scratch: &mut Vec<u8>,
        literals: &mut Literals,
    ) {
        let mut fields = Fields(payload);
        let Some(number) = fields.integer(4) else { return };
        self.layout(number as u32, |layout| {
            super::values::bound(fields, layout, salt, scratch, literals);
            layout.reset();
        });
    }
}
