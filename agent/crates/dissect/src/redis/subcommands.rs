//! The subcommands that there are. What is none of them is not kept: it may be anything.

use super::names::find;

/// Of any command that has some, in alphabetical order.
const SUBCOMMANDS: [&str; 98] = [
    "ADDSLOTS",
    "BUMPEPOCH",
    "CACHING",
    "CAT",
    "CHANNELS",
    "CONSUMERS",
    "COUNT",
    "COUNTKEYSINSLOT",
    "CREATE",
    "CREATECONSUMER",
    "DEL",
    "DELCONSUMER",
    "DELETE",
    "DELUSER",
    "DESTROY",
    "DOCS",
    "DOCTOR",
    "DRYRUN",
    "DUMP",
    "ENCODING",
    "EXISTS",
    "FAILOVER",
    "FLUSH",
    "FLUSHSLOTS",
    "FORGET",
    "FREQ",
    "FULL",
    "GENPASS",
    "GET",
    "GETKEYS",
    "GETKEYSANDFLAGS",
    "GETKEYSINSLOT",
    "GETNAME",
    "GETREDIR",
    "GETUSER",
    "GRAPH",
    "GROUPS",
    "HELP",
    "HISTOGRAM",
    "HISTORY",
    "ID",
    "IDLETIME",
    "INFO",
    "KEYSLOT",
    "KILL",
    "LATEST",
    "LEN",
    "LINKS",
    "LIST",
    "LOAD",
    "LOADEX",
    "LOG",
    "MALLOC-STATS",
    "MEET",
    "MEMORY",
    "MYID",
    "MYSHARDID",
    "NO-EVICT",
    "NO-TOUCH",
    "NODES",
    "NUMPAT",
    "NUMSUB",
    "PAUSE",
    "PURGE",
    "READ",
    "REFCOUNT",
    "REPLICAS",
    "REPLICATE",
    "REPLY",
    "RESET",
    "RESETSTAT",
    "RESTORE",
    "REWRITE",
    "SAVE",
    "SAVECONFIG",
    "SEGFAULT",
    "SET",
    "SETID",
    "SETINFO",
    "SETNAME",
    "SETSLOT",
    "SETUSER",
    "SHARDCHANNELS",
    "SHARDNUMSUB",
    "SHARDS",
    "SLAVES",
    "SLEEP",
    "SLOTS",
    "STATS",
    "STREAM",
    "TRACKING",
    "TRACKINGINFO",
    "UNBLOCK",
    "UNLOAD",
    "UNPAUSE",
    "USAGE",
    "USERS",
    "WHOAMI",
];

/// Commands of which the next word tells what they do.
const CONTAINERS: [&str; 20] = [
    "ACL",
    "CLIENT",
    "CLUSTER",
    "COMMAND",
    "CONFIG",
    "DEBUG",
    "FT.CONFIG",
    "FT.CURSOR",
    "FUNCTION",
    "JSON.DEBUG",
    "LATENCY",
    "MEMORY",
    "MODULE",
    "OBJECT",
    "PUBSUB",
    "SCRIPT",
    "SENTINEL",
    "SLOWLOG",
    "XGROUP",
    "XINFO",
];

/// The subcommand with this name, in any case.
pub(super) fn subcommand(word: &[u8]) -> Option<&'static str> {
    find(&SUBCOMMANDS, word)
}

/// True if the next word tells what the command does.
pub(super) fn has_subcommands(command: &str) -> bool {
    CONTAINERS.contains(&command)
}

#[cfg(test)]
mod tests {
    use super::super::names::{LONGEST, command};
    use super::*;

    #[test]
    fn names_are_in_order_and_found_in_any_case() {
        assert!(SUBCOMMANDS.is_sorted() && SUBCOMMANDS.iter().all(|name| name.len() <= LONGEST));
        assert_eq!(subcommand(b"Set"), Some("SET"));
        for container in CONTAINERS {
            assert_eq!(command(container.as_bytes()), Some(container));
        }
    }
}
