/** Every parameter of every GET in the OpenAPI document, with invalid values. */
import { raw, statusOf } from '../../support/service/raw.js';
import { transports, world } from '../../support/service/server.js';
import { ally, meme, vote } from '../../support/service/signer.js';
import { GENESIS_HASH, type World } from '../../support/service/world.js';

interface Parameter {
  name: string;
  in: 'path' | 'query' | 'header';
  $ref?: string;
}
type Paths = Record<string, Record<string, { parameters?: Parameter[] } | undefined>>;

const LONG = 'a'.repeat(513);
/** Hostile values, as written in a request-target. */
const hostile = [
  ...['%00', '%0a', '%ff', '%', '%2', '%F0%9F%92%A9', LONG, '-1', '1.5', '1e3', '+1', '0x10'],
  ...['NaN', '9'.repeat(16), '9'.repeat(15), '4294967296', 'null', 'true', '[]', '{}', '__proto__'],
  ...['constructor', '%20', '..%2f..%2fmeta', `ally_${'g'.repeat(32)}`, `agent_${'0'.repeat(31)}`],
  ...[`${'A'.repeat(64)}%00`, 'blocks,,memes', '%22', "'%20or%201=1--"],
];

/** Returns valid values for the other parameters. */
async function filledIn(there: World): Promise<Record<string, string>> {
  const [ada, bob] = await there.joinAll('Ada', 'Bob');
  const block_hash = await there.propose(ada!);
  await there.vote(ada!, block_hash);
  const { meme_id } = await there.do(meme(ada!, { file: 'Hi' }));
  await there.do(ally.propose(ada!, { target_ids: [bob!.agentId] }));
  const rest = { hash: GENESIS_HASH, key: 'a', connection_id: 'conn_0', view: 'now', item: 'a' };
  return { agent_id: ada!.agentId, block_hash, meme_id: String(meme_id), ...rest };
}

/** Parameters that take entry or event numbers, which may be unknown. */
const positions = new Set(['after', 'at', 'from', 'to', 'entry']);

/**
 * Returns true for a value that is valid after all: a number for a position, or a printable key.
 */
const harmless = (path: string, name: string, value: string): boolean => {
  if (name === 'key') return /^[\x21-\x7e]{1,128}$/.test(decode(value));
  // The web page handles all paths below /ui/.
  if (path.startsWith('/ui/')) return true;
  const counted =
    positions.has(name) || (name === 'cursor' && /^\/api\/v1\/(blocks|agents|memes)/.test(path));
  return counted && /^\d{1,15}$/.test(value);
};

const decode = (text: string): string => {
  try {
    return decodeURIComponent(text);
  } catch {
    return '\0';
  }
};

describe.each(transports)('reads over %s', (transport) => {
  test('answers an invalid parameter with 400 and its name', async () => {
    const there = await world({ transport });
    const given = await filledIn(there);
    const { paths } = JSON.parse((await there.get('/openapi.json')).text) as { paths: Paths };
    let tried = 0;
    for (const [path, { get }] of Object.entries(paths)) {
      for (const { name, in: where } of get?.parameters ?? []) {
        if (where !== 'path' && where !== 'query') continue;
        for (const value of hostile) {
          const filled = path.replaceAll(/\{(\w+)\}/g, (_, parameter: string) =>
            parameter === name ? value : given[parameter]!,
          );
          // A row batch needs a beginning.
          const begun = path.endsWith('/columns') && name === 'to' ? 'from=0&' : '';
          const target = where === 'query' ? `${filled}?${begun}${name}=${value}` : filled;
          const text = await raw(there.url, `GET ${target} HTTP/1.1\r\nHost: localhost\r\n\r\n`);
          tried += 1;
          // A connection is shown to signed requests only.
          const expected = harmless(path, name, value)
            ? [200, 404]
            : name === 'connection_id'
              ? [401]
              : [400];
          expect(expected, `${target}\n${text}`).toContain(statusOf(text));
          if (statusOf(text) !== 400) continue;
          expect(text, target).toContain('"SCHEMA"');
          expect(text, target).toContain(`"pointer":"/${name}"`);
        }
      }
    }
    expect(tried).toBeGreaterThan(15 * hostile.length);
  });
});

test('blocks by status: scan 1,000 blocks per page, then continue', async () => {
  const there = await world({ genesis: { min_validators: 1 } });
  const ada = await there.join('Ada');
  const first = await there.propose(ada);
  await there.vote(ada, first, { decision: 'approve' });
  for (let count = 0; count < 1_000; count += 1) {
    const hash = await there.propose(ada, { extra: count });
    await there.vote(ada, hash, { decision: 'reject' });
  }
  const page = await there.read('/api/v1/blocks?status=finalized&limit=5');
  expect(page).toMatchObject({ blocks: [], next_cursor: expect.any(String) });
  const next = await there.read(`/api/v1/blocks?status=finalized&cursor=${page.next_cursor}`);
  expect(next).toMatchObject({ blocks: [{ block_hash: first }], next_cursor: null });
});

test('pages: are bounded in bytes', async () => {
  const there = await world();
  const names = Array.from({ length: 200 }, (_, index) => `Agent ${index}`);
  const agents = await there.joinAll(...names);
  const block_hash = await there.propose(agents[0]!);
  // Two thirds of the votes would close the block. Whitespace is logged but not signed.
  for (const agent of agents.slice(0, 132)) {
    const request = vote(agent, { block_hash, reason: '\u20ac'.repeat(1_024) });
    await there.do({ ...request, body: String(request.body).padEnd(6_140, ' ') });
  }
  const seen: unknown[] = [];
  let cursor = '';
  let pages = 0;
  do {
    const { text, data } = await there.get(
      `/api/v1/blocks/${block_hash}/votes?limit=1000${cursor}`,
    );
    expect(Buffer.byteLength(text)).toBeLessThan(1_200_000);
    seen.push(...(data.votes as unknown[]));
    cursor = `&cursor=${data.next_cursor}`;
    pages += 1;
  } while (!cursor.endsWith('null'));
  expect([seen.length, pages]).toEqual([new Set(seen.map((a) => JSON.stringify(a))).size, pages]);
  let after = '0';
  let events = 0;
  while (after !== 'null') {
    const { text, data } = await there.get(`/api/v1/events?limit=1000&after=${after}`);
    expect(Buffer.byteLength(text)).toBeLessThan(1_200_000);
    events += (data.events as unknown[]).length;
    after = String(data.next_cursor);
  }
  expect(events).toBe((await there.read('/api/v1/meta')).event_seq);
});
