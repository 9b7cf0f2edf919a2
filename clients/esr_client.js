// Search an index that esr loaded into Elasticsearch or OpenSearch, from a browser or Node, without esr.
// The ranking is esr's own. An ES module without dependencies: copy this file. docs/elasticsearch.md shows its use.

const VERSION = 1; // of the template of requests that the index stores
const SEARCH_OPTIONS = ["k", "source", "after", "before", "filter"];

/** What went wrong, in one sentence: the server's reason, or why the index cannot be searched. */
export class EsrClientError extends Error {}

/** The part of the template with its slots filled. Values are not searched for slots. */
function fill(part, slots) {
  if (typeof part === "string") return Object.hasOwn(slots, part) ? slots[part] : part;
  if (Array.isArray(part)) return part.map((item) => fill(item, slots));
  if (part === null || typeof part !== "object") return part;
  return Object.fromEntries(Object.entries(part).map(([key, value]) => [key, fill(value, slots)]));
}

/** Throws for an option that is not known: a misspelt filter would let everything through. */
function checkOptions(options, ...known) {
  const unknown = Object.keys(options).find((name) => !known.includes(name));
  if (unknown !== undefined) {
    throw new EsrClientError(`unknown option '${unknown}': known are ${known.join(", ")}`);
  }
}

function filterClauses({ source, after, before, filter = [] }) {
  const dates = { ...(after && { gte: after }), ...(before && { lt: before }) };
  return [
    ...(Object.keys(dates).length ? [{ range: { date: dates } }] : []),
    ...(source == null ? [] : [{ terms: { source: [source].flat() } }]),
    ...filter,
  ];
}

/**
 * The body for `_search`: what `esr query` prints. Throws if no document has one of the terms.
 * @param request the template: `describe().request`, or what `esr query --as slots` prints
 * @param {Map<string, number>} counts how often the query has each term: `analyze()`
 * @param statistics those of the collection and of the terms: `statistics()`
 * @param options k (10); source, one name or several, as they are written; after and before, dates such as
 *   2017-03, of which after includes the date; filter, further clauses of Elasticsearch
 */
export function build(request, counts, { occurrences, longest, terms }, options = {}) {
  checkOptions(options, ...SEARCH_OPTIONS);
  const { k = 10, ...filters } = options;
  const seen = [...counts].filter(([term]) => terms.has(term));
  if (!seen.length) throw new EsrClientError("no document contains a term of the query");
  const clauses = seen.map(([term, weight]) => {
    const background = Math.max(terms.get(term), 1) / Math.max(occurrences, 1);
    const slots = { $term: term, $weight: weight, $background: background, $occurrences: occurrences };
    return fill(request.clause, slots);
  });
  const query = seen.reduce((sum, [, weight]) => sum + weight, 0);
  // The server refuses scores below 0: the offset is the most that a sentence can lose for its length.
  const { mu, collection: [level, slope] } = request.body.query.script_score.script.params;
  const least = Math.min(...(mu ? [mu / (longest + mu), 1] : [0]).map((beta) => level + slope * beta));
  const slots = { $clauses: clauses, $filter: filterClauses(filters), $query: query, $k: k };
  const body = fill(request.body, { ...slots, $offset: Math.max(0, -query * Math.log(least)) });
  // A sentence without a term is no candidate, which templates that an older esr has stored do not say.
  body.query.script_score.query.bool.must_not ??= [{ range: { length: { lt: 1 } } }];
  return body;
}

/** What to add to `_score` so that it is the score of `esr search`. */
export function scoreShift(body) {
  const { query, script } = body.query.script_score;
  const params = query.bool.should.map((clause) => clause.script_score.script.params);
  const logs = params.reduce((sum, { weight, background }) => sum + weight * Math.log(background), 0);
  return logs - script.params.offset;
}

/** The answer of a search. Throws if a part is missing, which Elasticsearch calls a success. */
function complete(answer) {
  if (answer.error) throw new EsrClientError(reasonOf(answer, `status ${answer.status}`));
  if (answer.timed_out || answer._shards.failed) throw new EsrClientError("a part of the index did not answer");
  return answer;
}

/** The server's reason in a failed answer, or `otherwise` if this gives none. */
function reasonOf(answer, otherwise) {
  const error = answer?.error;
  if (typeof error === "string") return error;
  const causes = [...(error?.root_cause ?? []), error ?? {}];
  return causes.map(({ reason, type }) => reason ?? type).find(Boolean) ?? otherwise;
}

function decode(text) {
  try { return JSON.parse(text); } catch { return null; }
}

const [START, END] = ["\uE000", "\uE001"]; // of no language: they mark the matches

/** The [start, end) of each match in the text, from the text with marks. */
function offsets(marked) {
  const pairs = [];
  for (let at = marked.indexOf(START), removed = 0; at >= 0; at = marked.indexOf(START, at + 1), removed += 2)
    pairs.push([at - removed, marked.indexOf(END, at) - removed - 1]);
  return pairs;
}

