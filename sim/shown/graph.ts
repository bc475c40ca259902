/** Who hears whom in a run that is over: the graph, faults and links as its world had them. */
import type { KnownGraph } from '../../api/contract/run.js';
import type { ServedNetwork } from '../../engine/internal.js';
import { sourceOf } from '../fork/sources.js';
import { knownGraph } from '../run/assemble.js';
import { START_MS } from '../run/options.js';
import type { SimResult } from '../run/result.js';
import { dataFiles, loadData } from '../scenario/files/data.js';
import { ScenarioError } from '../scenario/problem.js';
import { completeScenario } from '../scenario/read/complete.js';
import type { Scenario } from '../scenario/schema/scenario.js';
import { Faults } from '../world/links/faults.js';
import { drawnGraph, probabilityOf } from '../world/links/graph/graph.js';
import { Links } from '../world/links/links.js';
import { actAgain } from './act-again.js';
import type { Cast } from './cast.js';

/** Whoever wrote the folder is not to fill the memory: each link takes some fifty bytes. */
const MOST_LINKS = 4_000_000;

/** A sentence where its scenario, or a file that it names, is not what the run had. */
export function keptGraph(
  folder: string,
  result: SimResult,
  around: { network: ServedNetwork; cast: Cast },
): KnownGraph | string {
  try {
    const scenario = completeScenario(result.scenario);
    const links = expectedLinks(scenario);
    if (links > MOST_LINKS) return `its graph has some ${links} links: too many to be shown`;
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
    named.length === 0 ? undefined : sourceOf(folder, { modules: {}, files: had }, undefined);
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
  if (kind === 'erdos_renyi') return Math.ceil(pairs * probabilityOf(scenario));
  // The links of a file are bounded by its size.
  return kind === 'edges' ? 0 : (population * degree) / 2;
}
