/* At which load every point stops keeping up, and what limits it. */
import { el, section, table } from "../../report/js/elements.js";
import { amount } from "../../report/js/units.js";

/* Points that are shown at most. */
const MOST = 40;

const cell = (text) => el("td", {}, text);
const numberCell = (text) => el("td", { class: "n" }, text);
const digits = (value) => (value === null || value === undefined ? "-" : value.toFixed(4));

function latency(entry) {
  const { mean, mean_at_least: bound } = entry.latency_ns;
  if (mean !== null && mean !== undefined) return amount(mean, "ns");
  return bound ? `> ${amount(bound, "ns")}` : "-";
}

function row(entry) {
  const share = entry.share === null ? "" : `${100 * entry.share} %`;
  return el(
    "tr",
    {},
    ...[String(entry.load), share, digits(entry.accepted_load), digits(entry.accepted_load_min)].map(numberCell),
    ...[digits(entry.fairness), latency(entry)].map(numberCell),
    cell(entry.state),
  );
}

function drawPoint(found) {
  const heads = ["load", "of saturation", "accepted", "worst node", "Jain's index", "mean latency"];
  const change = Object.entries(found.changed || {}).map(([key, value]) => `${key} = ${value}`);
  const parts = [el("p", {}, change.length ? `With ${change.join(", ")}: ${found.sentence}` : found.sentence)];
  if (found.measured.length) parts.push(table([...heads, "state"], found.measured.map(row), { numbers: heads }));
  parts.push(...(found.notes || []).map((note) => el("p", { class: "soft" }, note)));
  return parts.concat((found.moved || []).flatMap(drawPoint));
}

export function saturationSection(data) {
  const found = (data.products && data.products.saturation && data.products.saturation.saturations) || [];
  if (!found.length) return;
  const drawn = found.slice(0, MOST).flatMap(drawPoint);
  if (found.length > MOST) drawn.push(el("p", { class: "soft" }, `and ${found.length - MOST} more in saturation.json`));
  section(
    "Where the network saturates",
    "Loads are fractions of the injection bandwidth. A load is kept up with if the run of every seed says so; " +
      "of loads that are not, latency grows with the length of the run and is not given.",
    ...drawn,
  );
}
