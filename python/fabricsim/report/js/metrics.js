/* The numbers of runs that charts and tables show, with their words; and swept keys as axes. */
import { unique } from "./elements.js";
import { finite } from "./numbers.js";
import { quantity } from "./quantities.js";
import { atLeast, get, numberOf } from "./states.js";
import { scaledUnit } from "./units.js";

/* What networks differ in, which is an axis and no metric of a chart. */
const SIZE = "n_nodes";

/** Return word, unit, and what several seeds have together of a figure; undefined for a swept key. */
export const figureOf = (words, key) => words[key.replace(/\.\d+(?=\.|$)/g, ".0")];

/**
 * Return the words of a figure for an axis or a heading: in its unit or another, and with what seeds have together where
 * several are shown.
 */
export function labelOf({ word, unit, seeds }, { shown = unit, several = false } = {}) {
  const how = several && seeds !== "mean" ? `, ${seeds} over seeds` : "";
  return `${word}${how}${shown ? ` [${shown}]` : ""}`;
}

/** Return the words of a figure by its key. */
export const label = (words, key, options) => labelOf(figureOf(words, key), options);

/** Return the metrics of charts, as [key, words]: where two have the same words the second one has its key behind them. */
export function chartMetrics({ words, metrics }) {
  const seen = new Set();
  return metrics
    .filter((key) => key !== SIZE)
    .map((key) => {
      const said = label(words, key);
      const known = seen.has(said);
      seen.add(said);
      return [key, known ? `${said} (${key})` : said];
    });
}

/** Return those metrics that some of the runs have, or have a bound of. */
export const metricsOf = (metrics, runs) =>
  metrics.filter(([key]) => runs.some((run) => finite(get(run.summary, key)) || finite(atLeast(run, key))));

/** Return the largest finite number of some values. */
export const largest = (values) => Math.max(0, ...values.filter(finite).map(Math.abs));

/* What the simulator itself took, which comes last. */
const OWN = /^(packet_hops|cpu_s|events|peak_rss_bytes|build_s)$/;

/** Return the metrics of the table of runs, as [key, words in the unit of the column, by how much they are multiplied]. */
export const tableMetrics = ({ words, main, runs = [] }) =>
  [...main.filter((key) => !OWN.test(key)), ...main.filter((key) => OWN.test(key))].map((key) => {
    const most = largest(runs.flatMap((run) => [get(run.summary, key), atLeast(run, key)]));
    const [factor, shown] = scaledUnit(figureOf(words, key).unit, most);
    return [key, label(words, key, { shown }), factor];
  });

/** Return a number of a run for a column whose numbers are multiplied, or what it is more than. */
export function columnValue(run, key, factor) {
  const value = get(run.summary, key);
  return finite(value) ? value * factor : numberOf(run, key, factor);
}

/** Return what the numbers of several seeds have together: their mean, unless the figure says otherwise. */
export function together(words, key, values) {
  const { seeds } = figureOf(words, key) || {};
  const sum = values.reduce((a, b) => a + b, 0);
  if (seeds === "sum") return sum;
  if (seeds === "greatest") return Math.max(...values);
  return seeds === "least" ? Math.min(...values) : sum / values.length;
}

/** Return a swept value of a run, or a number of its summary. */
export function valueOf(run, key) {
  const pair = run.sweep.find(([swept]) => swept === key);
  return pair ? pair[1] : get(run.summary, key);
}

/** Return a swept value for people: a table without a name by its kind and what is set beside it. */
export function valueWords(text) {
  const said = String(text);
  if (!said.startsWith("{") || !said.endsWith("}")) return said;
  return said.slice(1, -1).replaceAll("kind = ", "").replaceAll('"', "").replaceAll(" = ", "=").replaceAll(",", "").trim();
}

/** Return a key without the job it is of, and a table's kind as the table: `load`, `routing`. */
const keyWords = (key) => key.replace(/(?<=.)\.kind$/, "").replace(/^job\.\d+\.(work\.)?(?=.)/, "");

/**
 * Return where a point of a sweep stands, as fabricsim._runs.point_words: keys with their values; the name of a table stands
 * for itself.
 */
export function pointWords(pairs) {
  const words = pairs.map(([key, value]) => {
    const isTable = !key.includes(".") || key.endsWith(".work");
    if (isTable && !String(value).startsWith("{")) return String(value);
    const short = keyWords(key);
    // Jobs with another value each are told apart.
    const isShared = pairs.every(([other, said]) => keyWords(other) !== short || said === value);
    return `${isShared ? short : key} = ${valueWords(value)}`;
  });
  return unique(words).join(", ");
}

/** Return the keys that are swept in some run, in order. */
export const sweptKeys = (runs) => unique(runs.flatMap((run) => run.sweep.map(([key]) => key)));

/** Return a key as the words of an axis, with its unit. */
export function axisName(key, unit, words = {}) {
  if (unit === "product") return "routers";
  const figure = figureOf(words, key);
  if (figure) return labelOf(figure);
  const parts = key.split(".");
  const last = parts[parts.length - 1];
  const said = (last === "kind" && parts.length > 1 ? parts[parts.length - 2] : last).replace(/_/g, " ");
  return unit ? `${said} [${unit}]` : said;
}

/**
 * Return where the values of a key stand on an axis: by their numbers where all have one of the same unit, else as names
 * one after the other. `names` is null on an axis of numbers.
 */
export function axisOf(runs, key, words = {}) {
  const texts = unique(runs.map((run) => String(valueOf(run, key))));
  const found = texts.map(quantity);
  const units = unique(found.map((each) => (each ? each[1] : null)));
  const isNames = found.some((each) => each === null) || units.length > 1;
  return {
    names: isNames ? texts : null,
    label: axisName(key, isNames ? "" : units[0], words),
    place: new Map(texts.map((text, i) => [text, isNames ? i : found[i][0]])),
  };
}

/** Return the first key whose values are numbers in all runs, else the first. */
export const firstAxis = (runs, keys) => keys.find((key) => runs.every((run) => quantity(valueOf(run, key)) !== null)) || keys[0];
