//! What to disturb, where and when: the plan file of `tierlab-agent disturb`.

use crate::class::Class;
use anyhow::{Context, Result, ensure};
use serde::{Deserialize, Deserializer, Serialize, de::Error};
use serde_json::{Map, Value};
use std::net::{Ipv4Addr, SocketAddrV4};
use std::path::{Path, PathBuf};
pub use tierlab_record::Cgroups;

/// The plan file. Times are nanoseconds, sizes bytes, rates bytes per second.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// In any order; they may overlap.
    pub disturbances: Vec<Planned>,
}

impl Plan {
    /// Reads and checks a plan file.
    pub fn read(path: &Path) -> Result<Self> {
        let text = std::fs::read(path)
            .with_context(|| format!("cannot read the plan {}", path.display()))?;
        let plan: Self = serde_json::from_slice(&text)
            .with_context(|| format!("{} is not a plan of disturbances", path.display()))?;
        for planned in &plan.disturbances {
            ensure!(
                planned.what.duration_ns > 0,
                "{}: disturbance {} has `duration_ns` {}; give a positive one",
                path.display(),
                planned.what.id,
                planned.what.duration_ns
            );
        }
        Ok(plan)
    }
}

/// One disturbance. In the file all keys lie on one level: those of [`Occasion`], those of
/// [`Target`], `class`, and the class's own, which are documented at each class.
#[derive(Debug)]
pub struct Planned {
    /// Its number, subject and times.
    pub what: Occasion,
    /// How to get at the subject.
    pub target: Target,
    /// What is done to it.
    pub class: Class,
}

/// A disturbance's number, subject and times.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Occasion {
    /// Tells it apart in the truth.
    pub id: u32,
    /// `web.1`, `app.1`, `lb.1`, `db.1` ...
    pub subject: String,
    /// When it starts (CLOCK_REALTIME).
    pub start_ns: i64,
    /// How long it goes on.
    pub duration_ns: i64,
}

impl Occasion {
    /// When it ends: never, if that is later than any time.
    pub fn end_ns(&self) -> i64 {
        self.start_ns.saturating_add(self.duration_ns)
    }
}

/// How to get at the subject. Each class needs some of it and says so if it is missing.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Target {
    /// The domain's control groups.
    pub cgroups: Cgroups,
    /// The server's processes, its main one first; for domains without control groups.
    pub pids: Vec<i32>,
    /// The PUs that the domain may use; null: all that this process may use.
    pub pus: Option<Vec<usize>>,
    /// Where the server listens.
    pub address: Option<Ipv4Addr>,
    /// Its TCP port.
    pub port: Option<u16>,
    /// The `Host` header of requests to it; address and port when null.
    pub host: Option<String>,
    /// What it speaks there: `http`, `ajp`, `fcgi`, `mysql`, `postgresql` ...
    pub protocol: Option<String>,
    /// Its UNIX socket, where it has one.
    pub socket: Option<PathBuf>,
    /// The domain's folder.
    pub folder: Option<PathBuf>,
}

const OCCASION: [&str; 4] = ["id", "subject", "start_ns", "duration_ns"];
const TARGET: [&str; 9] =
    ["cgroups", "pids", "pus", "address", "port", "host", "protocol", "socket", "folder"];

impl Target {
    /// Where the server listens, and what requests have as their `Host` header.
    pub fn site(&self) -> Result<(SocketAddrV4, String)> {
        let address = self.address.context("it needs the subject's `address`")?;
        let port = self.port.context("it needs the subject's `port`")?;
        let place = SocketAddrV4::new(address, port);
        Ok((place, self.host.clone().unwrap_or_else(|| place.to_string())))
    }
}

impl<'de> Deserialize<'de> for Planned {
    /// Flattening would let unknown keys pass: the keys of each part are taken out, and what is
    /// left is the class's, which refuses what it does not know.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut left = Map::deserialize(deserializer)?;
        let mut take = |keys: &[&str]| -> Value {
            keys.iter().filter_map(|key| left.remove_entry(*key)).collect::<Map<_, _>>().into()
        };
        let (what, target) = (take(&OCCASION), take(&TARGET));
        let named = |error: serde_json::Error| {
            let id = what.get("id").unwrap_or(&Value::Null);
            D::Error::custom(format!("disturbance {id}: {error}"))
        };
        Ok(Self {
            target: serde_json::from_value(target).map_err(named)?,
            class: serde_json::from_value(left.into()).map_err(named)?,
            what: serde_json::from_value(what.clone()).map_err(named)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn freeze() -> Value {
        json!({"id": 1, "class": "freeze", "subject": "db.1", "start_ns": 5, "duration_ns": 7,
               "cgroups": {"cpu": "/c"}, "pids": [12]})
    }

    #[test]
    fn all_keys_lie_on_one_level() {
        let planned: Planned = serde_json::from_value(freeze()).unwrap();
        assert_eq!((planned.what.id, planned.what.start_ns, planned.what.duration_ns), (1, 5, 7));
        assert_eq!(planned.target.cgroups.cpu.as_deref(), Some(Path::new("/c")));
        assert!(matches!(planned.class, Class::Freeze(_)));
    }

    #[test]
    fn a_key_that_no_part_knows_is_refused_by_name() {
        for (at, key) in [(None, "take"), (Some("cgroups"), "cpus")] {
            let mut plan = freeze();
            let place = if let Some(at) = at { &mut plan[at] } else { &mut plan };
            place[key] = json!(1);
            let error = serde_json::from_value::<Planned>(plan).unwrap_err().to_string();
            assert!(error.contains(key) && error.contains("disturbance 1"), "{error}");
        }
    }

    #[test]
    fn requests_call_a_server_by_its_name_or_by_its_place() {
        let mut plan = freeze();
        plan["address"] = json!("127.0.0.1");
        plan["port"] = json!(80);
        for (host, called) in [(json!(null), "127.0.0.1:80"), (json!("a.example"), "a.example")] {
            plan["host"] = host;
            let planned: Planned = serde_json::from_value(plan.clone()).unwrap();
            assert_eq!(planned.target.site().unwrap().1, called);
        }
    }

    #[test]
    fn a_disturbance_that_is_longer_than_time_goes_on_does_not_end_before_its_start() {
        let mut plan = freeze();
        for (duration_ns, end_ns) in [(7, 12), (i64::MAX, i64::MAX)] {
            plan["duration_ns"] = json!(duration_ns);
            let planned: Planned = serde_json::from_value(plan.clone()).unwrap();
            assert_eq!(planned.what.end_ns(), end_ns);
        }
    }

    #[test]
    fn a_missing_time_is_refused() {
        let mut plan = freeze();
        plan.as_object_mut().unwrap().remove("start_ns");
        let error = serde_json::from_value::<Planned>(plan).unwrap_err().to_string();
        assert!(error.contains("start_ns"), "{error}");
    }
}
