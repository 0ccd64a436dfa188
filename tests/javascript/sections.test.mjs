import assert from "node:assert/strict";
import { test } from "node:test";
import { perturbSection, spreadsOf } from "../../python/fabricsim/analyses/perturb/section.js";
import { drawCampaign } from "../../python/fabricsim/report/js/campaign.js";
import { spreadOver } from "../../python/fabricsim/report/js/latencies.js";
import { layoutOf } from "../../python/fabricsim/report/js/network.js";
import { cablesOf, endsOf } from "../../python/fabricsim/report/js/drawing.js";
import { campaign, everything, run } from "./campaigns.mjs";
import { emptyPage, headings } from "./page.mjs";

const draw = (data) => {
  const page = emptyPage();
  drawCampaign(data, [perturbSection]);
  return page;
};

test("a campaign that has everything has every section, in order", () => {
  const page = draw(everything());
  assert.deepEqual(headings(page), [
    "What the paper says, and what comes out here",
    "Figures",
    "Against the swept keys",
    "Jobs",
    "Memory nodes",
    "Latency distribution",
    "Where the load is",
    "Inside one run",
    "Runs",
    "Under perturbation",
    "Self-checks",
    "What to keep in mind",
    "Where this comes from",
  ]);
  assert.ok(!page.top.textContent.includes("packet hops"));
  assert.match(page.main.textContent, /packet hops600CPU time1 s/);
  assert.match(page.foot.textContent, /^fabricsim 1\.2\.3 \u00b7 this file needs no network$/);
  const text = page.main.textContent;
  for (const part of [
    "0 of 1 claims agree",
    "Not drawn: no run",
    "> 900",
    "10.00 %",
    "two: 2 routers",
    "35.0 %",
    "1 run is saturated",
  ])
    assert.ok(text.includes(part), part);
  assert.ok(!text.includes("undefined") && !text.includes("NaN"));
});

test("sections that have nothing to show are not there", () => {
  const page = draw(campaign([run("a", [])]));
  assert.deepEqual(headings(page), ["Runs", "Self-checks", "Where this comes from"]);
});

test("a campaign without a finished run has a page", () => {
  const page = draw(campaign([], { total_runs: 3 }));
  assert.deepEqual(headings(page), ["Where this comes from"]);
  assert.match(page.top.textContent, /0 of 3 runs finished/);
});

test("a click on a heading sorts, a second one turns the order round", () => {
  const page = draw(campaign([run("b", []), run("a", []), run("c", [])]));
  const table = page.main.all("table")[0];
  const ids = () =>
    table
      .all("tbody")[0]
      .all("tr")
      .map((row) => row.all("td")[0].textContent);
  assert.deepEqual(ids(), ["b", "a", "c"]);
  table.all("th")[0].listeners.click();
  assert.deepEqual(ids(), ["a", "b", "c"]);
  table.all("th")[0].listeners.click();
  assert.deepEqual(ids(), ["c", "b", "a"]);
});

test("a legend hides and shows a line", () => {
  const sweep = (routing, value) => [
    ["routing.kind", routing],
    ["link.bandwidth", value],
  ];
  const runs = ["dor", "rdr"].flatMap((routing) =>
    ["1 GB/s", "2 GB/s"].map((value) => run(routing + value, sweep(routing, value))),
  );
  const page = draw(campaign(runs));
  const chart = page.main.all("svg")[0].parentElement;
  const drawn = () => chart.all("path").length;
  assert.equal(drawn(), 2);
  chart.all("button")[0].listeners.click();
  assert.equal(drawn(), 1);
  chart.all("button")[0].listeners.click();
  assert.equal(drawn(), 2);
});

test("what is under the pointer is said", () => {
  const data = everything();
  const page = draw(data);
  const point = (node, clientX, clientY) => node.listeners.mousemove({ clientX, clientY });
  const chart = page.main.all("svg")[0];
  const [dot] = chart.all("circle");
  const height = Number(chart.attributes.viewBox.split(" ")[3]);
  point(chart, Number(dot.attributes.cx), (Number(dot.attributes.cy) * 300) / height + 1);
  assert.match(page.tip.textContent, /^bandwidth \[GB\/s\]: 10\ntime of the job \[us\]: 2$/);
  chart.listeners.mouseleave();
  assert.equal(page.tip.hidden, true);
  const canvas = page.main.all("canvas")[0];
  const [x, y] = layoutOf(data.networks[0].routers, canvas.parentElement.clientWidth).at.get(0);
  point(canvas, x, y);
  assert.equal(page.tip.textContent, "a\n\u2192 b: 90 %");
  point(canvas, x + 100, y);
  assert.equal(page.tip.hidden, true);
});

test("text of users goes in as text", () => {
  const page = draw(campaign([run("a", [])], { study: { name: "<b>x</b>", description: "" } }));
  assert.equal(page.top.all("h1")[0].children[0], "<b>x</b>");
  assert.equal(page.top.all("b").filter((node) => node.textContent === "x").length, 0);
});

test("of many runs twelve are drawn, the first and the last among them", () => {
  const runs = Array.from({ length: 40 }, (_, i) => i);
  const shown = spreadOver(runs);
  assert.deepEqual([shown.length, shown[0], shown[11]], [12, 0, 39]);
  assert.deepEqual(spreadOver([1, 2]), [1, 2]);
});

test("the ends of links are told by four bytes each", () => {
  assert.deepEqual(endsOf("AAAAAAEAAAABAAAAAAABAA=="), [
    [0, 1],
    [1, 65536],
  ]);
  assert.deepEqual(endsOf(""), []);
});

test("a cable has the load of its busier direction, and the busiest comes last", () => {
  const ends = [
    [0, 1],
    [1, 0],
    [2, 1],
  ];
  assert.deepEqual(cablesOf(ends, [10, 90, 50]), [
    [1, 2, 50],
    [0, 1, 90],
  ]);
});

test("routers stand within the drawing", () => {
  const routers = [
    [0, "a", 0, 0],
    [1, "b", 9, 0],
    [2, "c", 0, 4],
  ];
  const { at, height } = layoutOf(routers, 800);
  for (const [x, y] of at.values()) assert.ok(x > 0 && x < 800 && y > 0 && y < height);
});

test("times without a spread are left out of those perturbed", () => {
  assert.deepEqual(spreadsOf([run("a", [])]), []);
  assert.equal(spreadsOf(everything().runs).length, 2);
});
