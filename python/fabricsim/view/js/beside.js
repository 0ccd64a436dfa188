/* What two runs that are shown side by side differ in: keys of their studies, and figures with their relative change. */
import { el, table } from "../../report/js/elements.js";
import { number } from "../../report/js/numbers.js";
import { scaledUnit } from "../../report/js/units.js";

/** Return a relative change in words. */
export function changeWords(change) {
  if (change === null) return "not known";
  if (change === 0) return "the same";
  const percent = 100 * change;
  return `${percent > 0 ? "+" : "\u2212"}${number(Math.abs(percent), 3)} %`;
}

const cell = (text) => el("td", {}, text);
const numberCell = (text) => el("td", { class: "n" }, text);

/** Return the cells of a figure: its words with the unit, both numbers in it, and the change. */
export function figureCells({ key, word, unit, first, second, at_least: bounds = [], change }) {
  const [factor, shown] = scaledUnit(unit, Math.max(Math.abs(first), Math.abs(second)));
  const values = [first, second].map((value, i) => `${bounds[i] ? "> " : ""}${number(value * factor)}`);
  return [`${word || key}${shown ? ` [${shown}]` : ""}`, ...values, changeWords(change)];
}

const rowsOf = (figures) =>
  figures.map((figure) => {
    const [words, ...values] = figureCells(figure);
    return el("tr", {}, el("td", { title: figure.key }, words), values.map(numberCell));
  });

/** Return what stands below two pictures. */
export function differencesOf({ labels, keys, figures, states, same }) {
  const heads = ["first", "second", "change"];
  const [main, others] = [figures.filter((figure) => figure.main), figures.filter((figure) => !figure.main)];
  const unsaid = (key) => (key === "fork" ? "as it is" : "default");
  const stated = keys.map(([key, ...values]) => el("tr", {}, cell(key), ...values.map((value) => cell(value || unsaid(key)))));
  const parts = [el("p", {}, `First: ${labels[0]} (${states[0] || "ok"}). Second: ${labels[1]} (${states[1] || "ok"}).`)];
  if (same) parts.push(el("p", { class: "soft" }, "Both are the same events, to the last digit."));
  parts.push(
    keys.length
      ? table(["key of the study", "first", "second"], stated, { className: "words" })
      : el("p", { class: "soft" }, "Their studies do not differ."),
  );
  parts.push(table(["figure", ...heads], rowsOf(main), { numbers: heads, className: "words" }));
  if (others.length) {
    const summary = el("summary", {}, `${number(others.length)} other figures that differ`);
    parts.push(el("details", {}, summary, table(["figure", ...heads], rowsOf(others), { numbers: heads, className: "words" })));
  }
  return parts;
}
