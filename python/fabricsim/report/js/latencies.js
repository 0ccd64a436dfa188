/* Distributions of message latency. */
import { live } from "./chart.js";
import { colourOf, dashOf } from "./colours.js";
import { chooser, el, section, unique } from "./elements.js";
import { pointWords } from "./metrics.js";
import { withoutSeed } from "./states.js";

/* Lines that are in the legend at most, and drawn at first. */
const MOST_LINES = 60;
const MOST_DRAWN = 12;

/** Return the runs that are drawn at first: evenly spread over all. */
export function spreadOver(runs) {
  if (runs.length <= MOST_DRAWN) return runs;
  const last = runs.length - 1;
  return Array.from({ length: MOST_DRAWN }, (_, i) => runs[Math.round((i * last) / (MOST_DRAWN - 1))]);
}

const nameOf = (run) => (run.sweep.length ? pointWords(run.sweep) : withoutSeed(run));

export function latencies(data) {
  const known = data.runs.filter((run) => run.cdf && run.cdf[0].length);
  if (!known.length) return;
  const host = el("div", { class: "chart" });
  const controls = el("div", { class: "controls" });
  section(
    "Latency distribution",
    "Fraction of messages delivered within a time, for the first seed. At most twelve runs are drawn at first; " +
      "click a name in the legend to show or hide it.",
    controls,
    host,
  );
  const draw = live(host);
  const show = (experiment) => {
    const all = known.filter((run) => run.experiment === experiment);
    const runs = all.filter((run) => run.seed === all[0].seed).slice(0, MOST_LINES);
    const drawn = new Set(spreadOver(runs));
    const series = runs.map((run, i) => ({
      name: nameOf(run),
      colour: colourOf(i),
      dash: dashOf(i),
      points: run.cdf[0].map((x, k) => [x, run.cdf[1][k]]),
    }));
    const hidden = new Set(runs.filter((run) => !drawn.has(run)).map(nameOf));
    const [xLabel, yLabel] = data.columns.cdf;
    draw({ series, hidden, xLabel, yLabel, yMax: 1, markers: false });
  };
  const experiments = unique(known.map((run) => run.experiment));
  const names = experiments.map((name) => [name, name || "(main)"]);
  if (experiments.length > 1) controls.append(chooser("experiment", names, experiments[0], show, { link: "experiment" }));
  show(experiments[0]);
}
