//! Fabrics and their forwarding tables without a simulation: reading, routing, figures, writing.

use crate::away::away;
use crate::errors;
use crate::result::{ArrowColumn, in_python};
use crate::study::one_run;
use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use topo::subnet::analysis::{Loads, LostPath, Paths, Questions, Shift, read_demand};
use topo::subnet::engine::{JobDemand, Options, PathDemands, RoutingEngine, route_with_report};
use topo::subnet::faults::{Removal, remove};
use topo::subnet::ibnetdiscover::{self, Rates};
use topo::subnet::torus::{Recognition, TorusConf};
use topo::subnet::{Lids, Mistakes, Subnet, Tables, compact, lft};
use topo::{GraphFormat, GraphSpec, TopologySpec};

/// What a fabric consists of.
#[derive(Clone)]
struct FabricParts {
    subnet: Subnet,
    lids: Lids,
    rates: Rates,
    /// What was left out or removed.
    notes: Vec<String>,
    /// Switches along each dimension of a HyperX, mesh or torus.
    dims: Vec<u32>,
    /// Places of the switches in a drawing, if the family has them.
    layout: Vec<(f64, f64)>,
}

/// A fabric: switches, hosts, cables, addresses.
#[pyclass(frozen, name = "Fabric")]
pub struct PyFabric {
    parts: Arc<FabricParts>,
}

/// Forwarding tables of a fabric.
#[pyclass(frozen)]
pub struct Routes {
    parts: Arc<FabricParts>,
    tables: Arc<Tables>,
    engine: String,
    /// What the engine or the file tells besides.
    about: Value,
}

/// What is asked of tables, and the answers.
#[pyclass(frozen, name = "Figures")]
pub struct PyFigures {
    summary: String,
    channels: Vec<ChannelEnds>,
    loads: Loads,
    shifts: Vec<Shift>,
    histogram: Vec<u64>,
    lost: Vec<LostPath>,
}

struct ChannelEnds {
    from: u32,
    port: u16,
    to: u32,
    peer_port: u16,
}

fn refused(py: Python<'_>, file: &str, mistakes: &Mistakes) -> PyErr {
    errors::of_file(py, file, mistakes)
}

/// The engines: name, one line, promises.
#[pyfunction]
pub fn route_engines() -> String {
    let tell = |engine: &RoutingEngine| {
        json!({
            "name": engine.name(), "line": engine.description(), "minimal": engine.minimal(),
            "deadlock_free": engine.deadlock_free(),
        })
    };
    json!(RoutingEngine::ALL.iter().map(tell).collect::<Vec<_>>()).to_string()
}

/// Reads the output of `ibnetdiscover`.
#[pyfunction]
pub fn fabric_of_file(py: Python<'_>, source: &[u8], file: &str) -> PyResult<PyFabric> {
    let found = py.allow_threads(|| ibnetdiscover::read(source));
    let found = found.map_err(|mistakes| refused(py, file, &mistakes))?;
    Ok(PyFabric::new(of_discovered(found)))
}

fn of_discovered(found: ibnetdiscover::Discovered) -> FabricParts {
    FabricParts {
        subnet: found.subnet,
        lids: found.lids,
        rates: found.rates,
        notes: found.notes,
        dims: Vec::new(),
        layout: Vec::new(),
    }
}

/// The fabric of a run's topology. A real fabric's file keeps its port numbers and LIDs.
#[pyfunction]
pub fn fabric_of_run(py: Python<'_>, canonical: &str) -> PyResult<PyFabric> {
    let run = one_run(canonical)?;
    if let TopologySpec::Graph(GraphSpec {
        file,
        format: GraphFormat::Ibnetdiscover,
        ..
    }) = &run.topology
    {
        let source = std::fs::read(file)
            .map_err(|error| errors::of_key(py, file, "topology.file", &format!("cannot read {file}: {error}")))?;
        return fabric_of_file(py, &source, file);
    }
    let built = away(py, move || {
        run.topology.build().map(|topology| {
            let subnet = Subnet::of(&topology);
            FabricParts {
                lids: Lids::sequential(&subnet),
                rates: Rates::default(),
                notes: Vec::new(),
                dims: topology.lattice_shape().unwrap_or_default(),
                layout: (0..topology.n_routers()).map(|r| topology.layout(r)).collect(),
                subnet,
            }
        })
    })?;
    let parts = built.map_err(|fields| {
        let words: Vec<String> = fields.iter().map(|field| format!("topology.{field}")).collect();
        errors::of_key(py, "", "", &words.join("\n"))
    })?;
    Ok(PyFabric::new(parts))
}

