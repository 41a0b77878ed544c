//! From the plan's table names to running samplers.

use crate::cache;
use crate::counters::CountersSampler;
use crate::cpu::CpuSampler;
use crate::database;
use crate::disk::DiskSampler;
use crate::domain::DomainSampler;
use crate::listen::ListenSampler;
use crate::memory::MemorySampler;
use crate::net::NetSampler;
use crate::plan::{Plan, TableName};
use crate::polls::{Polls, Reading};
use crate::pressure::PressureSampler;
use crate::process::ProcessSampler;
use crate::roots::Roots;
use crate::sampler::{NotMeasured, Place, Running, Sampler, Task};
use crate::tally::Tallies;
use crate::tcp::TcpSampler;
use std::collections::BTreeMap;
use tierlab_record::{RecordError, Table};

/// The samplers that run, and why the others do not.
pub struct Samplers {
    /// In the order of the plan.
    pub running: Vec<Box<dyn Task>>,
    /// Absent tables and the reasons.
    pub absent: BTreeMap<String, String>,
    /// Where `busy` of the CPU table comes from.
    pub cpu_source: Option<&'static str>,
    tallies: Tallies,
}

impl Samplers {
    /// Opens the samplers of the plan's tables.
    pub fn open(plan: &Plan, roots: &Roots, place: Place<'_>) -> Result<Self, RecordError> {
        let mut samplers = Self {
            running: Vec::new(),
            absent: BTreeMap::new(),
            cpu_source: None,
            tallies: Tallies::default(),
        };
        for table in &plan.tables {
            samplers.open_one(*table, plan, roots, place)?;
        }
        Ok(samplers)
    }

    fn open_one(
        &mut self,
        table: TableName,
        plan: &Plan,
        roots: &Roots,
        place: Place<'_>,
    ) -> Result<(), RecordError> {
        let Tallies { faults, disk, drops } = self.tallies.clone();
        match table {
            TableName::Cpu => {
                let sampler = CpuSampler::open(roots, plan.cpu_source);
                self.cpu_source = sampler.as_ref().ok().map(CpuSampler::source);
                self.start(sampler, place)
            }
            TableName::Memory => self.start(MemorySampler::open(roots, &faults), place),
            TableName::Disk => self.start(DiskSampler::open(roots, &disk), place),
            TableName::Net => self.start(NetSampler::open(roots), place),
            TableName::Tcp => self.start(TcpSampler::open(roots, &drops), place),
            TableName::Listen => self.start(ListenSampler::open(&plan.listen, &drops), place),
            TableName::Pressure => self.start(PressureSampler::open(roots, &plan.subjects), place),
            TableName::Process => self.start(ProcessSampler::open(roots, plan), place),
            TableName::Domain => {
                self.start(DomainSampler::open(roots, &plan.subjects, &self.tallies), place)
            }
            TableName::Counters => {
                self.start(CountersSampler::open(roots, &plan.events, &plan.subjects), place)
            }
            TableName::Database => {
                self.polled(database::start(plan, place)?);
                Ok(())
            }
            TableName::Cache => {
                self.polled(cache::start(plan, place)?);
                Ok(())
            }
        }
    }

    fn polled<R: Reading>(&mut self, polls: Result<Polls<R>, NotMeasured>) {
        match polls {
            Ok(polls) => self.running.push(Box::new(polls)),
            Err(NotMeasured(reason)) => {
                self.absent.insert(R::Table::NAME.to_owned(), reason);
            }
        }
    }

    fn start<S: Sampler + 'static>(
        &mut self,
        sampler: Result<S, NotMeasured>,
        place: Place<'_>,
    ) -> Result<(), RecordError> {
        match sampler {
            Ok(sampler) => self.running.push(Box::new(Running::start(sampler, place)?)),
            Err(NotMeasured(reason)) => {
                self.absent.insert(S::Table::NAME.to_owned(), reason);
            }
        }
        Ok(())
    }

    /// Absent tables and columns (`table.column`), each with the reason.
    pub fn not_measured(&self) -> BTreeMap<String, String> {
        let columns = self.running.iter().flat_map(|task| {
            let missing = task.missing_columns().into_iter();
            missing.map(|(column, reason)| (format!("{}.{column}", task.name()), reason))
        });
        columns.chain(self.absent.clone()).collect()
    }
}
