//! A run's result: the summary as JSON, tables as little-endian columns.

use fabric::mpi::RankRow;
use fabric::run::sender_rates;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// What a run gave.
#[pyclass(frozen)]
pub struct RunResult {
    result: fabric::run::RunResult,
}

/// A column before it is handed over: name, NumPy type, bytes.
type Column = (&'static str, &'static str, Vec<u8>);

fn u4(name: &'static str, values: impl Iterator<Item = u32>) -> Column {
    (name, "<u4", values.flat_map(u32::to_le_bytes).collect())
}

fn u8_(name: &'static str, values: impl Iterator<Item = u64>) -> Column {
    (name, "<u8", values.flat_map(u64::to_le_bytes).collect())
}

/// Numbers some of which are not there: the type ends in `?`, and the greatest number stands for those.
fn maybe_u8(name: &'static str, values: impl Iterator<Item = Option<u64>>) -> Column {
    let values = values.map(|value| value.unwrap_or(u64::MAX));
    (name, "<u8?", values.flat_map(u64::to_le_bytes).collect())
}

fn maybe_u4(name: &'static str, values: impl Iterator<Item = Option<u32>>) -> Column {
    let values = values.map(|value| value.unwrap_or(u32::MAX));
    (name, "<u4?", values.flat_map(u32::to_le_bytes).collect())
}

/// Fractions some of which are not there: NaN stands for those.
fn maybe_f8(name: &'static str, values: impl Iterator<Item = Option<f64>>) -> Column {
    let values = values.map(|value| value.unwrap_or(f64::NAN));
    (name, "<f8?", values.flat_map(f64::to_le_bytes).collect())
}

fn f8(name: &'static str, values: impl Iterator<Item = f64>) -> Column {
    (name, "<f8", values.flat_map(f64::to_le_bytes).collect())
}

impl RunResult {
    pub fn new(result: fabric::run::RunResult) -> Self {
        RunResult { result }
    }

    fn table(&self, table: &str) -> Vec<Column> {
        let (stats, links) = (&self.result.stats, &self.result.links);
        match table {
            "links" if !links.is_empty() => vec![
                u4("router", links.iter().map(|l| l.router)),
                u4("port", links.iter().map(|l| l.port)),
                u4("peer_router", links.iter().map(|l| l.peer_router)),
                ("class", "|u1", links.iter().map(|l| l.class).collect()),
                f8("utilisation", links.iter().map(|l| l.utilisation)),
                u8_("packets", links.iter().map(|l| l.packets)),
                u8_("bytes", links.iter().map(|l| l.bytes)),
            ],
            "cdf" => {
                // Of all measured messages: where some have not arrived the fractions end below 1.
                let sample = &self.result.sample;
                let points = sample.latencies.histogram.cumulative(sample.messages);
                vec![
                    f8("latency_ns", points.iter().map(|p| p.0 / 1e3)),
                    f8("fraction", points.iter().map(|p| p.1)),
                ]
            }
            // A hop is a router's sending of a packet: the ejection counts.
            "hops" => vec![
                u4("hops", 1..=stats.hops.len() as u32),
                u8_("packets", stats.hops.iter().copied()),
            ],
            "timeline" if self.result.timeline => {
                let slice = (1u64 << stats.shift) as f64;
                let capacity = self.result.bytes_per_ps * slice;
                let bins = stats.whole().bins;
                let n = stats.delivered.len().max(bins.len());
                let delivered = |i: usize| stats.delivered.get(i).copied().unwrap_or(0);
                // Means are of messages born in the slice: none of those is known where some have not arrived.
                let mean = |i: usize| {
                    let bin = bins.get(i).filter(|bin| bin.missing() == 0)?;
                    bin.born.mean()
                };
                vec![
                    f8("time_ns", (0..n).map(|i| i as f64 * slice / 1e3)),
                    f8("accepted_load", (0..n).map(|i| delivered(i) as f64 / capacity)),
                    maybe_f8("mean_latency_ns", (0..n).map(|i| mean(i).map(|ps| ps / 1e3))),
                ]
            }
            "messages" => match &self.result.messages {
                None => Vec::new(),
                Some(rows) => vec![
                    u4("source", rows.iter().map(|m| m.source)),
                    u8_("number", rows.iter().map(|m| m.number)),
                    u4("destination", rows.iter().map(|m| m.destination)),
                    u8_("bytes", rows.iter().map(|m| m.bytes)),
                    u8_("born_ps", rows.iter().map(|m| m.born)),
                    maybe_u8("injected_ps", rows.iter().map(|m| m.injected)),
                    maybe_u8("arrived_ps", rows.iter().map(|m| m.arrived)),
                    maybe_u4("hops", rows.iter().map(|m| m.hops)),
                ],
            },
            "ranks" if self.result.rank_rows => {
                let rows = &self.result.ranks;
                let ns = |time: u64| time as f64 / 1e3;
                let finished = |row: &RankRow| if row.is_done() { ns(row.finished) } else { f64::NAN };
                vec![
                    u4("job", rows.iter().map(|r| r.job)),
                    u4("rank", rows.iter().map(|r| r.rank)),
                    u4("node", rows.iter().map(|r| r.node)),
                    f8("finished_ns", rows.iter().map(finished)),
                    f8("compute_ns", rows.iter().map(|r| ns(r.computed))),
                    f8("wait_ns", rows.iter().map(|r| ns(r.waited))),
                    f8("overhead_ns", rows.iter().map(|r| ns(r.worked))),
                    u8_("messages", rows.iter().map(|r| r.messages)),
                    u8_("bytes", rows.iter().map(|r| r.bytes)),
                    u8_("local_messages", rows.iter().map(|r| r.local_messages)),
                    u8_("local_bytes", rows.iter().map(|r| r.local_bytes)),
                    u8_("iterations", rows.iter().map(|r| r.iterations)),
                ]
            }
            "senders" => {
                let rates: Vec<(u32, f64)> = sender_rates(stats).collect();
                if rates.is_empty() {
                    return Vec::new();
                }
                let sender = |node: u32| &stats.senders[node as usize];
                vec![
                    u4("node", rates.iter().map(|r| r.0)),
                    f8("throughput_MiBps", rates.iter().map(|r| r.1)),
                    f8(
                        "mean_latency_ns",
                        rates
                            .iter()
                            .map(|r| sender(r.0).sum as f64 / sender(r.0).trips as f64 / 1e3),
                    ),
                    f8("max_latency_ns", rates.iter().map(|r| sender(r.0).longest as f64 / 1e3)),
                    f8(
                        "mean_round_trip_ns",
                        rates.iter().map(|r| sender(r.0).mean_round_trip() / 1e3),
                    ),
                    f8(
                        "max_round_trip_ns",
                        rates.iter().map(|r| sender(r.0).longest_round_trip as f64 / 1e3),
                    ),
                ]
            }
            _ => Vec::new(),
        }
    }
}

#[pymethods]
impl RunResult {
    /// The numbers as JSON.
    #[getter]
    fn summary(&self) -> String {
        serde_json::json!(self.result.summary).to_string()
    }

    /// The columns of a table; empty if it was not recorded.
    fn columns<'py>(&self, py: Python<'py>, table: &str) -> Vec<(&'static str, &'static str, Bound<'py, PyBytes>)> {
        let columns = py.allow_threads(|| self.table(table));
        columns
            .into_iter()
            .map(|(name, kind, bytes)| (name, kind, PyBytes::new(py, &bytes)))
            .collect()
    }
}
