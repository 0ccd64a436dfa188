/* Two charts of a campaign's numbers against a swept key. */
import { live } from "./chart.js";
import { colourOf, dashOf } from "./colours.js";
import { chooser, el, section, unique } from "./elements.js";
import { axisOf, chartMetrics, firstAxis, sweptKeys, valueOf } from "./metrics.js";
import { finite } from "./numbers.js";
import { atLeast, get, stateOf } from "./states.js";

const HINT =
  "A point is the mean over seeds, a bar their range; an open triangle stands at what a figure that cannot be given " +
  "is not below. Click a name in the legend to hide its line.";

/** Return the point of the runs at one place: [value, run] each. */
function pointOf(x, found) {
  const values = found.map(([value]) => value);
  const mean = values.reduce((a, b) => a + b, 0) / values.length;
  const states = unique(found.map(([, run]) => stateOf(run)).filter((state) => state !== "ok"));
  return [x, mean, Math.min(...values), Math.max(...values), states.join(", ")];
}

/** Return the lines of a metric against a key: one for every combination of the other swept keys. */
export function linesOf(runs, x, metric) {
  const keys = sweptKeys(runs).filter((key) => key !== x);
  const { names, label, place } = axisOf(runs, x);
  const groups = new Map();
  for (const run of runs) {
    const values = keys.map((key) => valueOf(run, key));
    const name = values.filter((value) => value !== undefined).join(", ");
    if (!groups.has(name)) groups.set(name, new Map());
    const bound = atLeast(run, metric);
    const y = finite(bound) ? bound : get(run.summary, metric);
    const [group, at] = [groups.get(name), place.get(String(valueOf(run, x)))];
    if (finite(y)) group.set(at, [...(group.get(at) || []), [y, run]]);
  }
  const series = [...groups].map(([name, points], i) => ({
    name,
    colour: colourOf(i),
    dash: dashOf(i),
    points: [...points]
      .sort((a, b) => a[0] - b[0])
      .map(([at, found]) => [...pointOf(at, found), found.some(([, run]) => finite(atLeast(run, metric)))]),
  }));
  return { names, xLabel: label, series };
}

/** Return the metrics that are drawn at first, on the left and on the right. */
export function firstMetrics(metrics, runs) {
  const keys = metrics.map(([key]) => key);
  const loads = runs.some((run) => run.sweep.some(([key]) => key.endsWith("load")));
  const wanted = [loads ? "accepted_load" : null, "throughput_MiBps.mean"];
  return [keys[0], wanted.find((key) => keys.includes(key)) || keys[keys.length - 1]];
}

export function sweeps(data) {
  const { runs } = data;
  const of = (experiment) => runs.filter((run) => run.experiment === experiment);
  const experiments = unique(runs.map((run) => run.experiment)).filter((name) => sweptKeys(of(name)).length);
  const metrics = chartMetrics(runs);
  if (!experiments.length || !metrics.length) return;
  const [left, right] = firstMetrics(metrics, runs);
  const state = { experiment: experiments[0], x: null, left, right };
  const controls = el("div", { class: "controls" });
  const hosts = { left: el("div", { class: "chart" }), right: el("div", { class: "chart" }) };
  section("Against the swept keys", HINT, controls, el("div", { class: "pair" }, hosts.left, hosts.right));
  const draws = { left: live(hosts.left), right: live(hosts.right) };
  const hidden = new Set();
  const title = (key) => (metrics.find(([known]) => known === key) || [key, key])[1];
  const redraw = () => {
    for (const side of ["left", "right"]) {
      const lines = linesOf(of(state.experiment), state.x, state[side]);
      draws[side]({ ...lines, yLabel: title(state[side]), hidden });
    }
  };
  const build = () => {
    const mine = of(state.experiment);
    const sizes = unique(mine.map((run) => run.summary.n_nodes)).length > 1 ? ["n_nodes"] : [];
    const keys = [...sweptKeys(mine), ...sizes];
    if (!keys.includes(state.x)) state.x = firstAxis(mine, sweptKeys(mine));
    const side = (name) =>
      chooser(name, metrics, state[name], (key) => {
        state[name] = key;
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
    );
  build();
}
