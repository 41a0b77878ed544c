//! The statements that a connection has prepared, and the portals that it has bound.

use super::message::Fields;
use super::values;
use crate::Salt;
use crate::label::Label;
use crate::literal::Literals;
use crate::memory::of_map;
use crate::sql::{Digest, Recent};
use foldhash::fast::RandomState;
use std::collections::HashMap;
use std::hash::BuildHasher;

/// More than this many are not remembered.
const MOST: usize = 16_384;

/// What a Parse names that a Bind needs.
struct Statement {
    label: Label,
    /// What its text carried is the first execution's: a text with somebody's id in it is no other's.
    digest: Option<Digest>,
}

/// What an Execute runs.
#[derive(Clone, Copy)]
pub(super) struct Portal {
    pub label: Label,
    pub digest: Digest,
}

/// Statements and portals by the hash of their name; that of the unnamed ones is empty.
#[derive(Default)]
pub(super) struct Statements {
    hasher: RandomState,
    known: HashMap<u64, Statement, RandomState>,
    portals: HashMap<u64, Portal, RandomState>,
}

impl Statements {
    /// A Parse: its name is followed by its text.
    pub(super) fn parsed(&mut self, name: &[u8], recent: Recent) {
        let name = self.hasher.hash_one(name);
        if self.known.len() >= MOST {
            self.known.clear();
        }
        let statement = Statement { label: recent.label, digest: Some(recent.digest) };
        self.known.insert(name, statement);
    }

    /// A Bind makes a portal of a statement and values. One whose end was lost has fewer of them.
    pub(super) fn bound(&mut self, payload: &[u8], salt: &Salt, scratch: &mut Vec<u8>) {
        let mut fields = Fields(payload);
        let (Some(portal), Some(statement)) = (fields.text(), fields.text()) else {
            // It may be any portal that is another now.
            return self.portals.clear();
        };
        let portal = self.hasher.hash_one(portal);
        let Some(statement) = self.known.get_mut(&self.hasher.hash_one(statement)) else {
            // Its Parse went by unseen: so did what an older portal of this name stood for.
            self.portals.remove(&portal);
            return;
        };
        let text = statement.digest.take().unwrap_or_default();
        let mut literals = Literals::default();
        // A Bind that ends early leaves the rest unknown.
        let _ = values::bound(fields, salt, scratch, &mut literals);
        literals.append(&text.literals);
        let digest = Digest { id_hash: text.id_hash, literals };
        if self.portals.len() >= MOST {
            self.portals.clear();
        }
        self.portals.insert(portal, Portal { label: statement.label, digest });
    }

    /// What an Execute of this portal runs, if that was seen.
    pub(super) fn portal(&self, name: &[u8]) -> Option<Portal> {
        self.portals.get(&self.hasher.hash_one(name)).copied()
    }

    /// A Close of a statement or a portal.
    pub(super) fn closed(&mut self, payload: &[u8]) {
        let mut fields = Fields(payload);
        let (Some(kind), Some(name)) = (fields.byte(), fields.text()) else { return };
        let name = self.hasher.hash_one(name);
        if kind == b'S' {
            self.known.remove(&name);
        } else {
            self.portals.remove(&name);
        }
    }

    /// Requests were lost: what was bound, and the unnamed statement, may be others now.
    pub(super) fn lost(&mut self) {
        self.known.remove(&self.hasher.hash_one(&b""[..]));
        self.portals.clear();
    }

    /// What is remembered of them, beside this itself.
    pub(super) fn held_bytes(&self) -> usize {
        of_map(&self.known) + of_map(&self.portals)
    }
}