impl PyFabric {
    fn new(parts: FabricParts) -> Self {
        PyFabric { parts: Arc::new(parts) }
    }
}

#[pymethods]
impl PyFabric {
    /// Names, sizes and notes as JSON.
    fn about(&self, py: Python<'_>) -> String {
        let parts = &self.parts;
        py.allow_threads(|| {
            let subnet = &parts.subnet;
            let cables: usize = (0..subnet.n_switches()).map(|s| subnet.cables(s).count()).sum();
            json!({
                "hosts": subnet.n_hosts(), "switches": subnet.n_switches(), "cables": cables / 2, "lmc": subnet.lmc,
                "rates": parts.rates.names, "notes": parts.notes,
                "digest": format!("{:016x}", compact::digest(subnet)),
                "switch_names": subnet.switch_names(), "host_names": subnet.host_names(),
                "switch_of_host": subnet.hosts.iter().map(|host| host.switch).collect::<Vec<_>>(),
                "layout": parts.layout,
            })
            .to_string()
        })
    }

    /// The fabric without some switches and cables; `removals` are lines, `file` is where they come from, for messages.
    fn without(&self, py: Python<'_>, removals: &str, file: &str) -> PyResult<PyFabric> {
        let list = Removal::parse_file(removals).map_err(|mistakes| refused(py, file, &mistakes))?;
        let left = py.allow_threads(|| remove(&self.parts.subnet, &list));
        let left = left.map_err(|mistakes| refused(py, file, &mistakes))?;
        let former = &self.parts;
        let mut notes = former.notes.clone();
        notes.extend(left.removed.iter().map(|removed| format!("removed: {removed}")));
        let kept = |all: &[(f64, f64)]| {
            left.switches
                .iter()
                .filter_map(|&s| all.get(s as usize).copied())
                .collect()
        };
        Ok(PyFabric::new(FabricParts {
            lids: left.lids(&former.lids),
            rates: Rates {
                names: former.rates.names.clone(),
                of: left
                    .switches
                    .iter()
                    .filter_map(|&s| former.rates.of.get(s as usize).cloned())
                    .collect(),
            },
            notes,
            // A shape with a switch missing is none.
            dims: if left.switches.len() == former.subnet.switches.len() {
                former.dims.clone()
            } else {
                Vec::new()
            },
            layout: kept(&former.layout),
            subnet: left.subnet,
        }))
    }

    /// The fabric with `2^lmc` addresses per host, and LIDs to fit.
    fn with_lmc(&self, lmc: u8) -> PyResult<PyFabric> {
        if lmc > 7 {
            return Err(errors::plain(format!("LMC {lmc}: it is from 0 to 7")));
        }
        let mut parts = (*self.parts).clone();
        if lmc != parts.subnet.lmc {
            parts.subnet.lmc = lmc;
            parts.lids = Lids::sequential(&parts.subnet);
        }
        Ok(PyFabric::new(parts))
    }

