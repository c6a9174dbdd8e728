// Checks the accessibility of a page for readers with poor sight, without a mouse or with a small
// screen; returns a list of faults.
(() => {
  const found = [];
  const all = (what) => [...document.querySelectorAll(what)];
  const isShown = (node) => node.checkVisibility({ checkOpacity: true, checkVisibilityCSS: true });
  const describe = (node) => `<${node.tagName.toLowerCase()} class="${node.getAttribute("class") ?? ""}"> ${node.textContent.trim().slice(0, 40)}`;

  // Landmarks and headings.
  const count = (what, wanted) => {
    const number = all(what).length;
    if (number !== wanted) found.push(`${number} of ${what}, not ${wanted}`);
  };
  count("main", 1);
  count("h1", 1);
  count("body > header", 1);
  count("html[lang]", 1);
  for (const nav of all("nav, section")) {
    if (!nav.ariaLabel && !nav.getAttribute("aria-labelledby")) found.push(`no name: ${describe(nav)}`);
  }
  for (const named of all("[aria-labelledby]")) {
    if (!document.getElementById(named.getAttribute("aria-labelledby"))) found.push(`lost name: ${describe(named)}`);
  }
  let level = 0;
  for (const heading of all("h1, h2, h3, h4").filter(isShown)) {
    const its = Number(heading.tagName[1]);
    if (its > level + 1) found.push(`a heading of level ${its} after ${level}: ${describe(heading)}`);
    level = its;
  }
  const ids = all("[id]").map((node) => node.id);
  ids.filter((id, place) => ids.indexOf(id) !== place).forEach((id) => found.push(`twice the id ${id}`));

  // Names of controls and pictures.
  for (const node of all("a, button, input, select, [role=img]")) {
    const name = node.ariaLabel || node.textContent.trim() || node.labels?.[0]?.textContent.trim();
    if (!name) found.push(`no name: ${describe(node)}`);
  }
  for (const table of all("table")) {
    if (!table.querySelector("th")) found.push(`a table without headings: ${describe(table)}`);
  }

  // Contrast, as defined by WCAG 2.
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const colour = (text) => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = text;
    canvas.fillRect(0, 0, 1, 1);
    const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data;
    return { rgb: [r, g, b], alpha: a / 255 };
  };
  const over = (top, below) => top.rgb.map((c, i) => c * top.alpha + below[i] * (1 - top.alpha));
  const luminance = (rgb) => {
    const [r, g, b] = rgb.map((c) => (c / 255 <= 0.04045 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ground = (node) => {
    if (!node) return colour(matchMedia("(prefers-color-scheme: dark)").matches ? "#121212" : "#ffffff").rgb;
    const own = colour(getComputedStyle(node).backgroundColor);
    return own.alpha === 1 ? own.rgb : over(own, ground(node.parentElement));
  };
  for (const node of all("body *").filter(isShown)) {
    const words = [...node.childNodes].some((child) => child.nodeType === 3 && child.data.trim());
    // Chess pieces are pictures with outlines.
    if (!words || node.closest(".board") || node.disabled) continue;
    const style = getComputedStyle(node);
    const inPicture = node instanceof SVGElement;
    const below = ground(node);
    const ink = colour(inPicture ? style.fill : style.color);
    const [bright, dim] = [luminance(over(ink, below)), luminance(below)].sort((a, b) => b - a);
    const ratio = (bright + 0.05) / (dim + 0.05);
    const size = parseFloat(style.fontSize);
    const isLarge = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
    if (ratio < (isLarge ? 3 : 4.5)) found.push(`contrast ${ratio.toFixed(2)}: ${describe(node)}`);
  }

  // Texts contain neither JSON keys nor Markdown syntax.
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const { data, parentElement } = texts.currentNode;
    if (parentElement.closest("pre, code, script, style") || ["c_end", "r_end"].some((word) => data.includes(word))) continue;
    const odd = data.match(/`|\b[a-z]+_[a-z]+\b/);
    if (odd) found.push(`'${odd[0]}' in '${data.trim().slice(0, 80)}'`);
  }

  // Fields in one row of a form have the same bottom edge.
  for (const form of all("form").filter(isShown)) {
    const fields = [...form.querySelectorAll("input, select, button")].filter(isShown);
    const boxes = fields.map((field) => field.getBoundingClientRect());
    boxes.forEach((one, place) => boxes.slice(place + 1).forEach((two) => {
      const isRow = one.top < two.bottom && two.top < one.bottom;
      if (isRow && Math.abs(one.bottom - two.bottom) > 4) found.push(`fields that end at ${one.bottom} and ${two.bottom}: ${describe(form)}`);
    }));
  }

  // Texts of charts are readable, and do not overlap.
  for (const chart of all(".chart svg").filter(isShown)) {
    const scale = chart.getBoundingClientRect().width / chart.viewBox.baseVal.width;
    const texts = [...chart.querySelectorAll("text")].filter((text) => text.textContent.trim());
    const words = (text) => `'${text.textContent.trim()}' in ${chart.parentElement.ariaLabel.slice(0, 60)}`;
    // Axes of counts have whole numbers, and the names of rows are unique.
    const said = (anchor) => texts.filter((text) => text.getAttribute("text-anchor") === anchor).map((text) => text.lastChild.data.trim());
    const [across, down] = [said("middle"), said("end")];
    const isPart = (word) => /^-?\d+\.\d+$/.test(word);
    if (across.some((word) => ["games", "move"].includes(word)) && across.some(isPart)) found.push(`parts of games or moves at ${across} in ${chart.parentElement.ariaLabel}`);
    if (across.some((word) => ["pairs", "count"].includes(word)) && down.some(isPart)) found.push(`parts at ${down} in ${chart.parentElement.ariaLabel}`);
    const rows = down.filter((word) => !/^-?[\d.]+( [kM])?$/.test(word));
    rows.filter((row, place) => rows.indexOf(row) !== place).forEach((row) => found.push(`two rows '${row}' in ${chart.parentElement.ariaLabel}`));
    const boxes = texts.map((text) => text.getBoundingClientRect());
    const frame = chart.getBoundingClientRect();
    texts.forEach((text, place) => {
      const size = parseFloat(getComputedStyle(text).fontSize) * scale;
      if (size < 10) found.push(`letters of ${size.toFixed(1)} pixels: ${words(text)}`);
      const one = boxes[place];
      const sticksOut = one.left < frame.left - 1 || one.right > frame.right + 1 || one.top < frame.top - 1 || one.bottom > frame.bottom + 1;
      if (sticksOut) found.push(`cut off: ${words(text)}`);
      for (let other = place + 1; other < texts.length; other += 1) {
        const two = boxes[other];
        const across = Math.min(one.right, two.right) - Math.max(one.left, two.left);
        const down = Math.min(one.bottom, two.bottom) - Math.max(one.top, two.top);
        if (across > 1 && down > 4) found.push(`${words(text)} and ${words(texts[other])} are on top of each other`);
      }
    });
  }

  // Nothing is wider than the page or its cell.
  const { scrollWidth, clientWidth } = document.documentElement;
  if (scrollWidth > clientWidth) found.push(`${scrollWidth} pixels wide where there are ${clientWidth}`);
  for (const cell of document.querySelectorAll("td, th"))
    if (cell.scrollWidth > cell.clientWidth + 1) found.push(`"${cell.textContent}" does not fit its cell`);
  return found;
})()
