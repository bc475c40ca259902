/**
 * View of a run for the server that serves the run's network: agents and groups, the communication
 * graph with faults and interventions applied, and recorded decisions.
 */
import type { KnownDecisions, KnownGraph, KnownRun } from '../api/contract/run.js';
import type { ScenarioView } from '../api/contract/views.js';
import type { ServedNetwork } from '../engine/node/kept-network.js';
import type { EventData } from '../engine/protocol/schema/event.js';
import { agentId } from '../engine/protocol/signing.js';
import { deriveSignatory, deriveUnsignedSignatory } from './agents/port.js';
import { openDecisions } from './decision-index.js';
import { findSource } from './fork/kept-run.js';
import { knownGraph } from './run/assembly.js';
import { START_MS } from './run/options.js';
import { Numbers } from './run/overrides.js';
import type { Acted, SimResult } from './run/result.js';
import { completeScenario } from './scenario/complete.js';
import { dataFiles, loadData } from './scenario/files.js';
import { Names, resolveWhom } from './scenario/interventions.js';
import { inhabitants } from './scenario/population.js';
import { ScenarioError } from './scenario/problem.js';
import type { Intervention, Named } from './scenario/schema/interventions.js';
import type { Scenario } from './scenario/schema/scenario.js';
import { Faults } from './world/faults.js';
import { drawnGraph, getLinkProbability } from './world/graph.js';
import { Alliances } from './world/knowledge.js';
import { Links } from './world/links.js';

/** Opens the view of a run saved by `sim --out`. */
export function openKeptRun(folder: string, result: SimResult, network: ServedNetwork): KnownRun {
  const cast = new Cast(result.scenario, result.seed);
  let graph: KnownGraph | string | undefined;
  return {
    placeOf: cast.placeOf,
    idAt: cast.idAt,
    graph() {
      graph ??= keptGraph(folder, result, { network, cast });
      return graph;
    },
    decisions: openDecisions(folder),
  };
}

const knownLater = 'decisions are available after the run, with folkmoot explore DIR';
const neverKnown =
  'decisions are not recorded; use folkmoot sim --set measure.decisions=true --out DIR';

/** Creates a run's view. The caller passes the graph to `hears` once the world exists. */
export function createRunView(scenario: Scenario): KnownRun & { hears(graph: KnownGraph): void } {
  const { placeOf, idAt } = new Cast(scenario, scenario.seed);
  let graph: KnownGraph | string = 'the run has not started';
  const decisions: KnownDecisions | string = scenario.measure.decisions ? knownLater : neverKnown;
  return {
    placeOf,
    idAt,
    graph: () => graph,
    decisions,
    hears(drawn) {
      graph = drawn;
    },
  };
}

/** Maximum number of agents for the list of groups, because each agent costs a key derivation. */
const MOST_AGENTS = 20_000;

/**
 * Describes groups and faults. Undefined if there are too many agents.
 *
 * @param startMs start of the run, in milliseconds since 1970.
 * @param labels names of options in election data.
 */
export function describeScenario(
  scenario: Scenario,
  seed: string,
  startMs: number,
  labels: Record<string, string> = {},
): ScenarioView | undefined {
  if (scenario.population > MOST_AGENTS) return undefined;
  const { idAt } = new Cast(scenario, seed);
  const groups = new Map<string, string[]>(scenario.agents.map(({ group }) => [group, []]));
  for (const { ordinal, group } of inhabitants(scenario)) {
    groups.get(group.group)!.push(idAt(ordinal));
  }
  const faults = scenario.faults.map(({ kind, start_ms, length_ms, whom }) => ({
    kind,
    from: startMs + start_ms,
    to: startMs + start_ms + length_ms,
    groups: [...new Set(whom.flatMap(({ group }) => group ?? [...groups.keys()]))],
  }));
  const { title, question } = scenario;
  return {
    ...{ title, ...(question === undefined ? {} : { question }), seed, faults, labels },
    groups: [...groups].map(([name, agents]) => ({ name, agents })),
  };
}

/** Maximum number of links: bounds the memory for an untrusted folder, about 50 bytes a link. */
const MOST_LINKS = 4_000_000;

/** Rebuilds the graph, or returns a message if the scenario or its files differ from the run's. */
function keptGraph(
  folder: string,
  result: SimResult,
  around: { network: ServedNetwork; cast: Cast },
): KnownGraph | string {
  try {
    const scenario = completeScenario(result.scenario);
    const links = expectedLinks(scenario);
    if (links > MOST_LINKS) return `graph too large: about ${links} links (limit ${MOST_LINKS})`;
    return graphIn(folder, scenario, result, around);
  } catch (error) {
    if (error instanceof ScenarioError) return error.message;
    throw error;
  }
}

