/* The claims of a published study and their verdicts, and the figures that the study declares. */
import { el, section, table } from "./elements.js";

const CLASS = { agrees: "good", differs: "warn", "not measured": "soft" };

function verdictOf(claim) {
  const because = claim.verdict !== "agrees" && claim.because ? el("div", { class: "soft" }, claim.because) : null;
  const turns = (claim.perturbed || "").startsWith("turns");
  const perturbed = claim.perturbed ? el("div", { class: turns ? "warn" : "soft" }, claim.perturbed) : null;
  return el("td", {}, el("span", { class: CLASS[claim.verdict] || "bad" }, claim.verdict), because, perturbed);
}

export function claims(data) {
  const all = data.claims;
  if (!all.length) return;
  const agree = all.filter((claim) => claim.verdict === "agrees").length;
  const missing = all.filter((claim) => claim.verdict === "not measured").length;
  const row = (claim) => {
    const cells = [claim.id, claim.paper, claim.expect, claim.ours].map((text) => el("td", {}, text));
    return el("tr", { title: claim.measure }, cells, verdictOf(claim));
  };
  const heads = ["claim", "paper", "expected", "ours", "verdict"];
  const [measured, others] = [true, false].map((known) => all.filter((one) => (one.verdict !== "not measured") === known));
  const folded = () => {
    const words = `${others.length} ${others.length > 1 ? "claims" : "claim"} not measured`;
    return el("details", { class: "folded" }, el("summary", {}, words), table(heads, others.map(row)));
  };
  section(
    "What the paper says, and what comes out here",
    `${agree} of ${all.length - missing} claims agree${missing ? `, ${missing} not measured` : ""}.`,
    measured.length ? table(heads, measured.map(row)) : null,
    others.length ? folded() : null,
  );
}

export function figures(data) {
  if (!data.figures.length) return;
  const drawn = ({ image, title, missing }) => {
    const picture = image ? el("img", { src: image, alt: title, loading: "lazy" }) : el("p", {}, `Not drawn: ${missing}`);
    return el("figure", {}, picture, el("figcaption", { class: "soft" }, title));
  };
  section("Figures", "Also as SVG and PNG in figures/.", el("div", { class: "pair" }, data.figures.map(drawn)));
}
