/* The numbers of runs that charts and tables show, with their words; and swept keys as axes. */
import { unique } from "./elements.js";
import { finite } from "./numbers.js";
import { quantity } from "./quantities.js";
import { atLeast, get } from "./states.js";

/* Key in the summary, words for an axis, words for a heading of the table of runs; empty where it is not there. */
const METRICS = [
  ["n_nodes", "", "nodes"],
  ["jobs.0.time_ns", "time of the job [ns]", "job time [ns]"],
  ["memory.time_ns", "time until the last access [ns]", "time of accesses [ns]"],
  ["memory.latency_ns", "mean time of an access [ns]", ""],
  ["latency_ns.mean", "mean latency [ns]", "mean latency [ns]"],
  ["latency_ns.p50", "median latency [ns]", ""],
  ["latency_ns.p99", "99 % latency [ns]", "p99 [ns]"],
  ["latency_ns.max", "greatest latency [ns]", ""],
  ["accepted_load", "accepted load", ""],
  ["throughput_MiBps.mean", "throughput per sender [MiB/s]", ""],
  ["hops.mean", "mean hops", "hops"],
  ["offered_load", "", "offered"],
  ["accepted_load", "", "accepted"],
  ["throughput_MiBps.mean", "", "MiB/s per sender"],
  ["messages", "", "messages"],
  ["sim_time_ns", "simulated time [ns]", ""],
  ["cpu_s", "CPU time [s]", "CPU [s]"],
  ["peak_rss_bytes", "peak memory [B]", ""],
];

/** Tell whether a run has a number, or what it is more than; the time of a job is told of jobs of ranks. */
function has(run, key) {
  if (!finite(get(run.summary, key)) && !finite(atLeast(run, key))) return false;
  return key !== "jobs.0.time_ns" || finite(run.summary.jobs[0].ranks);
}

const known = (runs, place) =>
  METRICS.filter((metric) => metric[place] && runs.some((run) => has(run, metric[0]))).map((metric) => [
    metric[0],
    metric[place],
  ]);

/** Return the metrics of charts that some run has, as [key, words]. */
export const chartMetrics = (runs) => known(runs, 1);

/** Return the metrics of the table of runs that some run has, as [key, words]. */
export const tableMetrics = (runs) => known(runs, 2);

/** Return a swept value of a run, or a number of its summary. */
export function valueOf(run, key) {
  const pair = run.sweep.find(([swept]) => swept === key);
  return pair ? pair[1] : get(run.summary, key);
}

/** Return the keys that are swept in some run, in order. */
export const sweptKeys = (runs) => unique(runs.flatMap((run) => run.sweep.map(([key]) => key)));

const AXES = { n_nodes: "nodes", accepted_load: "accepted load", offered_load: "offered load" };

/** Return a key as the words of an axis, with its unit. */
export function axisName(key, unit) {
  if (unit === "product") return "routers";
  const parts = key.split(".");
  const last = parts[parts.length - 1];
  const words = AXES[key] || (last === "kind" && parts.length > 1 ? parts[parts.length - 2] : last).replace(/_/g, " ");
  return unit ? `${words} [${unit}]` : words;
}

/**
 * Return where the values of a key stand on an axis: by their numbers where all have one of the same unit, else as names
 * one after the other. `names` is null on an axis of numbers.
 */
export function axisOf(runs, key) {
  const texts = unique(runs.map((run) => String(valueOf(run, key))));
  const found = texts.map(quantity);
  const units = unique(found.map((each) => (each ? each[1] : null)));
  const isNames = found.some((each) => each === null) || units.length > 1;
  return {
    names: isNames ? texts : null,
    label: axisName(key, isNames ? "" : units[0]),
    place: new Map(texts.map((text, i) => [text, isNames ? i : found[i][0]])),
  };
}

/** Return the first key whose values are numbers in all runs, else the first. */
export const firstAxis = (runs, keys) => keys.find((key) => runs.every((run) => quantity(valueOf(run, key)) !== null)) || keys[0];
