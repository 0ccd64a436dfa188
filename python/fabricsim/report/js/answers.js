/* What the campaign answers: a question, a sentence, and the figures that show it. */
import { live } from "./chart.js";
import { COLOURS, colourOf, dashOf } from "./colours.js";
import { el, section } from "./elements.js";
import { figureOf, labelOf } from "./metrics.js";
import { isLoadAgainstLoad, linesOf } from "./sweeps.js";

/** Return what a chart of bars draws: a bar for each name. */
export function barsOf({ names, values, remarks, label, over }) {
  const points = values.map((value, i) => [i, value, value, value, remarks[i]]);
  return { series: [{ name: "", colour: COLOURS[0], points }], bars: true, names, xLabel: over || "", yLabel: label };
}

/** Return what a chart of lines draws whose points are given: [x, y, remark]. */
export function curvesOf({ x, y, lines, diagonal = false }) {
  const points = (line) => line.points.map(([at, value, remark]) => [at, value, value, value, remark]);
  const series = lines.map((line, i) => ({ name: line.name, colour: colourOf(i), dash: dashOf(i), points: points(line) }));
  return { series, xLabel: x, yLabel: y, hidden: new Set(), diagonal };
}

/** Return what the chart of a figure of an answer draws; null where the runs do not have it. */
export function drawingOf(figure, { runs, words, columns }) {
  if (figure.kind === "bars") return barsOf(figure);
  if (figure.kind === "curves") return curvesOf(figure);
  if (figure.kind === "cdf") {
    const run = runs.find((one) => one.id === figure.run && one.cdf);
    if (!run) return null;
    const points = run.cdf[0].map((x, i) => [x, run.cdf[1][i]]);
    const [xLabel, yLabel] = columns.cdf;
    return { series: [{ name: "", colour: COLOURS[0], points }], xLabel, yLabel, yMax: 1, markers: false };
  }
  const mine = runs.filter((run) => run.experiment === figure.experiment);
  const lines = linesOf(mine, figure.x, figure.y, words);
  const diagonal = isLoadAgainstLoad(mine, figure.x, figure.y);
  return { ...lines, yLabel: labelOf(figureOf(words, figure.y), { several: lines.several }), hidden: new Set(), diagonal };
}

export function answers(data) {
  for (const { question, sentence, figures } of data.answers || []) {
    const drawings = figures.map((figure) => drawingOf(figure, data)).filter(Boolean);
    const hosts = drawings.map(() => el("div", { class: "chart" }));
    const hollow = drawings.some(({ series }) => series.some((s) => s.points.some((point) => point[4])));
    const hint = hollow ? "Hollow points: the network did not keep up with the load, or the run is too short to tell." : null;
    const said = el("p", { class: "answer" }, sentence);
    const remark = hint ? el("p", { class: "soft" }, hint) : null;
    section(question, null, said, remark, hosts.length ? el("div", { class: "pair" }, hosts) : null);
    hosts.forEach((host, i) => live(host)(drawings[i]));
  }
}
