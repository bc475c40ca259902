/** /api/v1/scenario and who of it hears whom: what is known of agents that a scenario made. */
import { refuse } from '../../../engine/internal.js';
import { serverBounds } from '../../contract/limit-table.js';
import type { KnownGraph, KnownRun } from '../../contract/run.js';
import {
  badQuery,
  expectedCursor,
  expectedRows,
  number,
  pathProblem,
  rowsOf,
} from '../reads/parameters.js';
import { success } from '../response/envelope.js';
import type { Showing } from './shown.js';

const { graphEdges, neighbourLinks } = serverBounds.view;

const unknownScenario = (why: string) => ({ refusal: refuse('UNKNOWN_SCENARIO', why) });
const unknown = 'no scenario is known of this network';

export const scenario: Showing = async ({ services: { scenario: known, run } }) =>
  known ? success(200, { ...known, graph: run && graphOf(run) }) : unknownScenario(unknown);

/** Each is counted and listed once. */
const shownGraphs = new WeakMap<KnownGraph, object>();

function graphOf(run: KnownRun): object | null {
  const graph = run.graph();
  if (typeof graph === 'string') return null;
  const known = shownGraphs.get(graph);
  if (known) return known;
  const { topology, neighbours } = graph;
  const links = neighbours.reduce((sum, { length }) => sum + length, 0) / 2;
  const shown = { topology, links, edges: links > graphEdges ? null : [...edgesOf(graph)] };
  shownGraphs.set(graph, shown);
  return shown;
}

function* edgesOf({ neighbours }: KnownGraph): Iterable<[number, number]> {
  for (const [a, others] of neighbours.entries()) for (const b of others) if (a < b) yield [a, b];
}

/** Whom an agent hears, and who hears it, as it was at an entry. */
export const agentNeighbours: Showing = async (call, query) => {
  const { services, params } = call;
  const [id = ''] = params;
  const { run, network } = services;
  const { read } = network;
  const refusal = pathProblem('agent_id', id);
  if (refusal) return { refusal };
  const limit = rowsOf(query);
  if (limit === null) return badQuery('limit', expectedRows);
  const from = number(query, 'cursor', 0);
  if (from === null) return badQuery('cursor', expectedCursor);
  const at = number(query, 'at', read.position.seq);
  if (at === null) return badQuery('at', 'the number of an entry');
  const end = read.log.entry(at);
  if (!end) throw new RangeError(`the log has no entry ${at}`);
  const profile = read.record('agents', id);
  if (!profile) return { refusal: refuse('UNKNOWN_AGENT', `no agent has the id ${id}`) };
  if (!run) return unknownScenario(unknown);
  const own = run.placeOf(profile);
  if (own === null) return unknownScenario(`${id} is not of the scenario`);
  const graph = run.graph();
  if (typeof graph === 'string') return unknownScenario(`who hears whom is not known: ${graph}`);
  const all = graph.neighbours[own]!;
  const page = all.slice(from, from + limit);
  const neighbours = page.map((place) => {
    const agent_id = run.idAt(place);
    return {
      agent_id,
      number: read.record('agents', agent_id)?.ordinal ?? null,
      hears: graph.passes(place, own, end.at),
      heard: graph.passes(own, place, end.at),
    };
  });
  const next_cursor = from + limit < all.length ? String(from + limit) : null;
  const links = linksAmong(graph, page);
  const { topology } = graph;
  return success(200, {
    agent_id: id,
    topology,
    total: all.length,
    neighbours,
    links,
    next_cursor,
  });
};

/** As many as an answer may hold. */
function linksAmong({ neighbours }: KnownGraph, page: readonly number[]): [number, number][] {
  const places = new Map(page.map((agent, place) => [agent, place]));
  const links: [number, number][] = [];
  for (const [place, agent] of page.entries()) {
    for (const other of neighbours[agent]!) {
      const there = places.get(other);
      if (there === undefined || there <= place) continue;
      links.push([place, there]);
      if (links.length === neighbourLinks) return links;
    }
  }
  return links;
}
