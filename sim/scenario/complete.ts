/**
 * Completes a scenario: fills in the defaults and checks everything that the schema cannot express,
 * such as group sizes, faults, links and deciders. This file also defines the default scenario of
 * `folkmoot sim`.
 */
import { readFileSync, statSync } from 'node:fs';
import { findRuleProblem, isUnloadedModule, ruleOf } from '../../engine/rules/network-rule.js';
import { prepareRule } from '../../engine/rules/sandbox.js';
import { completeDeliberation, deliberationProblems, withDeliberation } from './deliberation.js';
import { dataProblems, fileInside } from './files.js';
import { conditionProblems, interventionProblems, traitProblems } from './intervention-checks.js';
import { groupSizes, joinedByMs, listStrategies, selectAgents } from './population.js';
import {
  at,
  finding,
  invalid,
  missing,
  onlyWith,
  type Problem,
  type Problems,
  problemError,
  unlessOneOf,
  within,
} from './problem.js';
import { type Latency, latencyLawNames, latencyLaws } from './schema/latency.js';
import { type Scenario, standardReplicates } from './schema/scenario.js';
import type { Strategy, StrategyOf } from './schema/strategies.js';
import { fillDefaults, findExcessProblem, findShapeProblems } from './shape.js';

type Completed = { scenario: Scenario } | { problems: Problem[] };

/** @param folder base folder for scripts and data files. If absent, files are not checked. */
export function complete(raw: unknown, folder?: string): Completed {
  const excess = findExcessProblem(raw);
  if (excess) return { problems: [excess] };
  const filled = fillDefaults(withDeliberation(withReplicates(structuredClone(raw))));
  const misshapen = findShapeProblems(filled);
  if (misshapen.length > 0) return { problems: misshapen };
  const shaped = filled as Omit<Scenario, 'population'> & { population?: number };
  if (Object.keys(shaped.length).length === 0) shaped.length = { blocks: DEFAULT_BLOCKS };
  const counts = shaped.agents.map(({ count }) => count ?? Number.NaN);
  shaped.population ??= counts.reduce((sum, count) => sum + count, 0);
  const scenario = shaped as Scenario;
  const redraws = scenario.interventions.filter((one) => one.kind === 'redraw');
  for (const one of [scenario, ...redraws]) one.seed = String(one.seed);
  const { consensus } = raw as { consensus?: { voting_period_ms?: number } };
  completeDeliberation(scenario, consensus?.voting_period_ms !== undefined);
  for (const check of checks) {
    for (const problem of check(scenario, folder)) return { problems: [problem] };
  }
  return { scenario };
}

const DEFAULT_BLOCKS = 100;

/** Largest file of a decision rule. Genesis limits its text in characters. */
const LARGEST_RULE = 65_536;

/** Replaces the file of a decision rule with its text, because genesis carries the text. */
function* readRuleFile({ consensus }: Scenario, folder: string | undefined): Problems {
  const { rule } = consensus;
  if (rule?.file === undefined) return;
  const path = 'consensus.rule.file';
  if (rule.source !== undefined) yield at('consensus.rule', onlyOne('file and source'));
  if (consensus.policy !== 'module') {
    const advice = 'remove consensus.rule, for example by --set consensus.rule=null';
    yield at(path, onlyWith(`policy module; ${advice}`));
  }
  if (folder === undefined) return;
  const found = fileInside(rule.file, folder, 'a JavaScript file');
  if ('text' in found) return yield at(path, found);
  const bytes = statSync(found.file).size;
  if (bytes > LARGEST_RULE) {
    yield at(path, finding('FILE_TOO_LARGE', { file: rule.file, bytes, limit: LARGEST_RULE }));
  }
  rule.source = readFileSync(found.file, 'utf8');
  delete rule.file;
}