/** An index behind an alias. Each method asks the server: override one to change what is asked. */
export class Index {
  /**
   * @param {string} url the alias, such as http://localhost:9200/news
   * @param options headers of each request, such as {Authorization: "ApiKey ..."}; request, a template that
   *   `esr query --as slots` printed, in place of the index's own; timeout in seconds (30); fetch
   */
  constructor(url, options = {}) {
    checkOptions(options, "headers", "request", "timeout", "fetch");
    const { headers = {}, request, timeout = 30, fetch = globalThis.fetch.bind(globalThis) } = options;
    const [, server, alias] = url.match(/^(https?:\/\/[^/@]+(?:\/[^@]+)?|(?:\/[^/@]+)*)\/([^/@]+)\/?$/) ?? [];
    if (!alias) {
      throw new EsrClientError("an index is named http(s)://host:port/alias, and a login stands in headers");
    }
    Object.assign(this, { server, alias, headers, request, timeout, fetch });
  }

  /** Send a request, with an array as one line of JSON for each item, and return the decoded answer. */
  async send(path, body) {
    const options = { headers: { "Content-Type": "application/json", ...this.headers } };
    if (Array.isArray(body)) {
      options.headers["Content-Type"] = "application/x-ndjson";
      Object.assign(options, { method: "POST", body: body.map((line) => `${JSON.stringify(line)}\n`).join("") });
    } else if (body !== undefined) {
      Object.assign(options, { method: "POST", body: JSON.stringify(body) });
    }
    const where = `${this.server}/${path}`;
    let response, text;
    try {
      response = await this.fetch(where, { ...options, signal: AbortSignal.timeout(1000 * this.timeout) });
      text = await response.text();
    } catch (error) {
      throw new EsrClientError(`${this.server} cannot be reached: ${error.message}`);
    }
    const answer = decode(text);
    if (!response.ok) throw new EsrClientError(`${where}: ${reasonOf(answer, `status ${response.status}`)}`);
    if (answer === null || typeof answer !== "object") {
      throw new EsrClientError(`${where}: the answer is not that of Elasticsearch or OpenSearch`);
    }
    return answer;
  }

  /** What the index says of itself: its indices, its analyzer, and the template of its default ranking. */
  async describe() {
    const answer = await this.send(`${this.alias}/_mapping?filter_path=*.mappings._meta.esr`);
    const loads = Object.values(answer).map((index) => index?.mappings?._meta.esr).filter(Boolean);
    const name = `${this.server}/${this.alias}`;
    if (!loads.length) throw new EsrClientError(`${name} is not an index that esr loaded`);
    if (loads[0].analyzer === "by-language") {
      throw new EsrClientError(`${name} has an analyzer for each language: search it with esr`);
    }
    const request = this.request ?? JSON.parse(loads[0].request ?? "null");
    if (!request) {
      const remedy = "load it again, or give request";
      throw new EsrClientError(`${name} was loaded by an older esr, which stored no request: ${remedy}`);
    }
    if (request.version !== VERSION) {
      const stored = `${name} stores requests of version ${request.version}`;
      throw new EsrClientError(`${stored}: use a newer esr_client.js`);
    }
    return { indices: Object.keys(answer).sort(), analyzer: loads[0].analyzer, request };
  }

  /** How often the words have each term, in their order. The server analyses them like its texts. */
  async analyze(words, { indices } = {}) {
    const [index] = indices ?? (await this.describe()).indices;
    const asked = { doc: { text: words }, fields: ["text"], offsets: false, field_statistics: false };
    const { term_vectors: { text } } = await this.send(`${index}/_termvectors`, asked);
    const terms = Object.entries(text?.terms ?? {});
    terms.sort(([, a], [, b]) => a.tokens[0].position - b.tokens[0].position);
    return new Map(terms.map(([term, known]) => [term, known.term_freq]));
  }

  /** The collection's length in terms, its longest sentence, and cf of each term that a document has. */
  async statistics(terms, description) {
    const { indices, request } = description ?? (await this.describe());
    const documents = indices.map((name) => name.replace(/-esr-sentences$/, "-esr-documents"));
    const of = { index: indices };
    const ofAll = { index: [...indices, ...documents], ignore_unavailable: true };
    const asked = [of, request.statistics.sentences];
    for (const $term of terms) {
      asked.push(of, fill(request.statistics.occurrences, { $term }), ofAll, fill(request.statistics.seen, { $term }));
    }
    const [collection, ...answers] = (await this.send("_msearch", asked)).responses.map(complete);
    const counts = new Map();
    for (const [number, term] of terms.entries()) {
      const [counted, seen] = answers.slice(2 * number, 2 * number + 2);
      if (seen.hits.total.value) counts.set(term, counted.aggregations.occurrences.value);
    }
    const { occurrences, longest } = collection.aggregations;
    return { occurrences: occurrences.value, longest: longest.value ?? 0, terms: counts };
  }

  /**
   * The best sentences for these words, best first, with the options of `build`. None if no document has a term.
   * A hit has its id, score, text, title, source, date and more, and highlights: the [start, end) of each match.
   */
  async search(words, options = {}) {
    checkOptions(options, ...SEARCH_OPTIONS);
    const description = await this.describe();
    const counts = await this.analyze(words, description);
    const statistics = await this.statistics([...counts.keys()], description);
    if (!statistics.terms.size) return [];
    const body = build(description.request, counts, statistics, options);
    const highlight = { pre_tags: [START], post_tags: [END], number_of_fragments: 0, fields: { text: {} } };
    const answer = complete(await this.send(`${description.indices}/_search`, { ...body, highlight }));
    const shift = scoreShift(body);
    return answer.hits.hits.map(({ _id, _score, _source, highlight: marked }) => (
      { ..._source, id: _id, score: _score + shift, highlights: offsets(marked?.text?.[0] ?? "") }
    ));
  }
}
