"use strict";
// Keeps a page up to date, and sends commands to a run.

const parts = document.getElementById("parts");
const link = document.getElementById("link");
const { events } = document.body.dataset;
let { since } = document.body.dataset;
const REACHABLE = "a, button, input, select, summary, [tabindex]";
const all = (root, what) => [...root.querySelectorAll(what)];

// Elements by the caption of their figure and their index in the figure, because new charts may be
// inserted before an element.
const named = (root, what) => {
  const counts = {};
  return new Map(all(root, what).map((one) => {
    const figure = one.closest("figure")?.querySelector("figcaption").textContent ?? "";
    counts[figure] = (counts[figure] ?? 0) + 1;
    return [`${figure} ${counts[figure]}`, one];
  }));
};

// Copies open details, selected rows and shown plies to the replacement of a fragment.
const carryOver = (old, fresh) => {
  const pairs = (what) => {
    const before = named(old, what);
    return [...named(fresh, what)].flatMap(([name, now]) => (before.has(name) ? [[before.get(name), now]] : []));
  };
  for (const [before, now] of pairs("details")) now.open = before.open;
  for (const [before, now] of pairs("input")) now.checked = before.checked;
  for (const [before, now] of pairs("article.game")) {
    const title = (game) => game.querySelector("h3").textContent;
    if (title(before) === title(now)) now.dataset.shown = before.dataset.shown;
  }
};

const replace = (old, fresh) => {
  carryOver(old, fresh);
  const scrolled = [...named(old, ".scroll")].map(([name, box]) => [name, box.scrollLeft]);
  const readings = [...named(old, ".chart")].map(([name, chart]) => [name, chart.at ?? null]);
  const focus = [...named(old, REACHABLE)].find(([, one]) => one === document.activeElement)?.[0];
  old.replaceWith(fresh);
  const boxes = named(fresh, ".scroll");
  for (const [name, left] of scrolled) if (boxes.has(name)) boxes.get(name).scrollLeft = left;
  all(fresh, "article.game").forEach(openGame);
  const charts = named(fresh, ".chart");
  for (const [name, at] of readings) if (at !== null && charts.has(name)) openChart(charts.get(name)).tell(at, false);
  named(fresh, REACHABLE).get(focus)?.focus({ preventScroll: true });
};

const apply = ({ parts: changed, order }) => {
  for (const [id, html] of changed) {
    const box = document.createElement("template");
    box.innerHTML = html;
    const fresh = box.content.firstElementChild;
    const old = document.getElementById(id);
    if (old) {
      replace(old, fresh);
    } else {
      parts.append(fresh);
      all(fresh, "article.game").forEach(openGame);
    }
  }
  if (order) {
    const wanted = new Set(order);
    [...parts.children].forEach((part) => wanted.has(part.id) || part.remove());
    // Fragments above the list are not moved.
    const own = order.map((id) => document.getElementById(id)).filter((part) => part?.parentNode === parts);
    own.forEach((part, place) => {
      if (parts.children[place] !== part) parts.insertBefore(part, parts.children[place]);
    });
  }
  updateControls();
};

// Browsers allow few connections per server, so hidden pages have none.
let source = null;
const showState = (text) => { link.textContent = text; };
const connect = () => {
  showState("connecting …");
  const url = new URL(events, location);
  url.searchParams.set("since", since);
  source = new EventSource(url);
  source.addEventListener("open", () => showState("live"));
  source.addEventListener("parts", (event) => {
    since = event.lastEventId;
    apply(JSON.parse(event.data));
  });
  source.addEventListener("error", () => {
    showState("not live: the server does not reply");
    if (source.readyState === EventSource.CLOSED) setTimeout(updateConnection, 5000);
  });
};
const updateConnection = () => {
  source?.close();
  source = null;
  if (document.hidden) showState("paused");
  else connect();
};

// The list of runs: a changed filter applies immediately, and the address contains no empty fields.
for (const form of all(document, "form.filter")) {
  form.addEventListener("change", () => form.requestSubmit());
  form.addEventListener("submit", () => {
    for (const field of form.elements) field.disabled = !field.value;
    // The fields are enabled again for a viewer who navigates back.
    setTimeout(() => { for (const field of form.elements) field.disabled = false; });
  });
}

// Commands. The token is part of the URL that the server printed, and is stored only in this
// tab.
const steer = document.getElementById("steer");
const urlToken = new URLSearchParams(location.hash.slice(1)).get("token");
const storeToken = (token) => sessionStorage.setItem("token", token);
if (urlToken) {
  storeToken(urlToken);
  history.replaceState(null, "", location.pathname + location.search);
}
const post = async (address) => {
  const answer = document.getElementById("answer");
  answer.textContent = "…";
  const headers = { Authorization: `Bearer ${sessionStorage.getItem("token")}` };
  let reply;
  try {
    reply = await fetch(address, { method: "POST", headers });
    if (reply.status === 401) sessionStorage.removeItem("token");
    answer.textContent = (await reply.text()).trim();
  } catch {
    answer.textContent = "The server does not reply.";
  }
  answer.classList.toggle("trouble", !reply?.ok);
  updateControls();
  return reply;
};
const start = document.querySelector("#start form");
const updateControls = () => {
  const token = sessionStorage.getItem("token");
  if (start) start.querySelector(".token").hidden = Boolean(token);
  if (!steer) return;
  const standing = document.querySelector(".standing");
  steer.hidden = standing?.dataset.phase !== "running";
  document.getElementById("unlock").hidden = Boolean(token);
  const state = standing?.dataset.state;
  const useful = { pause: state === "running", resume: state === "paused", drain: state !== "draining", stop: true };
  steer.querySelector(".buttons").hidden = !token;
  for (const button of all(steer, "[data-command]")) button.disabled = !useful[button.dataset.command];
};
if (steer) {
  for (const button of all(steer, "[data-command]")) {
    const { command } = button.dataset;
    const sure = () => command !== "stop" || confirm("Discard the pairs in progress and stop the run immediately?");
    button.addEventListener("click", () => sure() && post(`/runs/${steer.dataset.run}/${command}`));
  }
  document.getElementById("unlock").addEventListener("submit", (event) => {
    event.preventDefault();
    storeToken(event.target.elements.token.value.trim());
    event.target.reset();
    updateControls();
  });
}
start?.addEventListener("submit", async (event) => {
  event.preventDefault();
  const fields = new FormData(start);
  const token = fields.get("token").trim();
  if (token) storeToken(token);
  fields.delete("token");
  start.elements.token.value = "";
  const reply = await post(`/start?${new URLSearchParams(fields)}`);
  if (reply?.status === 201) location.assign(reply.headers.get("Location"));
  // A test that is still being prepared has no page, so it is stopped from here.
  start.elements.stop.hidden = ![202, 409].includes(reply?.status);
});
start?.elements.stop.addEventListener("click", () => post(`/runs/${start.elements.name.value}/stop`));

updateControls();
if (events) {
  document.addEventListener("visibilitychange", updateConnection);
  updateConnection();
}