function graphIn(
  folder: string,
  scenario: Scenario,
  { seed, files, interventions = [] }: SimResult,
  around: { network: ServedNetwork; cast: Cast },
): KnownGraph {
  const named = dataFiles(scenario);
  const had = Object.fromEntries(named.map((file) => [file, files[file] ?? '']));
  const source =
    named.length === 0 ? undefined : findSource(folder, { modules: {}, files: had }, undefined);
  const data = loadData(scenario, source);
  const faults = new Faults(scenario, seed, START_MS);
  const links = new Links(scenario, data, faults);
  actAgain(scenario, interventions, { seed, faults, links, ...around });
  return knownGraph(scenario, drawnGraph(scenario, seed, data.edges), links);
}

function expectedLinks(scenario: Scenario): number {
  const { population, topology } = scenario;
  const { kind, degree } = topology;
  const pairs = (population * (population - 1)) / 2;
  if (kind === 'complete') return pairs;
  if (kind === 'erdos_renyi') return Math.ceil(pairs * getLinkProbability(scenario));
  // Links from a file are not counted, because the file's size limits their number.
  return kind === 'edges' ? 0 : (population * degree) / 2;
}

interface RunContext {
  seed: string;
  faults: Faults;
  links: Links;
  network: ServedNetwork;
  cast: Cast;
}

function actAgain(scenario: Scenario, acted: readonly Acted[], around: RunContext): void {
  const names = new Names(scenario);
  for (const [place, intervention] of scenario.interventions.entries()) {
    const atMs = acted[place]?.at_ms ?? null;
    if (atMs !== null) act(intervention, { ...around, scenario, names, place, atMs });
  }
}

interface Acting extends RunContext {
  scenario: Scenario;
  names: Names;
  place: number;
  atMs: number;
}

/** Applies an intervention exactly as the run did. */
function act(intervention: Intervention, acting: Acting): void {
  const { scenario, names, place, seed, faults, links, atMs } = acting;
  const at = START_MS + atMs;
  if (intervention.kind === 'silence') {
    const membersOf = (alliance: Named) => membersAt(alliance, at, acting);
    const those = resolveWhom(scenario, names, intervention.whom, { place, seed, membersOf });
    for (const ordinal of those) faults.silence(ordinal, at);
  } else if (intervention.kind === 'link') {
    const { between, loss } = intervention;
    const [a = 0, b = 0] = between.map((end) => names.ordinalOf(end));
    if (loss !== undefined) links.setOwn(a, b, { from: at, loss });
  } else if (intervention.kind === 'set' && intervention.path === 'links.loss') {
    links.setLoss(Number(intervention.value), at);
  }
}

/** Returns an alliance's members at an instant, derived from earlier events. */
function membersAt(alliance: Named, at: number, { network, cast }: Acting): readonly number[] {
  const { read } = network;
  const ordinalOf = (id: string) => {
    const agent = read.record('agents', id);
    return (agent && cast.placeOf(agent)) ?? -1;
  };
  const alliances = new Alliances(ordinalOf);
  const numbers = new Numbers();
  for (const { type, json, seq } of read.eventTexts(1, read.position.event_seq)) {
    if (type !== 'alliance_update') continue;
    const { data } = JSON.parse(json) as { data: EventData['alliance_update'] };
    if (Date.parse(data.timestamp) >= at) break;
    numbers.happened({ type, data, seq });
    alliances.update(data);
  }
  const id = numbers.alliance(alliance);
  return id === undefined ? [] : alliances.membersOf(id);
}

/** Matches the number at the end of an agent's name, such as lawful-17. */
const numbered = /-(\d{1,6})$/;

class Cast {
  readonly #population: number;
  readonly #idOf: (ordinal: number) => string;
  /** Ids by ordinal, cached because each id costs a key derivation. */
  readonly #ids = new Map<number, string>();

  constructor({ population, signatures }: Scenario, seed: string) {
    const keyOf = signatures === 'none' ? deriveUnsignedSignatory : deriveSignatory;
    this.#population = population;
    this.#idOf = (ordinal) => agentId(keyOf(seed, ordinal).publicKey);
  }

  idAt = (ordinal: number): string => {
    const id = this.#ids.get(ordinal) ?? this.#idOf(ordinal);
    this.#ids.set(ordinal, id);
    return id;
  };

  /** Returns the ordinal in an agent's name if its id matches; null outside the scenario. */
  placeOf = ({ agent_id, name }: { agent_id: string; name: string }): number | null => {
    const ordinal = Number(numbered.exec(name)?.[1] ?? Number.NaN);
    if (!(ordinal < this.#population)) return null;
    return this.idAt(ordinal) === agent_id ? ordinal : null;
  };
}
