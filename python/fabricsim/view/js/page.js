/* The page of `fabricsim view`: a folder's state and its runs, as they are now. */
import { chooser, el } from "../../report/js/elements.js";
import { number } from "../../report/js/numbers.js";
import { rowsTable } from "./rows.js";
import { badge, merged, shareOf } from "./states.js";

const ask = async (path) => {
  const answer = await fetch(path);
  if (!answer.ok) throw new Error(await answer.text());
  return answer.json();
};
const of = (folder) => `folder=${encodeURIComponent(folder)}`;

/** Draw the head: name, badge, how far it is. */
export function drawHead(host, data, lost) {
  const { state } = data;
  const [kind, text] = lost ? ["bad", "the server has ended"] : badge(data);
  const progress = { role: "progressbar", "aria-valuenow": state.finished, "aria-valuemax": state.total };
  const share = `width:${100 * shareOf(state)}%`;
  const runs = state.total ? `${number(state.finished)} of ${number(state.total)} runs` : `${number(state.finished)} runs`;
  const wrong = [state.damage, ...state.findings].filter(Boolean);
  const more = state.n_findings - state.findings.length;
  if (more > 0) wrong.push(`and ${number(more)} more (fabricsim verify names all)`);
  host.replaceChildren(
    el("div", { class: "title" }, el("h1", {}, state.name), el("span", { class: `badge ${kind}`, role: "status" }, text)),
    state.description ? el("p", { class: "lead" }, state.description) : "",
    el("div", { class: "progress", ...progress }, el("i", { style: share })),
    el("p", { class: "soft", id: "count" }, [runs, state.command].filter(Boolean).join(" \u00b7 ")),
    wrong.length
      ? el(
          "ul",
          { class: "plain bad findings" },
          wrong.map((line) => el("li", {}, line)),
        )
      : "",
  );
}

function follow(folder, show, trouble) {
  const source = new EventSource(`api/events?${of(folder)}`);
  let data = null;
  let lost = false;
  const again = async () => {
    data = await ask(`api/runs?${of(folder)}`);
    show(data, lost, true);
  };
  source.onmessage = (event) => {
    const told = JSON.parse(event.data);
    lost = false;
    const isNew = told.runs && told.runs.some(({ id }) => !data || !data.main.length || !data.order.includes(id));
    if (!data || told.again || isNew) again().catch(trouble);
    else {
      data = { ...merged(data, told.runs || []), state: told.state };
      show(data, lost, Boolean(told.runs));
    }
  };
  source.onerror = () => {
    lost = true;
    if (data) show(data, lost, false);
  };
  source.addEventListener("refused", (event) => {
    source.close();
    trouble(new Error(JSON.parse(event.data)));
  });
  return () => source.close();
}

async function run() {
  const [top, main] = [document.getElementById("top"), document.getElementById("main")];
  const [head, controls] = [el("div", {}), el("div", { class: "controls" })];
  const hint = el("p", { class: "hint" }, "Click a heading to sort. Arrow keys move through the rows.");
  const part = el("section", {}, el("h2", {}, "Runs"), hint);
  top.append(controls, head);
  main.append(part);
  const fill = rowsTable(part);
  const trouble = (error) => head.replaceChildren(el("p", { class: "bad", role: "alert" }, error.message));
  const show = (data, lost, rows) => {
    document.title = `${data.state.name} (${data.state.phase})`;
    drawHead(head, data, lost);
    part.hidden = !data.runs.length;
    if (rows) fill(data);
  };
  try {
    const { root, folders } = await ask("api/folders");
    let stop = () => {};
    const open = (folder) => {
      stop();
      stop = follow(folder, show, trouble);
    };
    const first = folders.length ? folders[0] : "";
    if (folders.length > 1)
      controls.append(
        chooser(
          "folder",
          folders.map((name) => [name, name || root]),
          first,
          open,
        ),
      );
    open(first);
  } catch (error) {
    trouble(error);
  }
}

/** Start the page. */
export const start = () => run();
