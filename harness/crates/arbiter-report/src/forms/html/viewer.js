"use strict";
// Where the ends of the axis of a chart are, or those of its rows, and what they stand for.
const plotOf = (svg) => (svg.dataset.plot ?? svg.dataset.rows).split(" ").map(Number);

// The value on the axis, or the row, at a place of the mouse.
const valueAt = (svg, event) => {
  const [begin, end, first, last] = plotOf(svg);
  const box = svg.getBoundingClientRect();
  const { width, height } = svg.viewBox.baseVal;
  const at = svg.dataset.rows
    ? (event.clientY - box.top) / box.height * height
    : (event.clientX - box.left) / box.width * width;
  return first + (at - begin) / (end - begin) * (last - first);
};

// A line across a chart, or along a row; the function moves it to a value, and hides it at null.
const marker = (svg) => {
  const [begin, end, first, last] = plotOf(svg);
  const { width, height } = svg.viewBox.baseVal;
  const isRow = Boolean(svg.dataset.rows);
  const line = document.createElementNS(svg.namespaceURI, "line");
  const put = (values) => Object.entries(values).forEach(([name, value]) => line.setAttribute(name, value));
  put(isRow
    ? { class: "now row", x1: 0, x2: width, "stroke-width": (end - begin) / (last - first) }
    : { class: "now", y1: 10, y2: height - 50 });
  line.toggleAttribute("hidden", true);
  svg.append(line);
  return (value) => {
    const at = begin + (value - first) / (last - first) * (end - begin);
    put(isRow ? { y1: at, y2: at } : { x1: at, x2: at });
    line.toggleAttribute("hidden", value === null || at < begin || at > end);
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
  const graphs = [...game.querySelectorAll(".chart svg")].map((svg) => {
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
    board.setAttribute("aria-label", `Board after ${move.replace("The", "the")}: ${placement}`);
    remark.textContent = words ? `${move}: ${words}` : move;
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
    if (event.target.closest("details")) return;
    const key = { ArrowLeft: "back", ArrowRight: "on", Home: "first", End: "last" }[event.key];
    const other = event.shiftKey && { back: "prev", on: "next" }[key];
    if (other) document.querySelector(`a[rel=${other}]`)?.click();
    else if (key && !event.ctrlKey && !event.altKey && !event.metaKey) {
      event.preventDefault();
      show(jump[key]());
      // Who steps by keys hears the remark, and sees the values.
      for (const chart of game.querySelectorAll(".chart")) openChart(chart).tell(steps[shown][4], false);
    }
  });
  game.showPly = show;
  show(shown);
};

// The mouse and the arrow keys move a line through all charts over the same values; words beside it say
// what is there. Charts of a live page come and go, so a chart is looked at when it is first used.
const openChart = (chart) => {
  if (chart.tell) return chart;
  const { x, labels, lines } = JSON.parse(chart.dataset.values);
  const drawn = [...chart.querySelectorAll("svg")];
  const marks = drawn.map(marker);
  const tip = document.createElement("p");
  tip.className = "tip";
  chart.before(tip);
  chart.axis = x;
  chart.isRows = drawn.some((svg) => svg.dataset.rows);
  chart.stops = [...new Set(lines.flatMap(([, points]) => points.map(([at]) => at)))].sort((a, b) => a - b);
  chart.tell = (value, isHere) => {
    const far = chart.stops.map((stop) => Math.abs(stop - value));
    chart.at = value === null ? null : chart.stops[far.indexOf(Math.min(...far))];
    tip.hidden = chart.at === null;
    // Only the chart in use is read aloud.
    tip.setAttribute("aria-live", isHere ? "polite" : "off");
    // Each line as it stood last: engines in turn have values at every second place.
    const words = lines.flatMap(([name, points]) => points
      .filter(([at]) => (labels ? at === chart.at : at <= chart.at)).slice(-1)
      .map(([, y, low, high]) => `${lines.length > 1 ? `${name} ` : ""}${y}${low === undefined ? "" : ` [${low ?? "open"}, ${high ?? "open"}]`}`));
    tip.textContent = `${labels?.[chart.at] ?? `${x} ${chart.at}`}: ${words.join(", ")}`;
    marks.forEach((mark) => mark(chart.at));
  };
  return chart;
};
const tellAll = (chart, value) => {
  const axis = chart && openChart(chart).axis;
  const game = chart?.closest("article");
  for (const other of document.querySelectorAll(".chart")) {
    if (other === chart) other.tell(value, true);
    else if (axis && value !== null && other.closest("article") === game && openChart(other).axis === axis) {
      other.tell(value, false);
    } else other.tell?.(null, false);
  }
};
let read = null;
const point = (event) => {
  const svg = event.target.closest?.(".chart svg");
  const chart = svg?.parentElement;
  if (chart) tellAll(chart, valueAt(svg, event));
  else if (read) tellAll(null, null);
  read = chart;
};
document.addEventListener("pointermove", point);
document.addEventListener("pointerdown", point);
document.addEventListener("keydown", (event) => {
  const chart = event.target.closest?.(".chart");
  // In a game keys are for its moves.
  if (!chart || chart.closest("article") || event.ctrlKey || event.altKey || event.metaKey) return;
  const { stops, at, isRows } = openChart(chart);
  const here = stops.indexOf(at ?? NaN);
  const last = stops.length - 1;
  const back = here < 0 ? last : Math.max(0, here - 1);
  const on = Math.min(last, here + 1);
  const next = {
    ArrowLeft: back, ArrowRight: on, Home: 0, End: last, ...(isRows && { ArrowUp: back, ArrowDown: on }),
  }[event.key];
  if (next === undefined && event.key !== "Escape") return;
  event.preventDefault();
  tellAll(chart, next === undefined ? null : stops[next]);
});
document.addEventListener("focusout", (event) => {
  if (event.target.matches?.(".chart, article.game")) tellAll(null, null);
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
