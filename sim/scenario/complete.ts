/**
 * Completes a scenario: fills in the defaults, and checks group sizes, faults, links, deciders and
 * all else that the shape leaves open. The default scenario of `folkmoot sim` is here too.
 */

import { dataProblem, fileInside } from './files.js';
import { conditionProblem, interventionsProblem, traitsProblem } from './intervention-checks.js';
import { groupSizes, joinedByMs, listExternals, selectAgents } from './population.js';
import { type Problem, problemText, ScenarioError } from './problem.js';
import type { Latency } from './schema/network.js';
import { type Scenario, standardReplicates } from './schema/scenario.js';
import type { External, StrategyOf } from './schema/strategies.js';
import { excessProblem, fillDefaults, shapeProblem } from './shape.js';

type Completed = { scenario: Scenario } | { problem: Problem };

/** @param folder from where modules of scripts are found; left out, they are not looked for. */
export function complete(raw: unknown, folder?: string): Completed {
  const excess = excessProblem(raw);
  if (excess) return { problem: excess };
  const filled = fillDefaults(withReplicates(structuredClone(raw)));
  const misshapen = shapeProblem(filled);
  if (misshapen) return { problem: misshapen };
  const shaped = filled as Omit<Scenario, 'population'> & { population?: number };
  if (Object.keys(shaped.length).length === 0) shaped.length = { blocks: DEFAULT_BLOCKS };
  const counts = shaped.agents.map(({ count }) => count ?? Number.NaN);
  shaped.population ??= counts.reduce((sum, count) => sum + count, 0);
  const scenario = shaped as Scenario;
  const problem = checkScenario(scenario, folder);
  return problem ? { problem } : { scenario };
}

const DEFAULT_BLOCKS = 100;

/** How many they are by default follows from the design. */
function withReplicates(raw: unknown): unknown {
  const sweep = (raw as { sweep?: unknown } | null | undefined)?.sweep;
  if (typeof sweep !== 'object' || sweep === null || Array.isArray(sweep)) return raw;
  if ('replicates' in sweep) return raw;
  const replicates = standardReplicates((sweep as { design?: unknown }).design);
  return Object.assign(raw as object, { sweep: { ...sweep, replicates } });
}

/**
 * Checks a scenario, as a file would hold it, and fills in all defaults.
 *
 * @param folder from where modules of scripts are found; left out, they are not looked for.
 * @throws {ScenarioError} naming path and what is allowed.
 */
export function completeScenario(raw: unknown, folder?: string): Scenario {
  const found = complete(raw, folder);
  if ('scenario' in found) return found.scenario;
  throw new ScenarioError(problemText(found.problem));
}

/** The first problem, or null. */
function decidersProblem(
  scenario: Pick<Scenario, 'agents' | 'interventions'>,
  folder: string | undefined,
): Problem | null {
  for (const { path, strategy } of listExternals(scenario)) {
    const found = deciderProblem(strategy, folder);
    if (!found) continue;
    const [member, text] = found;
    return { path: [...path, ...member], text };
  }
  return null;
}

type Found = [member: string[], text: string] | null;

function deciderProblem(strategy: External, folder: string | undefined): Found {
  if (strategy.kind === 'http') return httpProblem(strategy, folder);
  return strategy.kind === 'mcp' ? mcpProblem(strategy) : null;
}

/** A server is started or listens: what is for one of the two is not for the other. */
function mcpProblem({ command, url, env, key_env }: StrategyOf<'mcp'>): Found {
  if (url === undefined) {
    if (command === undefined) return [['command'], 'is missing; expected a command or a url'];
    return key_env === undefined ? null : [['key_env'], 'is for a url; expected it in env'];
  }
  if (command !== undefined) return [['url'], 'stands beside a command; expected one of the two'];
  if (env.length > 0) return [['env'], 'is for a command; a server at a url takes key_env'];
  const address = urlProblem(url);
  return address === null ? null : [['url'], address];
}

function httpProblem(strategy: StrategyOf<'http'>, folder: string | undefined): Found {
  const { url, dialect, model, prompts, request } = strategy;
  const address = urlProblem(url);
  if (address) return [['url'], address];
  if (dialect !== 'openai') {
    if (model !== undefined) return [['model'], 'is for the dialect openai'];
    if (prompts !== undefined) return [['prompts'], 'are for the dialect openai'];
    return Object.keys(request).length > 0 ? [['request'], 'is for the dialect openai'] : null;
  }
  if (model === undefined) return [['model'], 'is missing; the dialect openai needs a name'];
  const own = ['model', 'messages', 'stream'].find((name) => name in request);
  if (own) return [['request', own], 'is known here; expected other members of the request'];
  return promptsProblem((prompts ?? {}) as Record<string, string>, folder);
}

/** A key in an address would be in every report. */
function urlProblem(url: string): string | null {
  if (!URL.canParse(url)) return `is ${url}; expected a URL`;
  const { protocol, username, password, hash } = new URL(url);
  if (protocol !== 'http:' && protocol !== 'https:') return `is ${url}; expected http or https`;
  if (username || password) return 'has a name or a password in it; expected them in key_env';
  return hash ? `is ${url}; expected none of ${hash}` : null;
}

