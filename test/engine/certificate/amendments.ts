/** Changes to the requests and results of a certificate. The changed texts remain canonical. */
import { canonical } from 'folkmoot';
import { type Forged, type Link, linksOf } from './chain.js';

export type Change = (c: Forged) => void;

export type Value = Record<string, unknown>;

export type Members = Record<string, unknown> & {
  context: Value;
  weights: number[];
  agents: number[];
  data: Value;
};

export const parsed = (text: string) => JSON.parse(text) as unknown;

/** Changes the first result that begins with a text. The result remains canonical. */
export function amend(
  links: readonly Link[],
  beginning: string,
  change: (value: Members, key: unknown[]) => void,
): void {
  for (const link of links) {
    const at = link.results.findIndex((one) => one.startsWith(beginning));
    if (at < 0) continue;
    const value = parsed(link.results[at]!) as unknown[];
    change(value[2] as Members, value);
    link.results[at] = canonical(value);
    return;
  }
  throw new Error(`no result begins with ${beginning}`);
}

/** Changes the first event with a given type. */
export function amendEvent(
  links: readonly Link[],
  type: string,
  change: (data: Value) => void,
): void {
  for (const link of links) {
    const at = link.results.findIndex((one) => one.endsWith(`"type":"${type}"}`));
    if (at < 0) continue;
    const event = parsed(link.results[at]!) as { data: Value };
    change(event.data);
    link.results[at] = canonical(event);
    return;
  }
  throw new Error(`no event ${type}`);
}

/** Changes the body of the first request with a given kind. */
export function amendBody(
  links: readonly Link[],
  kind: string,
  change: (body: Value) => void,
): void {
  const { entry } = links.find((one) => one.entry?.kind === kind)!;
  const body = parsed(entry!.body) as Value;
  change(body);
  entry!.body = canonical(body);
}

export function find(c: Forged, beginning: string): { link: Link; text: string } {
  for (const link of linksOf(c)) {
    const text = link.results.find((one) => one.startsWith(beginning));
    if (text !== undefined) return { link, text };
  }
  throw new Error(`no result begins with ${beginning}`);
}

export const opening = (c: Forged) => linksOf(c).find(({ results }) => has(results, own(c)))!;
export const closing = (c: Forged) => linksOf(c).findLast(({ results }) => has(results, own(c)))!;
export const own = (c: Forged) => `["blocks","${String(c.claim.block_hash)}",`;
export const has = (results: string[], beginning: string) =>
  results.some((one) => one.startsWith(beginning));

/** Changes the signature in a body. */
export const signature = (body: Value) => {
  body.signature = String(body.signature).replace(/^../, (two) => (two === 'ab' ? 'cd' : 'ab'));
};
