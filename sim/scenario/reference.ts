/** Tables of docs/scenarios.md, and the JSON Schema for editors, from the scenario schema. */
import type { TSchema } from '../../engine/protocol/bundled/typebox.js';
import { formatMarkdownTable } from '../../report/shared/format.js';
import { describeAllowed, type PlainSchema } from './schema/common.js';
import { Condition, Intervention, moments, Whom } from './schema/interventions.js';
import { Fault, Selector } from './schema/network.js';
import { Drawn } from './schema/personalities.js';
import { Factor, Scenario } from './schema/scenario.js';
import { Strategy } from './schema/strategies.js';

const asMember = (schema: TSchema) => schema as PlainSchema;

const root = asMember(Scenario);
const group = root.properties!.agents!.items!;

/** Sections that are documented in a separate table. */
const apart = new Set(['agents', 'faults', 'interventions', 'sweep']);

/** Returns the tables of docs/scenarios.md by name. A section of the schema is named by its key. */
export function scenarioTables(): Record<string, string> {
  const { sweep } = root.properties!;
  const top = Object.entries(root.properties!).filter(([key]) => !apart.has(key));
  const plain = top.filter(([, member]) => !member.properties).map(([key]) => key);
  const sections = top.filter(([, member]) => member.properties);
  const { kind: _, ...faultMembers } = faultBase.properties!;
  return {
    ...Object.fromEntries(sections.map(([key, member]) => [key, table(rowsOf(member, `${key}.`))])),
    'top level': table(rowsOf({ ...root, properties: pick(root.properties!, plain) }, '')),
    agents: table(
      rowsOf({ ...group, properties: without(group.properties!, 'traits', 'strategy') }, ''),
    ),
    traits: table(rowsOf(group.properties!.traits!, 'traits.')),
    distributions: table(rowsOf(asMember(Drawn), '')),
    ...variants(asMember(Strategy), 'strategy', new Set(['kind'])),
    conditions: table(rowsOf(asMember(Condition), '')),
    faults: table(rowsOf({ ...faultBase, properties: faultMembers }, '')),
    'whom of faults': table(rowsOf(asMember(Selector), '')),
    ...variants(asMember(Fault), 'fault', new Set(Object.keys(faultBase.properties!))),
    interventions: table(rowsOf({ ...vote, properties: pick(vote.properties!, common) }, '')),
    'whom of interventions': table(rowsOf(asMember(Whom), '')),
    ...variants(asMember(Intervention), 'intervention', new Set(['kind', ...common])),
    sweep: table(
      rowsOf({ ...sweep!, properties: without(sweep!.properties!, 'factors') }, 'sweep.'),
    ),
    factors: table(rowsOf(asMember(Factor), '')),
  };
}

/** Base fault: the kind with the fewest members, which are the members that all faults share. */
const faultBase = asMember(Fault).anyOf!.reduce((least, one) =>
  Object.keys(one.properties!).length < Object.keys(least.properties!).length ? one : least,
);

/** Intervention from which the members shared by all interventions are taken. */
const vote = asMember(Intervention).anyOf!.find((one) => one.properties!.kind!.const === 'vote')!;
const common = [...moments, 'acts'];

type Row = [key: string, allowed: string, standard: string, what: string];

/** Lists whose items have rows of their own. */
const listed = new Set([
  ...['links.between', 'consensus.rule.lines', 'deliberation.questions', 'sweep.study.effects'],
]);

function rowsOf(schema: PlainSchema, prefix: string): Row[] {
  return Object.entries(schema.properties ?? {}).flatMap(([key, member]): Row[] => {
    const path = `${prefix}${key}`;
    if (member.properties) return rowsOf(member, `${path}.`);
    const inside = listed.has(path) ? rowsOf(member.items!, `${path}.N.`) : [];
    const required = schema.required?.includes(key) && member.default === undefined;
    const given =
      member.default === undefined ? '' : code(member.default === '' ? '""' : member.default);
    return [
      [code(path, true), describeAllowed(member), required ? 'required' : given, about(member)],
      ...inside,
    ];
  });
}

export const memberTable = (schema: TSchema, prefix = ''): string =>
  table(rowsOf(asMember(schema), prefix));

/** Returns a description. Falls back to the description of a list's items. */
const about = ({ description, items }: PlainSchema) => description ?? items?.description ?? '';

/** Returns a table of kinds, and a table of their parameters without the shared ones. */
function variants(union: PlainSchema, what: string, shared: ReadonlySet<string>) {
  const all = union.anyOf!.map((one) => ({ name: String(one.properties!.kind!.const), one }));
  const own = all.flatMap(({ name, one }) => {
    const properties = without(one.properties!, ...shared);
    return rowsOf({ ...one, properties }, '').map((row): string[] => [code(name, true), ...row]);
  });
  const kinds = all.map(({ name, one }) => [code(name, true), about(one)]);
  return {
    [`kinds of ${what}`]: formatMarkdownTable(['kind', `effect of the ${what}`], kinds),
    [`parameters of ${what}`]: formatMarkdownTable(
      ['kind', 'key', 'allowed', 'default', 'description'],
      own,
    ),
  };
}

const table = (rows: Row[]) =>
  formatMarkdownTable(['key', 'allowed', 'default', 'description'], rows);

const code = (value: unknown, bare = false) =>
  `\`${bare || typeof value === 'string' ? value : JSON.stringify(value)}\``;

function pick(members: Record<string, PlainSchema>, names: string[]): Record<string, PlainSchema> {
  return Object.fromEntries(names.map((name) => [name, members[name]!]));
}

function without(
  members: Record<string, PlainSchema>,
  ...names: string[]
): Record<string, PlainSchema> {
  return Object.fromEntries(Object.entries(members).filter(([name]) => !names.includes(name)));
}

type Tree = Record<string, unknown>;

/** Returns the JSON Schema for editors, docs/scenario.schema.json. */
export function scenarioJsonSchema(): Record<string, unknown> {
  const { description: _, ...schema } = optionalWhereDefaulted(Scenario) as Tree;
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    $id: 'urn:folkmoot:scenario',
    title: 'Folkmoot scenario',
    description: 'An experiment: agents, network, faults and measures',
    ...schema,
  };
}

/** Makes members with a default optional, because the schema describes completed scenarios. */
function optionalWhereDefaulted(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(optionalWhereDefaulted);
  if (typeof schema !== 'object' || schema === null) return schema;
  const { required, default: standard, ...rest } = schema as Tree & { required?: string[] };
  const members = Object.entries(rest).map(([key, one]) => [key, optionalWhereDefaulted(one)]);
  const properties = (rest.properties ?? {}) as Record<string, Tree>;
  const needed = required?.filter((name) => properties[name]?.default === undefined) ?? [];
  return {
    ...Object.fromEntries(members),
    ...(needed.length === 0 ? {} : { required: needed }),
    ...(standard === undefined ? {} : { default: standard }),
  };
}
