/** Generates docs/scenarios.md and the JSON Schema for editors from the scenario schema. */

import type { TSchema } from '../../engine/protocol/bundled/typebox.js';
import { formatMarkdownTable } from '../../report/shared/format.js';
import { describeAllowed } from './schema/common.js';
import { Condition, Intervention, moments, Whom } from './schema/interventions.js';
import { Fault, Selector } from './schema/network.js';
import { Drawn } from './schema/personalities.js';
import { Factor, Scenario } from './schema/scenario.js';
import { Strategy } from './schema/strategies.js';

interface Member extends TSchema {
  default?: unknown;
  description?: string;
  properties?: Record<string, Member>;
  required?: string[];
  items?: Member;
  anyOf?: Member[];
  const?: string;
}

const asMember = (schema: TSchema) => schema as Member;

const root = asMember(Scenario);
const group = root.properties!.agents!.items!;

/** Sections that are documented in a separate table. */
const apart = new Set(['agents', 'faults', 'interventions', 'sweep']);

/** Generates docs/scenarios.md, the reference for scenario files. */
export function scenarioReference(): string {
  const { sweep } = root.properties!;
  const top = Object.entries(root.properties!).filter(([key]) => !apart.has(key));
  const plain = top.filter(([, member]) => !member.properties).map(([key]) => key);
  const sections = top.filter(([, member]) => member.properties);
  return [
    introduction,
    '## At the top\n',
    table(rowsOf({ ...root, properties: pick(root.properties!, plain) }, '')),
    '## agents\n',
    `${sentence('A list of groups of similar agents')}\n`,
    table(rowsOf({ ...group, properties: without(group.properties!, 'traits', 'strategy') }, '')),
    '### agents: traits\n',
    `${sentence('Values that replace those of the personality; see model.md')}\n`,
    table(rowsOf(group.properties!.traits!, 'traits.')),
    'A trait is a number for all agents of the group, or a distribution:\n',
    table(rowsOf(asMember(Drawn), '')),
    '### agents: strategy\n',
    variants(asMember(Strategy), 'strategy'),
    scriptsText,
    ...sections.flatMap(([key, member]) => [
      `## ${key}\n`,
      `${sentence(member.description ?? '')}\n`,
      table(rowsOf(member, `${key}.`)),
      ...(key === 'length' ? [conditionsText, table(rowsOf(asMember(Condition), ''))] : []),
    ]),
    '## faults\n',
    'A list of faults. Each has a kind, a time and the agents that it affects:\n',
    table(rowsOf({ ...faultBase, properties: without(faultBase.properties!, 'kind') }, '')),
    'Each item of `whom` selects agents. The fault affects all selected agents:\n',
    table(rowsOf(asMember(Selector), '')),
    variants(asMember(Fault), 'fault', new Set(Object.keys(faultBase.properties!))),
    '## interventions\n',
    interventionsText,
    table(rowsOf({ ...vote, properties: pick(vote.properties!, [...moments, 'acts']) }, '')),
    'Each item of `whom` names one agent, or selects several:\n',
    table(rowsOf(asMember(Whom), '')),
    variants(asMember(Intervention), 'intervention', new Set(['kind', 'acts', ...moments])),
    '## sweep\n',
    `${sentence(sweep!.description ?? '')}\n`,
    table(rowsOf({ ...sweep!, properties: without(sweep!.properties!, 'factors') }, 'sweep.')),
    'Each item of `sweep.factors` varies one value of the scenario:\n',
    table(rowsOf(asMember(Factor), '')),
  ].join('\n');
}

const conditionsText =
  'A condition of `length.until` has exactly one of `reaches`, `at_least` and `at_most`:\n';

/** Base fault: the kind with the fewest members, which are the members that all faults share. */
const faultBase = asMember(Fault).anyOf!.reduce((least, one) =>
  Object.keys(one.properties!).length < Object.keys(least.properties!).length ? one : least,
);

