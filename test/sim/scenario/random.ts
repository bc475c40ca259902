/** Random valid scenarios, drawn within the bounds of the schema. */
import fc from 'fast-check';
import type { TSchema } from 'typebox';
import { Scenario } from '../../../dist/sim/scenario/schema/scenario.js';

interface Node {
  type?: string;
  const?: unknown;
  enum?: unknown[];
  anyOf?: Node[];
  items?: Node;
  properties?: Record<string, Node>;
  patternProperties?: Record<string, Node>;
  required?: string[];
  pattern?: string;
  default?: unknown;
  minimum?: number;
  maximum?: number;
  minItems?: number;
  maxItems?: number;
  minLength?: number;
  uniqueItems?: boolean;
}

type Raw = Record<string, unknown>;

/** Longest list, because longer lists would find no other errors. */
const ITEMS = 3;

function drawn(schema: Node): fc.Arbitrary<unknown> {
  const { const: only, enum: some, anyOf, items, properties, type } = schema;
  const { minimum, maximum } = schema;
  if (only !== undefined) return fc.constant(only);
  if (some) return fc.constantFrom(...some);
  if (anyOf) return fc.oneof(...anyOf.map(drawn));
  if (properties) return membersOf(schema);
  if (items) return listOf(schema, items);
  if (type === 'integer') return fc.integer({ min: minimum!, max: maximum! });
  if (type === 'number') {
    const numbers = fc.double({ min: minimum ?? -1e9, max: maximum ?? 1e9, noNaN: true });
    // YAML distinguishes -0 from 0, JSON does not.
    return numbers.map((value) => (value === 0 ? 0 : value));
  }
  if (schema.pattern) return fc.stringMatching(new RegExp(schema.pattern));
  if (type === 'string') return fc.string({ minLength: schema.minLength ?? 0, maxLength: 30 });
  if (type === 'null') return fc.constant(null);
  if (schema.patternProperties) return fc.constant({});
  return type === 'boolean' ? fc.boolean() : fc.constant({ any: 'thing' });
}

function listOf({ minItems = 0, maxItems = ITEMS, uniqueItems }: Node, items: Node) {
  const bounds = { minLength: minItems, maxLength: Math.max(minItems, Math.min(maxItems, ITEMS)) };
  return uniqueItems ? fc.uniqueArray(drawn(items), bounds) : fc.array(drawn(items), bounds);
}

/** Members with a default and optional members may be missing. */
function membersOf({ properties = {}, required = [] }: Node): fc.Arbitrary<unknown> {
  const requiredKeys = required.filter((name) => properties[name]!.default === undefined);
  const members = Object.entries(properties).map(([name, inner]) => [name, drawn(inner)] as const);
  const model: Record<string, fc.Arbitrary<unknown>> = Object.fromEntries(members);
  return fc.record(model, { requiredKeys }).map((record) => ({ ...record }));
}

/** Keeps the named policies; `lines` and `module` need a rule of their own. */
function ruled({ rule: _, policy, ...consensus }: Raw, deliberates: boolean): Raw {
  const isNamed = policy !== 'lines' && policy !== 'module';
  // The time for all rounds is the default.
  if (deliberates) delete consensus.voting_period_ms;
  return { ...consensus, min_validators: 1, ...(policy && isNamed ? { policy } : {}) };
}

