/** docs/scenarios.md: every key of a scenario, out of the schema. */
import type { TSchema } from '../../engine/internal.js';
import { interventionsText, introduction, scriptsText } from './reference-text.js';
import { allowed } from './schema/describe.js';
import { Fault, Selector } from './schema/faults.js';
import { Intervention, moments, Whom } from './schema/interventions/interventions.js';
import { Condition } from './schema/length.js';
import { Scenario } from './schema/scenario.js';
import { Strategy } from './schema/strategies.js';
import { Factor } from './schema/sweep.js';
import { Drawn } from './schema/traits.js';

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
      [code(path, true), allowed(member), required ? 'required' : given, about(member)],
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
