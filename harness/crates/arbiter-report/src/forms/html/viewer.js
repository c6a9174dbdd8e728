"use strict";
// Positions of both ends of the axis (or of the rows) of a chart, and the values at both ends.
const plotOf = (svg) => (svg.dataset.plot ?? svg.dataset.rows).split(" ").map(Number);

// Value on the axis, or index of the row, at the position of the mouse.
const valueAt = (svg, event) => {
  const [begin, end, first, last] = plotOf(svg);
  const box = svg.getBoundingClientRect();
  const { width, height } = svg.viewBox.baseVal;
  const at = svg.dataset.rows
    ? (event.clientY - box.top) / box.height * height
    : (event.clientX - box.left) / box.width * width;
  return first + (at - begin) / (end - begin) * (last - first);
};

// Adds a line across a chart or along a row; returns a function that moves the line to a value, or
// hides it for null.
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

// Makes a game viewer interactive: buttons, arrow keys, clicks on moves and graphs, links to plies.
const openGame = (game) => {
  const steps = JSON.parse(game.querySelector("script").textContent);
  const board = game.querySelector(".board");
  const remark = game.querySelector(".remark");
  const moves = [...game.querySelectorAll(".move")];
  const here = game.querySelector(".here");
  const name = game.getAttribute("aria-labelledby");
  const figures = { k: "♚", q: "♛", r: "♜", b: "♝", n: "♞", p: "♟" };
  let shown = Number(game.dataset.shown);

  // Each graph has a line at the current move; a click shows the closest move.
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
      // Screen readers read the remark only, so the values at the move are shown without an
      // announcement.
      for (const chart of game.querySelectorAll(".chart")) openChart(chart).tell(steps[shown][4], false);
    }
  });
  game.showPly = show;
  show(shown);
};

// The mouse and the arrow keys move a line through all charts with the same axis; a text above
// shows the values at the line. Charts of a live page are replaced, so a chart is initialized at
// its first use.
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
    // Screen readers read only the chart in use.
    tip.setAttribute("aria-live", isHere ? "polite" : "off");
    // The last value of each line is shown, because engines move in turn and have values at every
    // second position.
    const words = lines.flatMap(([name, points]) => points
      .filter(([at]) => (labels ? at === chart.at : at <= chart.at)).slice(-1)
      .map(([, y, low, high]) => `${lines.length > 1 ? `${name} ` : ""}${y}${low === undefined ? "" : ` [${low ?? "-∞"}, ${high ?? "∞"}]`}`));
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
  // In a game, the keys step through moves.
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
// On the page of one game, the keys step through its moves.
document.querySelector("[aria-labelledby=ply]")?.focus({ preventScroll: true });
