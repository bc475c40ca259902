/**
 * A replay processes entries in chunks. Changes next to a chunk's edge, or several changes in one
 * chunk, are reported at their entry. Of several changes, the first is reported.
 */
import { join } from 'node:path';
import { replay, storedLines } from 'folkmoot';
import { simJson } from '../../support/command.js';
import { openForReading, type Replayed, replayHere, suiteFolder } from '../../support/runs.js';
import { changed, changeEntry, changeJson, type Stored } from './folders.js';

const folder = join(suiteFolder(), 'run');
const CHUNK = 1_024;
/** The last and first entries in chunks, and an entry in the middle. */
const edges = [CHUNK - 1, CHUNK, 2 * CHUNK - 1, 2 * CHUNK];
const places = [...edges, 1_500];
/** Kind and number of the first event, by entry. */
const kinds: string[] = [];
const events: (number | undefined)[] = [];

beforeAll(async () => {
  const size = ['--seed', '5', '--agents', '120', '--blocks', '26'];
  const { json } = await simJson(...size, '--verifier', 'off', '--no-audit', '--out', folder);
  expect(json.entries).toBeGreaterThan(2 * CHUNK + 100);
  const stored = openForReading(join(folder, 'network'));
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

  test('reports a changed digest and changed bytes', async () => {
    const { entries } = await expectFirst({ ...at(), what: 'digest' }, (stored) =>
      flipDigest(stored, seq),
    );
    expect(entries).toBe(seq);
    await expectFirst({ ...at(), what: 'log_digest' }, (stored) => spaced(stored, seq));
  });

  test('reports a changed event of the entry, or of the next one with events', async () => {
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

  test('reports a missing or unreadable entry', async () => {
    const gone: Found = { seq, what: 'entry', expected: `entry ${seq}`, found: `entry ${seq + 1}` };
    await expectFirst(gone, ({ log }) => void log.removeSync(seq));
    const copy = await changed(folder, (stored) => unreadable(stored, seq));
    await expect(replayHere(join(copy, 'network'), false)).rejects.toThrow(`entry ${seq}:`);
  });

  test('reports that this and all later entries are missing', async () => {
    const last = kinds.length - 1;
    const end: Found = { seq: seq - 1, kind: kinds[seq - 1]!, what: 'end' };
    const { entries } = await expectFirst(
      { ...end, expected: `entry ${last}`, found: `entry ${seq - 1}` },
      (stored) => cutFrom(stored, seq),
    );
    expect(entries).toBe(seq);
  });

  test('reports a number with a leading zero, for which both digests match', async () => {
    await expectFirst({ ...at(), what: 'entry' }, (stored) =>
      changeEntry(stored, seq, () => ({ seq: `0${seq}` })),
    );
  });
});

/** Pairs in the same chunk, in adjacent chunks, and on both sides of an edge. */
const pairs = [
  [1_100, 1_900],
  [CHUNK - 1, CHUNK],
  [CHUNK, 2 * CHUNK - 1],
  [CHUNK - 1, 2 * CHUNK],
] as const;

test.each(pairs)('replay: reports digest or bytes of %i before damage of %i', async (...pair) => {
  const [first, second] = pair;
  const forged = kinds.findIndex((kind, seq) => seq >= second && kind === 'vote');
  const damage: ((stored: Stored) => void)[] = [
    (stored) => flipDigest(stored, second),
    (stored) => cutFrom(stored, second),
    // The signature is verified while the first entry is applied.
    (stored) =>
      changeEntry(stored, forged, ({ body }) => ({ body: body.replace('"signature":"', '$&0') })),
  ];
  for (const spoil of damage) {
    const change = (stored: Stored) => {
      spoil(stored);
      flipDigest(stored, first);
    };
    await expectFirst({ seq: first, what: 'digest' }, change, true);
  }
  await expectFirst({ seq: first, what: 'log_digest' }, (stored) => {
    spaced(stored, first);
    unreadable(stored, second);
  });
});

test('replay: reports changed agents at the entries that registered them', async () => {
  const renamed = (stored: Stored, id: string) =>
    changeJson(stored.records('agents'), id, (agent) => ({ ...agent, name: 'renamed' }));
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