/** Loads the sandbox for a rule that is a module, and checks the module. @throws {ScenarioError} */
export async function assertModule(scenario: Scenario): Promise<void> {
  if (scenario.consensus.policy !== 'module') return;
  await prepareRule(scenario.consensus);
  for (const found of ruleProblems(scenario)) throw problemError([found]);
}

/** Checks the rule's name and parameters; a module now only if the sandbox is loaded already. */
function* ruleProblems({ consensus }: Scenario): Problems {
  const { policy, rule = {} } = consensus;
  const { file, ...options } = rule;
  if (file !== undefined || isUnloadedModule({ policy })) return;
  const found = findRuleProblem({ policy, rule: options });
  if (!found) return;
  const { pointer, message, value } = found;
  const text = value === undefined ? message : `is ${value}; it ${message}`;
  const path = pointer === '/policy' ? 'policy' : pointer.slice(1).replaceAll('/', '.');
  yield at(`consensus.${path}`, finding('INVALID_RULE', { problem: text }));
}

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
  throw problemError(found.problems);
}

function* strategyProblems(scenario: Scenario, folder: string | undefined): Problems {
  const groups = scenario.agents.map(({ group }) => group);
  for (const { path, strategy } of listStrategies(scenario)) {
    yield* within(path, problemsOf(strategy, groups, folder));
  }
}

function* problemsOf(strategy: Strategy, groups: string[], folder: string | undefined): Problems {
  if (strategy.kind === 'censor') yield* unlessOneOf('against', strategy.against, groups);
  if (strategy.kind === 'http') yield* httpProblems(strategy, folder);
  if (strategy.kind === 'mcp') yield* mcpProblems(strategy);
  if (strategy.kind === 'script')
    yield* fileProblems('module', strategy.module, folder, 'a module');
}

function* fileProblems(member: string, file: string, folder: string | undefined, what: string) {
  const found = folder === undefined ? null : fileInside(file, folder, what);
  if (found && 'text' in found) yield at(member, found);
}

/** Checks an MCP decider. A command and a URL exclude each other, and allow other members. */
function* mcpProblems({ command, url, env, key_env }: StrategyOf<'mcp'>): Problems {
  if (url === undefined) {
    if (command === undefined) yield at('command', missing('a command or a url'));
    if (key_env !== undefined) yield at('key_env', onlyWith('a url; use env'));
    return;
  }
  if (command !== undefined) yield at('url', onlyOne('command and url'));
  if (env.length > 0) yield at('env', onlyWith('a command; use key_env'));
  yield* urlProblems(url);
}

function* httpProblems(strategy: StrategyOf<'http'>, folder: string | undefined): Problems {
  const { url, dialect, model, prompts = {}, request } = strategy;
  yield* urlProblems(url);
  if (dialect !== 'openai') {
    if (model !== undefined) yield at('model', onlyWith('dialect openai'));
    if (strategy.prompts !== undefined) yield at('prompts', onlyWith('dialect openai'));
    if (Object.keys(request).length > 0) yield at('request', onlyWith('dialect openai'));
  } else if (model === undefined) {
    yield at('model', missing('the name of a model for dialect openai'));
  }
  const own = ['model', 'messages', 'stream'].find((name) => name in request);
  if (own)
    yield at(`request.${own}`, finding('UNKNOWN_KEY', { expected: 'additional members only' }));
  for (const [name, path] of Object.entries(prompts as Record<string, string>)) {
    yield* fileProblems(`prompts.${name}`, path, folder, 'a text');
  }
}

/** Rejects credentials in a URL, because they would appear in every report. */
function* urlProblems(url: string): Problems {
  if (!URL.canParse(url)) yield at('url', invalid(url, 'a URL'));
  const { protocol, username, password, hash } = new URL(url);
  if (protocol !== 'http:' && protocol !== 'https:') yield at('url', invalid(url, 'http or https'));
  if (username || password) yield at('url', finding('HAS_CREDENTIALS', {}));
  if (hash) yield at('url', invalid(url, `a URL without ${hash}`));
}

