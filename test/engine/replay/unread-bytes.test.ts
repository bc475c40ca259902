/** A replay compares even bytes that reads from a network do not need. */
import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import {
  composeProposal,
  composeRegister,
  createVerifier,
  GENESIS_HASH,
  Network,
  openLmdbStore,
  replay,
  SCHEMA_VERSION,
  type Signatory,
  type SignedRequest,
  StoreError,
  storedLines,
  tables,
  targetOf,
  virtualClock,
} from 'folkmoot';
import { agentId, httpInput, sha256Hex, voteInput } from 'folkmoot/signing';
import { admit, admitLogged } from 'folkmoot/testing';
import { open } from 'lmdb';
import { START_MS } from '../../support/citizens.js';
import { expectOneLine, logText, replayJson, runCommand, simJson } from '../../support/command.js';
import { signatoryOf, temporaryFolder, testNetwork } from '../../support/fixture.js';
import { bodyOf, copyOf, type Line, linesOf, suiteFolder } from '../../support/runs.js';
import { applied, attempts, lead } from '../random/random.js';

const verifier = createVerifier('off');
const lived = join(suiteFolder(), 'network');

const openStore = (path: string, readOnly = true) =>
  openLmdbStore({ path, tables, schemaVersion: SCHEMA_VERSION, readOnly, create: false });

/** Creates a network with an archived first half. */
beforeAll(async () => {
  const clock = virtualClock(START_MS);
  const genesis = { network_id: 'unread', voting_period_ms: 5_000 };
  const network = await Network.open({ path: lived, genesis, verifier, clock });
  const [script] = fc.sample(attempts(160), { numRuns: 1, seed: 5 });
  await lead(network, clock, script!, {
    take: (request) => applied(network, request),
    jumped: () => network.fireDeadlines(),
    look: (number) => (number % 7 === 0 ? network.durable : undefined),
  });
  await network.durable;
  await network.close();
  const store = openStore(lived, false);
  await store.archive!.move(Math.ceil(store.meta()!.seq / 2));
  while (await store.archive!.trim());
  await store.archive!.compactAndClose();
});

function copy(): string {
  return copyOf(lived, 'network');
}

/** Returns the problem found by a replay, or null. */
async function found(path: string): Promise<string | null> {
  const stored = openStore(path);
  try {
    const lines = storedLines(stored, 0, stored.meta()!.seq);
    const { first_divergence } = await replay({ lines, stored });
    return first_divergence && `${first_divergence.what} ${first_divergence.which}`;
  } catch (error) {
    if (error instanceof StoreError) return error.code;
    throw error;
  } finally {
    await stored.close();
  }
}

/** Changes a database in a folder through LMDB. */
async function change(
  path: string,
  name: string,
  act: (database: ReturnType<ReturnType<typeof open<Buffer, number>>['openDB']>) => void,
): Promise<void> {
  const root = open<Buffer, number>({
    path,
    noSubdir: false,
    maxDbs: 40,
    encoding: 'binary',
    pageSize: 8192,
  });
  act(root.openDB<Buffer, number>({ name, encoding: 'binary' }) as never);
  await root.close();
}

test('replay: detects a changed byte in any index row', async () => {
  const store = openStore(lived);
  const rows = [...store.index()];
  await store.close();
  expect(rows.length).toBeGreaterThan(10);
  const path = copy();
  for (const [number, { seq, bytes }] of rows.entries()) {
    const changed = Buffer.from(bytes);
    changed[(number * 7) % bytes.length]! ^= 1 << (number % 8);
    await change(path, 'index', (index) => index.putSync(seq, changed as never));
    expect(await found(path)).toBe(`record index ${seq}`);
    await change(path, 'index', (index) => index.putSync(seq, Buffer.from(bytes) as never));
  }
  expect(await found(path)).toBe(null);
});

test('replay: detects an index row that is missing, moved or beyond the log', async () => {
  const store = openStore(lived);
  const rows = [...store.index()];
  await store.close();
  const middle = rows[rows.length >> 1]!;
  const after = rows[(rows.length >> 1) + 1]!;
  const bytes = Buffer.from(middle.bytes) as never;
  const end = rows.at(-1)!.seq;
  const changes: [number, (index: { putSync: Put; removeSync(key: number): void }) => void][] = [
    [after.seq, (index) => index.removeSync(middle.seq)],
    [end + 9, (index) => index.putSync(end + 9, bytes)],
  ];
  for (const [seq, act] of changes) {
    const path = copy();
    await change(path, 'index', act as never);
    expect(await found(path)).toBe(`record index ${seq}`);
  }
});

type Put = (key: number, value: never) => void;

test('replay: detects a changed byte anywhere in a segment', async () => {
  const [name] = readdirSync(join(lived, 'archive'));
  const bytes = readFileSync(join(lived, 'archive', name!));
  const last = Array.from({ length: 40 }, (_, place) => bytes.length - 1 - place);
  const spread = Array.from({ length: 40 }, (_, place) => (place * 997) % bytes.length);
  const path = copy();
  for (const at of [0, 18, ...last, ...spread]) {
    const changed = Buffer.from(bytes);
    changed[at]! ^= 1;
    writeFileSync(join(path, 'archive', name!), changed);
    expect(await found(path), `byte ${at}`).toBe('ARCHIVE');
  }
});

