"use strict";
/* Completes the query while it is typed: a combobox with a list box, as the ARIA practices describe it.
   Typing never waits for it, and without it the box is a plain text field. */

(() => {
  const box = document.getElementById("q");
  if (!box) return; // a page without the form, such as that of logins
  const KINDS = { person: _("person"), location: _("place"), organization: _("organization"), source: _("source") };
  const PAUSE = 120; // milliseconds without a key before the server is asked

  const list = document.createElement("ul");
  list.id = "completions";
  list.className = "completions";
  list.setAttribute("role", "listbox");
  list.setAttribute("aria-label", _("Completions"));
  list.hidden = true;
  box.closest(".ask").append(list);
  for (const [name, value] of [
    ["role", "combobox"], ["aria-autocomplete", "list"], ["aria-expanded", "false"], ["aria-controls", list.id],
  ]) box.setAttribute(name, value);

  let active = -1; // the option that the arrow keys have reached
  let timer = 0;
  let request = null;

  function show(completions) {
    list.replaceChildren(...completions.map(makeOption));
    list.hidden = !completions.length;
    box.setAttribute("aria-expanded", String(!list.hidden));
    activate(-1);
  }

  function makeOption({ text, kind, frequency, query }, number) {
    const option = document.createElement("li");
    const label = document.createElement("bdi");
    const count = document.createElement("span");
    option.id = `completion-${number}`;
    option.dataset.query = query;
    option.setAttribute("role", "option");
    label.textContent = text;
    count.className = "number";
    count.textContent = (kind === "word" ? "" : `${KINDS[kind] ?? kind} · `) + formatNumber(frequency);
    option.append(label, " ", count);
    return option;
  }

  function activate(number) {
    active = number;
    for (const [n, option] of [...list.children].entries()) option.setAttribute("aria-selected", String(n === number));
    if (number < 0) box.removeAttribute("aria-activedescendant");
    else box.setAttribute("aria-activedescendant", list.children[number].id);
  }

  function close() {
    clearTimeout(timer);
    request?.abort();
    show([]);
  }

  function accept(option) {
    box.value = option.dataset.query;
    close();
    box.focus();
  }

  /* Text is completed only at its end, and not after a space. */
  function canComplete() {
    return /\S$/.test(box.value) && box.selectionStart === box.value.length;
  }

  async function ask() {
    request?.abort();
    request = new AbortController();
    const { signal } = request;
    const index = box.form.elements.index?.value;
    const query = new URLSearchParams({ q: box.value, ...(index && { index }) });
    const answer = await fetch(`${box.dataset.complete}?${query}`, { signal });
    const { completions } = answer.ok ? await answer.json() : { completions: [] };
    const isLiteral = box.form.elements.literal?.checked; // what has quotes is for the query language
    const usable = completions.filter((completion) => completion.query !== box.value && !(isLiteral && completion.query.includes('"')));
    if (!signal.aborted && document.activeElement === box) show(usable);
  }

  box.addEventListener("input", (event) => {
    clearTimeout(timer);
    if (event.isComposing || !canComplete()) return close();
    timer = setTimeout(() => ask().catch(() => {}), PAUSE);
  });

  box.addEventListener("keydown", (event) => {
    if (list.hidden || event.isComposing || event.ctrlKey || event.metaKey || event.altKey) return;
    const size = list.children.length;
    if (event.key === "ArrowDown") activate(active + 1 < size ? active + 1 : -1);
    else if (event.key === "ArrowUp") activate(active >= 0 ? active - 1 : size - 1);
    else if (event.key === "Enter" && active >= 0) accept(list.children[active]);
    else if (event.key === "Escape") close();
    else return;
    event.preventDefault();
    event.stopPropagation();
  });

  list.addEventListener("pointerdown", (event) => event.preventDefault()); // the focus stays in the box
  list.addEventListener("click", (event) => {
    const option = event.target.closest("[role=option]");
    if (option) accept(option);
  });
  box.addEventListener("blur", close);
  box.form.addEventListener("submit", close);
})();