/** Size limit for a complete graph. The work per block grows with the square of this number. */
const LARGEST_COMPLETE = 2_000;
/** Limit on the mean number of neighbours, for all topologies. */
const MOST_NEIGHBOURS = 2_000;

function* topologyProblems({ topology, population }: Scenario): Problems {
  const { kind, degree, probability, file } = topology;
  if (degree % 2 !== 0 && kind !== 'erdos_renyi') {
    yield at('topology.degree', invalid(degree, 'an even number'));
  }
  if (probability !== undefined && kind !== 'erdos_renyi') {
    yield at('topology.probability', onlyWith('kind erdos_renyi'));
  }
  const neighbours = Math.round((probability ?? 0) * (population - 1));
  if (neighbours > MOST_NEIGHBOURS) {
    const values = { value: probability!, neighbours, limit: MOST_NEIGHBOURS };
    yield at('topology.probability', finding('TOO_DENSE', values));
  }
  if ((file !== undefined) !== (kind === 'edges')) {
    const csv = 'a CSV file with kind edges';
    yield at('topology.file', file === undefined ? missing(csv) : onlyWith('kind edges'));
  }
  if (kind !== 'complete' || population <= LARGEST_COMPLETE) return;
  yield at('topology.kind', finding('TOO_LARGE', { kind, population, limit: LARGEST_COMPLETE }));
}

function* linksProblems({ links, agents }: Scenario): Problems {
  yield* latencyProblems(links.latency, 'links.latency');
  const named = new Set(agents.flatMap(({ group, region = group }) => [group, region]));
  const known = [...named, 'network'];
  for (const [index, { from, to, latency }] of links.between.entries()) {
    const path = `links.between.${index}`;
    yield* unlessOneOf(`${path}.from`, from, known);
    yield* unlessOneOf(`${path}.to`, to, known);
    yield* latencyProblems(latency, `${path}.latency`);
  }
}

/** Rejects members that belong to other distributions. */
function* latencyProblems(latency: Latency, path: string): Problems {
  const { own } = latencyLaws[latency.distribution];
  for (const name of latencyLawNames) {
    const member = latencyLaws[name].own;
    if (member === undefined || member === own || latency[member] === undefined) continue;
    yield at(`${path}.${member}`, onlyWith(`distribution ${name}`));
  }
  if (own !== 'file' || latency.file !== undefined) return;
  yield at(`${path}.file`, missing(`a CSV file with distribution ${latency.distribution}`));
}

const onlyOne = (given: string) => finding('EXPECTED_ONE', { given, names: 'them' });

function* nameProblems({ agents }: Scenario): Problems {
  const seen = new Set<string>();
  for (const [index, { group }] of agents.entries()) {
    if (seen.has(group)) yield at(`agents.${index}.group`, finding('DUPLICATE', { value: group }));
    seen.add(group);
  }
}

function* sizeProblems(scenario: Scenario): Problems {
  const { agents, population } = scenario;
  const both = agents.findIndex(({ count, share }) => count !== undefined && share !== undefined);
  if (both >= 0) yield at(`agents.${both}`, onlyOne('count and share'));
  if (!Number.isFinite(population)) {
    yield at('population', missing('a number, because a group has no count'));
  }
  const rest = agents.flatMap(({ count, share }, index) =>
    count === undefined && share === undefined ? [index] : [],
  );
  if (rest.length > 1) yield at(`agents.${rest[1]}`, finding('SECOND_REST', {}));
  const sum = groupSizes(scenario).reduce((total, size) => total + size, 0);
  if (sum !== population) yield at('agents', finding('WRONG_SUM', { sum, population }));
}

/** Requires enough validators and a producer, without which no block could be proposed. */
function* electorateProblems(scenario: Scenario): Problems {
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
    yield at('consensus.min_validators', invalid(consensus.min_validators, expected));
  }
  if (count('producer') === 0) yield at('agents', finding('NO_PRODUCER', {}));
}

