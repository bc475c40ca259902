/**
 * Completes a scenario: fills in the defaults and checks everything that the schema cannot express,
 * such as group sizes, faults, links and deciders. This file also defines the default scenario of
 * `folkmoot sim`.
 */
import { readFileSync, statSync } from 'node:fs';
import { findRuleProblem, isUnloadedModule, ruleOf } from '../../engine/rules/network-rule.js';
import { prepareRule } from '../../engine/rules/sandbox.js';
import { completeDeliberation, findDeliberationProblem, withDeliberation } from './deliberation.js';
import { fileInside, findFilesProblem } from './files.js';
import {
  findConditionProblem,
  findInterventionsProblem,
  findTraitsProblem,
} from './intervention-checks.js';
import {
  groupSizes,
  joinedByMs,
  listExternals,
  listStrategies,
  selectAgents,
} from './population.js';
import { type Finding, finding, invalid, type Problem, problemError } from './problem.js';
import { type Latency, latencyLawNames, latencyLaws } from './schema/latency.js';
import { type Scenario, standardReplicates } from './schema/scenario.js';
import type { External, StrategyOf } from './schema/strategies.js';
import { fillDefaults, findExcessProblem, findShapeProblem } from './shape.js';

type Completed = { scenario: Scenario } | { problem: Problem };

/** @param folder base folder for scripts and data files. If absent, files are not checked. */
export function complete(raw: unknown, folder?: string): Completed {
  const excess = findExcessProblem(raw);
  if (excess) return { problem: excess };
  const filled = fillDefaults(withDeliberation(withReplicates(structuredClone(raw))));
  const misshapen = findShapeProblem(filled);
  if (misshapen) return { problem: misshapen };
  const shaped = filled as Omit<Scenario, 'population'> & { population?: number };
  if (Object.keys(shaped.length).length === 0) shaped.length = { blocks: DEFAULT_BLOCKS };
  const counts = shaped.agents.map(({ count }) => count ?? Number.NaN);
  shaped.population ??= counts.reduce((sum, count) => sum + count, 0);
  const scenario = shaped as Scenario;
  const { consensus } = raw as { consensus?: { voting_period_ms?: number } };
  completeDeliberation(scenario, consensus?.voting_period_ms !== undefined);
  const unread = readRuleFile(scenario, folder);
  const problem = unread ?? checkScenario(scenario, folder);
  return problem ? { problem } : { scenario };
}

const DEFAULT_BLOCKS = 100;

/** Largest file of a decision rule. Genesis limits its text in characters. */
const LARGEST_RULE = 65_536;

/** Replaces the file of a decision rule with its text, because genesis carries the text. */
function readRuleFile({ consensus }: Scenario, folder: string | undefined): Problem | null {
  const { rule } = consensus;
  if (rule?.file === undefined) return null;
  const path = 'consensus.rule.file';
  if (rule.source !== undefined)
    return problem('consensus.rule', onlyOne('file and source', 'them'));
  if (consensus.policy !== 'module') {
    const advice = 'remove consensus.rule, for example by --set consensus.rule=null';
    return problem(path, onlyWith(`policy module; ${advice}`));
  }
  if (folder === undefined) return null;
  const found = fileInside(rule.file, folder, 'a JavaScript file');
  if ('why' in found) return problem(path, found.what);
  const bytes = statSync(found.file).size;
  if (bytes > LARGEST_RULE) {
    const values = { file: rule.file, bytes, limit: LARGEST_RULE };
    return problem(path, finding('FILE_TOO_LARGE', values));
  }
  rule.source = readFileSync(found.file, 'utf8');
  delete rule.file;
  return null;
}

/**
 * Loads the sandbox if the scenario's rule is a module, and checks the module.
 *
 * @throws {ScenarioError}
 */
export async function assertModule(scenario: Scenario): Promise<void> {
  if (scenario.consensus.policy !== 'module') return;
  await prepareRule(scenario.consensus);
  const found = findConsensusProblem(scenario);
  if (found) throw problemError(found);
}

/**
 * Checks the name and the parameters of the decision rule. A module is checked later, unless the
 * sandbox is loaded already.
 */
const findConsensusProblem = ({ consensus }: Pick<Scenario, 'consensus'>): Problem | null => {
  const { policy, rule = {} } = consensus;
  const { file, ...options } = rule;
  if (file !== undefined || isUnloadedModule({ policy })) return null;
  const found = findRuleProblem({ policy, rule: options });
  if (!found) return null;
  const { pointer, message, value } = found;
  const text = value === undefined ? message : `is ${value}; it ${message}`;
  const path = pointer === '/policy' ? 'policy' : pointer.slice(1).replaceAll('/', '.');
  return problem(`consensus.${path}`, finding('INVALID_RULE', { problem: text }));
};

