import assert from "node:assert/strict";
import { test } from "node:test";
import { ranksSection, timeText } from "../../python/fabricsim/analyses/ranks/section.js";
import { drawCampaign } from "../../python/fabricsim/report/js/campaign.js";
import { campaign, run } from "./campaigns.mjs";
import { emptyPage, headings } from "./page.mjs";

const REGION = {
  region: "solver<double, 3>",
  visits: 8,
  compute_ns: 2e6,
  wait_ns: 3e3,
  mpi_ns: 500,
  recorded_compute_ns: 2e6,
  recorded_mpi_ns: 7e3,
  rank: 3,
  rank_wait_ns: 1500,
  factor: 0.5,
  compared: "2 times as fast",
};

const JOB = {
  run: "a",
  label: "seed=1",
  job: 0,
  name: "halo",
  ranks: 4,
  time_ns: 18_684_669.04,
  waiting: [{ rank: 3, share: 0.41, peer: 5, peer_share: 0.6, late_share: 0.25, cable: "g3.r2 l1 → g7.r1" }],
  regions: [REGION],
  sentences: ["rank 3 waits 41% of its time"],
};

const draw = (jobs) => {
  const page = emptyPage();
  drawCampaign(campaign([run("a", [])], { products: { ranks: { ranks: jobs } } }), [ranksSection]);
  return page;
};

test("times have the unit in which they are shortest to read", () => {
  assert.deepEqual([0, 973.68, 1500, 18_684_669, 3e9].map(timeText), ["0 ns", "973.7 ns", "1.5 us", "18.68 ms", "3 s"]);
});

test("the section of ranks names ranks, cables and regions with units", () => {
  const page = draw([JOB]);
  assert.ok(headings(page).includes("Whom ranks wait for"));
  const text = page.main.textContent;
  const parts = ["halo, seed=1: 4 ranks, 18.68 ms", "Rank 3 waits 41% of its time.", "41.0 %", "rank 5", "g3.r2 l1 → g7.r1"];
  for (const part of [...parts, "solver<double, 3>", "2 ms", "3 us", "500 ns", "7 us", "2 times as fast", "rank 3: 1.5 us"])
    assert.ok(text.includes(part), part);
  assert.ok(!text.includes("undefined") && !text.includes("NaN") && !text.includes("null"));
});

test("what was not recorded has no column, and a file of an earlier version is drawn", () => {
  const nothing = { visits: null, recorded_compute_ns: null, recorded_mpi_ns: null, factor: null, compared: null };
  const unknown = { ...REGION, region: "", ...nothing };
  const text = draw([{ ...JOB, regions: [unknown] }]).main.textContent;
  assert.ok(text.includes("outside of all") && !text.includes("recorded"));
  const { run: id, label, job, ranks, time_ns, waiting } = JOB;
  const early = draw([{ run: id, label, job, ranks, time_ns, waiting: [{ ...waiting[0], cable: undefined }] }]).main.textContent;
  assert.ok(early.includes("job 0, seed=1") && !early.includes("undefined"));
});

test("a campaign without ranks has no section of them", () => {
  assert.ok(!headings(draw([])).includes("Whom ranks wait for"));
});