function promptsProblem(prompts: Record<string, string>, folder: string | undefined): Found {
  if (folder === undefined) return null;
  for (const [name, path] of Object.entries(prompts)) {
    const found = fileInside(path, folder, 'a text');
    if ('why' in found) return [['prompts', name], found.why];
  }
  return null;
}

/** Everybody hears everybody: the work of a block grows with the square of this. */
const LARGEST_COMPLETE = 2_000;
/** Neighbours of an agent in the mean, by whatever topology. */
const MOST_NEIGHBOURS = 2_000;

/** The first problem, or null. */
function linksProblem(scenario: Scenario, folder: string | undefined): Problem | null {
  return (
    topologyProblem(scenario) ??
    latencyProblem(scenario.links.latency, 'links.latency') ??
    betweenProblem(scenario) ??
    (folder === undefined ? null : dataProblem(scenario, folder))
  );
}

function topologyProblem({ topology, population }: Scenario): Problem | null {
  const { kind, degree, probability, file } = topology;
  if (degree % 2 !== 0 && kind !== 'erdos_renyi') {
    return problem('topology.degree', `is ${degree}; expected an even number`);
  }
  if (probability !== undefined && kind !== 'erdos_renyi') {
    const text = `is ${probability}; expected with kind erdos_renyi only`;
    return problem('topology.probability', text);
  }
  const neighbours = Math.round((probability ?? 0) * (population - 1));
  if (neighbours > MOST_NEIGHBOURS) {
    const text = `is ${probability}: ${neighbours} neighbours of each agent`;
    return problem('topology.probability', `${text}; expected at most ${MOST_NEIGHBOURS}`);
  }
  if ((file !== undefined) !== (kind === 'edges')) {
    const text = file === undefined ? 'is missing; expected a CSV file' : `is ${file}; expected`;
    return problem('topology.file', `${text} with kind edges`);
  }
  if (kind !== 'complete' || population <= LARGEST_COMPLETE) return null;
  const text = `is complete for ${population} agents; expected at most ${LARGEST_COMPLETE}`;
  return problem('topology.kind', text);
}

function betweenProblem({ links, agents }: Scenario): Problem | null {
  const named = [...new Set(agents.flatMap(({ group, region = group }) => [group, region]))];
  const known = [...named, 'network'];
  for (const [index, { from, to, latency }] of links.between.entries()) {
    const path = `links.between.${index}`;
    const expected = `expected one of ${known.join(', ')}`;
    if (!known.includes(from)) return problem(`${path}.from`, `is ${from}; ${expected}`);
    if (!known.includes(to)) return problem(`${path}.to`, `is ${to}; ${expected}`);
    const found = latencyProblem(latency, `${path}.latency`);
    if (found) return found;
  }
  return null;
}

/** Members that belong to one distribution are refused with every other. */
function latencyProblem({ distribution, file, shape }: Latency, path: string): Problem | null {
  if (shape !== undefined && distribution !== 'pareto') {
    return problem(`${path}.shape`, `is ${shape}; expected with distribution pareto only`);
  }
  if ((file !== undefined) === (distribution === 'empirical')) return null;
  const text = file === undefined ? 'is missing; expected a CSV file' : `is ${file}; expected`;
  return problem(`${path}.file`, `${text} with distribution empirical`);
}

type Check = (scenario: Scenario, folder: string | undefined) => Problem | null;

const problem = (path: string, text: string): Problem => ({ path: path.split('.'), text });

/** The first problem, or null. */
const checkScenario: Check = (scenario, folder) => {
  for (const one of checks) {
    const found = one(scenario, folder);
    if (found) return found;
  }
  return null;
};

const namesProblem: Check = ({ agents }) => {
  const seen = new Set<string>();
  for (const [index, { group }] of agents.entries()) {
    if (seen.has(group)) {
      return problem(`agents.${index}.group`, `is ${group} again; expected a name of its own`);
    }
    seen.add(group);
  }
  return null;
};

const sizesProblem: Check = (scenario) => {
  const { agents, population } = scenario;
  const both = agents.findIndex(({ count, share }) => count !== undefined && share !== undefined);
  if (both >= 0) return problem(`agents.${both}`, 'has count and share; expected one of them');
  if (!Number.isFinite(population)) {
    return problem('population', 'is missing; a group that has no count needs it');
  }
  const rest = agents.flatMap(({ count, share }, index) =>
    count === undefined && share === undefined ? [index] : [],
  );
  if (rest.length > 1) {
    return problem(`agents.${rest[1]}`, 'has neither count nor share; one group takes the rest');
  }
  const sum = groupSizes(scenario).reduce((total, size) => total + size, 0);
  if (sum === population) return null;
  const what = sum > population ? 'more' : 'fewer';
  return problem('agents', `are ${sum} in all, ${what} than the population of ${population}`);
};