function* producerProblems({ producers }: Scenario): Problems {
  const { least, most } = producers.transactions;
  if (least > most) yield at('producers.transactions.least', invalid(least, `at most ${most}`));
}

/** Checks when groups join and leave. A group can leave only after all its agents have joined. */
function* stayProblems({ agents }: Scenario): Problems {
  for (const [index, group] of agents.entries()) {
    const least = joinedByMs(group);
    if (!group.leave || group.leave.at_ms >= least) continue;
    const expected = `at least ${least}, when all agents of the group have joined`;
    yield at(`agents.${index}.leave.at_ms`, invalid(group.leave.at_ms, expected));
  }
}

function* untilProblems({ length, agents }: Scenario): Problems {
  const { until = [] } = length;
  const list = Array.isArray(until) ? until : [until];
  const named = agents.map(({ group }) => group);
  for (const [index, condition] of list.entries()) {
    const path = Array.isArray(until) ? ['length', 'until', String(index)] : ['length', 'until'];
    yield* within(path, conditionProblems(condition, named));
  }
}

/** Checks the warm-up. A warm-up as long as the run would leave nothing to measure. */
function* warmupProblems({ measure, length }: Scenario): Problems {
  const { warmup_ms, warmup_blocks } = measure;
  if (warmup_ms !== undefined && warmup_blocks !== undefined) {
    yield at('measure', onlyOne('warmup_ms and warmup_blocks'));
  }
  const { virtual_ms = Number.POSITIVE_INFINITY, blocks = Number.POSITIVE_INFINITY } = length;
  if (warmup_ms !== undefined && warmup_ms >= virtual_ms) {
    yield at('measure.warmup_ms', invalid(warmup_ms, `less than length.virtual_ms, ${virtual_ms}`));
  }
  if (warmup_blocks !== undefined && warmup_blocks >= blocks) {
    yield at('measure.warmup_blocks', invalid(warmup_blocks, `less than length.blocks, ${blocks}`));
  }
}

function* faultProblems(scenario: Scenario): Problems {
  const groups = scenario.agents.map(({ group }) => group);
  for (const [index, { whom }] of scenario.faults.entries()) {
    for (const [place, { group, count, share }] of whom.entries()) {
      const path = `faults.${index}.whom.${place}`;
      if (group !== undefined) yield* unlessOneOf(`${path}.group`, group, groups);
      if (count !== undefined && share !== undefined) yield at(path, onlyOne('count and share'));
    }
    if (selectAgents(scenario, whom, index).length > 0) continue;
    yield at(`faults.${index}.whom`, finding('NO_AGENTS', {}));
  }
}

/** Requires options if the rule chooses among options and agents draw preferences over them. */
function* optionProblems(scenario: Scenario): Problems {
  const { consensus, producers } = scenario;
  const { policy, rule: { file: _, ...rule } = {} } = consensus;
  const kinds = listStrategies(scenario).map(({ strategy }) => strategy.kind);
  if (!kinds.includes('culture') || kinds.includes('ballots')) return;
  if (producers.options || isUnloadedModule({ policy })) return;
  if (!ruleOf({ policy, rule }).usesOptions) return;
  yield at('producers.options', missing('2 to 16 names, over which agents draw preferences'));
}

/** Checks in order. A check relies on those before it. */
const checks: readonly ((scenario: Scenario, folder: string | undefined) => Problems)[] = [
  readRuleFile,
  nameProblems,
  sizeProblems,
  stayProblems,
  electorateProblems,
  producerProblems,
  untilProblems,
  warmupProblems,
  faultProblems,
  strategyProblems,
  traitProblems,
  topologyProblems,
  linksProblems,
  ruleProblems,
  optionProblems,
  deliberationProblems,
  dataProblems,
  interventionProblems,
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
