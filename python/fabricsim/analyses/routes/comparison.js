/* Sets of forwarding tables side by side: the head of the page, a table of figures, and bandwidths as bars. */
import { colourOf } from "../../report/js/colours.js";
import { el, head, section } from "../../report/js/elements.js";
import { finite, number } from "../../report/js/numbers.js";

/** Write a share of a link's bandwidth, or a mean. */
export const share = (value) => (finite(value) ? value.toFixed(3) : "\u2013");

/** Return the engines whose tables lose pairs of hosts. */
export const brokenOf = (engines) => engines.filter((e) => e.row.broken_pairs);

const namesOf = (engines) => engines.map((e) => e.name).join(", ");

/** Return the badge of the page as [class, text]. */
export function routesBadge(engines) {
  const broken = brokenOf(engines);
  if (broken.length) return ["bad", `${namesOf(broken)}: hosts that do not reach each other`];
  const stuck = engines.filter((e) => !e.row.deadlock_free);
  return stuck.length ? ["warn", `${namesOf(stuck)} can deadlock`] : ["", "no lane can deadlock"];
}

export function routesHeader({ source, engines, fabric, provenance }) {
  const tiles = [
    [number(fabric.hosts), "hosts"],
    [number(fabric.switches), fabric.switches === 1 ? "switch" : "switches"],
    [number(fabric.cables), "cables between switches"],
    [number(2 ** fabric.lmc), fabric.lmc ? "addresses per host" : "address per host"],
    ...(fabric.rates.length ? [[fabric.rates.join(", "), "rates"]] : []),
    [String(engines.length), engines.length === 1 ? "set of tables" : "sets of tables"],
    ["fabricsim " + provenance.version, "without a simulation"],
  ];
  const lead =
    "What the forwarding tables of this fabric are worth: lengths of paths, loads of cables, the bandwidth that patterns of " +
    "traffic get, and whether lanes can deadlock.";
  head(source, routesBadge(engines), [lead], tiles);
}

const withError = (row, key) => `${share(row[key])} \u00b1 ${share(row[`${key}_ci95`])}`;
const slowdown = (row) => (finite(row.demand_slowdown) ? `\u00d7 ${row.demand_slowdown.toFixed(2)}` : "\u2013");
const lanes = (row) => (row.lanes_used < row.lanes ? `${row.lanes_used} of ${row.lanes}` : number(row.lanes));

/** Return the columns that compare engines, as [name, text of an engine]. */
export function comparisonColumns(engines) {
  const asked = (key) => engines.some((e) => e.summary[key]);
  return [
    ["engine", (e) => e.name],
    ["mean hops", (e) => share(e.row.mean_hops)],
    ["most hops", (e) => number(e.row.max_hops)],
    ["most paths", (e) => number(e.row.max_paths)],
    ["mean paths", (e) => number(e.row.mean_paths)],
    ["unused", (e) => number(e.row.unused_channels)],
    ["uniform", (e) => share(e.row.uniform_bound)],
    ["eBB", (e) => withError(e.row, "ebb")],
    ["eBB both ways", (e) => withError(e.row, "ebb_both_ways")],
    ["shifts", (e) => share(e.row.shift_mean)],
    ["worst", (e) => number(e.row.shift_max_congestion)],
    ...(asked("racks") ? [["in racks", (e) => share(e.row.racks_mean)]] : []),
    ...(asked("demand") ? [["demand", (e) => slowdown(e.row)]] : []),
    ["lanes", (e) => lanes(e.row)],
  ];
}

export function sideBySide({ engines, refused }) {
  const columns = comparisonColumns(engines);
  const right = (i) => ({ class: i ? "n" : "" });
  const rows = engines.map((e) => {
    const free = e.row.deadlock_free;
    const verdict = el("td", { class: free ? "good" : "bad" }, free ? "free" : "possible");
    return el(
      "tr",
      {},
      columns.map(([, text], i) => el("td", right(i), text(e))),
      verdict,
    );
  });
  const heads = columns.map(([name], i) => el("th", right(i), name));
  const broken = brokenOf(engines).map((e) => `${e.name}: ${number(e.row.broken_pairs)}`);
  const lost = broken.length
    ? ` Pairs of hosts that do not reach each other (${broken.join(", ")}) get nothing and count as 0; ` +
      "a dash is what cannot be given for them."
    : "";
  const refusals = Object.entries(refused).map(([name, reason]) =>
    el("li", {}, el("b", {}, name), ` refused: ${reason.replace(name + ": ", "")}`),
  );
  section(
    "Side by side",
    "Hops are channels between switches. Paths are those of all ordered pairs of hosts, per directed channel. Uniform, eBB " +
      "and shifts are fractions of a link's bandwidth; \u00b1 is the 95 % confidence interval over the random matchings. " +
      "Worst: the most flows of any shift on a channel." +
      lost,
    el("div", { class: "scroll" }, el("table", {}, el("tr", {}, heads, el("th", {}, "deadlock")), rows)),
    refusals.length ? el("ul", { class: "plain soft", style: "margin-top:12px" }, refusals) : null,
  );
}

const BANDWIDTHS = [
  ["ebb", "effective bisection bandwidth", "ebb_ci95"],
  ["ebb_both_ways", "the same, both halves sending", "ebb_both_ways_ci95"],
  ["shift_mean", "shifts, mean share"],
  ["uniform_bound", "uniform traffic, saturation bound"],
  ["racks_mean", "within racks (mpiGraph)"],
];

export function bandwidths({ engines }) {
  const known = BANDWIDTHS.filter(([key]) => engines.some((e) => finite(e.row[key])));
  const bars = ([key, title, error]) => {
    const items = engines.map((e, i) => {
      const words = share(e.row[key]) + (error ? ` \u00b1 ${share(e.row[error])}` : "");
      const style = `width:${100 * Math.min(1, e.row[key] || 0)}%;background:${colourOf(i)}`;
      const name = el("div", { class: "name" }, el("span", {}, e.name), el("b", {}, words));
      return el("li", {}, name, el("div", { class: "bar" }, el("i", { style })));
    });
    return el("div", {}, el("h3", {}, title), el("ul", { class: "hot" }, items));
  };
  section(
    "Bandwidth that patterns get",
    "A full bar is the bandwidth of a link. A pair of hosts gets 1 / congestion, the most flows of the pattern on any channel " +
      "of its path.",
    el("div", { class: "pair" }, known.map(bars)),
  );
}
