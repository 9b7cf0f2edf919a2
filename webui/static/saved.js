"use strict";
/* Saved searches. A search is its arguments except order, number and those of views. The browser remembers the ids of its newest
   sentences and its total. New sentences are those with other ids, or more if the total has grown by more. */

(() => {
  if (!kept.works) return;
  const { saved, results, feed, watch, search: api } = kept.addresses;
  const searches = () => kept.read("searches");
  const find = (wanted) => searches().find((search) => search.arguments === wanted);

  function argumentsOf(address) {
    const given = new URL(address).searchParams;
    for (const name of kept.addresses.leftOut.split(" ")) given.delete(name);
    const speaker = given.get("speaker")?.replace(/["“”„＂\n]/g, " "); // searches know the speaker as a clause
    if (speaker) given.set("q", `${given.get("q")} speaker:"${speaker}"`);
    given.delete("speaker");
    return given.toString();
  }

  function update(wanted, changes) {
    return kept.change("searches", (all) => all.map((each) => each.arguments === wanted ? { ...each, ...changes } : each));
  }

  /* The current sentences of the search, and the new ones among them. */
  async function check(search) {
    const shape = `sort=date&fold=no&fields=sentence_id&k=${kept.addresses.known}`;
    const { total, hits } = await (await kept.fetchText(`${api}?${search.arguments}&${shape}`)).json();
    const ids = hits.map((hit) => hit.sentence_id);
    const known = new Set(search.seen?.ids ?? ids);
    const fresh = ids.filter((id) => !known.has(id));
    return { fresh, count: Math.max(fresh.length, total - (search.seen?.total ?? total)), seen: { total, ids } };
  }

  const addressOf = (search) => `${results}?${search.arguments}&sort=date&per_document=all`;
  const newText = (count) => count ? ngettext("%(num)s new", "%(num)s new", count) : "";

  /* One at a time, so that many searches do not delay other requests. */
  async function countNew(places) {
    for (const [search, place] of places) {
      try {
        place.textContent = newText((await check(search)).count);
      } catch (error) {
        place.textContent = error.message;
      }
    }
  }

  /* On the pages of a search */

  const toolbars = [...document.querySelectorAll(".toolbar")];
  const toolbar = toolbars.findLast((each) => each.querySelector(".menu")) ?? toolbars[0];
  const query = new URLSearchParams(location.search).get("q");

  function offer() {
    const here = argumentsOf(location.href);
    const line = toolbar.querySelector(".saving") ?? kept.element("p", "saving");
    const state = kept.button("", toggle);
    line.prepend(state);
    toolbar.append(line);
    const show = () => {
      const isKept = Boolean(find(here));
      state.replaceChildren(isKept ? _("Saved") : _("Save"), kept.element("span", "which", isKept ? _(" search") : _(" this search")));
      Object.assign(state, { ariaPressed: isKept, title: isKept ? _("Remove it from the saved searches") : "" });
    };

    async function toggle() {
      if (find(here)) {
        kept.change("searches", (all) => all.filter((each) => each.arguments !== here));
        kept.tell(_("The search is removed."));
      } else if (kept.change("searches", (all) => [...all, { name: new URLSearchParams(here).get("q"), arguments: here }])) {
        show();
        const problem = await visit(here).catch((error) => error.message); // what is there now is not new later
        const done = find(here)?.seen?.total === 0 ? _("The search is saved. No sentence has all its words yet:")
          : _("The search is saved:");
        kept.tell(`${problem ?? done} `, kept.link(_("all that is saved"), saved));
      }
      show();
    }

    show();
    if (find(here)) visit(here).catch(() => {}); // its number on the list stays as it was
  }

  /* A visit marks the new sentences, then remembers all as known. */
  async function visit(here) {
    const { fresh, seen } = await check(find(here));
    for (const id of fresh) {
      const line = document.querySelector(`article[data-sentence-id="${CSS.escape(id)}"] .from`);
      line?.prepend(kept.element("b", "new", _("New")), " ");
    }
    update(here, { seen });
  }

  const all = kept.link(_("Saved"), saved);
  all.className = "how";
  document.querySelector(".top .search")?.append(all);
  if (toolbar && query && !document.querySelector(".sides, body:is(.evidence, .like, .name-page)")) offer();

  /* On the first page */

  function listAtHome() {
    const list = kept.element("ul", "examples");
    countNew(searches().map((search) => {
      const row = kept.element("li");
      const count = kept.element("b", "new");
      row.append(kept.link(search.name, addressOf(search)), " ", count);
      list.append(row);
      return [search, count];
    }));
    const section = kept.element("section");
    const heading = kept.element("h2");
    heading.append(kept.link(_("Saved searches and sentences"), saved));
    section.append(heading, list);
    const place = document.querySelector(".front .second");
    if (place) place.append(section);
    else document.querySelector("main > section")?.before(section);
  }

  if (document.body.matches(".home") && (searches().length || kept.read("clippings").length)) listAtHome();

  /* On the page of saved searches and clippings */

  const section = document.getElementById("searches");
  if (!section) return;

  function show() {
    const all = searches();
    section.hidden = false;
    section.querySelector(".none").hidden = Boolean(all.length);
    for (const each of section.querySelectorAll(".some")) each.hidden = !all.length;
    const rows = all.map(makeRow);
    section.querySelector(".kept").replaceChildren(...rows);
    countNew(all.map((search, n) => [search, rows[n].querySelector(".new")]));
  }

  function makeRow(search) {
    const row = document.getElementById("search-item").content.cloneNode(true).firstElementChild;
    const part = (name) => row.querySelector(name);
    Object.assign(part(".open"), { textContent: search.name, href: addressOf(search) });
    part(".feed").href = `${feed}?${search.arguments}`;
    part(".watch").addEventListener("click", () => writeLines([search]).then(kept.copy).catch((error) => kept.tell(error.message)));
    part(".rename").addEventListener("click", () => {
      const name = prompt(_("A name for the search"), search.name)?.trim();
      if (name && update(search.arguments, { name })) show();
    });
    part(".remove").addEventListener("click", () => {
      kept.change("searches", (all) => all.filter((each) => each.arguments !== search.arguments));
      show();
    });
    return row;
  }

  /* The server writes the lines of each search; duplicate names are changed here. */
  async function writeLines(all) {
    const used = new Set();
    const tables = [];
    for (const search of all) {
      const table = await (await kept.fetchText(`${watch}?${search.arguments}`)).text();
      tables.push(table.replace(/^\[(.*)\]/, (_, name) => {
        let unique = name;
        for (let n = 2; used.has(unique); n++) unique = `${name}-${n}`;
        used.add(unique);
        return `[${unique}]`;
      }));
    }
    return tables.join("\n");
  }

  section.querySelector(".some .watch").addEventListener("click", () => {
    writeLines(searches()).then((text) => kept.download("searches.toml", text)).catch((error) => kept.tell(error.message));
  });

  addEventListener("kept", show); // a file was added
  kept.onChange("searches", show);
  show();
})();