    /// Tables by an engine; options: `{"roots": [names], "lanes": 8, "seed": 1, "dims": [12, 8], "demand": {"file": name, "text": csv}, "torus": {"file": name,
    /// "text": conf}}`, the demand for engines that weigh paths by it, the torus for `torus-2qos`.
    fn route(&self, py: Python<'_>, engine: &str, options: &str) -> PyResult<Routes> {
        let Some(engine) = RoutingEngine::from_name(engine) else {
            let names: Vec<&str> = RoutingEngine::ALL.iter().map(|engine| engine.name()).collect();
            let reason = format!("no routing engine `{engine}`; there are {}", names.join(", "));
            return Err(errors::of_key(py, "", "engine", &reason));
        };
        let wanted: Value =
            serde_json::from_str(options).map_err(|error| errors::plain(format!("options: {error}")))?;
        let mut options = self
            .options(&wanted)
            .map_err(|reason| errors::of_key(py, "", "roots", &reason))?;
        if engine == RoutingEngine::Parx && wanted["demand"].is_object() {
            options.demands = PathDemands::Jobs(vec![self.traffic(py, &wanted["demand"])?]);
        }
        if engine == RoutingEngine::Torus2Qos && wanted["torus"].is_object() {
            let word = |key: &str| wanted["torus"][key].as_str().unwrap_or_default();
            let read = TorusConf::read(word("text").as_bytes());
            options.torus = Some(read.map_err(|mistakes| refused(py, word("file"), &mistakes))?);
        }
        let mut parts = self.parts.clone();
        let mut note = None;
        if engine == RoutingEngine::Parx && parts.subnet.lmc < 2 {
            let mut more = (*parts).clone();
            more.subnet.lmc = 2;
            more.lids = Lids::sequential(&more.subnet);
            parts = Arc::new(more);
            note = Some("LMC 2: four addresses per host".to_owned());
        }
        let of = parts.clone();
        let found = away(py, move || route_with_report(engine, &of.subnet, &options))?;
        let (tables, report) = found.map_err(|error| errors::of_hint(py, engine.name(), &error.reason, &error.hint))?;
        // Where numbers say the coordinates there is nothing to tell.
        let torus = report.torus.as_ref().filter(|torus| torus.seed.is_some());
        note = torus.map(|torus| torus.describe(&parts.subnet)).or(note);
        let about = json!({
            "lanes_needed": report.lanes_needed, "pairs_per_lane": report.before, "note": note,
            "torus": torus.map(|torus| of_torus(torus, &parts.subnet)),
            "roots": report.roots.iter().map(|&root| parts.subnet.switches[root as usize].name.clone()).collect::<Vec<_>>(),
        });
        Ok(Routes {
            parts,
            tables: Arc::new(tables),
            engine: engine.name().into(),
            about,
        })
    }

    /// Tables from a file: fabricsim's own, or a dump of forwarding tables, with service levels from a second file.
    #[pyo3(signature = (source, file, levels=None, levels_file=""))]
    fn tables(
        &self,
        py: Python<'_>,
        source: &[u8],
        file: &str,
        levels: Option<&[u8]>,
        levels_file: &str,
    ) -> PyResult<Routes> {
        let (subnet, lids) = (&self.parts.subnet, &self.parts.lids);
        let own = source.starts_with(b"fabricsim tables");
        let read = py.allow_threads(|| match own {
            true => compact::read(source, subnet).map(|named| (named.tables, named.engine, Vec::new())),
            false => lft::read(source, subnet, lids).map(|read| (read.tables, "import".into(), read.notes)),
        });
        let (mut tables, engine, mut notes) = read.map_err(|mistakes| refused(py, file, &mistakes))?;
        if let Some(levels) = levels {
            let more = py.allow_threads(|| lft::read_levels(levels, subnet, lids, &mut tables));
            notes.extend(more.map_err(|mistakes| refused(py, levels_file, &mistakes))?);
        }
        let note = if notes.is_empty() { None } else { Some(notes.join("; ")) };
        let about = json!({"lanes_needed": null, "pairs_per_lane": [], "roots": [], "note": note});
        Ok(Routes {
            parts: self.parts.clone(),
            tables: Arc::new(tables),
            engine,
            about,
        })
    }

    /// The fabric as `ibnetdiscover` would print it.
    fn ibnetdiscover<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let parts = &self.parts;
        written(py, |out| {
            ibnetdiscover::write(&parts.subnet, &parts.lids, &parts.rates, out)
        })
    }
}

impl PyFabric {
    /// A demand as that of one job of all hosts that it names, in the order of their numbers.
    fn traffic(&self, py: Python<'_>, given: &Value) -> PyResult<JobDemand> {
        let word = |key: &str| given[key].as_str().unwrap_or_default();
        let subnet = &self.parts.subnet;
        let demand = read_demand(word("text"), subnet).map_err(|mistakes| refused(py, word("file"), &mistakes))?;
        let mut sums: BTreeMap<(u32, u32), f64> = BTreeMap::new();
        for (from, to, amount) in demand {
            *sums.entry((from, to)).or_default() += amount;
        }
        let mut hosts: Vec<u32> = sums.keys().flat_map(|&(from, to)| [from, to]).collect();
        hosts.sort_unstable();
        hosts.dedup();
        let place = |host: u32| hosts.partition_point(|&other| other < host) as u32;
        let pairs = sums
            .iter()
            .map(|(&(from, to), &amount)| (place(from), place(to), amount));
        Ok(JobDemand {
            pairs: pairs.collect(),
            hosts,
        })
    }

