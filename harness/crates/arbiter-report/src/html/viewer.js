"use strict";
// Where the ends of the horizontal axis of a chart are, and what they stand for.
const plotOf = (svg) => svg.dataset.plot.split(" ").map(Number);

// The value on the horizontal axis at a place of the mouse.
const valueAt = (svg, event) => {
  const [begin, end, first, last] = plotOf(svg);
  const box = svg.getBoundingClientRect();
  const x = (event.clientX - box.left) / box.width * svg.viewBox.baseVal.width;
  return first + (x - begin) / (end - begin) * (last - first);
};

// A line across a chart; the function moves it to a value, and hides it at null.
const marker = (svg) => {
  const [begin, end, first, last] = plotOf(svg);
  const line = document.createElementNS(svg.namespaceURI, "line");
  line.setAttribute("class", "now");
  line.setAttribute("y1", 10);
  line.setAttribute("y2", svg.viewBox.baseVal.height - 50);
  line.toggleAttribute("hidden", true);
  svg.append(line);
  return (at) => {
    const x = begin + (at - first) / (last - first) * (end - begin);
    line.setAttribute("x1", x);
    line.setAttribute("x2", x);
    line.toggleAttribute("hidden", at === null || x < begin || x > end);
    return x / svg.viewBox.baseVal.width;
  };
};

// Steps through a game: buttons, arrow keys, a click on a move or on a graph, or a link to a ply.
const openGame = (game) => {
  const steps = JSON.parse(game.querySelector("script").textContent);
  const board = game.querySelector(".board");
  const remark = game.querySelector(".remark");
  const moves = [...game.querySelectorAll(".move")];
  const here = game.querySelector(".here");
  const name = game.getAttribute("aria-labelledby");
  const figures = { k: "♚", q: "♛", r: "♜", b: "♝", n: "♞", p: "♟" };
  let shown = Number(game.dataset.shown);

  // Each graph has a line at the move that is shown, and leads to the move that is closest to a click.
  const graphs = [...game.querySelectorAll("[data-plot]")].map((svg) => {
    svg.addEventListener("click", (event) => {
      const value = valueAt(svg, event);
      const far = steps.map(([, , , , at]) => Math.abs((at ?? Infinity) - value));
      show(far.indexOf(Math.min(...far)));
    });
    return marker(svg);
  });

  const show = (step) => {
    shown = Math.max(0, Math.min(steps.length - 1, step));
    game.dataset.shown = shown;
    const [placement, words, move, marked, at] = steps[shown];
    const pieces = [...placement.replaceAll("/", "")].flatMap((c) =>
      c >= "1" && c <= "8" ? Array(Number(c)).fill("") : [c]);
    [...board.children].forEach((square, index) => {
      const piece = pieces[index];
      square.replaceChildren();
      square.classList.toggle("marked", marked.includes(index));
      if (piece) {
        const figure = document.createElement("b");
        figure.className = piece === piece.toUpperCase() ? "white" : "black";
        figure.textContent = figures[piece.toLowerCase()] + "\ufe0e";
        square.append(figure);
      }
    });
    board.setAttribute("aria-label", `Board after ${move}: ${placement}`);
    remark.textContent = `${move}: ${words}`;
    here.setAttribute("href", `#${name}-${shown}`);
    graphs.forEach((mark) => mark(at));
    for (const one of moves) {
      if (Number(one.dataset.move) === shown) one.setAttribute("aria-current", "step");
      else one.removeAttribute("aria-current");
    }
  };

  const jump = { first: () => 0, back: () => shown - 1, on: () => shown + 1, last: () => steps.length };
  game.querySelector(".buttons").hidden = false;
  for (const button of game.querySelectorAll("button")) {
    button.addEventListener("click", () => show(jump[button.dataset.step]()));
  }
  for (const move of moves) {
    move.addEventListener("click", () => show(Number(move.dataset.move)));
  }
  game.tabIndex = 0;
  game.addEventListener("keydown", (event) => {
    const key = { ArrowLeft: "back", ArrowRight: "on", Home: "first", End: "last" }[event.key];
    const other = event.shiftKey && { back: "prev", on: "next" }[key];
    if (other) document.querySelector(`a[rel=${other}]`)?.click();
    else if (key && !event.ctrlKey && !event.altKey && !event.metaKey) {
      event.preventDefault();
      show(jump[key]());
    }
  });
  game.showPly = show;
  show(shown);
};

