"use strict";
/* Dossiers: saving a sentence without leaving its page, and a dossier's page that changes in place. Each form is the
   one that works without this script: it is sent in the background, and its answer replaces the page's content. */

(() => {
  const html = { headers: { Accept: "text/html" } };
  const parse = (text) => new DOMParser().parseFromString(text, "text/html");

  /* Saving */

  const save = kept.addresses.save;
  const PLACES = "article[data-sentence-id], .whole .hit:has(a.why)";
  const idOf = (place) => place.dataset.sentenceId ?? new URL(place.querySelector("a.why").href).searchParams.get("id");
  const sentenceOf = (link) => new URL(link.href).searchParams.get("id");

  async function open(address) {
    const answer = await fetch(address, html);
    const form = parse(await answer.text()).querySelector("form.save-to");
    if (!form) return void location.assign(address);
    const dialog = kept.element("dialog", "save-dialog");
    dialog.setAttribute("aria-label", _("Save to a dossier"));
    const leave = kept.button(_("Close"), () => dialog.close(), "act");
    form.querySelector(".row:last-child").append(leave);
    dialog.append(form);
    dialog.addEventListener("close", () => dialog.remove());
    document.querySelector("main").append(dialog);
    const name = form.querySelector("[name=name]");
    name.addEventListener("input", () => { form.querySelector('[name=dossier][value=""]').checked = true; });
    const add = kept.once(async () => {
      const body = new FormData(form);
      const answer = await kept.fetchText(form.action, { method: "POST", body, headers: { Accept: "application/json" } });
      const saved = await answer.json();
      dialog.close();
      kept.tell(`${saved.added ? _("Saved to") : _("It was there already:")} `, kept.link(saved.name, saved.address));
      if (!body.get("document")) mark(body.getAll("id"));
    });
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      add();
    });
    dialog.showModal();
    form.querySelector("[name=dossier]:checked")?.focus();
  }

  const held = new Set();

  function mark(ids) {
    for (const id of ids) held.add(id);
    for (const link of document.querySelectorAll("a.clip[href]")) {
      if (!held.has(sentenceOf(link)) || link.matches(".kept")) continue;
      link.classList.add("kept");
      link.textContent = _("Saved");
    }
  }

  /* Every sentence of a list gets its link, also where the page has none, and says whether it is in a dossier. */
  const asked = new Set();

  async function offerToSave() {
    for (const place of document.querySelectorAll(PLACES)) {
      if (place.querySelector("a.clip")) continue;
      const index = new URLSearchParams(location.search).get("index");
      const link = kept.link(_("Save"), `${save}?${new URLSearchParams({ ...(index && { index }), id: idOf(place) })}`);
      link.className = "clip";
      const actions = place.querySelector(".actions");
      if (actions) actions.prepend(link);
      else place.querySelector("a.why").before(link);
    }
    mark([]);
    const ids = [...document.querySelectorAll("a.clip[href]")].map(sentenceOf).filter((id) => id && !asked.has(id));
    if (!ids.length) return;
    for (const id of ids) asked.add(id);
    for (let at = 0; at < ids.length; at += 40) {
      const query = new URLSearchParams(ids.slice(at, at + 40).map((id) => ["holds", id]));
      const answer = await fetch(`${kept.addresses.holding}?${query}`);
      if (answer.ok) mark(Object.keys((await answer.json()).holding));
    }
  }

  function listKeys(rows) {
    for (const [keys, what] of rows) {
      const row = kept.element("div");
      const key = kept.element("dt");
      key.append(...keys.map((each) => kept.element("kbd", "", each)));
      row.append(key, kept.element("dd", "", what));
      document.querySelector("dialog.keys dl").append(row);
    }
  }

  if (save) {
    const openOnce = kept.once(open);
    if (document.querySelector(PLACES)) {
      listKeys([[["s"], _("save the sentence to a dossier")]]);
      new MutationObserver(() => offerToSave().catch(() => {})).observe(document.querySelector(".desk"), { childList: true, subtree: true });
    }
    offerToSave().catch(() => {});
    document.addEventListener("click", (event) => {
      const link = event.target.closest("a.clip[href], a.save-article");
      if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
      event.preventDefault();
      openOnce(link.href);
    });
    document.addEventListener("keydown", (event) => {
      if (event.key !== "s" || event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, select, textarea, dialog")) return;
      const place = document.activeElement?.closest?.(PLACES) ?? document.querySelector(".whole .at, article.at");
      (place?.querySelector("a.clip") ?? document.querySelector(".whole a.save-article"))?.click();
    });
  }

  /* The clippings of this browser, in the list of dossiers */

  const offer = document.querySelector("form[data-clippings]");
  if (offer && kept.works && kept.read("clippings").length) {
    const clippings = kept.read("clippings");
    offer.hidden = false;
    offer.querySelector(".how-many").textContent = ngettext("This browser has %(num)s clipping.", "This browser has %(num)s clippings.", clippings.length);
    const move = kept.once(async () => {
      const answer = await kept.fetchText(offer.action, { method: "POST", body: new FormData(offer), headers: { Accept: "application/json" } });
      const { address } = await answer.json();
      const moved = new Set(clippings.map((each) => each.sentence_id));
      kept.change("clippings", (all) => all.filter((each) => !moved.has(each.sentence_id)));
      location.assign(address);
    });
    offer.addEventListener("submit", (event) => {
      event.preventDefault();
      offer.elements.clippings.value = JSON.stringify(clippings);
      move();
    });
  }

  /* A dossier's page */

  const live = () => document.querySelector(".live");
  if (!live()) return;

  /* Sends a form. `saved`: the sentence whose own form it is, whose fields are not kept. */
  async function send(form, body, saved = "") {
    document.body.classList.add("busy");
    try {
      const answer = await fetch(form.action, { method: "POST", body, ...html });
      const page = parse(await answer.text());
      const fresh = page.querySelector(".live");
      if (!fresh) throw new Error(page.querySelector(".problem p")?.textContent ?? `${answer.status}`);
      const focused = document.activeElement?.closest(".item")?.id;
      const pressed = document.activeElement?.value;
      const written = keepWriting();
      live().replaceWith(fresh);
      enhance();
      restore(written, saved);
      const item = focused && document.getElementById(focused);
      (item?.querySelector(`.grip button[value="${pressed}"]`) ?? item)?.focus({ preventScroll: true });
      fresh.querySelector(".conflict")?.scrollIntoView({ block: "center" });
    } catch (error) {
      kept.tell(error.message || _("The server did not answer. Nothing is lost: try again."));
    } finally {
      document.body.classList.remove("busy");
    }
  }

  /* What somebody is writing in other forms stays when the page's content is replaced. */
  function keepWriting() {
    const written = [];
    for (const form of document.querySelectorAll(".editing[open] form.edit")) {
      written.push([form.elements.namedItem("item").value, form.elements.base.value, [...form.elements].filter((each) => each.id).map((each) => [each.name, each.value])]);
    }
    return written;
  }

  function restore(written, saved) {
    for (const [item, base, values] of written) {
      const details = document.querySelector(`[data-item="${item}"] .editing`);
      if (item === saved || !details || details.open) continue;
      details.open = true;
      const { elements } = details.querySelector("form");
      elements.base.value = base;
      for (const [name, value] of values) elements[name].value = value;
    }
  }

  document.addEventListener("submit", (event) => {
    const form = event.target.closest("form[data-live]");
    if (!form) return;
    event.preventDefault();
    const body = new FormData(form, event.submitter);
    send(form, body, form.matches(".edit") ? body.get("item") : "");
  });

  function enhance() {
    for (const handle of document.querySelectorAll(".hold")) handle.hidden = false;
    const copy = document.querySelector(".copy-all");
    copy.hidden = false;
    copy.addEventListener("click", () => copyAll(copy.form).catch((error) => kept.tell(error.message)));
  }

  /* Dragging: what moves is sent by the form of its handle. */

  let dragged = null;

  document.addEventListener("dragstart", (event) => {
    dragged = event.target.closest?.(".hold")?.closest(".item") ?? null;
    if (!dragged) return;
    event.dataTransfer.effectAllowed = "move";
    event.dataTransfer.setData("text/plain", dragged.querySelector(".found")?.textContent ?? "");
    event.dataTransfer.setDragImage(dragged, 10, 10);
    dragged.classList.add("held");
  });
  document.addEventListener("dragover", (event) => {
    const over = dragged && event.target.closest?.(".item");
    for (const item of document.querySelectorAll(".item.over")) item.classList.toggle("over", item === over);
    if (!over) return;
    event.preventDefault();
    over.classList.add("over");
  });
  document.addEventListener("drop", (event) => {
    const over = dragged && event.target.closest?.(".item");
    if (!over || over === dragged) return;
    event.preventDefault();
    const before = over.previousElementSibling === dragged ? dragged.previousElementSibling : over.previousElementSibling;
    const isLower = dragged.compareDocumentPosition(over) & Node.DOCUMENT_POSITION_FOLLOWING;
    const after = isLower ? over : before;
    const form = dragged.querySelector("form.grip");
    const body = new FormData(form);
    body.set("move", "after");
    body.set("after", after?.dataset.item ?? over.parentElement.dataset.before); // the page before may have items
    send(form, body);
  });
  document.addEventListener("dragend", () => {
    dragged?.classList.remove("held");
    dragged = null;
    for (const item of document.querySelectorAll(".item.over")) item.classList.remove("over");
  });

  /* Keys: the arrow keys with Alt move the sentence that has the focus, or in which it is. */

  document.addEventListener("keydown", (event) => {
    if (event.target.closest("input, textarea, select")) return;
    const items = [...document.querySelectorAll(".item")];
    const here = document.activeElement?.closest?.(".item");
    if (event.altKey && here && (event.key === "ArrowUp" || event.key === "ArrowDown")) {
      event.preventDefault();
      here.querySelector(`.grip button[value="${event.key === "ArrowUp" ? "up" : "down"}"]`)?.click();
    } else if (!event.altKey && !event.ctrlKey && !event.metaKey && (event.key === "j" || event.key === "k") && items.length) {
      const place = items.indexOf(here) + (event.key === "j" ? 1 : -1);
      items[Math.max(0, Math.min(place, items.length - 1))].focus();
    } else if (event.key === "e" && here && !event.ctrlKey && !event.metaKey) {
      const details = here.querySelector(".editing");
      if (!details) return;
      event.preventDefault();
      details.open = true;
      details.querySelector("textarea").focus();
    }
  });

  /* Highlights: a button beside the selected words of a sentence. */

  const highlighter = kept.button(_("Highlight"), () => {}, "btn highlighter");
  let chosen = null;
  highlighter.addEventListener("pointerdown", (event) => event.preventDefault()); // it would end the selection
  highlighter.addEventListener("click", () => {
    highlighter.remove();
    if (!chosen) return;
    const form = chosen.item.querySelector("form.edit");
    const body = new FormData();
    for (const name of ["csrf", "do", "item", "base"]) body.set(name, form.elements.namedItem(name).value);
    body.set("start", chosen.start);
    body.set("end", chosen.end);
    getSelection().removeAllRanges();
    send(form, body);
  });
  document.addEventListener("selectionchange", () => {
    chosen = readSelection();
    if (!chosen) return void highlighter.remove();
    const box = getSelection().getRangeAt(0).getBoundingClientRect();
    highlighter.style.insetBlockStart = `${box.bottom + scrollY + 4}px`;
    highlighter.style.left = `${box.left + scrollX}px`;
    if (!highlighter.isConnected) document.body.append(highlighter);
  });

  /* The selected characters of a sentence that may be changed; their positions count code points, as Python does. */
  function readSelection() {
    const selection = getSelection();
    if (selection.rangeCount !== 1 || selection.isCollapsed) return null;
    const range = selection.getRangeAt(0);
    const text = range.startContainer.parentElement?.closest("[data-text]");
    const item = text?.closest(".item");
    if (!text || !text.contains(range.endContainer) || !item.querySelector("form.edit")) return null;
    const before = document.createRange();
    before.selectNodeContents(text);
    before.setEnd(range.startContainer, range.startOffset);
    const start = [...before.toString()].length;
    return { item, start, end: start + [...range.toString()].length };
  }

  /* Copy all: rich text for word processors, plain text for the rest. */

  async function copyAll(form) {
    const query = new URLSearchParams(new FormData(form));
    query.set("format", "clipboard");
    const load = kept.fetchText(`${form.action}?${query}`).then((answer) => answer.json());
    const blob = (type, name) => load.then((texts) => new Blob([texts[name]], { type }));
    try {
      if (!navigator.clipboard?.write) throw new Error("no clipboard");
      await navigator.clipboard.write([new ClipboardItem({ "text/html": blob("text/html", "html"), "text/plain": blob("text/plain", "text") })]);
    } catch {
      const texts = await load;
      const fill = (event) => {
        event.preventDefault();
        event.clipboardData.setData("text/html", texts.html);
        event.clipboardData.setData("text/plain", texts.text);
      };
      document.addEventListener("copy", fill, { once: true });
      if (!document.execCommand("copy")) return void kept.tell(_("This browser does not let pages copy: take a file instead."));
    }
    kept.tell(_("Copied with all sentences, notes and citations."));
  }

  listKeys([
    [["j", "k"], _("next or previous sentence")],
    [["Alt ↑", "Alt ↓"], _("move the sentence")],
    [["e"], _("edit its note and tags")],
  ]);
  enhance();

  /* Whoever is sent the address is not told what was done here. */
  const address = new URL(location);
  if (address.searchParams.has("told")) {
    address.searchParams.delete("told");
    history.replaceState(null, "", address);
  }
})();
