//! The binary protocol's commands (`protocol_binary.h` in memcached's sources).

pub(super) const STAT: u8 = 0x10;
pub(super) const QUITQ: u8 = 0x17;

const UNKNOWN: &str = "(unknown)";

/// By number: as the text protocol names them, with a `q` for those that keep quiet.
const NAMES: [&str; 0x25] = [
    "get",
    "set",
    "add",
    "replace",
    "delete",
    "incr",
    "decr",
    "quit", // 0x00
    "flush_all",
    "getq",
    "noop",
    "version",
    "getk",
    "getkq",
    "append",
    "prepend", // 0x08
    "stats",
    "setq",
    "addq",
    "replaceq",
    "deleteq",
    "incrq",
    "decrq",
    "quitq", // 0x10
    "flush_allq",
    "appendq",
    "prependq",
    "verbosity",
    "touch",
    "gat",
    "gatq",
    UNKNOWN, // 0x18
    "sasl list mechs",
    "sasl auth",
    "sasl step",
    "gatk",
    "gatkq", // 0x20
];

/// The command's name.
pub(super) fn name(opcode: u8) -> &'static str {
    NAMES.get(usize::from(opcode)).copied().unwrap_or(UNKNOWN)
}

/// True if there is such a command.
pub(super) fn is_known(opcode: u8) -> bool {
    name(opcode) != UNKNOWN
}

/// True if the server is silent where the outcome is the usual one: a miss, or success.
pub(super) fn is_quiet(opcode: u8) -> bool {
    is_known(opcode) && name(opcode).ends_with('q')
}

/// True if it asks for a value.
pub(super) fn is_get(opcode: u8) -> bool {
    name(opcode).starts_with('g')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stand_at_their_numbers() {
        for (opcode, expected) in [
            (0x00, "get"),
            (0x0a, "noop"),
            (STAT, "stats"),
            (QUITQ, "quitq"),
            (0x1c, "touch"),
            (0x20, "sasl list mechs"),
            (0x24, "gatkq"),
            (0x25, UNKNOWN),
            (0xff, UNKNOWN),
        ] {
            assert_eq!(name(opcode), expected);
        }
        let quiet: Vec<u8> = (0..=255).filter(|&opcode| is_quiet(opcode)).collect();
        let expected =
            [0x09, 0x0d, 0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18, 0x19, 0x1a, 0x1e, 0x24];
        assert_eq!(quiet, expected);
    }
}