    fn options(&self, wanted: &Value) -> Result<Options, String> {
        let subnet = &self.parts.subnet;
        let names = subnet.switch_names();
        let root = |name: &Value| {
            let name = name.as_str().unwrap_or_default();
            let place = names.iter().position(|known| known == name);
            let place = place.or_else(|| {
                let guid = u64::from_str_radix(name.strip_prefix("0x")?, 16).ok()?;
                subnet.switches.iter().position(|switch| switch.guid == guid)
            });
            place
                .map(|switch| switch as u32)
                .ok_or_else(|| format!("no switch is called `{name}`"))
        };
        let numbers = |value: &Value| -> Vec<u32> {
            value
                .as_array()
                .into_iter()
                .flatten()
                .filter_map(|n| u32::try_from(n.as_u64()?).ok())
                .collect()
        };
        let dims = match &wanted["dims"] {
            Value::Null => self.parts.dims.clone(),
            given => numbers(given),
        };
        let default = Options::default();
        Ok(Options {
            roots: wanted["roots"]
                .as_array()
                .into_iter()
                .flatten()
                .map(root)
                .collect::<Result<_, _>>()?,
            lanes: wanted["lanes"]
                .as_u64()
                .map_or(default.lanes, |lanes| lanes.min(255) as u8),
            seed: wanted["seed"].as_u64().unwrap_or(default.seed),
            dims,
            ..default
        })
    }
}

/// A torus that was found: its shape, the switch that coordinates are told from, those of all switches, and what lacks.
fn of_torus(torus: &Recognition, subnet: &Subnet) -> Value {
    let (names, places) = (subnet.switch_names(), &torus.places);
    let name = |switch: u32| &names[switch as usize];
    let at = |place: u32| places.switch(place).map(name);
    json!({
        "shape": places.dims, "rings": places.loops, "from": torus.seed.map(name), "notes": torus.notes,
        "coordinates": (0..subnet.n_switches()).map(|switch| places.place(switch).map(|place| places.coordinates(place))).collect::<Vec<_>>(),
        "missing_switches": places.lacking(subnet).map(|place| json!({
            "at": places.coordinates(place), "beside": places.beside(place).into_iter().map(name).collect::<Vec<_>>(),
        })).collect::<Vec<_>>(),
        "missing_cables": places.broken(subnet).map(|(a, b)| [at(a), at(b)]).collect::<Vec<_>>(),
    })
}

/// Bytes that a writer gives.
fn written<'py>(
    py: Python<'py>,
    write: impl FnOnce(&mut Vec<u8>) -> std::io::Result<()> + Send,
) -> PyResult<Bound<'py, PyBytes>> {
    let bytes = py.allow_threads(|| {
        let mut bytes = Vec::new();
        write(&mut bytes).map(|()| bytes)
    });
    bytes
        .map(|bytes| PyBytes::new(py, &bytes))
        .map_err(|error| errors::plain(error.to_string()))
}

#[pymethods]
impl Routes {
    /// Name of the engine; `import` for tables of a dump.
    #[getter]
    fn engine(&self) -> &str {
        &self.engine
    }

    /// What the engine or the file tells besides the tables, as JSON.
    #[getter]
    fn about(&self) -> String {
        self.about.to_string()
    }

