/* Curves of forwarding tables: loads of channels, lengths of paths, shifts, racks. */
import { live } from "../../report/js/chart.js";
import { COLOURS, colourOf, dashOf } from "../../report/js/colours.js";
import { el, section } from "../../report/js/elements.js";

const line = (e, i, points) => ({ name: e.name, colour: colourOf(i), dash: dashOf(i), points });

export function paths({ engines }) {
  const [loads, lengths] = [el("div", { class: "chart" }), el("div", { class: "chart" })];
  section(
    "Paths",
    "Left: channels from the busiest to the idlest; level lines are even loads. " +
      "Right: how many pairs of hosts are how far apart.",
    el("div", { class: "pair" }, loads, lengths),
  );
  live(loads)({
    series: engines.map((e, i) =>
      line(
        e,
        i,
        e.loads[0].map((x, k) => [x, e.loads[1][k]]),
      ),
    ),
    xLabel: "channels [%], busiest first",
    yLabel: "paths on the channel",
    markers: false,
    log: false,
    hidden: new Set(),
  });
  const histogram = (e) => e.summary.lengths.histogram.map((pairs, hops) => [hops, pairs]);
  const yLabel = "ordered pairs of hosts";
  const first = engines.length ? histogram(engines[0]) : [];
  const same = engines.every((e) => JSON.stringify(histogram(e)) === JSON.stringify(first));
  if (same && engines.length) {
    const xLabel = engines.length > 1 ? "channels on the way, the same for all" : "channels on the way";
    live(lengths)({ series: [{ name: "", colour: COLOURS[0], points: first }], bars: true, xLabel, yLabel });
  } else {
    const series = engines.map((e, i) => line(e, i, histogram(e)));
    live(lengths)({ series, xLabel: "channels on the way", yLabel, log: false });
  }
}

export function shifts({ engines }) {
  if (!engines.some((e) => e.shifts[0].length > 1)) return;
  const [means, worst] = [el("div", { class: "chart" }), el("div", { class: "chart" })];
  section(
    "Shifts",
    "Host i sends to host i + k, all at the same time: the steps of an all-to-all exchange.",
    el("div", { class: "pair" }, means, worst),
  );
  const series = (at) =>
    engines.map((e, i) =>
      line(
        e,
        i,
        e.shifts[0].map((k, j) => [k, e.shifts[at][j]]),
      ),
    );
  const draw = (host, at, options) =>
    live(host)({ series: series(at), xLabel: "shift k", markers: false, log: false, hidden: new Set(), ...options });
  draw(means, 1, { yLabel: "mean share of a link", yMax: 1 });
  draw(worst, 2, { yLabel: "most flows on a channel" });
}

export function racks({ engines }) {
  const known = engines.filter((e) => e.summary.racks && e.summary.racks.each.length);
  if (!known.length) return;
  const host = el("div", { class: "chart" });
  const { size } = known[0].summary.racks;
  section("Racks", `mpiGraph within each run of ${size} consecutive hosts, nothing else sending.`, host);
  const series = known.map((e) => ({
    name: e.name,
    colour: colourOf(engines.indexOf(e)),
    points: e.summary.racks.each.map((mean, rack) => [rack, mean]),
  }));
  live(host)({ series, xLabel: "rack", yLabel: "mean share of a link", yMax: 1 });
}
