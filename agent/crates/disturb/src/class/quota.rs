//! Quota: a limit on the domain's CPU time, as a container's or a small instance's.
//!
//! It is there from the preparation on, so wide that it holds nobody back, and narrowed at the
//! start: a domain that had no limit yet is not looked at for how often that held it back.

use crate::class::Preparation;
use crate::disturbance::{Disturbance, End};
use crate::keeper::{Held, Keeper};
use crate::plan::{Planned, Target};
use crate::undo::Undo;
use anyhow::{Context, Result, bail, ensure};
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::fs;
use std::path::{Path, PathBuf};
use tierlab_record::clock::realtime_ns;

/// Its keys.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Quota {
    /// CPU time that is left to the domain, in cores.
    #[serde(default = "a_tenth")]
    cores: f64,
}

fn a_tenth() -> f64 {
    0.1
}

/// The kernel refuses less.
const LEAST_US: u64 = 1_000;
/// Cores that no machine has.
const WIDE_CORES: f64 = 10_000.0;

struct Limited {
    // Before what it narrows.
    narrowed: Option<Held>,
    _widened: Held,
    file: PathBuf,
    wide: String,
    narrow: String,
    keeper: Keeper,
}

impl Quota {
    /// Gives the domain a limit that nobody feels.
    pub fn prepare(
        &self,
        planned: &Planned,
        preparation: &Preparation,
    ) -> Result<Box<dyn Disturbance>> {
        ensure!(self.cores > 0.0, "`cores` is {}; give more than 0", self.cores);
        let limit = LimitFile::of(&planned.target)?;
        let wide = limit.value(WIDE_CORES);
        let before = read(&limit.file)?;
        // An earlier one of the same plan may have widened it already.
        let before = if before == wide { limit.none() } else { before };
        let keeper = preparation.keeper.clone();
        let widened = keeper.hold(Undo::Write(limit.file.clone(), before.clone()))?;
        let wide = if before == limit.none() { wide } else { before };
        write(&limit.file, &wide)?;
        let (narrow, file) = (limit.value(self.cores), limit.file);
        Ok(Box::new(Limited { narrowed: None, _widened: widened, file, wide, narrow, keeper }))
    }
}

/// The file that has the limit.
struct LimitFile {
    file: PathBuf,
    /// Version 2 writes both into it.
    with_period: bool,
    period_us: f64,
}

impl LimitFile {
    fn of(target: &Target) -> Result<Self> {
        match (&target.cgroups.cpu, &target.cgroups.unified) {
            (Some(folder), _) => Ok(Self {
                file: folder.join("cpu.cfs_quota_us"),
                with_period: false,
                period_us: read(&folder.join("cpu.cfs_period_us"))?.parse()?,
            }),
            (None, Some(folder)) => {
                let file = folder.join("cpu.max");
                let text = read(&file)?;
                let period = text.split_whitespace().nth(1).context("cpu.max has no period")?;
                Ok(Self { period_us: period.parse()?, with_period: true, file })
            }
            (None, None) => bail!("it needs the domain's `cpu` control group"),
        }
    }

    /// As it is written for so many cores.
    fn value(&self, cores: f64) -> String {
        let quota_us = ((cores * self.period_us) as u64).max(LEAST_US);
        self.with_period(&quota_us.to_string())
    }

    /// As it reads where there is none.
    fn none(&self) -> String {
        self.with_period(if self.with_period { "max" } else { "-1" })
    }

    fn with_period(&self, quota: &str) -> String {
        match self.with_period {
            true => format!("{quota} {:.0}", self.period_us),
            false => quota.to_owned(),
        }
    }
}

fn read(file: &Path) -> Result<String> {
    let text =
        fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
    Ok(text.trim().to_owned())
}

fn write(file: &Path, value: &str) -> Result<()> {
    fs::write(file, value).with_context(|| format!("{}: '{value}' is refused", file.display()))
}

impl Disturbance for Limited {
    fn start(&mut self, _until_ns: i64) -> Result<i64> {
        let way_back = Undo::Write(self.file.clone(), self.wide.clone());
        self.narrowed = Some(self.keeper.hold(way_back)?);
        let start_ns = realtime_ns();
        write(&self.file, &self.narrow)?;
        Ok(start_ns)
    }

    fn end(&mut self) -> Result<End> {
        self.narrowed.take().map(Held::release).transpose()?;
        Ok(End::now(json!({})))
    }
}
