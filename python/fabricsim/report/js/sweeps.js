/* Two charts of a campaign's numbers against a swept key. */
import { live } from "./chart.js";
import { colourOf, dashOf } from "./colours.js";
import { chooser, el, section, unique } from "./elements.js";
import {
  axisOf,
  chartMetrics,
  figureOf,
  firstAxis,
  labelOf,
  metricsOf,
  pointWords,
  sweptKeys,
  together,
  valueOf,
} from "./metrics.js";
import { finite } from "./numbers.js";
import { atLeast, get, stateOf } from "./states.js";

const HINT =
  "A point is the mean over seeds, unless its axis says otherwise, a bar their range; an open triangle stands at what a " +
  "figure that cannot be given is not below; a hollow point is one whose network did not keep up, or whose run is too " +
  "short to tell. A dashed line is where the load that is accepted is the load that is offered. Where one of the seeds has no " +
  "number there is no point. Click a name in the " +
  "legend to hide its line.";

/** Return the point of the runs at one place: [value, run] each. A sum has no range. */
function pointOf(x, found, ofSeeds) {
  const values = found.map(([value]) => value);
  const [y, low, high] = [ofSeeds(values), Math.min(...values), Math.max(...values)];
  const range = y > high || y < low ? [y, y] : [low, high];
  const states = unique(found.map(([, run]) => stateOf(run)).filter((state) => state !== "ok"));
  return [x, y, ...range, states.join(", ")];
}

/** Return those places whose runs all have a number, of a sum over seeds those that have as many as any. */
function whole(places, isSum) {
  const most = Math.max(...places.map(([, found]) => found.length));
  return places.filter(([, found]) => found.every(([y]) => finite(y)) && (!isSum || found.length === most));
}

/** Return the lines of a metric against a key: one for every combination of the other swept keys. */
export function linesOf(runs, x, metric, words = {}) {
  const keys = sweptKeys(runs).filter((key) => key !== x);
  const { names, label, place } = axisOf(runs, x, words);
  const groups = new Map();
  for (const run of runs) {
    const values = keys.map((key) => [key, valueOf(run, key)]);
    const name = pointWords(values.filter(([, value]) => value !== undefined));
    if (!groups.has(name)) groups.set(name, new Map());
    const bound = atLeast(run, metric);
    const y = finite(bound) ? bound : get(run.summary, metric);
    const [group, at] = [groups.get(name), place.get(String(valueOf(run, x)))];
    group.set(at, [...(group.get(at) || []), [run.ok === false ? null : y, run]]);
  }
  const ofSeeds = (values) => together(words, metric, values);
  const isSum = (figureOf(words, metric) || {}).seeds === "sum";
  const several = [...groups.values()].some((points) => [...points.values()].some((found) => found.length > 1));
  const series = [...groups].map(([name, points], i) => ({
    name,
    colour: colourOf(i),
    dash: dashOf(i),
    points: whole([...points], isSum)
      .sort((a, b) => a[0] - b[0])
      .map(([at, found]) => [...pointOf(at, found, ofSeeds), found.some(([, run]) => finite(atLeast(run, metric)))]),
  }));
  return { names, xLabel: label, several, series };
}

const isLoad = (key) => /(^|\.)load$/.test(key);

/** Tell whether accepted load is drawn over the load that all nodes are offered: then where both are the same means something. */
export function isLoadAgainstLoad(runs, x, y) {
  if (y !== "accepted_load" || !isLoad(x || "")) return false;
  return runs.every((run) => Math.abs(Number(valueOf(run, x)) - run.summary.offered_load) <= 0.02 * run.summary.offered_load);
}

/* What the simulator itself took is nobody's first question. */
const OWN = /^(packet_hops|cpu_s|events|build_s|peak_rss_bytes|execution\..*)$/;

/** Return the metrics that are drawn at first, on the left and on the right. */
export function firstMetrics(metrics, runs) {
  const all = metrics.map(([key]) => key);
  const asked = all.filter((key) => !OWN.test(key));
  const keys = asked.length ? asked : all;
  const loads = runs.some((run) => run.sweep.some(([key]) => isLoad(key)));
  const wanted = [
    loads ? "accepted_load" : null,
    "throughput_MiBps.mean",
    "latency_ns.p99",
    "latency_ns.mean",
    "jobs.0.wait_share",
  ];
  const others = [...wanted.filter((key) => keys.includes(key)), ...keys].filter((key) => key !== keys[0]);
  return [keys[0], others[0] || keys[0]];
}

/** Return the key that charts have along: the load where one is swept, else the first of numbers. */
export const alongOf = (runs, keys) => keys.find((key) => isLoad(key)) || firstAxis(runs, keys);

export function sweeps(data) {
  const { runs, words } = data;
  const of = (experiment) => runs.filter((run) => run.experiment === experiment);
  const experiments = unique(runs.map((run) => run.experiment)).filter((name) => sweptKeys(of(name)).length);
  const metrics = chartMetrics(data);
  if (!experiments.length || !metrics.length) return;
  const state = { experiment: experiments[0], x: null };
  /* What the reader has chosen; it stays where another experiment has it too. */
  const chosen = {};
  const controls = el("div", { class: "controls" });
  const hosts = { left: el("div", { class: "chart" }), right: el("div", { class: "chart" }) };
  section("Against the swept keys", HINT, controls, el("div", { class: "pair" }, hosts.left, hosts.right));
  const draws = { left: live(hosts.left), right: live(hosts.right) };
  const hidden = new Set();
  const redraw = () => {
    for (const side of ["left", "right"]) {
      const lines = linesOf(of(state.experiment), state.x, state[side], words);
      const yLabel = labelOf(figureOf(words, state[side]), { several: lines.several });
      const diagonal = isLoadAgainstLoad(of(state.experiment), state.x, state[side]);
      draws[side]({ ...lines, yLabel, hidden, diagonal });
    }
  };
  const build = () => {
    const mine = of(state.experiment);
    const sizes = unique(mine.map((run) => run.summary.n_nodes)).length > 1 ? ["n_nodes"] : [];
    const keys = [...sweptKeys(mine), ...sizes];
    if (!keys.includes(state.x)) state.x = alongOf(mine, sweptKeys(mine));
    const had = metricsOf(metrics, mine);
    const offered = had.length ? had : metrics;
    const [left, right] = firstMetrics(offered, mine);
    const kept = (name, first) => (offered.some(([key]) => key === chosen[name]) ? chosen[name] : first);
    Object.assign(state, { left: kept("left", left), right: kept("right", right) });
    const side = (name) =>
      chooser(name, offered, state[name], (key) => {
        state[name] = chosen[name] = key;
        redraw();
      });
    const choices = [
      chooser(
        "against",
        keys.map((key) => [key, key]),
        state.x,
        (key) => {
          state.x = key;
          hidden.clear();
          redraw();
        },
      ),
      side("left"),
      side("right"),
    ];
    if (experiments.length > 1) choices.unshift(experimentChooser());
    controls.replaceChildren(...choices);
    redraw();
  };
  const experimentChooser = () =>
    chooser(
      "experiment",
      experiments.map((name) => [name, name || "(main)"]),
      state.experiment,
      (name) => {
        state.experiment = name;
        state.x = null;
        hidden.clear();
        build();
      },
      { link: "experiment" },
    );
  build();
}
