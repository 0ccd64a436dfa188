import assert from "node:assert/strict";
import { test } from "node:test";
import { failuresSection } from "../../python/fabricsim/analyses/failures/section.js";
import { drawCampaign } from "../../python/fabricsim/report/js/campaign.js";
import { campaign, run } from "./campaigns.mjs";
import { emptyPage, headings } from "./page.mjs";

const failure = (name, slowdown, more = {}) => ({
  ...{ name, slowdown, link_class: "x", dead: 1, draw: null, state: "ok", why: "", busy: 0.5, busiest_link: "a to b" },
  ...{ parted: 0, first_parted: [] },
  ...more,
});

const point = (failures, more = {}) => ({
  ...{
    sentence: "near: any one of 7 cables costs little.",
    of: "cables",
    candidates: 7,
    classes: [],
    many: [],
    notes: [],
    failures,
  },
  singles: { tried: failures.length, median: 1.2, p90: null, worst: 1.3, without_number: 1 },
  worst: failures.filter((one) => one.slowdown !== null).map((one) => one.name),
  ...more,
});

const draw = (failures) => {
  const page = emptyPage();
  drawCampaign(campaign([run("a", [])], { products: { failures: { failures } } }), [failuresSection]);
  return page;
};

const PARTED = failure("(1,0) x+", null, {
  state: "unreachable",
  parted: 12,
  first_parted: [[0, 4]],
  busy: null,
  busiest_link: "",
});

test("the section of failures tells the sentence, what is worst, and whom failures part", () => {
  const page = draw([point([failure("(0,0) x+", 1.3), failure("(0,1) x+", 1.1), PARTED], { notes: ["a note"] })]);
  assert.ok(headings(page).includes("What failures cost"));
  const text = page.main.textContent;
  for (const part of [
    "near: any one of 7 cables costs little.",
    "one of 7 cables31.200-1.3001",
    "(0,0) x+1.300a to b50 %ok",
    "(1,0) x+-parts 12 pairs of nodes: 0 from 4, ...",
    "a note",
  ])
    assert.ok(text.includes(part), `${part} in ${text}`);
  assert.ok(!text.includes("undefined") && !text.includes("NaN"));
});

test("draws of several and classes of cables have rows, and what has no number is shortened", () => {
  const many = [1, 4].map((dead) => ({ dead, draws: 8, least: 1, median: 1.5, worst: 2, without_number: 0 }));
  const classes = ["x", "y"].map((name) => ({ link_class: name, tried: 3, median: 1.1, worst: 1.2, without_number: 0 }));
  const late = failure("b", null, { state: "saturated", why: "saturated: it grows" });
  const page = draw([point([failure("a", 1.3), ...Array(12).fill(late)], { many, classes })]);
  const text = page.main.textContent;
  for (const part of [
    "1 cable at once81.500-2.0000",
    "4 cables at once8",
    "of class y3",
    "saturated: it grows",
    "and 2 more without",
  ])
    assert.ok(text.includes(part), `${part} in ${text}`);
});

test("a point without an answer has its sentence alone, and a campaign without failures no section", () => {
  const page = draw([point([], { sentence: "far: no answer: no such routing.", singles: null })]);
  assert.ok(page.main.textContent.includes("far: no answer: no such routing."));
  assert.ok(!headings(draw([])).includes("What failures cost"));
});
