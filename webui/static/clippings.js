"use strict";
/* Clippings: sentences with notes and tags, kept with all that a citation needs, so that they outlive the index.
   The server converts them to files and stores nothing. */

(() => {
  if (!kept.works) return;
  const clippings = () => kept.read("clippings");
  const countClippings = (number) => ngettext("%(num)s clipping", "%(num)s clippings", number);
  const has = (id) => clippings().some((each) => each.sentence_id === id);

  /* Below a sentence of a list, and beside a hit in an article */

  const PLACES = "article[data-sentence-id], .whole .hit:has(a.why)";

  function offer() {
    for (const place of document.querySelectorAll(PLACES)) {
      if (place.querySelector(".clip")) continue;
      const button = kept.button("", () => toggle(place).catch((error) => kept.tell(error.message)), "clip");
      const actions = place.querySelector(".actions");
      if (actions) actions.prepend(button);
      else place.querySelector("a.why").before(button);
      label(place);
    }
  }

  const idOf = (place) => place.dataset.sentenceId ?? new URL(place.querySelector("a.why").href).searchParams.get("id");

  function label(place) {
    const isKept = has(idOf(place));
    Object.assign(place.querySelector(".clip"), { textContent: isKept ? _("Saved") : _("Save"), ariaPressed: isKept });
    place.querySelector(".clip").classList.toggle("kept", isKept);
  }

  async function toggle(place) {
    const id = idOf(place);
    const own = clippings().find((each) => each.sentence_id === id);
    if (!own) {
      const clipping = await read(place, id);
      if (!kept.change("clippings", (all) => [...all.filter((each) => each.sentence_id !== id), clipping])) return;
      kept.tell(`${_("Saved:")} `, kept.link(countClippings(clippings().length), kept.addresses.saved));
    } else if (!(own.note || own.tags?.length) || confirm(_("Remove the clipping with its note and tags?"))) {
      kept.change("clippings", (all) => all.filter((each) => each.sentence_id !== id));
      kept.tell(_("The clipping is removed."));
    }
    for (const each of document.querySelectorAll(PLACES)) if (idOf(each) === id) label(each);
  }

  /* The text of the sentence as the page shows it, without its links and buttons. */
  function shownAt(place) {
    const shown = (place.querySelector(".sentence:not(.also)") ?? place).cloneNode(true);
    for (const each of shown.querySelectorAll("a, button")) each.remove();
    return shown.textContent;
  }

  const lettersOf = (text) => text.replace(/[^\p{L}\p{N}]+/gu, "");

  /* The sentence with the facts of its article, and its permanent link or else its address in the article. An article
     that was loaded again may have another sentence of this id, or none. */
  async function read(place, id) {
    const opens = (place.closest("li") ?? place.closest(".reader") ?? place).querySelector("a.open, h2 a");
    const address = new URL(opens?.href ?? location.href);
    const index = address.searchParams.get("index");
    const wanted = new URLSearchParams({ id: address.searchParams.get("id"), ...(index && { index }) });
    const it = await (await kept.fetchText(`${kept.addresses.document}?${wanted}`)).json();
    const position = it.sentences.findIndex((sentence) => sentence.id === id);
    const text = it.sentences[position]?.text;
    if (text === undefined || lettersOf(text) !== lettersOf(shownAt(place))) {
      throw new Error(_("The article has changed since this page was loaded: load the page again."));
    }
    const { title, date, source, url, language, authors } = it;
    const first = it.sentences[0].text;
    const heading = title ?? (first.length > 80 ? first.slice(0, 80).replace(/ \S*$/, " …") : first);
    const permalink = place.querySelector('.take a[href*="/sentence?"]')?.href ?? `${address.origin}${address.pathname}?${wanted}#s${position}`;
    return { sentence_id: id, document_id: it.id, text, title, heading, date, source, url, language, authors, permalink, speaker: place.dataset.speaker ?? "", note: "", tags: [] };
  }

  document.addEventListener("keydown", (event) => {
    if (event.key !== "s" || event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, select, textarea")) return;
    const place = document.activeElement?.closest?.(PLACES) ?? document.querySelector(".whole .at, article.at");
    place?.querySelector(".clip")?.click();
  });

  if (document.querySelector(PLACES) && !kept.addresses.save) {
    const row = kept.element("div");
    const key = kept.element("dt");
    key.append(kept.element("kbd", "", "s"));
    row.append(key, kept.element("dd", "", _("save the sentence, or remove it")));
    document.querySelector("dialog.keys dl").append(row);
    offer();
    new MutationObserver(offer).observe(document.querySelector(".desk"), { childList: true, subtree: true });
  }

  /* On the page of saved searches and clippings */

  const section = document.getElementById("clippings");
  if (!section) return;
  const select = section.querySelector("select");
  const shown = () => clippings().filter((each) => !select.value || each.tags?.includes(select.value));

  function show() {
    const all = clippings();
    const tags = [...new Set(all.flatMap((each) => each.tags ?? []))].sort();
    const chosen = tags.includes(select.value) ? select.value : "";
    select.replaceChildren(new Option(_("all (%(number)s)", { number: all.length }), ""), ...tags.map((tag) => new Option(tag, tag)));
    select.value = chosen;
    section.hidden = false;
    section.querySelector(".none").hidden = Boolean(all.length);
    section.querySelector(".some").hidden = !all.length;
    section.querySelector(".kept").replaceChildren(...shown().map(makeRow));
    document.querySelector(".tools.all").hidden = false;
  }

  function makeRow(clipping) {
    const row = document.getElementById("clipping-item").content.cloneNode(true).firstElementChild;
    const part = (name) => row.querySelector(name);
    const [note, tags] = [part("textarea"), part("input")];
    part(".sentence").textContent = clipping.text;
    for (const each of [part(".sentence"), part(".open")]) Object.assign(each, { lang: clipping.language ?? "", dir: "auto" });
    part(".speaker").textContent = clipping.speaker ? _("said by %(name)s", { name: clipping.speaker }) : "";
    part(".source").textContent = clipping.source ?? "";
    part("time").dateTime = clipping.date?.slice(0, 10) ?? "";
    part("time").textContent = formatDay(part("time").dateTime);
    part(".open").textContent = clipping.title ?? clipping.heading ?? clipping.document_id;
    if (/^https?:/.test(clipping.permalink)) part(".open").href = clipping.permalink;
    note.value = clipping.note ?? "";
    tags.value = (clipping.tags ?? []).join(", ");
    const update = (changes) => kept.change("clippings", (all) => all.map((each) => each.sentence_id === clipping.sentence_id ? { ...each, ...changes } : each));
    note.addEventListener("change", () => update({ note: note.value.trim() }));
    tags.addEventListener("change", () => {
      update({ tags: [...new Set(tags.value.split(",").map((tag) => tag.trim()).filter(Boolean))] });
      show();
    });
    part(".remove").addEventListener("click", () => {
      kept.change("clippings", (all) => all.filter((each) => each.sentence_id !== clipping.sentence_id));
      show();
    });
    return row;
  }

  select.addEventListener("change", show);

  for (const button of section.querySelectorAll("[data-address]")) {
    button.addEventListener("click", async () => {
      try {
        const headers = { "Content-Type": "application/json", Accept: "application/json" };
        const answer = await kept.fetchText(button.dataset.address, { method: "POST", body: JSON.stringify(shown()), headers });
        const name = /filename="([^"]+)"/.exec(answer.headers.get("Content-Disposition"))[1];
        kept.download(name, await answer.blob(), answer.headers.get("Content-Type"));
      } catch (error) {
        kept.tell(error.message);
      }
    });
  }

  /* Export and import of everything saved. An imported sentence or search replaces the same one. */

  const KEYS = { searches: "arguments", clippings: "sentence_id" };

  document.querySelector(".tools.all .store").addEventListener("click", () => {
    const all = Object.fromEntries(Object.keys(KEYS).map((name) => [name, kept.read(name)]));
    kept.download("esr-saved.json", JSON.stringify(all, null, 1), "application/json");
  });

  document.querySelector(".tools.all input").addEventListener("change", async (event) => {
    try {
      const file = JSON.parse(await event.target.files[0].text());
      const isList = (name) => Array.isArray(file[name]) && file[name].every((each) => typeof each?.[KEYS[name]] === "string");
      if (!Object.keys(KEYS).every(isList)) throw new SyntaxError();
      for (const [name, key] of Object.entries(KEYS)) {
        kept.change(name, (all) => [...new Map([...all, ...file[name]].map((each) => [each[key], each])).values()]);
      }
      dispatchEvent(new Event("kept"));
      kept.tell(_("Added %(searches)s and %(clippings)s.", {
        searches: ngettext("%(num)s search", "%(num)s searches", file.searches.length), clippings: countClippings(file.clippings.length),
      }));
    } catch {
      kept.tell(_("The file holds nothing that was saved here: choose one that “Save all to a file” has written."));
    }
    event.target.value = "";
  });

  addEventListener("kept", show);
  kept.onChange("clippings", show);
  show();
})();
