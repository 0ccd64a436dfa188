//! Canonical texts: the same runs always give the same bytes, so that their hash names them.

use fabric::routing::{RoutingSpec, TableSource, TablesSpec};
use fabric::spec::{
    Engine, FastForward, JobSpec, Links, NicSpec, ObserveSpec, OutagesSpec, PartitionSpec, RouterSpec, RunControl,
    RunSpec, Work,
};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use study::user_file::hash_bytes;
use topo::bill::CostSpec;
use topo::{FailSpec, GraphFormat, GraphSpec, TopologySpec};
use work::memory::spec::{AccessPattern, Memory};

/// A run as JSON on one line: fields in a fixed order, all defaults written out, times in ps, sizes in bytes, bandwidths in
/// bits per second. Reading it back gives an equal [`RunSpec`].
pub fn canonical(run: &RunSpec) -> String {
    to_json(run)
}

/// The run of such a text.
///
/// # Errors
/// Says in words why the text is none.
pub fn run_of_canonical(text: &str) -> Result<RunSpec, String> {
    serde_json::from_str(text).map_err(|error| error.to_string())
}

/// SHA-256 of a text, in hexadecimal.
pub fn hash(text: &str) -> String {
    hash_bytes(text.as_bytes())
}

/// What a run is named by: the SHA-256 of its specification without what never changes a result, in hexadecimal.
pub fn run_hash(run: &RunSpec) -> String {
    // The engine, its workers, what they share out and what is not run never change a result, so they are no part of its name; what is estimated does.
    let mut named = run.clone();
    named.control.engine = Engine::Auto;
    named.control.workers = 0;
    named.control.partition = PartitionSpec::Auto;
    if named.control.fast_forward != FastForward::Statistical {
        named.control.fast_forward = FastForward::Exact;
    }
    // A network from a file is named by what the file says, not by where it lies.
    if let TopologySpec::Graph(GraphSpec {
        file,
        text: None,
        format,
        ..
    }) = &mut named.topology
        && *format != GraphFormat::BuiltIn
        && let Ok(text) = std::fs::read_to_string(&*file)
    {
        *file = format!("sha256:{}", hash(&text));
    }
    // So are forwarding tables and what tells a torus, whose digests the specification has.
    match &mut named.routing {
        RoutingSpec::Table(TablesSpec {
            source: TableSource::File(file),
            ..
        })
        | RoutingSpec::Torus2Qos(TablesSpec {
            source: TableSource::Engine { torus: Some(file), .. },
            ..
        }) => file.path.clear(),
        _ => {}
    }
    // And traces.
    for job in &mut named.jobs {
        match &mut job.work {
            Work::Memory(Memory {
                pattern: AccessPattern::Trace(trace),
                ..
            }) => trace.files.iter_mut().for_each(|file| file.path.clear()),
            Work::Ranks(ranks) => ranks.parts.iter_mut().for_each(|part| part.motif.forget_places()),
            _ => {}
        }
    }
    hash(&canonical(&named))
}

/// The runs of a canonical study text, as [`canonical_study`] wrote them.
///
/// # Errors
/// Says in words why the text is not a canonical study.
pub fn runs_of_canonical(text: &str) -> Result<Vec<RunSpec>, String> {
    let study: CanonicalStudy = serde_json::from_str(text).map_err(|error| error.to_string())?;
    if study.format != FORMAT {
        return Err(format!(
            "format {} is not known, this version reads {FORMAT}",
            study.format
        ));
    }
    study.expand()
}

/// All runs of a study as JSON on one line; parts that runs share stand there once.
pub(crate) fn canonical_study(name: &str, description: &str, runs: &[RunSpec]) -> String {
    let mut study = CanonicalStudy {
        format: FORMAT,
        name: name.to_owned(),
        description: description.to_owned(),
        ..CanonicalStudy::default()
    };
    let mut places = Places::default();
    for run in runs {
        let parts = [
            places.topologies.place(&run.topology, &mut study.topologies),
            places.links.place(&run.links, &mut study.links),
            places.routers.place(&run.router, &mut study.routers),
            places.routings.place(&run.routing, &mut study.routings),
            places.nics.place(&run.nic, &mut study.nics),
            places.jobs.place(&run.jobs, &mut study.jobs),
            places.observes.place(&run.observe, &mut study.observes),
        ];
        let mut control = run.control.clone();
        let map = match std::mem::take(&mut control.partition) {
            PartitionSpec::Map(map) => Some(places.maps.place(&map, &mut study.maps)),
            named => {
                control.partition = named;
                None
            }
        };
        let cost = run.cost.as_ref().map(|cost| places.costs.place(cost, &mut study.costs));
        let fail = Some(&run.fail).filter(|fail| !fail.is_empty());
        let fail = fail.map(|fail| places.fails.place(fail, &mut study.fails));
        let outages = Some(&run.outages).filter(|outages| !outages.is_empty());
        let outages = outages.map(|outages| places.outages.place(outages, &mut study.outages));
        study.runs.push(CanonicalRun {
            experiment: run.experiment.clone(),
            sweep: run.sweep.clone(),
            parts,
            map,
            cost,
            fail,
            outages,
            control,
        });
    }
    to_json(&study)
}

