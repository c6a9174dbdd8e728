"use strict";
// Steps through a game: buttons, arrow keys, or a click on a move.
const openGame = (game) => {
  const steps = JSON.parse(game.querySelector("script").textContent);
  const board = game.querySelector(".board");
  const remark = game.querySelector(".remark");
  const moves = [...game.querySelectorAll(".move")];
  const figures = { k: "♚", q: "♛", r: "♜", b: "♝", n: "♞", p: "♟" };
  let shown = Number(game.dataset.shown);

  const show = (step) => {
    shown = Math.max(0, Math.min(steps.length - 1, step));
    game.dataset.shown = shown;
    const [placement, words, name] = steps[shown];
    const pieces = [...placement.replaceAll("/", "")].flatMap((c) =>
      c >= "1" && c <= "8" ? Array(Number(c)).fill("") : [c]);
    [...board.children].forEach((square, index) => {
      const piece = pieces[index];
      square.replaceChildren();
      if (piece) {
        const figure = document.createElement("b");
        figure.className = piece === piece.toUpperCase() ? "white" : "black";
        figure.textContent = figures[piece.toLowerCase()] + "\ufe0e";
        square.append(figure);
      }
    });
    board.setAttribute("aria-label", `Board after ${name}: ${placement}`);
    remark.textContent = `${name}: ${words}`;
    for (const move of moves) {
      if (Number(move.dataset.move) === shown) move.setAttribute("aria-current", "step");
      else move.removeAttribute("aria-current");
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
    if (key && !event.ctrlKey && !event.altKey && !event.metaKey) {
      event.preventDefault();
      show(jump[key]());
    }
  });
  show(shown);
};

document.querySelectorAll("article.game").forEach(openGame);