/** Adds the default number of replicates, which depends on the design. */
function withReplicates(raw: unknown): unknown {
  const sweep = (raw as { sweep?: unknown } | null | undefined)?.sweep;
  if (typeof sweep !== 'object' || sweep === null || Array.isArray(sweep)) return raw;
  if ('replicates' in sweep) return raw;
  const replicates = standardReplicates((sweep as { design?: unknown }).design);
  return Object.assign(raw as object, { sweep: { ...sweep, replicates } });
}

/**
 * Checks a scenario as written in a file, and fills in all defaults.
 *
 * @param folder base folder for scripts and data files. If absent, files are not checked.
 * @throws {ScenarioError} with the path of the invalid value and what is expected.
 */
export function completeScenario(raw: unknown, folder?: string): Scenario {
  const found = complete(raw, folder);
  if ('scenario' in found) return found.scenario;
  throw problemError(found.problem);
}

function findDecidersProblem(
  scenario: Pick<Scenario, 'agents' | 'interventions'>,
  folder: string | undefined,
): Problem | null {
  for (const { path, strategy } of listExternals(scenario)) {
    const found = findDeciderProblem(strategy, folder);
    if (!found) continue;
    const [member, what] = found;
    return { path: [...path, ...member], ...what };
  }
  return null;
}

type Found = [member: string[], what: Finding] | null;

function findDeciderProblem(strategy: External, folder: string | undefined): Found {
  if (strategy.kind === 'http') return findHttpProblem(strategy, folder);
  return strategy.kind === 'mcp' ? findMcpProblem(strategy) : null;
}

/**
 * Checks an MCP decider. A command and a URL are mutually exclusive, and each allows other members.
 */
function findMcpProblem({ command, url, env, key_env }: StrategyOf<'mcp'>): Found {
  if (url === undefined) {
    if (command === undefined) return [['command'], missing('a command or a url')];
    return key_env === undefined ? null : [['key_env'], onlyWith('a url; use env')];
  }
  if (command !== undefined) return [['url'], onlyOne('command and url', 'them')];
  if (env.length > 0) return [['env'], onlyWith('a command; use key_env')];
  const address = findUrlProblem(url);
  return address === null ? null : [['url'], address];
}

function findHttpProblem(strategy: StrategyOf<'http'>, folder: string | undefined): Found {
  const { url, dialect, model, prompts, request } = strategy;
  const address = findUrlProblem(url);
  if (address) return [['url'], address];
  if (dialect !== 'openai') {
    if (model !== undefined) return [['model'], onlyWith('dialect openai')];
    if (prompts !== undefined) return [['prompts'], onlyWith('dialect openai')];
    return Object.keys(request).length > 0 ? [['request'], onlyWith('dialect openai')] : null;
  }
  if (model === undefined) return [['model'], missing('the name of a model for dialect openai')];
  const own = ['model', 'messages', 'stream'].find((name) => name in request);
  if (own)
    return [['request', own], finding('UNKNOWN_KEY', { expected: 'additional members only' })];
  return findPromptsProblem((prompts ?? {}) as Record<string, string>, folder);
}

/** Rejects credentials in a URL, because they would appear in every report. */
function findUrlProblem(url: string): Finding | null {
  if (!URL.canParse(url)) return invalid(url, 'a URL');
  const { protocol, username, password, hash } = new URL(url);
  if (protocol !== 'http:' && protocol !== 'https:') return invalid(url, 'http or https');
  if (username || password) return finding('HAS_CREDENTIALS', {});
  return hash ? invalid(url, `a URL without ${hash}`) : null;
}

function findPromptsProblem(prompts: Record<string, string>, folder: string | undefined): Found {
  if (folder === undefined) return null;
  for (const [name, path] of Object.entries(prompts)) {
    const found = fileInside(path, folder, 'a text');
    if ('why' in found) return [['prompts', name], found.what];
  }
  return null;
}

/** Size limit for a complete graph. The work per block grows with the square of this number. */
const LARGEST_COMPLETE = 2_000;
/** Limit on the mean number of neighbours, for all topologies. */
const MOST_NEIGHBOURS = 2_000;

function findLinksProblem(scenario: Scenario): Problem | null {
  return (
    findTopologyProblem(scenario) ??
    findLatencyProblem(scenario.links.latency, 'links.latency') ??
    findBetweenProblem(scenario)
  );
}

