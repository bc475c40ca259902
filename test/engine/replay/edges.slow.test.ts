/**
 * A replay takes entries by the thousand: what was changed just before and just behind such a
 * border, or twice between two of them, is named where it is, and of several the first.
 */
import { join } from 'node:path';
import { openLmdbStore, replay, SCHEMA_VERSION, storedLines, tables } from 'folkmoot';
import { beforeAll, describe, expect, test } from 'vitest';
import { simJson } from '../../support/command.js';
import { type Replayed, replayHere, suiteFolder } from '../../support/runs.js';
import { changed, changeEntry, changeJson, type Stored } from './folders.js';

const folder = join(suiteFolder(), 'run');
/** Entries that are taken together. */
const CHUNK = 1_024;
/** The last and the first of those, and one that is neither. */
const edges = [CHUNK - 1, CHUNK, 2 * CHUNK - 1, 2 * CHUNK];
const places = [...edges, 1_500];
/** By entry: its kind, and the number of its first event. */
const kinds: string[] = [];
const events: (number | undefined)[] = [];

beforeAll(async () => {
  const size = ['--seed', '5', '--agents', '120', '--blocks', '26'];
  const { json } = await simJson(...size, '--verifier', 'off', '--no-audit', '--out', folder);
  expect(json.entries).toBeGreaterThan(2 * CHUNK + 100);
  const path = join(folder, 'network');
  const stored = openLmdbStore({ path, tables, schemaVersion: SCHEMA_VERSION, readOnly: true });
  const { match } = await replay({
    lines: storedLines(stored, 0, json.entries - 1),
    onStep: (done) => {
      kinds.push(done.entry.kind);
      events.push(done.events[0]?.seq);
    },
  });
  expect(match).toBe(true);
  await stored.close();
});

type Found = Partial<NonNullable<Replayed['first_divergence']>>;

async function expectFirst(found: Found, change: (stored: Stored) => void, signatures = false) {
  const copy = await changed(folder, change);
  const { match, entries, first_divergence } = await replayHere(join(copy, 'network'), signatures);
  expect(match).toBe(false);
  expect(first_divergence).toMatchObject(found);
  return { entries, divergence: first_divergence! };
}

/** One bit of the digest that is stored beside the entry. */
function flipDigest({ log }: Stored, seq: number): void {
  const bytes = Buffer.from(log.get(seq)!);
  bytes[63]! ^= 1;
  log.putSync(seq, bytes);
}

const spaced = (stored: Stored, seq: number) =>
  changeEntry(stored, seq, ({ body }) => ({ body: `${body} ` }));
const unreadable = ({ log }: Stored, seq: number) => log.putSync(seq, Buffer.alloc(200, 7));

function cutFrom({ log }: Stored, from: number): void {
  log.transactionSync(() => {
    for (const seq of [...log.getKeys({ start: from })]) log.removeSync(seq);
  });
}

describe.each(places)('replay: entry %i', (seq) => {
  const at = () => ({ seq, kind: kinds[seq]! });

  test('its digest, and its bytes', async () => {
    const { entries } = await expectFirst({ ...at(), what: 'digest' }, (stored) =>
      flipDigest(stored, seq),
    );
    expect(entries).toBe(seq);
    await expectFirst({ ...at(), what: 'log_digest' }, (stored) => spaced(stored, seq));
  });

  test('an event of it, or of the next that made one', async () => {
    const made = events.findIndex((event, entry) => entry >= seq && event !== undefined);
    const what = { seq: made, kind: kinds[made]!, what: 'event', which: `event ${events[made]}` };
    await expectFirst({ ...what, found: 'no event' } as Found, (stored) => {
      stored.events.removeSync(events[made]!);
    });
    const { divergence } = await expectFirst(what as Found, (stored) =>
      changeJson(stored.events, events[made]!, (event) => ({ ...event, timestamp: 'then' })),
    );
    expect(divergence.found).toContain('"then"');
    expect(divergence.expected).not.toContain('"then"');
  });

  test('it is gone, or cannot be read', async () => {
    const gone: Found = { seq, what: 'entry', expected: `entry ${seq}`, found: `entry ${seq + 1}` };
    await expectFirst(gone, ({ log }) => void log.removeSync(seq));
    const copy = await changed(folder, (stored) => unreadable(stored, seq));
    await expect(replayHere(join(copy, 'network'), false)).rejects.toThrow(`entry ${seq} `);
  });

  test('it and all that follow are gone', async () => {
    const last = kinds.length - 1;
    const end: Found = { seq: seq - 1, kind: kinds[seq - 1]!, what: 'end' };
    const { entries } = await expectFirst(
      { ...end, expected: `entry ${last}`, found: `entry ${seq - 1}` },
      (stored) => cutFrom(stored, seq),
    );
    expect(entries).toBe(seq);
  });

  test('its number is stored with a zero before it: both digests are right', async () => {
    await expectFirst({ ...at(), what: 'entry' }, (stored) =>
      changeEntry(stored, seq, () => ({ seq: `0${seq}` })),
    );
  });
});

describe('replay: of two differences the first is named', () => {
  /** Both between the same borders, on both sides of one, and on either side of a border's two. */
  const pairs = [
    [1_100, 1_900],
    [CHUNK - 1, CHUNK],
    [CHUNK, 2 * CHUNK - 1],
    [CHUNK - 1, 2 * CHUNK],
  ] as const;

  test.each(pairs)('replay: digests of %i and %i', async (first, second) => {
    await expectFirst({ seq: first, what: 'digest' }, (stored) => {
      flipDigest(stored, second);
      flipDigest(stored, first);
    });
  });

  test.each(pairs)('replay: bytes of %i, and %i cannot be read', async (first, second) => {
    await expectFirst({ seq: first, what: 'log_digest' }, (stored) => {
      spaced(stored, first);
      unreadable(stored, second);
    });
  });

  test.each(pairs)('replay: a digest of %i, and the log ends before %i', async (first, second) => {
    await expectFirst({ seq: first, what: 'digest' }, (stored) => {
      flipDigest(stored, first);
      cutFrom(stored, second);
    });
  });

  test.each(pairs)('replay: a digest of %i, and a signature behind %i', async (first, second) => {
    const forged = kinds.findIndex((kind, seq) => seq >= second && kind === 'vote');
    // The one behind is looked at while the first is applied.
    const change = (stored: Stored) => {
      flipDigest(stored, first);
      changeEntry(stored, forged, ({ body }) => ({ body: body.replace('"signature":"', '$&0') }));
    };
    await expectFirst({ seq: first, what: 'digest' }, change, true);
  });

  test('replay: agents, by the entries that registered them', async () => {
    const renamed = (stored: Stored, id: string) =>
      changeJson(stored.records('agents'), id, (agent) => ({ ...agent, name: 'nobody' }));
    let ids: string[] = [];
    const found: { id: string; seq: number }[] = [];
    await changed(folder, ({ records }) => {
      ids = [...records('agents').getKeys()].slice(0, 3).map(String);
    });
    for (const id of ids) {
      const what = { what: 'record', which: `agents ${JSON.stringify(id)}` } as const;
      const { divergence } = await expectFirst(what, (stored) => renamed(stored, id));
      found.push({ id, seq: divergence.seq });
    }
    const [first] = found.sort((one, other) => one.seq - other.seq);
    expect(new Set(found.map(({ seq }) => seq)).size).toBe(ids.length);
    const { id, seq } = first!;
    await expectFirst({ seq, which: `agents ${JSON.stringify(id)}` }, (stored) => {
      for (const one of ids) renamed(stored, one);
    });
  });
});