/// Version of the canonical study text.
const FORMAT: u32 = 1;

#[derive(Default, Serialize, Deserialize)]
struct CanonicalStudy {
    format: u32,
    name: String,
    description: String,
    topologies: Vec<TopologySpec>,
    links: Vec<Links>,
    routers: Vec<RouterSpec>,
    routings: Vec<RoutingSpec>,
    nics: Vec<NicSpec>,
    jobs: Vec<Vec<JobSpec>>,
    observes: Vec<ObserveSpec>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    maps: Vec<Arc<[u32]>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    costs: Vec<CostSpec>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    fails: Vec<FailSpec>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    outages: Vec<OutagesSpec>,
    runs: Vec<CanonicalRun>,
}

/// A run as positions in the lists of its study.
#[derive(Serialize, Deserialize)]
struct CanonicalRun {
    experiment: String,
    sweep: Vec<(String, String)>,
    /// Topology, links, router, routing, nic, jobs, observe.
    parts: [usize; 7],
    /// The map of `control.partition`, which is the default here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    map: Option<usize>,
    /// Prices, powers and racks, if it has them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cost: Option<usize>,
    /// What has failed, if anything has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    fail: Option<usize>,
    /// What fails later, if anything does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    outages: Option<usize>,
    control: RunControl,
}

impl CanonicalStudy {
    fn expand(&self) -> Result<Vec<RunSpec>, String> {
        fn part<T: Clone>(list: &[T], position: usize) -> Result<T, String> {
            list.get(position)
                .cloned()
                .ok_or_else(|| format!("a run refers to part {position} of {}", list.len()))
        }
        let expand = |run: &CanonicalRun| {
            let [topology, links, router, routing, nic, jobs, observe] = run.parts;
            let mut control = run.control.clone();
            if let Some(map) = run.map {
                control.partition = PartitionSpec::Map(part(&self.maps, map)?);
            }
            Ok(RunSpec {
                study: self.name.clone(),
                experiment: run.experiment.clone(),
                sweep: run.sweep.clone(),
                topology: part(&self.topologies, topology)?,
                links: part(&self.links, links)?,
                router: part(&self.routers, router)?,
                routing: part(&self.routings, routing)?,
                nic: part(&self.nics, nic)?,
                fail: run
                    .fail
                    .map_or(Ok(FailSpec::default()), |fail| part(&self.fails, fail))?,
                outages: run
                    .outages
                    .map_or(Ok(OutagesSpec::default()), |outages| part(&self.outages, outages))?,
                jobs: part(&self.jobs, jobs)?,
                observe: part(&self.observes, observe)?,
                cost: run.cost.map(|cost| part(&self.costs, cost)).transpose()?,
                control,
            })
        };
        self.runs.iter().map(expand).collect()
    }
}

/// Where the distinct values of each list are.
#[derive(Default)]
struct Places {
    topologies: Known,
    links: Known,
    routers: Known,
    routings: Known,
    nics: Known,
    jobs: Known,
    observes: Known,
    maps: Known,
    costs: Known,
    fails: Known,
    outages: Known,
}

/// Positions of values in their list by their JSON.
#[derive(Default)]
struct Known(std::collections::BTreeMap<String, usize>);

impl Known {
    /// The position of `value` in `list`, to which it is appended if it is new.
    fn place<T: Clone + PartialEq + Serialize>(&mut self, value: &T, list: &mut Vec<T>) -> usize {
        // Runs of a sweep mostly repeat the value that came last.
        if list.last() == Some(value) {
            return list.len() - 1;
        }
        *self.0.entry(to_json(value)).or_insert_with(|| {
            list.push(value.clone());
            list.len() - 1
        })
    }
}

/// Serialising plain data to memory does not fail: maps have text keys and numbers are finite.
fn to_json<T: Serialize>(value: &T) -> String {
    serde_json::to_string(value).expect("specifications are plain data with text keys")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_is_sha_256() {
        // FIPS 180-2, appendix B.1.
        assert_eq!(
            hash("abc"),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        );
    }

    #[test]
    fn text_that_is_no_canonical_study_is_refused() {
        assert!(runs_of_canonical("").is_err());
        assert!(runs_of_canonical("{}").is_err());
        let study = CanonicalStudy {
            format: 2,
            ..CanonicalStudy::default()
        };
        assert!(runs_of_canonical(&to_json(&study)).unwrap_err().contains("format 2"));
        let run = CanonicalRun {
            experiment: String::new(),
            sweep: Vec::new(),
            parts: [3; 7],
            map: None,
            cost: None,
            fail: None,
            outages: None,
            control: RunControl {
                seed: 1,
                end: None,
                warmup: None,
                drain: None,
                drain_sources: false,
                engine: fabric::spec::Engine::Auto,
                workers: 1,
                partition: PartitionSpec::Auto,
                fast_forward: fabric::spec::FastForward::Exact,
                precision: 0,
                draw_cycle: 0,
                stall_after: des::Time(1),
                perturbation: None,
            },
        };
        let study = CanonicalStudy {
            format: FORMAT,
            runs: vec![run],
            ..CanonicalStudy::default()
        };
        assert!(runs_of_canonical(&to_json(&study)).unwrap_err().contains("part 3 of 0"));
    }
}
