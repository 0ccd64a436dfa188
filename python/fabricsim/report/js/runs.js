/* The table of runs, sorted by any column. */
import { el, section, unique } from "./elements.js";
import { columnValue, label, sweptKeys, tableMetrics, valueOf, valueWords } from "./metrics.js";
import { number } from "./numbers.js";
import { quantity } from "./quantities.js";
import { becauseOf, lost, stateOf } from "./states.js";

/* Rows that are shown at most. */
const MOST_ROWS = 2000;

const plain = (name, value) => ({ name, value, className: () => "" });
const numeric = (name, value) => ({ name, value, className: () => "n", numeric: true });

function verdictClass(run) {
  if (!run.ok) return "bad";
  return stateOf(run) === "ok" ? "good" : "warn";
}

/** Return the columns: name, value of a run, class of its cell. */
export function columnsOf(data) {
  const { runs, words } = data;
  const swept = (key) =>
    plain(key, (run) => {
      const value = valueOf(run, key);
      return value === undefined ? "" : valueWords(value);
    });
  const verdict = {
    name: "verdict",
    value: (run) => (run.ok ? stateOf(run) : "FAILED"),
    className: verdictClass,
    title: (run) => (stateOf(run) === "ok" ? null : becauseOf(run)),
  };
  return [
    plain("run", (run) => run.id),
    ...(unique(runs.map((run) => run.experiment)).length > 1 ? [plain("experiment", (run) => run.experiment)] : []),
    ...sweptKeys(runs).map(swept),
    { name: "seed", value: (run) => run.seed, className: () => "n" },
    ...tableMetrics(data).map(([key, name, scale]) => numeric(name, (run) => columnValue(run, key, scale))),
    ...(runs.some(lost) ? [plain(label(words, "not_arrived"), (run) => `${(100 * lost(run)).toFixed(2)} %`)] : []),
    verdict,
    plain("digest", (run) => run.summary.digest || ""),
  ];
}

/** Return runs in the order of a column's values: quantities by their size, everything else as it is. */
export function sortedBy(runs, value, sign) {
  return [...runs].sort((a, b) => {
    let [x, y] = [value(a), value(b)];
    const [left, right] = [quantity(x), quantity(y)];
    if (left && right) [x, y] = [left[0], right[0]];
    if (x < y) return -sign;
    return x > y ? sign : 0;
  });
}

/** Return a cell as text. */
export function textOf(column, run) {
  const value = column.value(run);
  return column.numeric && typeof value !== "string" ? number(value) : String(value);
}

/** Tell whether what stands in a column stands to the right. */
export const isRight = (column) => Boolean(column.numeric) || column.name === "seed";

const cellOf = (column, run) =>
  el("td", { class: column.className(run), title: column.title ? column.title(run) : null }, textOf(column, run));

export function runsTable(data) {
  const { runs } = data;
  if (!runs.length) return;
  const columns = columnsOf(data);
  const body = el("tbody", {});
  let order = { column: null, sign: 1 };
  const fill = () => {
    const rows = order.column ? sortedBy(runs, order.column.value, order.sign) : runs;
    const row = (run) =>
      el(
        "tr",
        {},
        columns.map((column) => cellOf(column, run)),
      );
    body.replaceChildren(...rows.slice(0, MOST_ROWS).map(row));
  };
  const heads = columns.map((column) => {
    const onclick = () => {
      order = { column, sign: order.column === column ? -order.sign : 1 };
      fill();
    };
    return el("th", { class: "sortable" + (isRight(column) ? " n" : ""), onclick }, column.name);
  });
  const head = el("thead", {}, el("tr", {}, heads));
  section("Runs", "Click a heading to sort.", el("div", { class: "scroll" }, el("table", {}, head, body)));
  fill();
}