test('replay: detects a changed record of a segment', async () => {
  const path = copy();
  let record = '';
  await change(path, 'archive', (archive) => {
    for (const { value } of archive.getRange({})) record = (value as Buffer).toString();
  });
  const segment = JSON.parse(record) as Record<string, string | number>;
  assert.ok(Object.keys(segment).length > 10);
  for (const [name, value] of Object.entries(segment)) {
    const other = typeof value === 'number' ? value + 1 : swapped(value);
    const text = JSON.stringify({ ...segment, [name]: other });
    await change(path, 'archive', (archive) =>
      archive.putSync(segment.first as number, Buffer.from(text) as never),
    );
    const what = await found(path).catch((error: StoreError) => error.code);
    expect([name, what !== null]).toEqual([name, true]);
  }
});

const swapped = (text: string) => text.replace(/[0-9]/, (digit) => `${(Number(digit) + 1) % 10}`);

// ---- Folders without a network, or with a damaged network. The command prints one line and exits
// with a nonzero code.

const run = join(suiteFolder(), 'run');

beforeAll(async () => {
  await simJson('--seed', '7', '--agents', '60', '--blocks', '6', '--out', run);
});

async function expectRefused(folder: string): Promise<void> {
  const ended = await Promise.all(['replay', 'log'].map((c) => runCommand([c, folder])));
  for (const one of ended) expectOneLine(one);
}

test('replay: refuses a missing or empty folder, and a run with an empty network', async () => {
  const [empty, bare] = [temporaryFolder(), temporaryFolder()];
  mkdirSync(join(bare, 'network'));
  for (const folder of [join(empty, 'gone'), empty, bare]) await expectRefused(folder);
});

// ---- Requests with unknown members, which the log keeps as received.

const now = '2025-01-01T00:00:00.000Z';

/** Builds a vote with a hand-written body: unknown members, in any order. */
function handmadeVote(by: Signatory, fields: Record<string, unknown>): SignedRequest {
  const signature = by.sign(voteInput(fields));
  const body = Buffer.from(`{ "signature": "${signature}",\n ${JSON.stringify(fields).slice(1)}\n`);
  return { kind: 'vote', public_key: by.publicKey, target: '', timestamp: '', signature: '', body };
}

const additions: Record<string, unknown>[] = [
  { mood: { grim: [1, 2.5, 'ä'] }, reason: 'why not' },
  { reason: 'a\u2028b\u2029c\u0085d' },
  { reason: '"\\\u007f\u{1f389}', note: '\u0000\n\t\r' },
];

async function networkWithVotes(path: string): Promise<void> {
  const { network, submit } = await testNetwork({ path });
  const agents = additions.map((_, index) => signatoryOf(index));
  for (const [index, by] of agents.entries()) {
    const capabilities = ['validator', 'producer'] as const;
    const fields = { name: `agent ${index}`, personality: 'lawful', capabilities };
    expect(await submit(composeRegister(by, now, fields))).toMatchObject({ result: 'accepted' });
  }
  await submit(composeProposal(agents[0]!, now, { parent_hash: GENESIS_HASH, transactions: [] }));
  const [block] = [...network.read.blocks()];
  const vote = { block_hash: block!.block_hash, decision: 'approve', timestamp: now };
  for (const [index, more] of additions.entries()) {
    const request = handmadeVote(agents[index]!, { ...vote, ...more });
    expect(await submit(request)).toMatchObject({ result: 'accepted' });
  }
  await network.close();
}

test('replay: accepts votes with unknown members, from a folder and a printed log', async () => {
  const path = join(temporaryFolder(), 'network');
  await networkWithVotes(path);
  const stored = await replayJson(path, '--signatures');
  expect(stored).toMatchObject({ match: true, entries: 8 });
  const text = await logText(path);
  const votes = linesOf(text)
    .map((line) => bodyOf<Line>(line))
    .filter(({ kind }) => kind === 'vote');
  expect(votes.map(({ body }) => bodyOf<object>(body))).toMatchObject(additions);
  const file = join(temporaryFolder(), 'run.ndjson');
  writeFileSync(file, text);
  expect(await replayJson(file, '--signatures')).toEqual(stored);
});

test('replay: uses the last of equal members in a log of an early version', async () => {
  const path = join(temporaryFolder(), 'network');
  const { network, submit } = await testNetwork({ path });
  const by = signatoryOf(0);
  const fields = { name: 'Ada', personality: 'lawful', capabilities: ['validator'] } as const;
  await submit(composeRegister(by, now, fields));
  const target = targetOf('status', agentId(by.publicKey));
  const body = Buffer.from('{"status":"active","status":"maintenance"}');
  const input = httpInput({ method: 'PUT', target, timestamp: now, bodySha256: sha256Hex(body) });
  const around = { kind: 'status', public_key: by.publicKey, target, timestamp: now } as const;
  const request = { ...around, signature: by.sign(input), body };
  const { network_id } = network.genesis;
  expect(admit(request, network_id)).toMatchObject({
    refusal: { reason: 'BAD_JSON', pointer: '/status' },
  });
  const admitted = admitLogged(request, network_id);
  if ('refusal' in admitted) throw new Error(admitted.refusal.message);
  const { outcome, durable } = network.apply(network.verification.elsewhere(admitted));
  await durable;
  expect(outcome).toMatchObject({ result: 'accepted', data: { status: 'maintenance' } });
  await network.close();
  expect(await replayJson(path, '--signatures')).toMatchObject({ match: true, entries: 3 });
  const text = await logText(path);
  const file = join(temporaryFolder(), 'run.ndjson');
  writeFileSync(file, text);
  expect(await replayJson(file, '--signatures')).toMatchObject({ match: true, entries: 3 });
  const again = await testNetwork({ path });
  const [agent] = [...again.network.read.agents()];
  expect(agent).toMatchObject({ status: 'maintenance' });
  await again.network.close();
});