    /// Figures of the tables; questions: `{"samples": 1000, "seed": 1, "path": 0, "shift": 3, "rack": 28, "hottest": 10,
    /// "demand": {"file": name, "text": csv}}`.
    fn figures(&self, py: Python<'_>, questions: &str) -> PyResult<PyFigures> {
        let wanted: Value =
            serde_json::from_str(questions).map_err(|error| errors::plain(format!("questions: {error}")))?;
        let number = |key: &str| wanted[key].as_u64().map(|n| u32::try_from(n).unwrap_or(u32::MAX));
        let subnet = &self.parts.subnet;
        let demand = match &wanted["demand"] {
            Value::Null => None,
            given => {
                let word = |key: &str| given[key].as_str().unwrap_or_default();
                let read = py.allow_threads(|| read_demand(word("text"), subnet));
                Some(read.map_err(|mistakes| refused(py, word("file"), &mistakes))?)
            }
        };
        let path = number("path").unwrap_or(0);
        if path >= subnet.paths() {
            let reason = format!("path {path}: hosts have {} addresses, numbered from 0", subnet.paths());
            return Err(errors::of_key(py, "", "path", &reason));
        }
        let default = Questions::default();
        let asked = Questions {
            samples: number("samples").unwrap_or(default.samples).max(2),
            seed: wanted["seed"].as_u64().unwrap_or(default.seed),
            shift: number("shift"),
            rack: number("rack"),
            demand,
            hottest: number("hottest").unwrap_or(default.hottest as u32) as usize,
            ..default
        };
        let (parts, tables) = (self.parts.clone(), self.tables.clone());
        away(py, move || {
            let paths = Paths::new(&parts.subnet, &tables, path);
            let (summary, loads, shifts) = paths.summary(&asked);
            let channel = |i: usize| {
                let (from, port, to, peer_port) = paths.channel(i as u32);
                ChannelEnds {
                    from,
                    port,
                    to,
                    peer_port,
                }
            };
            PyFigures {
                histogram: summary.lengths.histogram.clone(),
                summary: json!(summary).to_string(),
                channels: (0..paths.n_channels()).map(channel).collect(),
                lost: match summary.lengths.broken {
                    0 => Vec::new(),
                    _ => paths.lost(),
                },
                loads,
                shifts,
            }
        })
    }

    /// mpiGraph over all hosts: the bandwidth of every ordered pair, rows of sources, as 32-bit floats.
    fn mpi_graph<'py>(&self, py: Python<'py>, path: u32) -> Bound<'py, PyBytes> {
        let bytes: Vec<u8> = py.allow_threads(|| {
            let paths = Paths::new(&self.parts.subnet, &self.tables, path);
            let hosts: Vec<u32> = (0..self.parts.subnet.n_hosts()).collect();
            paths
                .mpi_graph(&hosts)
                .iter()
                .flat_map(|share| share.to_le_bytes())
                .collect()
        });
        PyBytes::new(py, &bytes)
    }

    /// fabricsim's own file of the tables.
    fn compact<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        written(py, |out| {
            compact::write(&self.parts.subnet, &self.engine, &self.tables, out)
        })
    }

    /// Bytes of the tables as [`Self::lft`] writes them, and of the lanes as [`Self::levels`] does.
    fn dump_sizes(&self, py: Python<'_>) -> PyResult<(u64, u64)> {
        let this = (self.parts.clone(), self.tables.clone());
        let counted = away(py, move || {
            let (mut lft, mut levels) = (Counter(0), Counter(0));
            write_lft(&this.0, &this.1, &mut lft)?;
            write_levels(&this.0, &this.1, &mut levels)?;
            Ok((lft.0, levels.0))
        })?;
        counted.map_err(of_disk)
    }

    /// Writes the tables as `ibroute` prints them into a file that exists: a line per switch and address.
    fn lft(&self, py: Python<'_>, file: PathBuf) -> PyResult<()> {
        self.dump(py, file, write_lft)
    }

    /// Writes lanes as service levels of path records into a file that exists: a line per pair of hosts.
    fn levels(&self, py: Python<'_>, file: PathBuf) -> PyResult<()> {
        self.dump(py, file, write_levels)
    }
}

/// Writes tables of a fabric.
type Dump<W> = fn(&FabricParts, &Tables, &mut W) -> io::Result<()>;

fn write_lft<W: Write>(parts: &FabricParts, tables: &Tables, out: &mut W) -> io::Result<()> {
    lft::write(&parts.subnet, &parts.lids, tables, out)
}

fn write_levels<W: Write>(parts: &FabricParts, tables: &Tables, out: &mut W) -> io::Result<()> {
    lft::write_levels(&parts.subnet, &parts.lids, tables, out)
}

