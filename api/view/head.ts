/** What the head of a span must be, member by member: whoever sent it may have sent anything. */
import { saidKinds, viewLimits } from './model.js';

type Test = (value: unknown) => boolean;

const count: Test = (value) => Number.isSafeInteger(value) && (value as number) >= 0;
const text: Test = (value) => typeof value === 'string';
const flag: Test = (value) => typeof value === 'boolean';
const counts: Test = (value) => Array.isArray(value) && value.every(count);

const agent = {
  number: count,
  id: text,
  public_key: text,
  name: text,
  personality: text,
  validator: flag,
  producer: flag,
};
const block = {
  number: count,
  hash: text,
  parent: text,
  height: count,
  producer: count,
  transactions: count,
  total: count,
  electors: count,
  needed: count,
  proposed_at: count,
  deadline: count,
  entry: count,
};
const meme = { number: count, id: text, creator: count, type: text, caption: text, entry: count };
const alliance = {
  number: count,
  id: text,
  purpose: text,
  duration: text,
  status: text,
  founder: count,
  members: counts,
  invited: counts,
  proposed_at: count,
  at: count,
  entry: count,
};
const said = {
  entry: count,
  at: count,
  who: count,
  kind: (value: unknown) => (saidKinds as readonly unknown[]).includes(value),
  what: count,
  text,
};
const coding: Test = (value) =>
  Array.isArray(value) &&
  value.length === 2 &&
  [0, 1, 2, 3, 4, 6].includes(value[0]) &&
  count(value[1]);

const own = {
  from: count,
  to: count,
  event_seq: count,
  at: count,
  digest: text,
  log_digest: text,
  omitted: count,
  rows: (value: unknown) => count(value) && (value as number) <= viewLimits.spanRows,
  columns: (value: unknown) => Array.isArray(value) && value.length === 6 && value.every(coding),
};
const lists = { agents: agent, blocks: block, memes: meme, alliances: alliance };

/** The first member that is not what it must be, or null. */
export function headProblem(head: unknown): string | null {
  const wrong = wrongMember(head, own);
  if (wrong) return wrong;
  const { from, to, introduced, said: spoken } = head as Record<string, unknown>;
  if ((to as number) < (from as number) - 1) return `it ends at ${to} and begins at ${from}`;
  if (typeof introduced !== 'object' || introduced === null) return 'it has no usable introduced';
  for (const [name, shape] of Object.entries(lists)) {
    const problem = listProblem((introduced as Record<string, unknown>)[name], name, shape);
    if (problem) return problem;
  }
  return listProblem(spoken, 'said', said);
}

function listProblem(list: unknown, name: string, shape: Record<string, Test>): string | null {
  if (!Array.isArray(list)) return `it has no usable ${name}`;
  for (const [index, item] of list.entries()) {
    const wrong = wrongMember(item, shape);
    if (wrong) return `${name}[${index}]: ${wrong}`;
  }
  return null;
}

function wrongMember(value: unknown, shape: Record<string, Test>): string | null {
  if (typeof value !== 'object' || value === null) return 'it is not an object';
  for (const [name, fits] of Object.entries(shape)) {
    if (!Object.hasOwn(value, name) || !fits((value as Record<string, unknown>)[name])) {
      return `it has no usable ${name}`;
    }
  }
  return null;
}
