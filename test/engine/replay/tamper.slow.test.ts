/** Tampered runs. `replay` reports the change and its position. */
import { join } from 'node:path';
import { replayJson, type SimJson, simJson } from '../../support/command.js';
import { type Line, logLines, type Replayed, replayHere, suiteFolder } from '../../support/runs.js';
import { changed, changeEntry, changeJson, type Parts, type Stored } from './folders.js';

const folder = join(suiteFolder(), 'run');
let run: SimJson;
let lines: Line[];
/** A vote in the middle of the log. */
let vote: Line;

beforeAll(async () => {
  run = (await simJson('--seed', '7', '--agents', '60', '--blocks', '6', '--out', folder)).json;
  lines = await logLines(folder);
  vote = lines.find(({ seq, kind }) => kind === 'vote' && seq > 150)!;
});

type Found = Partial<NonNullable<Replayed['first_divergence']>>;
type Change = (parts: Parts) => object;

/**
 * Changes a copy, and expects a replay to diverge. `signed` is the expected divergence with
 * signature verification.
 */
async function expectFound(change: (stored: Stored) => void, plain: Found, signed?: Found) {
  const copy = await changed(folder, change);
  const found = await replayHere(join(copy, 'network'), false);
  expect(found.match).toBe(false);
  expect(found.first_divergence).toMatchObject(plain);
  expect(found.entries).toBeLessThanOrEqual(run.entries);
  if (signed) {
    expect((await replayHere(join(copy, 'network'))).first_divergence).toMatchObject(signed);
  }
  return found.first_divergence!;
}

test('replay --signatures: matches the digests of the run', async () => {
  const { digest, log_digest, entries } = run;
  const match = { match: true, entries, digest, log_digest, first_divergence: null };
  expect(await replayJson(folder, '--signatures')).toEqual(match);
  // Opening a copy for writing does not change it.
  expect(await replayJson(await changed(folder, () => {}))).toEqual(match);
});

test('replay --to: gives the digests of the last entry', async () => {
  const { seq, digest, log_digest } = vote;
  const found = await replayJson(folder, '--to', `${seq}`);
  expect(found).toMatchObject({ match: true, entries: seq + 1, digest, log_digest });
});

describe('replay: changed entries', () => {
  const body =
    (from: string, to: string): Change =>
    (parts) => ({ body: parts.body.replace(from, to) });
  const later = ({ timestamp }: Parts) => ({
    timestamp: timestamp.replace('T00:00:0', 'T00:00:1'),
  });
  const signature: Found = { what: 'signature', which: 'of the request' };

  test.each<[what: string, kind: 'vote' | 'register', change: Change, signed?: Found]>([
    ['reason', 'vote', body('adds up', 'added up'), signature],
    ['header that no signature covers', 'vote', () => ({ timestamp: 'x' })],
    ['header timestamp that is signed', 'register', later, { what: 'signature' }],
    ['body with a new member', 'vote', body('{', '{"mood":"grim",'), { what: 'signature' }],
  ])('replay: detects a changed %s', async (_, kind, change, signed) => {
    const { seq } = kind === 'vote' ? vote : lines.find((line) => line.kind === kind)!;
    await expectFound(
      (stored) => changeEntry(stored, seq, change),
      { seq, kind, what: 'log_digest' },
      signed && { seq, kind, ...signed },
    );
  });

  test('replay: detects a time changed by one millisecond', async () => {
    const { seq, kind } = vote;
    const change = (stored: Stored) =>
      changeEntry(stored, seq, ({ at }) => ({ at: `${Number(at) + 1}` }));
    const { what } = await expectFound(change, { kind });
    expect(['log_digest', 'entry']).toContain(what);
  });

  test('replay: detects an entry after the end', async () => {
    const last = lines.at(-1)!;
    const change = ({ log }: Stored) => {
      log.putSync(last.seq + 1, Buffer.from(log.get(last.seq)!));
    };
    const { seq } = await expectFound(change, {});
    expect([last.seq, last.seq + 1]).toContain(seq);
  });
});

test('replay: detects a changed record', async () => {
  const key = 3;
  const change = ({ records }: Stored) =>
    changeJson(records('standings'), key, (standing) => ({ ...standing, overall: 999_999 }));
  const { seq, kind, found, expected } = await expectFound(change, {
    what: 'record',
    which: 'standings 3',
  });
  expect(lines[seq]!.kind).toBe(kind);
  expect(found).toContain('"overall":999999');
  expect(expected).not.toContain('"overall":999999');
});

test('replay: detects a missing record', async () => {
  const id = [...(await recordKeys('agents'))][5]!;
  const change = ({ records }: Stored) => void records('agents').removeSync(id);
  await expectFound(change, {
    ...{ kind: 'register', what: 'record', which: `agents ${JSON.stringify(id)}` },
    found: 'no record',
  });
});

test('replay: detects an added record', async () => {
  const change = ({ records }: Stored) => {
    records('state').putSync('throne', '{"block_hash":"","value":"usurped"}');
  };
  await expectFound(change, {
    ...{ what: 'record', which: 'state "throne"', expected: 'no record' },
    found: '{"block_hash":"","value":"usurped"}',
  });
});

test('replay: detects an added event', async () => {
  const change = ({ events }: Stored) => void events.putSync(run.events + 1, '{}');
  await expectFound(change, {
    ...{ seq: run.entries - 1, what: 'event', which: `event ${run.events + 1}` },
    expected: 'no event',
  });
});

test.each(['seq', 'at', 'event_seq'])('replay: detects a changed %s of the end', async (name) => {
  const change = ({ meta }: Stored) =>
    changeJson(meta, 'meta', (end) => ({ ...end, [name]: Number(end[name]) - 1 }));
  await expectFound(change, {});
});

test('replay: detects a changed file of a meme', async () => {
  const meme = lines.find(({ kind }) => kind === 'meme')!;
  const { content_sha256 } = JSON.parse(meme.body) as { content_sha256: string };
  const change = ({ blobs }: Stored) => void blobs.putSync(content_sha256, Buffer.from('mud'));
  await expectFound(change, { seq: meme.seq, kind: 'meme', what: 'entry' });
});

async function recordKeys(table: string): Promise<string[]> {
  const keys: string[] = [];
  await changed(folder, ({ records }) => {
    for (const key of records(table).getKeys()) keys.push(String(key));
  });
  return keys;
}