/** An electorate that can never be is refused: no block could even be proposed. */
const electorateProblem: Check = (scenario) => {
  const { agents, consensus } = scenario;
  const each = groupSizes(scenario);
  const count = (capability: 'validator' | 'producer') =>
    agents.reduce((sum, { capabilities, producers }, index) => {
      const all = capabilities.includes(capability);
      const some = capability === 'producer' ? Math.min(producers, each[index]!) : 0;
      return sum + (all ? each[index]! : some);
    }, 0);
  const validators = count('validator');
  if (validators < consensus.min_validators) {
    const text = `is ${consensus.min_validators}; expected at most ${validators}, all validators`;
    return problem('consensus.min_validators', text);
  }
  if (count('producer') > 0) return null;
  return problem('agents', 'have no producer; give a group producers, or the capability');
};

const producersProblem: Check = ({ producers }) => {
  const { least, most } = producers.transactions;
  if (least <= most) return null;
  return problem('producers.transactions.least', `is ${least}; expected at most ${most}`);
};

/** Nobody leaves who is still to come. */
const staysProblem: Check = ({ agents }) => {
  for (const [index, group] of agents.entries()) {
    const least = joinedByMs(group);
    if (!group.leave || group.leave.at_ms >= least) continue;
    const text = `is ${group.leave.at_ms}; expected at least ${least}, when all of it have joined`;
    return problem(`agents.${index}.leave.at_ms`, text);
  }
  return null;
};

const conditionsProblem: Check = ({ length, agents }) => {
  const { until = [] } = length;
  const list = Array.isArray(until) ? until : [until];
  const named = agents.map(({ group }) => group);
  for (const [index, condition] of list.entries()) {
    const path = Array.isArray(until) ? `length.until.${index}` : 'length.until';
    const found = conditionProblem(condition, path, named);
    if (found) return found;
  }
  return null;
};

/** A warm-up that cannot end before the run does leaves nothing to measure. */
const warmupProblem: Check = ({ measure, length }) => {
  const { warmup_ms, warmup_blocks } = measure;
  if (warmup_ms !== undefined && warmup_blocks !== undefined) {
    return problem('measure', 'has warmup_ms and warmup_blocks; expected one of them');
  }
  const { virtual_ms = Number.POSITIVE_INFINITY, blocks = Number.POSITIVE_INFINITY } = length;
  if (warmup_ms !== undefined && warmup_ms >= virtual_ms) {
    const end = `the run ends at length.virtual_ms, ${virtual_ms}`;
    return problem('measure.warmup_ms', `is ${warmup_ms}; expected less, for ${end}`);
  }
  if (warmup_blocks === undefined || warmup_blocks < blocks) return null;
  const end = `the run ends with length.blocks, ${blocks}`;
  return problem('measure.warmup_blocks', `is ${warmup_blocks}; expected less, for ${end}`);
};

const faultsProblem: Check = (scenario) => {
  const named = new Set(scenario.agents.map(({ group }) => group));
  for (const [index, { whom }] of scenario.faults.entries()) {
    for (const [place, selector] of whom.entries()) {
      const path = `faults.${index}.whom.${place}`;
      const { group, count, share } = selector;
      if (group !== undefined && !named.has(group)) {
        return problem(`${path}.group`, `is ${group}; expected one of ${[...named].join(', ')}`);
      }
      if (count !== undefined && share !== undefined) {
        return problem(path, 'has count and share; expected one of them');
      }
    }
    if (selectAgents(scenario, whom, index).length > 0) continue;
    return problem(`faults.${index}.whom`, 'names no one: the fault would hit nobody');
  }
  return null;
};

const strategiesProblem: Check = ({ agents }, folder) => {
  const named = agents.map(({ group }) => group);
  for (const [index, { strategy }] of agents.entries()) {
    const path = `agents.${index}.strategy`;
    if (strategy.kind === 'censor' && !named.includes(strategy.against)) {
      const expected = `expected one of ${named.join(', ')}`;
      return problem(`${path}.against`, `is ${strategy.against}; ${expected}`);
    }
    if (strategy.kind !== 'script' || folder === undefined) continue;
    const found = fileInside(strategy.module, folder, 'a module');
    if ('why' in found) return problem(`${path}.module`, found.why);
  }
  return null;
};

const checks = [
  namesProblem,
  sizesProblem,
  staysProblem,
  electorateProblem,
  producersProblem,
  conditionsProblem,
  warmupProblem,
  faultsProblem,
  strategiesProblem,
  decidersProblem,
  traitsProblem,
  linksProblem,
  interventionsProblem,
];

/** Every 50th agent is a producer too. */
const AGENTS_PER_PRODUCER = 50;

export const defaultSize = { agents: 1_000, blocks: 100 } as const;

/** As a file would hold it. */
export function defaultRaw(agents: number): Record<string, unknown> {
  const producers = Math.max(1, Math.floor(agents / AGENTS_PER_PRODUCER));
  return {
    title: 'A town',
    question: 'Does a town of all nine personalities decide, and how fast?',
    agents: [{ group: 'town', count: agents, producers }],
    length: { blocks: defaultSize.blocks },
  };
}

/** The default scenario with some of its sections replaced. */
export function defaultScenario(agents: number, sections: Record<string, unknown> = {}): Scenario {
  return completeScenario({ ...defaultRaw(agents), ...sections });
}
