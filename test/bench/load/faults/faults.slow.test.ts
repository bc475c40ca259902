/** A load file that starts a server and plans six faults, as a user runs it. */
import { readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { LoadResult } from '../../../../dist/bench/load/result.js';
import { runCommand } from '../../../support/command.js';
import { freePort } from '../../../support/fixture.js';
import { written } from '../fixture.js';
import { expectSound, sum } from '../generator.js';

test('faults: six faults of a real server, each with score, downtime and recovery', async () => {
  const port = String(await freePort());
  const program = resolve('dist/cli/main.js');
  const url = `http://127.0.0.1:${port}`;
  const serve = ['serve', '--port', port, '--limits', 'off', '--data', 'data'];
  const on = { server: 'main' };
  const file = {
    ...{ url, timeout: '1s' },
    servers: {
      main: { command: [process.execPath, program, ...serve], ready: `${url}/api/v1/meta` },
      spare: { command: [process.execPath, '-e', 'setInterval(() => {}, 1000)'], autostart: false },
    },
    scenarios: {
      reads: { executor: 'constant-arrival-rate', rate: 50, duration: '92s', mix: { state: 1 } },
    },
    faults: {
      kill: { ...on, at: '20s', action: 'kill', duration: '1s' },
      stop: { ...on, at: '34s', action: 'stop', duration: '1s' },
      pause: { ...on, at: '48s', action: 'pause', duration: '3s' },
      slow: { ...on, at: '62s', action: 'slow', duration: '2s' },
      start: { server: 'spare', at: '70s', action: 'start', duration: '1s' },
      run: {
        ...{ at: '80s', action: 'run', duration: '500ms' },
        command: [process.execPath, '-e', "require('fs').writeFileSync('begun', '')"],
        undo: [process.execPath, '-e', "require('fs').writeFileSync('undone', '')"],
      },
    },
  };
  const path = written({ 'load.yaml': file });
  const folder = dirname(path);
  const out = join(folder, 'out');
  await runCommand(['load', path, '--allow-commands', '--out', out]);
  const result = JSON.parse(readFileSync(join(out, 'result.json'), 'utf8')) as LoadResult;
  expectSound(result);
  expect(result.ended).toBe('complete');
  const faults = result.faults!;
  expect(faults.map(({ name }) => name)).toEqual(Object.keys(file.faults));
  for (const { name, sensitivity } of faults) {
    const { low_ms, ms, high_ms } = sensitivity!;
    expect([low_ms <= ms, ms <= high_ms], name).toEqual([true, true]);
  }
  const [kill, stop, pause, slow, start, run] = faults;
  for (const fault of [kill!, stop!]) {
    expect(fault.downtime_ms, fault.name).toBeGreaterThan(900);
    expect(fault.errors, fault.name).toBeGreaterThan(20);
  }
  expect(pause!.downtime_ms).toBeGreaterThan(2_500);
  for (const { name, recovery_ms } of [pause!, slow!, start!, run!]) {
    expect(recovery_ms, name).not.toBe(null);
  }
  for (const name of ['begun', 'undone']) expect(readFileSync(join(folder, name), 'utf8')).toBe('');
  // Every arrival has an outcome, and the server is gone.
  expect(sum(result.operations.map(({ sent }) => sent))).toBe(result.arrivals.intended);
  await expect(fetch(url)).rejects.toThrow();
}, 400_000);
