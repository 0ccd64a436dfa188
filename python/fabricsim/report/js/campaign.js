/* The page of a campaign, section by section. */
import { answers } from "./answers.js";
import { jobs, memoryNodes } from "./breakdown.js";
import { checks, notes } from "./checks.js";
import { claims, figures } from "./claims.js";
import { el } from "./elements.js";
import { costsOf, header } from "./header.js";
import { inside } from "./inside.js";
import { latencies } from "./latencies.js";
import { network } from "./network.js";
import { foot, provenance } from "./provenance.js";
import { runsTable } from "./runs.js";
import { sweeps } from "./sweeps.js";

function origin(data) {
  const facts = Object.entries(data.provenance).filter(([, text]) => text);
  provenance(
    "The same study and seed give the same bytes on any engine and machine; fabricsim rerun proves it.",
    [...facts.map(([name, text]) => [name.replace(/_/g, " "), text]), ...costsOf(data)],
    el("details", {}, el("summary", {}, "the study"), el("pre", {}, data.source)),
  );
}

/** Draw the page of a campaign; sections of analyses stand between the runs and their checks. */
export function drawCampaign(data, analyses = []) {
  const sections = [header, answers, claims, figures, sweeps, jobs, memoryNodes, latencies, network, inside, runsTable];
  for (const draw of [...sections, ...analyses, checks, notes, origin]) draw(data);
  foot(`fabricsim ${data.version}`);
}
