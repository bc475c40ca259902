/** `folkmoot replay --watch`: progress, pauses and the first divergence. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { ProofView } from 'folkmoot/api';
import { changed, changeEntry, changeJson, type Stored } from '../../engine/replay/folders.js';
import { folkmoot } from '../../support/cli.js';
import { type SimJson, simJson } from '../../support/command.js';
import { begin } from '../../support/running-command.js';
import { type Line, logLines, suiteFolder } from '../../support/runs.js';
import { pageOf } from './page.js';

const folder = join(suiteFolder(), 'run');
let run: SimJson;
let vote: Line;
beforeAll(async () => {
  run = (await simJson('--seed', '7', '--agents', '60', '--blocks', '6', '--out', folder)).json;
  vote = (await logLines(folder)).find(({ seq, kind }) => kind === 'vote' && seq > 150)!;
});

async function watched(source: string, ...more: string[]) {
  const begun = begin(['replay', source, '--watch', '--json', ...more]);
  return { ...begun, page: await pageOf(begun) };
}

const over = /replay finished; /;
const agent = { kind: 'agent', id: expect.stringMatching(/^agent_/), name: expect.any(String) };

test('replay --watch: shows a match and exits with 0', async () => {
  const { page, printed, stop, stdout } = await watched(folder, '--signatures');
  await printed(over);
  const { digest, log_digest, entries } = run;
  expect(await page.read<ProofView>('/api/v1/proof')).toEqual({
    ...{ state: 'match', entry: entries - 1, end: entries - 1, digest, log_digest },
    ...{ signatures: true, records_compared: true, divergence: null, problem: null },
  });
  expect(await page.control()).toMatchObject({ kind: 'replay', can: ['pause', 'resume'] });
  expect(JSON.parse(stdout())).toMatchObject({ match: true, digest });
  expect(await stop()).toEqual({ code: 0, signal: null });
});

/** Expects a divergence on the page and exit code 12. */
async function expectShown(change: (stored: Stored) => void, shown: object): Promise<void> {
  const copy = await changed(folder, change);
  const { page, printed, stop } = await watched(copy);
  await printed(over);
  const proof = await page.read<ProofView>('/api/v1/proof');
  expect(proof).toMatchObject({ state: 'differs', problem: null });
  expect(proof.divergence).toMatchObject(shown);
  // The page still serves the folder.
  expect(await page.read('/api/v1/network/state')).toMatchObject({ network_id: 'folkmoot-sim' });
  expect(await stop()).toEqual({ code: 12, signal: null });
}

test('replay --watch: shows actor and field of a changed event', async () => {
  const { stdout } = await folkmoot(['events', folder, '--type', 'block_validation']);
  const { seq, data } = JSON.parse(stdout.trim().split('\n').at(-1)!);
  const other = data.decision === 'approve' ? 'reject' : 'approve';
  await expectShown(
    ({ events }) =>
      changeJson(events, seq, (event) => ({ ...event, data: { ...data, decision: other } })),
    {
      ...{ kind: 'vote', what: 'event', which: `event ${seq}`, field: 'data.decision' },
      actor: { ...agent, id: data.validator.id },
      expected: expect.stringContaining(`"decision":"${data.decision}"`),
      found: expect.stringContaining(`"decision":"${other}"`),
    },
  );
});

test('replay --watch: shows the signer of a changed entry', async () => {
  const { seq, kind } = vote;
  await expectShown((stored) => changeEntry(stored, seq, () => ({ timestamp: 'x' })), {
    ...{ entry: seq, kind, what: 'log_digest', which: null, field: null, actor: agent },
  });
});

test('replay --watch: shows the field name of a changed record', async () => {
  await expectShown(
    (stored) =>
      changeJson(stored.records('standings'), 3, (row) => {
        const [first, ...rest] = row as unknown as number[];
        return [first! + 1, ...rest] as unknown as Record<string, unknown>;
      }),
    { what: 'record', which: 'standings 3', field: 'meme', actor: agent },
  );
});

test('replay --watch: shows the divergence of a folder that explore refuses', async () => {
  const change = (stored: Stored) =>
    changeJson(stored.meta, 'meta', (meta) => ({ ...meta, digest: 'e'.repeat(64) }));
  const copy = await changed(folder, change);
  expect((await folkmoot(['explore', copy])).code).toBe(13);
  await expectShown(change, { what: 'digest', found: 'e'.repeat(64) });
});

test('replay --watch: a stopped replay has no result', async () => {
  const begun = begin(['replay', folder, '--watch=paused']);
  const page = await pageOf(begun);
  const proof = { state: 'running', entry: null, end: run.entries - 1, divergence: null };
  expect(await page.read<ProofView>('/api/v1/proof')).toMatchObject(proof);
  expect((await page.control()).clock.paused).toBe(true);
  expect(await begun.stop('SIGINT')).toEqual({ code: null, signal: 'SIGINT' });
  expect(begun.stdout()).toBe('');
});

test('replay --watch: reports a deleted folder', async () => {
  const copy = await changed(folder, () => undefined);
  const begun = begin(['replay', copy, '--watch=paused']);
  const page = await pageOf(begun);
  expect(await page.control()).not.toHaveProperty('lost');
  rmSync(copy, { recursive: true });
  const [lost] = await begun.printed(/\S+ was deleted.*/);
  expect(await page.control()).toMatchObject({ kind: 'replay', lost });
  expect(await page.read('/api/v1/network/state')).toMatchObject({ network_id: 'folkmoot-sim' });
});

test('replay --watch=paused: waits for resume, then finishes', async () => {
  const begun = begin(['replay', folder, '--watch=paused', '--json']);
  const page = await pageOf(begun);
  expect([await page.ask({ do: 'step' }), await page.ask({ do: 'resume' })]).toEqual([409, 200]);
  await begun.printed(over);
  expect(await page.read<ProofView>('/api/v1/proof')).toMatchObject({ state: 'match' });
  expect((await begun.stop()).code).toBe(0);
});

test('replay: refuses --watch of a printed log and --port without --watch', async () => {
  for (const args of [
    ['-', '--watch'],
    [folder, '--port', '0'],
  ]) {
    const { code, stdout } = await folkmoot(['replay', ...args]);
    expect([code, stdout]).toEqual([2, '']);
  }
});