function findTopologyProblem({ topology, population }: Scenario): Problem | null {
  const { kind, degree, probability, file } = topology;
  if (degree % 2 !== 0 && kind !== 'erdos_renyi') {
    return problem('topology.degree', invalid(degree, 'an even number'));
  }
  if (probability !== undefined && kind !== 'erdos_renyi') {
    return problem('topology.probability', onlyWith('kind erdos_renyi'));
  }
  const neighbours = Math.round((probability ?? 0) * (population - 1));
  if (neighbours > MOST_NEIGHBOURS) {
    const values = { value: probability!, neighbours, limit: MOST_NEIGHBOURS };
    return problem('topology.probability', finding('TOO_DENSE', values));
  }
  if ((file !== undefined) !== (kind === 'edges')) {
    const csv = 'a CSV file with kind edges';
    return problem('topology.file', file === undefined ? missing(csv) : onlyWith('kind edges'));
  }
  if (kind !== 'complete' || population <= LARGEST_COMPLETE) return null;
  const values = { kind, population, limit: LARGEST_COMPLETE };
  return problem('topology.kind', finding('TOO_LARGE', values));
}

function findBetweenProblem({ links, agents }: Scenario): Problem | null {
  const named = [...new Set(agents.flatMap(({ group, region = group }) => [group, region]))];
  const known = [...named, 'network'];
  for (const [index, { from, to, latency }] of links.between.entries()) {
    const path = `links.between.${index}`;
    const expected = `one of ${known.join(', ')}`;
    if (!known.includes(from)) return problem(`${path}.from`, invalid(from, expected));
    if (!known.includes(to)) return problem(`${path}.to`, invalid(to, expected));
    const found = findLatencyProblem(latency, `${path}.latency`);
    if (found) return found;
  }
  return null;
}

/** Rejects members that belong to other distributions. */
function findLatencyProblem(latency: Latency, path: string): Problem | null {
  const { own } = latencyLaws[latency.distribution];
  for (const name of latencyLawNames) {
    const member = latencyLaws[name].own;
    if (member === undefined || member === own || latency[member] === undefined) continue;
    return problem(`${path}.${member}`, onlyWith(`distribution ${name}`));
  }
  if (own !== 'file' || latency.file !== undefined) return null;
  return problem(`${path}.file`, missing(`a CSV file with distribution ${latency.distribution}`));
}

type Check = (scenario: Scenario, folder: string | undefined) => Problem | null;

const problem = (path: string, what: Finding): Problem => ({ path: path.split('.'), ...what });
const missing = (expected: string) => finding('MISSING', { expected });
const onlyWith = (condition: string) => finding('ONLY_WITH', { condition });
const onlyOne = (given: string, names: string) => finding('EXPECTED_ONE', { given, names });

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
      return problem(`agents.${index}.group`, finding('DUPLICATE', { value: group }));
    }
    seen.add(group);
  }
  return null;
};

const sizesProblem: Check = (scenario) => {
  const { agents, population } = scenario;
  const both = agents.findIndex(({ count, share }) => count !== undefined && share !== undefined);
  if (both >= 0) return problem(`agents.${both}`, onlyOne('count and share', 'them'));
  if (!Number.isFinite(population)) {
    return problem('population', missing('a number, because a group has no count'));
  }
  const rest = agents.flatMap(({ count, share }, index) =>
    count === undefined && share === undefined ? [index] : [],
  );
  if (rest.length > 1) return problem(`agents.${rest[1]}`, finding('SECOND_REST', {}));
  const sum = groupSizes(scenario).reduce((total, size) => total + size, 0);
  if (sum === population) return null;
  return problem('agents', finding('WRONG_SUM', { sum, population }));
};

/** Requires enough validators and a producer, without which no block could be proposed. */
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
    const expected = `at most ${validators}, the number of validators`;
    return problem('consensus.min_validators', invalid(consensus.min_validators, expected));
  }
  if (count('producer') > 0) return null;
  return problem('agents', finding('NO_PRODUCER', {}));
};

const producersProblem: Check = ({ producers }) => {
  const { least, most } = producers.transactions;
  if (least <= most) return null;
  return problem('producers.transactions.least', invalid(least, `at most ${most}`));
};

/** Checks when groups join and leave. A group can leave only after all its agents have joined. */
const staysProblem: Check = ({ agents }) => {
  for (const [index, group] of agents.entries()) {
    const least = joinedByMs(group);
    if (!group.leave || group.leave.at_ms >= least) continue;
    const expected = `at least ${least}, when all agents of the group have joined`;
    return problem(`agents.${index}.leave.at_ms`, invalid(group.leave.at_ms, expected));
  }
  return null;
};