/** Intervention from which the members shared by all interventions are taken. */
const vote = asMember(Intervention).anyOf!.find((one) => one.properties!.kind!.const === 'vote')!;

type Row = [key: string, allowed: string, standard: string, what: string];

/** Lists whose items have rows of their own. */
const listed = new Set(['links.between', 'consensus.rule.lines']);

function rowsOf(schema: Member, prefix: string): Row[] {
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

/** Returns a description. Falls back to the description of a list's items. */
const about = ({ description, items }: Member) => description ?? items?.description ?? '';

/** Formats a table of kinds and a table with their parameters. */
function variants(union: Member, what: string, shared = new Set(['kind'])): string {
  const all = union.anyOf!.map((one) => ({ name: one.properties!.kind!.const!, one }));
  const own = all.flatMap(({ name, one }) => {
    const properties = without(one.properties!, ...shared);
    return rowsOf({ ...one, properties }, '').map((row): string[] => [code(name, true), ...row]);
  });
  return [
    columns(
      ['kind', `effect of the ${what}`],
      all.map(({ name, one }) => [code(name, true), about(one)]),
    ),
    `Parameters by kind:\n`,
    columns(['kind', 'key', 'allowed', 'default', 'description'], own),
  ].join('\n');
}

const table = (rows: Row[]) => columns(['key', 'allowed', 'default', 'description'], rows);

const columns = (head: string[], rows: string[][]) => `${formatMarkdownTable(head, rows)}\n`;

const code = (value: unknown, bare = false) =>
  `\`${bare || typeof value === 'string' ? value : JSON.stringify(value)}\``;

const sentence = (text: string) => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;

function pick(members: Record<string, Member>, names: string[]): Record<string, Member> {
  return Object.fromEntries(names.map((name) => [name, members[name]!]));
}

function without(members: Record<string, Member>, ...names: string[]): Record<string, Member> {
  return Object.fromEntries(Object.entries(members).filter(([name]) => !names.includes(name)));
}

/**
 * Converts single quotes to backquotes. The templates below put code in single quotes, because a
 * backquote ends a template literal.
 */
const backquoted = (text: string) => text.replaceAll("'", '`');

const introduction = backquoted(`# Scenarios

A scenario is a YAML or JSON file of at most 1 MiB that describes an experiment. This page lists
every key. It is generated from the schema, as is [scenario.schema.json](scenario.schema.json) for
editors (printed by 'folkmoot scenario schema'). [simulating.md](simulating.md) shows how to use
scenarios. [model.md](model.md) explains the model.

'''yaml
title: Some are silent
question: How many silent voters does it take to stop the town?
population: 60
agents:
  - group: town # neither count nor share: the rest
    producers: 3
  - group: silent
    share: 0.2
    strategy: { kind: silent }
length:
  blocks: 20
'''

Missing keys take their defaults. Names end in their unit. Unknown keys are errors.
'folkmoot scenario check FILE' reports an error with file, line and allowed values.
'folkmoot scenario show FILE' prints a scenario with all defaults. '--set' changes a value for one
run by its path: '--set agents.silent.share=0.4'. A list item is named by its index; a group
can also be named by its name. A value can be JSON, also a list or an
object, quoted for the shell. A value that begins with a bracket, a brace or a quotation mark must
be JSON; an error names the position. Any other value that is not JSON is a text.

The first line '# yaml-language-server: $schema=scenario.schema.json' enables completion in editors
with YAML language support.
`);

const scriptsText = backquoted(`A script is a TypeScript or JavaScript module that exports some
of the functions listed in [scripts.md](scripts.md). Each function receives the view and
the random stream of the agent, and returns one command or a list of commands. Without a function,
the agent follows its personality. For an example, see 'sim/scenarios/scripts/grudge.ts'.
`);

const interventionsText = backquoted(`A list of changes during the run; see
[what-if.md](what-if.md). Each has a kind, and exactly one of the first four keys, its moment:
`);

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