// The mouse and the arrow keys move a line through all charts over the same values; words beside it say
// what is there. Charts of a live page come and go, so a chart is looked at when it is first used.
const charts = () => [...document.querySelectorAll(".chart[data-values]")];
const openChart = (chart) => {
  if (chart.tell) return chart;
  const { x, labels, lines } = JSON.parse(chart.dataset.values);
  const marks = [...chart.querySelectorAll("[data-plot]")].map((svg) => [svg, marker(svg)]);
  const tip = document.createElement("p");
  tip.className = "tip";
  chart.after(tip);
  chart.axis = x;
  chart.stops = [...new Set(lines.flatMap(([, points]) => points.map(([at]) => at)))].sort((a, b) => a - b);
  chart.tell = (value, isHere) => {
    const far = chart.stops.map((stop) => Math.abs(stop - value));
    chart.at = value === null ? null : chart.stops[far.indexOf(Math.min(...far))];
    tip.hidden = chart.at === null;
    // Only the chart in use is read aloud.
    tip.setAttribute("aria-live", isHere ? "polite" : "off");
    const words = lines.flatMap(([name, points]) => points
      .filter(([at]) => at === chart.at)
      .map(([, y, low, high]) => `${lines.length > 1 ? `${name} ` : ""}${y}${low === undefined ? "" : ` [${low}, ${high}]`}`));
    tip.textContent = `${labels?.[chart.at] ?? `${x} ${chart.at}`}: ${words.join(", ")}`;
    for (const [svg, mark] of marks) {
      const share = mark(chart.at);
      if (!svg.checkVisibility()) continue;
      const x = share * svg.getBoundingClientRect().width;
      tip.style.top = `${chart.offsetTop + 8}px`;
      tip.style.left = share < 0.5 ? `${x + 8}px` : "auto";
      tip.style.right = share < 0.5 ? "auto" : `${chart.offsetWidth - x + 8}px`;
    }
  };
  return chart;
};
const tellAll = (chart, value) => {
  const axis = chart && openChart(chart).axis;
  for (const other of charts()) {
    if (other === chart) other.tell(value, true);
    else if (axis && value !== null && openChart(other).axis === axis) other.tell(value, false);
    else other.tell?.(null, false);
  }
};
let read = null;
document.addEventListener("pointermove", (event) => {
  const svg = event.target.closest?.(".chart[data-values] svg");
  const chart = svg?.parentElement;
  if (chart) tellAll(chart, valueAt(svg, event));
  else if (read) tellAll(null, null);
  read = chart;
});
document.addEventListener("keydown", (event) => {
  const chart = event.target.closest?.(".chart[data-values]");
  if (!chart || event.ctrlKey || event.altKey || event.metaKey) return;
  const { stops, at } = openChart(chart);
  const here = stops.indexOf(at ?? NaN);
  const last = stops.length - 1;
  const next = { ArrowLeft: here < 0 ? last : Math.max(0, here - 1), ArrowRight: Math.min(last, here + 1), Home: 0, End: last }[event.key];
  if (next === undefined && event.key !== "Escape") return;
  event.preventDefault();
  tellAll(chart, next === undefined ? null : stops[next]);
});
document.addEventListener("focusout", (event) => {
  if (event.target.matches?.(".chart[data-values]")) tellAll(null, null);
});

const followLink = () => {
  const [, name, ply] = location.hash.match(/^#([\w.-]+)-(\d+)$/) ?? [];
  const game = name && document.getElementById(name)?.closest("article.game");
  if (game) {
    game.showPly(Number(ply));
    game.scrollIntoView({ block: "nearest" });
  }
};

document.querySelectorAll("article.game").forEach(openGame);
addEventListener("hashchange", followLink);
followLink();
// On the page of one game keys are for it.
document.querySelector("[aria-labelledby=ply]")?.focus({ preventScroll: true });