const conditionsProblem: Check = ({ length, agents }) => {
  const { until = [] } = length;
  const list = Array.isArray(until) ? until : [until];
  const named = agents.map(({ group }) => group);
  for (const [index, condition] of list.entries()) {
    const path = Array.isArray(until) ? `length.until.${index}` : 'length.until';
    const found = findConditionProblem(condition, path, named);
    if (found) return found;
  }
  return null;
};

/** Checks the warm-up. A warm-up as long as the run would leave nothing to measure. */
const warmupProblem: Check = ({ measure, length }) => {
  const { warmup_ms, warmup_blocks } = measure;
  if (warmup_ms !== undefined && warmup_blocks !== undefined) {
    return problem('measure', onlyOne('warmup_ms and warmup_blocks', 'them'));
  }
  const { virtual_ms = Number.POSITIVE_INFINITY, blocks = Number.POSITIVE_INFINITY } = length;
  if (warmup_ms !== undefined && warmup_ms >= virtual_ms) {
    const expected = `less than length.virtual_ms, ${virtual_ms}`;
    return problem('measure.warmup_ms', invalid(warmup_ms, expected));
  }
  if (warmup_blocks === undefined || warmup_blocks < blocks) return null;
  const expected = `less than length.blocks, ${blocks}`;
  return problem('measure.warmup_blocks', invalid(warmup_blocks, expected));
};

const faultsProblem: Check = (scenario) => {
  const named = new Set(scenario.agents.map(({ group }) => group));
  for (const [index, { whom }] of scenario.faults.entries()) {
    for (const [place, selector] of whom.entries()) {
      const path = `faults.${index}.whom.${place}`;
      const { group, count, share } = selector;
      if (group !== undefined && !named.has(group)) {
        const expected = `one of ${[...named].join(', ')}`;
        return problem(`${path}.group`, invalid(group, expected));
      }
      if (count !== undefined && share !== undefined) {
        return problem(path, onlyOne('count and share', 'them'));
      }
    }
    if (selectAgents(scenario, whom, index).length > 0) continue;
    return problem(`faults.${index}.whom`, finding('NO_AGENTS', {}));
  }
  return null;
};

const strategiesProblem: Check = ({ agents }, folder) => {
  const named = agents.map(({ group }) => group);
  for (const [index, { strategy }] of agents.entries()) {
    const path = `agents.${index}.strategy`;
    if (strategy.kind === 'censor' && !named.includes(strategy.against)) {
      const expected = `one of ${named.join(', ')}`;
      return problem(`${path}.against`, invalid(strategy.against, expected));
    }
    if (strategy.kind !== 'script' || folder === undefined) continue;
    const found = fileInside(strategy.module, folder, 'a module');
    if ('why' in found) return problem(`${path}.module`, found.what);
  }
  return null;
};

/** Requires options if the rule chooses among options and agents draw preferences over them. */
const optionsProblem: Check = (scenario) => {
  const { consensus, producers } = scenario;
  const { policy, rule: { file: _, ...rule } = {} } = consensus;
  const kinds = listStrategies(scenario).map(({ strategy }) => strategy.kind);
  if (!kinds.includes('culture') || kinds.includes('ballots')) return null;
  if (producers.options || isUnloadedModule({ policy })) return null;
  if (!ruleOf({ policy, rule }).usesOptions) return null;
  return problem('producers.options', missing('2 to 16 names, over which agents draw preferences'));
};

const filesProblem: Check = (scenario, folder) =>
  folder === undefined ? null : findFilesProblem(scenario, folder);

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
  findDecidersProblem,
  findTraitsProblem,
  findLinksProblem,
  findConsensusProblem,
  optionsProblem,
  findDeliberationProblem,
  filesProblem,
  findInterventionsProblem,
];

/** Number of agents per producer in the default scenario. */
const AGENTS_PER_PRODUCER = 50;

export const defaultSize = { agents: 1_000, blocks: 100 } as const;

/** Returns the default scenario as a file would contain it. */
export function defaultRaw(agents: number): Record<string, unknown> {
  const producers = Math.max(1, Math.floor(agents / AGENTS_PER_PRODUCER));
  return {
    title: 'A town',
    question: 'Does a town of all nine personalities decide, and how fast?',
    agents: [{ group: 'town', count: agents, producers }],
    length: { blocks: defaultSize.blocks },
  };
}

/** Returns the default scenario with some sections replaced. */
export function defaultScenario(agents: number, sections: Record<string, unknown> = {}): Scenario {
  return completeScenario({ ...defaultRaw(agents), ...sections });
}
