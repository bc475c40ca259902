/** SIGTERM and SIGINT during server startup, and as soon as the server prints its address. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { counts } from '../../support/counts.js';
import { signatoryOf, temporaryFolder } from '../../support/fixture.js';
import { host, stop } from '../../support/host.js';
import { main } from '../../support/paths.js';
import { replayHere } from '../../support/runs.js';
import { drawnFrom, seed } from '../../support/seeded.js';
import { meta, registration } from '../clients/actions.js';
import { Caller } from '../clients/caller.js';
import { scenarioFile } from '../clients/scenarios.js';

const draw = drawnFrom(seed);
const signals = ['SIGTERM', 'SIGINT'] as const;

/** Starts a server, and sends a signal after a delay or at the server's first output. */
async function signalled(signal: NodeJS.Signals, at: number | 'line', args: string[]) {
  const child = spawn(process.execPath, [main, 'serve', '--port', '0', ...args]);
  onTestFinished(() => void child.kill('SIGKILL'));
  const said = { stdout: '', stderr: '' };
  child.stderr.on('data', (text: Buffer) => (said.stderr += text));
  child.stdout.on('data', (text: Buffer) => {
    if (at === 'line' && said.stdout === '') child.kill(signal);
    said.stdout += text;
  });
  const closed = once(child, 'close');
  if (at !== 'line') {
    await sleep(at);
    child.kill(signal);
  }
  const [code, by] = (await closed) as [number | null, NodeJS.Signals | null];
  return { code, signal: by, ...said };
}

/** Measures startup time on this machine, so that signals are spread throughout startup. */
async function startMs(data: string): Promise<number> {
  const begin = performance.now();
  await stop(await host({ data }));
  return performance.now() - begin;
}

describe(`stop: early, seed ${seed}`, () => {
  test.each(signals)('stop: %s at the first line of output ends with 0', async (signal) => {
    const data = temporaryFolder();
    for (let time = 0; time < counts.earlySignals; time += 1) {
      const ended = await signalled(signal, 'line', ['--data', data]);
      expect([ended.code, ended.signal], ended.stderr).toEqual([0, null]);
      expect(ended.stderr).toContain('"msg":"stopping"');
    }
    expect(await replayHere(data)).toMatchObject({ match: true, entries: 1 });
  });

  test('stop: SIGTERM while agents of a scenario join ends with 0', async () => {
    const data = join(temporaryFolder(), 'data');
    const scenario = ['--scenario', scenarioFile(temporaryFolder())];
    const ended = await signalled('SIGTERM', 'line', ['--data', data, ...scenario]);
    expect([ended.code, ended.signal], ended.stderr).toEqual([0, null]);
    expect(await replayHere(data)).toMatchObject({ match: true });
  });

  test('stop: a signal at any moment of a start leaves an intact folder', async () => {
    const kept = temporaryFolder();
    const server = await host({ data: kept });
    await new Caller(server.url).do(registration(signatoryOf(0), 'Before'));
    await stop(server);
    const most = Math.ceil(1.2 * (await startMs(kept)));
    let stoppedInGoodOrder = 0;
    // Continue until at least one signal was late enough to be handled.
    for (let time = 0; time < 3 * counts.earlySignals || stoppedInGoodOrder === 0; time += 1) {
      // Alternate with a new folder, to interrupt its creation as well.
      const data = time % 2 === 0 ? kept : join(temporaryFolder(), 'data');
      const ended = await signalled(signals[draw(2)]!, draw(most), ['--data', data]);
      expect(ended.stderr).not.toContain('"level":60');
      // Before Node has loaded the program, the system handles the signal, and nothing is open yet.
      if (ended.signal === null) {
        expect(ended.code, ended.stderr).toBe(0);
        stoppedInGoodOrder += 1;
      } else expect([ended.stdout, ended.stderr]).toEqual(['', '']);
      if (data !== kept && ended.signal !== null) expect(existsSync(data)).toBe(false);
      const again = await host({ data });
      expect((await meta(new Caller(again.url))).seq).toBe(data === kept ? 1 : 0);
      await stop(again);
    }
  });
});
