/* The page of forwarding tables, section by section. */
import { el, section, table } from "../../report/js/elements.js";
import { compact, number } from "../../report/js/numbers.js";
import { foot, provenance } from "../../report/js/provenance.js";
import { cables } from "./cables.js";
import { bandwidths, brokenOf, routesHeader, sideBySide } from "./comparison.js";
import { paths, racks, shifts } from "./curves.js";
import { graphs } from "./graph.js";

/* Notes that are shown at most. */
const MOST_NOTES = 60;

function lanes({ engines }) {
  const all = engines.flatMap((e) => e.summary.lanes.filter((lane) => lane.pairs || !lane.free).map((lane) => [e, lane]));
  const rows = all.map(([e, lane]) => {
    const verdict = el("span", { class: lane.free ? "good" : "bad" }, lane.free ? "free" : "can deadlock");
    const circle = () => [...lane.cycle, lane.cycle[0]].join(" \u2192 ");
    const named = lane.free ? null : el("div", { class: "soft", style: "overflow-wrap:anywhere" }, circle());
    const counts = [String(lane.lane), number(lane.pairs)].map((text) => el("td", { class: "n" }, text));
    return el("tr", {}, el("td", {}, e.name), counts, el("td", {}, verdict, named));
  });
  section(
    "Lanes and deadlock",
    "A lane is free of deadlock if its channels cannot wait for each other in a circle. The circle is named where there is one.",
    table(["tables", "lane", "pairs of hosts", "verdict"], rows, { numbers: ["lane", "pairs of hosts"] }),
  );
}

/** Return what is to be kept in mind, in words. */
export function notesOf({ engines, fabric }) {
  const of = (e) => (text) => `${e.name}: ${text}`;
  return [
    ...fabric.notes,
    ...engines.filter((e) => e.about.note).map((e) => of(e)(e.about.note)),
    ...engines.flatMap((e) => e.summary.broken_examples.map((text) => of(e)(`no way from ${text}`))),
    ...brokenOf(engines).map((e) => of(e)(`${number(e.row.broken_pairs)} pairs of hosts do not reach each other`)),
  ];
}

function keepInMind(data) {
  const notes = notesOf(data);
  if (!notes.length) return;
  const items = notes.slice(0, MOST_NOTES).map((text) => el("li", {}, text));
  if (notes.length > MOST_NOTES) items.push(el("li", {}, `and ${notes.length - MOST_NOTES} more`));
  section("What to keep in mind", null, el("ul", { class: "plain" }, items));
}

/** Draw the page of forwarding tables. */
export function drawRoutes(data) {
  const sections = [routesHeader, sideBySide, bandwidths, paths, shifts, cables, graphs, racks, lanes, keepInMind];
  for (const draw of sections) draw(data);
  provenance(
    "Figures are functions of the fabric, the tables and the seed. Definitions: docs/models/route-figures.md.",
    Object.entries(data.provenance),
  );
  foot(`fabricsim ${data.provenance.version}`, `${compact(data.fabric.hosts)} hosts`);
}
