/**
 * The documents that are made of the scenario schema: docs/scenarios.md, which lists every key, and
 * the JSON Schema for editors.
 */
import type { TSchema } from '../../engine/protocol/bundled/typebox.js';
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

/** Sections with a table of their own. */
const apart = new Set(['agents', 'faults', 'interventions', 'sweep']);

/** The reference of scenario files, Markdown: docs/scenarios.md. */
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
    `${sentence('A list of groups. Each is some agents that are alike')}\n`,
    table(rowsOf({ ...group, properties: without(group.properties!, 'traits', 'strategy') }, '')),
    '### agents: traits\n',
    `${sentence("What differs from the personality's own; see model.md")}\n`,
    table(rowsOf(group.properties!.traits!, 'traits.')),
    'A trait is a number, the same for all agents of the group, or a distribution:\n',
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
    'A list. Each has a kind, a time and the agents that it hits:\n',
    table(rowsOf({ ...faultBase, properties: without(faultBase.properties!, 'kind') }, '')),
    'Each member of `whom` selects some agents; together they are all that are hit:\n',
    table(rowsOf(asMember(Selector), '')),
    variants(asMember(Fault), 'fault', new Set(Object.keys(faultBase.properties!))),
    '## interventions\n',
    interventionsText,
    table(rowsOf({ ...vote, properties: pick(vote.properties!, [...moments, 'acts']) }, '')),
    'Each member of `whom` names one agent, or selects some:\n',
    table(rowsOf(asMember(Whom), '')),
    variants(asMember(Intervention), 'intervention', new Set(['kind', 'acts', ...moments])),
    '## sweep\n',
    `${sentence(sweep!.description ?? '')}\n`,
    table(rowsOf({ ...sweep!, properties: without(sweep!.properties!, 'factors') }, 'sweep.')),
    'Each member of `sweep.factors` is one value of the scenario that is varied:\n',
    table(rowsOf(asMember(Factor), '')),
  ].join('\n');
}

const conditionsText =
  'A condition of `length.until` has one of `reaches`, `at_least` and `at_most`:\n';

/** What all faults share: the members of one that has nothing of its own. */
const faultBase = asMember(Fault).anyOf!.reduce((least, one) =>
  Object.keys(one.properties!).length < Object.keys(least.properties!).length ? one : least,
);

/** Any of them: all have the members that say when. */
const vote = asMember(Intervention).anyOf!.find((one) => one.properties!.kind!.const === 'vote')!;

type Row = [key: string, allowed: string, standard: string, what: string];

function rowsOf(schema: Member, prefix: string): Row[] {
  return Object.entries(schema.properties ?? {}).flatMap(([key, member]): Row[] => {
    const path = `${prefix}${key}`;
    if (member.properties) return rowsOf(member, `${path}.`);
    const inside = path === 'links.between' ? rowsOf(member.items!, `${path}.N.`) : [];
    const required = schema.required?.includes(key) && member.default === undefined;
    const given =
      member.default === undefined ? '' : code(member.default === '' ? '""' : member.default);
    return [
      [code(path, true), describeAllowed(member), required ? 'required' : given, about(member)],
      ...inside,
    ];
  });
}

/** A member of a list may say what it is when the list does not. */
const about = ({ description, items }: Member) => description ?? items?.description ?? '';

/** A table of the kinds, and one of the parameters of each that has some. */
function variants(union: Member, what: string, shared = new Set(['kind'])): string {
  const all = union.anyOf!.map((one) => ({ name: one.properties!.kind!.const!, one }));
  const own = all.flatMap(({ name, one }) => {
    const properties = without(one.properties!, ...shared);
    return rowsOf({ ...one, properties }, '').map((row): string[] => [code(name, true), ...row]);
  });
  return [
    columns(
      ['kind', `what the ${what} does`],
      all.map(({ name, one }) => [code(name, true), about(one)]),
    ),
    `Parameters of the kinds that have some:\n`,
    columns(['kind', 'key', 'allowed', 'default', 'what it is'], own),
  ].join('\n');
}

const table = (rows: Row[]) => columns(['key', 'allowed', 'default', 'what it is'], rows);

/** Aligned, as the formatter would have it. */
function columns(head: string[], rows: string[][]): string {
  const cells = [head, ...rows].map((row) => row.map((cell) => cell.replaceAll('|', '\\|')));
  const widths = head.map((_, at) => Math.max(...cells.map((row) => row[at]!.length)));
  const line = (row: string[]) =>
    `| ${row.map((cell, at) => cell.padEnd(widths[at]!)).join(' | ')} |`;
  const rule = `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`;
  return [line(cells[0]!), rule, ...cells.slice(1).map(line), ''].join('\n');
}

const code = (value: unknown, bare = false) =>
  `\`${bare || typeof value === 'string' ? value : JSON.stringify(value)}\``;

const sentence = (text: string) => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;

function pick(members: Record<string, Member>, names: string[]): Record<string, Member> {
  return Object.fromEntries(names.map((name) => [name, members[name]!]));
}

function without(members: Record<string, Member>, ...names: string[]): Record<string, Member> {
  return Object.fromEntries(Object.entries(members).filter(([name]) => !names.includes(name)));
}

/** Code stands in quotes here, since backquotes end a template. */
const backquoted = (text: string) => text.replaceAll("'", '`');

const introduction = backquoted(`# Scenarios

A scenario is an experiment as a file, YAML or JSON, of at most 1 MiB. This page lists every key; it
is made from the schema, as is [scenario.schema.json](scenario.schema.json) for editors
('folkmoot scenario schema' prints it). [simulating.md](simulating.md) shows how to use scenarios,
[model.md](model.md) says what they mean.

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

Whatever is left out has its default. Names end in their unit. What is not known here is refused,
with file, line and what is allowed: 'folkmoot scenario check FILE'. 'folkmoot scenario show FILE'
prints a scenario with everything filled in. A value can be changed for one run by its path:
'--set agents.silent.share=0.4' (an element of a list by its index, a group also by its name).

A first line '# yaml-language-server: $schema=scenario.schema.json' gives completion in editors that
know it.
`);

const scriptsText = backquoted(`A script is a TypeScript or JavaScript module. It exports some of
the functions that [scripts.md](scripts.md) lists, each called with what the agent sees and its own
random stream; what it returns, one command or a list, the agent does. What it leaves out follows
the personality. 'sim/scenarios/scripts/grudge.ts' is one.
`);

const interventionsText = backquoted(`A list: what is made to be otherwise, from when on; see
[what-if.md](what-if.md). Each has a kind, and one of the first four of these to say when it acts:
`);

type Tree = Record<string, unknown>;

/** The JSON Schema of scenario files, for editors: docs/scenario.schema.json. */
export function scenarioJsonSchema(): Record<string, unknown> {
  const { description: _, ...schema } = optionalWhereDefaulted(Scenario) as Tree;
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    $id: 'urn:folkmoot:scenario',
    title: 'Folkmoot scenario',
    description: 'An experiment: who takes part, what goes wrong, what is measured',
    ...schema,
  };
}

/** The schema describes scenarios with everything filled in; a file may leave defaults out. */
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