/** Enforces bounds that span several members, and omits members that need files or addresses. */
function consistent(raw: Raw): Raw {
  const deliberates = raw.deliberation !== undefined;
  const agents = (raw.agents as Raw[]).map(
    ({ share: _, leave: __, role: _r, ...group }, index) => ({
      ...group,
      ...(group.traits ? { traits: numbersOf(group.traits as Raw) } : {}),
      group: `g${index}`,
      count: 1 + (Number(group.count ?? 0) % 5),
      ...(index === 0 ? { producers: 1, capabilities: ['validator'] } : {}),
      ...strategyOf(group.strategy as Raw | undefined, deliberates),
    }),
  );
  const { population: _, topology, links, producers, consensus, faults, ...rest } = raw;
  const { interventions, ...others } = rest;
  const { length, measure, sweep, deliberation, prompts, ...kept } = others;
  const hits = (faults as Raw[] | undefined)?.map((one) => ({ ...one, whom: [{ group: 'g0' }] }));
  const changes = (interventions as Raw[] | undefined)?.flatMap(changed);
  return {
    ...kept,
    agents,
    ...(deliberates ? { deliberation: short(deliberation as Raw) } : {}),
    ...(deliberates && prompts ? { prompts } : {}),
    ...(length ? { length: without(length as Raw, 'until') } : {}),
    ...(sweep ? { sweep: without(sweep as Raw, 'until') } : {}),
    ...(measure ? { measure: without(measure as Raw, 'warmup_ms', 'warmup_blocks') } : {}),
    ...(links ? { links: known(links as Raw) } : {}),
    ...(topology ? { topology: evened(topology as Raw) } : {}),
    ...(producers ? { producers: ordered(producers as Raw) } : {}),
    ...(consensus ? { consensus: ruled(consensus as Raw, deliberates) } : {}),
    ...(hits ? { faults: hits } : {}),
    ...(changes ? { interventions: changes } : {}),
  };
}

/** Uses a different entry for each intervention, so that none contradict, and an existing group. */
function changed({ kind, alliance }: Raw, at: number): Raw[] {
  if (kind === 'dissolve') return [{ kind, alliance, at_entry: at }];
  if (kind !== 'silence' && kind !== 'remove') return [];
  return [{ kind, whom: [{ group: 'g0' }], at_entry: at }];
}

/** Keeps rounds within the voting period, and values to decisions. */
const short = (deliberation: Raw): Raw => ({
  ...without(deliberation, 'truth', 'questions', 'value', 'tolerance'),
  ...{ rounds: 2, round_ms: 500 },
});

function strategyOf(strategy: Raw | undefined, deliberates: boolean): Raw {
  const elsewhere = ['ballots', 'culture', 'script', 'http', 'mcp'].includes(
    String(strategy?.kind),
  );
  if (strategy?.kind === 'mock') {
    return { strategy: deliberates ? { kind: 'mock', p: strategy.p ?? 1 } : { kind: 'honest' } };
  }
  if (elsewhere) return { strategy: { kind: 'honest' } };
  if (strategy?.kind === 'censor') return { strategy: { kind: 'censor', against: 'g0' } };
  return {};
}

/** Replaces every distribution by one without further members. */
const numbersOf = (traits: Raw): Raw =>
  Object.fromEntries(
    Object.entries(traits).map(([name, trait]) => [
      name,
      typeof trait === 'number' ? trait : { distribution: 'beta', alpha: 2, beta: 0.5 },
    ]),
  );

const without = (members: Raw, ...names: string[]): Raw =>
  Object.fromEntries(Object.entries(members).filter(([name]) => !names.includes(name)));

/** Omits files, and a shape that does not fit the distribution. */
function known(links: Raw): Raw {
  const { file: _, shape, ...rest } = (links.latency ?? {}) as Raw;
  const distribution = rest.distribution === 'empirical' ? 'lognormal' : rest.distribution;
  const shaped = distribution === 'pareto' && shape !== undefined ? { shape } : {};
  const latency = { ...rest, ...(distribution ? { distribution } : {}), ...shaped };
  const { between: _b, ...others } = links;
  return { ...others, ...('latency' in links ? { latency } : {}) };
}

function evened({ degree, probability, file: _, ...rest }: Raw): Raw {
  const kind = rest.kind === 'edges' ? 'ring' : rest.kind;
  return {
    ...rest,
    ...(kind === undefined ? {} : { kind }),
    ...(degree === undefined ? {} : { degree: 2 * Math.ceil(Number(degree) / 2) }),
    ...(probability !== undefined && kind === 'erdos_renyi' ? { probability } : {}),
  };
}

function ordered(producers: Raw): Raw {
  const { transactions, ...rest } = producers as {
    transactions?: { least?: number; most?: number };
  };
  if (!transactions) return rest;
  const { least = 1, most = 5 } = transactions;
  return { ...rest, transactions: { least: Math.min(least, most), most: Math.max(least, most) } };
}

export const scenarios = drawn(Scenario as TSchema as Node).map((raw) => consistent(raw as Raw));
