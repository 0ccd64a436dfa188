//! From the bytes of a study file to validated runs, or to everything that is wrong with it.

use crate::canonical::canonical_study;
use crate::read::control::{self, Repeats};
use crate::read::fail::NetworkSite;
use crate::read::partition::Map;
use crate::read::placement::Files;
use crate::read::topology::{self, Networks};
use crate::read::{cost, fail, outages};
use crate::read::{jobs, network};
use crate::registry;
use fabric::spec::RunSpec;
use std::path::Path;
use study::diagnostic::{Diagnostic, Findings, Severity, Sources};
use study::document::Table;
use study::open::{LoadOptions, Refused, open};

/// A validated study.
#[derive(Clone, Debug, PartialEq)]
pub struct Study {
    /// Its name; the file's name without its ending if the file gives none.
    pub name: String,
    /// What it shows; may be empty.
    pub description: String,
    /// All runs: experiments in written order, their sweep points with the last swept key fastest, seeds innermost, each followed by the
    /// perturbed runs beside it.
    pub runs: Vec<RunSpec>,
    /// The `[[claim]]` tables as a JSON list of objects.
    pub claims: serde_json::Value,
    /// The `[reproduce]` table as a JSON object; null if there is none.
    pub reproduce: serde_json::Value,
    /// The sample as a JSON object: `method`, `points`, `seed`, and `keys` with their ranges; null if there is none.
    pub sample: serde_json::Value,
    /// What is probably not meant, in order of places.
    pub warnings: Vec<Diagnostic>,
    /// All runs as JSON on one line with everything filled in; [`runs_of_canonical`](super::runs_of_canonical) reads it back.
    pub canonical: String,
}

/// Reads a study: `bytes` of the file called `file_name`, paths in it relative to `base`.
///
/// The result depends on the arguments and on the existence of graph files alone.
///
/// # Errors
/// Everything that is wrong, warnings included, in order of places; at least one is an error.
pub fn load_study(bytes: &[u8], file_name: &str, base: &Path, options: &LoadOptions) -> Result<Study, Vec<Diagnostic>> {
    let mut sources = Sources::default();
    let mut findings = Findings::default();
    let study = load(bytes, file_name, base, options, &mut sources, &mut findings);
    let failed = findings.n_errors() > 0;
    let diagnostics = findings.into_diagnostics(&sources);
    match study {
        Some(study) if !failed => {
            debug_assert!(
                diagnostics
                    .iter()
                    .all(|diagnostic| diagnostic.severity == Severity::Warning)
            );
            Ok(Study {
                warnings: diagnostics,
                ..study
            })
        }
        _ => Err(diagnostics),
    }
}

/// A point of a study: the name of its experiment, and its swept keys with their values as written.
pub type PointWords = (String, Vec<(String, String)>);

/// The points of a study, in the order of its runs; whether they can be run is not looked at.
///
/// # Errors
/// What is wrong with the study beside its points.
pub fn study_points(bytes: &[u8], file_name: &str, options: &LoadOptions) -> Result<Vec<PointWords>, Vec<Diagnostic>> {
    let mut sources = Sources::default();
    let mut findings = Findings::default();
    let points = open(
        bytes,
        file_name,
        options,
        &registry::VOCABULARY,
        &mut sources,
        &mut findings,
    )
    .map(|opened| {
        opened.runs(&sources, &mut findings, |point, _, _| {
            Ok(vec![(point.experiment.to_owned(), point.sweep)])
        })
    });
    let failed = findings.n_errors() > 0;
    let diagnostics = findings.into_diagnostics(&sources);
    points.filter(|_| !failed).ok_or(diagnostics)
}

fn load(
    bytes: &[u8],
    file_name: &str,
    base: &Path,
    options: &LoadOptions,
    sources: &mut Sources,
    findings: &mut Findings,
) -> Option<Study> {
    let opened = open(bytes, file_name, options, &registry::VOCABULARY, sources, findings)?;
    let mut networks = Networks::default();
    let runs = opened.runs(sources, findings, |point, room, findings| {
        let checked = check_run(&point.table, base, &mut networks, findings);
        let (repeats, run) = checked.ok_or(Refused::Mistaken)?;
        if repeats.seeds.len() as u64 * (1 + repeats.perturbed.len() as u64) > room {
            return Err(Refused::TooMany);
        }
        let run = RunSpec {
            study: opened.name.clone(),
            experiment: point.experiment.to_owned(),
            sweep: point.sweep,
            ..run
        };
        let mut runs = Vec::new();
        for seed in repeats.seeds {
            let mut run = run.clone();
            run.control.seed = seed;
            let beside = repeats.perturbed.iter().map(|perturbation| run.beside(*perturbation));
            let beside = Vec::from_iter(beside);
            runs.push(run);
            runs.extend(beside);
        }
        Ok(runs)
    });
    if findings.n_errors() > 0 {
        return None;
    }
    let canonical = canonical_study(&opened.name, &opened.description, &runs);
    Some(Study {
        name: opened.name,
        description: opened.description,
        runs,
        claims: opened.claims,
        reproduce: opened.reproduce,
        sample: opened.sample,
        warnings: Vec::new(),
        canonical,
    })
}

/// Checks one point: how often it is run and its run, with the names of study and experiment left empty.
fn check_run(
    root: &Table,
    base: &Path,
    networks: &mut Networks,
    findings: &mut Findings,
) -> Option<(Repeats, RunSpec)> {
    let before = findings.n_errors();
    let (topology, facts) = topology::read(root, base, networks, findings).unzip();
    let network = network::read(root, topology.as_ref().zip(facts.as_ref()), base, findings);
    let cost = cost::read(root, findings);
    let layout = cost.as_ref().map(|cost| cost.layout);
    let site = topology.as_ref().map(|topology| NetworkSite { topology, layout });
    let fail = fail::read(root, site, networks, findings);
    let outages = outages::read(root, (site, &fail), networks, findings);
    let files = Files {
        topology: topology.as_ref(),
        n_nodes: facts.and_then(|facts| facts.n_nodes),
        base,
        known: &mut networks.placements,
        traces: &mut networks.traces,
    };
    let jobs = jobs::read(root, files, findings);
    let observe = control::read_observe(root, findings);
    let times = network.as_ref().map(network::LonePacketTimes::new);
    let map = Map {
        topology: topology.as_ref(),
        base,
        known: &mut networks.maps,
    };
    let control = control::read_run(root, jobs.as_deref(), times, map, findings);
    if findings.n_errors() > before {
        return None;
    }
    let (repeats, control) = control?;
    let network = network?;
    let run = RunSpec {
        study: String::new(),
        experiment: String::new(),
        sweep: Vec::new(),
        topology: topology?,
        links: network.links,
        router: network.router,
        routing: network.routing,
        nic: network.nic,
        fail,
        outages,
        jobs: jobs?,
        observe,
        cost,
        control,
    };
    Some((repeats, run))
}
