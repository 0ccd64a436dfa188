/* The head of the page of a campaign: its name, what is wrong with it, and its size. */
import { head, unique } from "./elements.js";
import { compact, finite } from "./numbers.js";
import { stateOf } from "./states.js";
import { amount } from "./units.js";

/** Return the badge of a campaign as [class, text]: the worst that is to be said of it. */
export function badgeOf(data) {
  const { runs } = data;
  const failed = runs.filter((run) => !run.ok).length;
  if (failed) return ["bad", `${failed} failed self-check${failed > 1 ? "s" : ""}: do not use these numbers`];
  if (data.total_runs > data.finished_runs) return ["warn", `${data.finished_runs} of ${data.total_runs} runs finished`];
  const count = (state) => runs.filter((run) => stateOf(run) === state).length;
  const loaded = ["saturated", "unsettled"].filter(count);
  if (loaded.length) return ["warn", loaded.map((state) => `${count(state)} of ${runs.length} runs ${state}`).join(", ")];
  return ["", "all self-checks passed"];
}

/** Return how large the campaign is, as [value, label]. */
export function tilesOf(data) {
  const { runs } = data;
  const nodes = unique(runs.map((run) => run.summary.n_nodes))
    .filter(finite)
    .sort((a, b) => a - b);
  const largest = nodes[nodes.length - 1];
  return [
    [
      String(data.finished_runs) + (data.total_runs > data.finished_runs ? ` of ${data.total_runs}` : ""),
      data.total_runs === 1 ? "run" : "runs",
    ],
    [nodes.length > 1 ? `${compact(nodes[0])} \u2013 ${compact(largest)}` : compact(nodes[0]), "nodes"],
    [compact(totalOf(runs, "messages")), "messages delivered"],
  ];
}

const totalOf = (runs, key) => runs.reduce((sum, { summary }) => sum + (finite(summary[key]) ? summary[key] : 0), 0);

/** Return what the simulator took, as [name, text]: nobody's question, so that it comes last. */
export function costsOf({ runs }) {
  const [hops, cpu] = [totalOf(runs, "packet_hops"), totalOf(runs, "cpu_s")];
  if (!runs.length) return [];
  return [
    ["packet hops", compact(hops)],
    ["CPU time", amount(cpu, "s")],
    ["packet hops per CPU second", cpu > 0 ? compact(hops / cpu) : "\u2013"],
  ];
}

export function header(data) {
  const shown = data.runs.length;
  const all = data.finished_runs;
  const part = all > shown ? `This page shows the first ${shown} runs; runs.parquet has all ${all}.` : "";
  head(data.study.name, badgeOf(data), [data.study.description, part], tilesOf(data));
}
