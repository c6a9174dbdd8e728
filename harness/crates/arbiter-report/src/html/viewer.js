"use strict";
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
    const [begin, end, first, last] = svg.dataset.plot.split(" ").map(Number);
    const { width, height } = svg.viewBox.baseVal;
    const line = document.createElementNS(svg.namespaceURI, "line");
    line.setAttribute("class", "now");
    line.setAttribute("y1", 10);
    line.setAttribute("y2", height - 50);
    svg.append(line);
    svg.addEventListener("click", (event) => {
      const box = svg.getBoundingClientRect();
      const x = (event.clientX - box.left) / box.width * width;
      const value = first + (x - begin) / (end - begin) * (last - first);
      const far = steps.map(([, , , , at]) => Math.abs((at ?? Infinity) - value));
      show(far.indexOf(Math.min(...far)));
    });
    return (at) => {
      const x = begin + (at - first) / (last - first) * (end - begin);
      line.setAttribute("x1", x);
      line.setAttribute("x2", x);
      line.toggleAttribute("hidden", at === null || x < begin || x > end);
    };
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
