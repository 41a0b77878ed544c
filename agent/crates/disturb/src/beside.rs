//! A control group beside a server's, on the same PUs: where a neighbour lives that is another
//! virtual machine to it, and not a job in its own.

use crate::class::Preparation;
use crate::keeper::Held;
use crate::plan::{Cgroups, Planned};
use crate::undo::Undo;
use anyhow::{Context, Result, ensure};
use std::fs;
use std::path::{Path, PathBuf};

/// The usual weight, by version 1 and 2.
const SHARES: u64 = 1024;
const WEIGHT: u64 = 100;

/// Makes a neighbour's own groups, for CPU time and PUs only, of so many `times` the usual weight.
/// They are removed when what is held is dropped.
pub fn beside(
    planned: &Planned,
    preparation: &Preparation,
    times: u64,
) -> Result<(Vec<PathBuf>, Vec<Held>)> {
    let Cgroups { cpu, cpuset, unified, .. } = &planned.target.cgroups;
    let pus = planned.target.pus.as_deref().unwrap_or_default();
    let (mut folders, mut held) = (Vec::new(), Vec::new());
    let trees = [cpu, cpuset, unified].into_iter().flatten();
    for domain in trees {
        let folder = domain.with_file_name(format!("neighbour-{}", planned.what.id));
        held.push(preparation.keeper.hold(Undo::RemoveGroup(folder.clone()))?);
        fs::create_dir(&folder)
            .with_context(|| format!("cannot make the control group {}", folder.display()))?;
        fit_out(&folder, domain, pus, times)?;
        folders.push(folder);
    }
    ensure!(!folders.is_empty(), "a neighbour beside the domain needs the domain's control groups");
    Ok((folders, held))
}

/// Sets what the folder's version and controller have: weight, PUs, memory nodes.
fn fit_out(folder: &Path, domain: &Path, pus: &[usize], times: u64) -> Result<()> {
    let set = |name: &str, value: &str| {
        let file = folder.join(name);
        if !file.exists() {
            return Ok(());
        }
        fs::write(&file, value)
            .with_context(|| format!("{}: the kernel refuses '{value}'", file.display()))
    };
    set("cpu.shares", &(SHARES * times).to_string())?;
    set("cpu.weight", &(WEIGHT * times).to_string())?;
    for name in ["cpuset.mems", "cpuset.cpus"] {
        let domains = fs::read_to_string(domain.join(name)).unwrap_or_default();
        set(name, domains.trim())?;
    }
    if !pus.is_empty() {
        let list: Vec<String> = pus.iter().map(ToString::to_string).collect();
        set("cpuset.cpus", &list.join(","))?;
    }
    Ok(())
}