impl Routes {
    /// These files can be far larger than the tables: they go to the disk line by line.
    fn dump(&self, py: Python<'_>, file: PathBuf, write: Dump<BufWriter<Until>>) -> PyResult<()> {
        let (parts, tables) = (self.parts.clone(), self.tables.clone());
        let stopped = Arc::new(AtomicBool::new(false));
        let until = stopped.clone();
        let done = away(py, move || {
            let file = OpenOptions::new().write(true).open(file)?;
            write(&parts, &tables, &mut BufWriter::new(Until { file, until }))
        });
        // After Ctrl-C nobody waits for the rest of the file.
        let done = done.inspect_err(|_| stopped.store(true, Ordering::Relaxed))?;
        done.map_err(of_disk)
    }
}

/// A file that takes nothing more once it is told so.
struct Until {
    file: File,
    until: Arc<AtomicBool>,
}

impl Write for Until {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self.until.load(Ordering::Relaxed) {
            true => Err(io::Error::other("stopped")),
            false => self.file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// Counts what is written.
struct Counter(u64);

impl Write for Counter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Python's OSError with the number of the error.
fn of_disk(error: io::Error) -> PyErr {
    PyOSError::new_err((error.raw_os_error(), error.to_string()))
}

fn column<const N: usize>(
    name: &'static str,
    kind: &'static str,
    values: impl Iterator<Item = [u8; N]>,
) -> ArrowColumn<Vec<u8>> {
    (name, kind.into(), values.flatten().collect(), None)
}

#[pymethods]
impl PyFigures {
    /// The numbers as JSON.
    #[getter]
    fn summary(&self) -> &str {
        &self.summary
    }

    /// The columns of a table: `channels`, `shifts`, `hops`, or `lost`, the paths that do not arrive: switch, host, pairs, fate (0 dead
    /// end, 1 wrong host, 2 loop), switch where it ends.
    fn columns<'py>(&self, py: Python<'py>, table: &str) -> Vec<ArrowColumn<Bound<'py, PyBytes>>> {
        in_python(py, || self.table(table))
    }
}

impl PyFigures {
    fn table(&self, table: &str) -> Vec<ArrowColumn<Vec<u8>>> {
        match table {
            "channels" => {
                let c = &self.channels;
                let mut columns = vec![
                    column("from", "uint32", c.iter().map(|c| c.from.to_le_bytes())),
                    column("port", "uint16", c.iter().map(|c| c.port.to_le_bytes())),
                    column("to", "uint32", c.iter().map(|c| c.to.to_le_bytes())),
                    column("peer_port", "uint16", c.iter().map(|c| c.peer_port.to_le_bytes())),
                    column("paths", "uint64", self.loads.all_to_all.iter().map(|n| n.to_le_bytes())),
                ];
                if let Some(shift) = &self.loads.shift {
                    columns.push(column("shift_paths", "uint64", shift.iter().map(|n| n.to_le_bytes())));
                }
                if let Some(demand) = &self.loads.demand {
                    columns.push(column("demand", "float64", demand.iter().map(|n| n.to_le_bytes())));
                }
                columns
            }
            "shifts" => vec![
                column("shift", "uint32", self.shifts.iter().map(|s| s.by.to_le_bytes())),
                column(
                    "max_congestion",
                    "uint32",
                    self.shifts.iter().map(|s| s.max_congestion.to_le_bytes()),
                ),
                column(
                    "mean_share",
                    "float64",
                    self.shifts.iter().map(|s| s.mean.to_le_bytes()),
                ),
                column("lost", "uint32", self.shifts.iter().map(|s| s.lost.to_le_bytes())),
            ],
            "lost" => vec![
                column("switch", "uint32", self.lost.iter().map(|way| way.switch.to_le_bytes())),
                column("host", "uint32", self.lost.iter().map(|way| way.host.to_le_bytes())),
                column("pairs", "uint32", self.lost.iter().map(|way| way.senders.to_le_bytes())),
                column("fate", "uint8", self.lost.iter().map(|way| [way.fate as u8])),
                column("at", "uint32", self.lost.iter().map(|way| way.at.to_le_bytes())),
            ],
            "hops" => vec![
                column("hops", "uint32", (0..self.histogram.len() as u32).map(u32::to_le_bytes)),
                column("pairs", "uint64", self.histogram.iter().map(|n| n.to_le_bytes())),
            ],
            _ => Vec::new(),
        }
    }
}
