"use strict";
/* The chart works without this script: each period is a link. It adds the selection of a range by mouse or keys, and
   the chart as PNG, which the browser paints from the SVG file of the server. */

(() => {
  const link = document.querySelector("a.png");
  if (!link) return;
  link.parentElement.hidden = false;
  link.addEventListener("click", async (event) => {
    event.preventDefault();
    const picture = new Image();
    picture.src = link.href;
    try {
      await picture.decode();
      const canvas = document.createElement("canvas");
      [canvas.width, canvas.height] = [2 * picture.naturalWidth, 2 * picture.naturalHeight];
      canvas.getContext("2d").drawImage(picture, 0, 0, canvas.width, canvas.height);
      const blob = await new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
      const save = Object.assign(document.createElement("a"), { href: URL.createObjectURL(blob), download: "timeline.png" });
      save.click();
      setTimeout(() => URL.revokeObjectURL(save.href), 1000);
    } catch {
      location.href = link.href;
    }
  });
})();

(() => {
  const plot = document.querySelector(".chart .plot");
  if (!plot) return;
  const columns = [...plot.querySelectorAll("a[data-period]")];
  const pick = document.querySelector(".chart .pick");
  let start = 0;
  let end = columns.length - 1;
  let isDragging = false;

  plot.tabIndex = 0;
  plot.setAttribute("role", "application");
  plot.setAttribute("aria-label", _("Timeline. Arrow keys move to a period, with Shift they extend the range, Enter shows its sentences."));

  function mark(from, to) {
    [start, end] = [from, to];
    const [low, high] = [Math.min(from, to), Math.max(from, to)];
    columns.forEach((column, n) => column.classList.toggle("picked", n >= low && n <= high));
    const says = low === high ? columns[low].dataset.says
      : _("%(first)s to %(last)s", { first: columns[low].dataset.period, last: columns[high].dataset.period });
    pick.textContent = low === high ? _("%(what)s. Enter shows them.", { what: says }) : _("%(what)s. Enter shows it alone.", { what: says });
  }

  function clear() {
    columns.forEach((column) => column.classList.remove("picked"));
    pick.textContent = "";
  }

  function follow() {
    const [low, high] = [Math.min(start, end), Math.max(start, end)];
    location.href = low === high ? columns[low].href.baseVal : plot.dataset.within
      .replace("~AFTER~", encodeURIComponent(columns[low].dataset.period))
      .replace("~BEFORE~", encodeURIComponent(columns[high].dataset.end));
  }

  const columnAt = (event) => {
    const box = plot.getBoundingClientRect();
    const share = (event.clientX - box.left) / box.width;
    return Math.min(columns.length - 1, Math.max(0, Math.floor(share * columns.length)));
  };

  plot.addEventListener("pointerdown", (event) => {
    if (event.button) return;
    isDragging = true;
    event.preventDefault();
    plot.setPointerCapture(event.pointerId);
    const column = columnAt(event);
    mark(column, column);
  });
  plot.addEventListener("pointermove", (event) => {
    if (isDragging) mark(start, columnAt(event));
  });
  plot.addEventListener("pointerup", () => {
    if (!isDragging) return;
    isDragging = false;
    follow();
  });
  plot.addEventListener("pointercancel", () => { isDragging = false; clear(); });
  plot.addEventListener("click", (event) => event.preventDefault());

  let hasPick = false;
  plot.addEventListener("keydown", (event) => {
    const moves = { ArrowLeft: -1, ArrowRight: 1, Home: -columns.length, End: columns.length };
    if (event.key in moves) {
      const from = hasPick ? end : -1;
      const to = Math.min(columns.length - 1, Math.max(0, from + moves[event.key]));
      mark(event.shiftKey && hasPick ? start : to, to);
      hasPick = true;
    } else if (event.key === "Enter" && hasPick) {
      follow();
    } else if (event.key === "Escape") {
      hasPick = false;
      clear();
    } else {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  });
})();
