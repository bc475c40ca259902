/** Memory needed to open and replay a log hardly grows if the log is four times as long. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { folkmoot } from '../../support/cli.js';
import { counts } from '../../support/counts.js';
import { main } from '../../support/paths.js';
import { suiteFolder } from '../../support/runs.js';

const { agents, blocks } = counts.slope;
const LOOK_MS = 20;
/** Tolerance for garbage that has not been collected yet. */
const SLACK_MIB = 96;

interface Cost {
  /** CPU time, which does not depend on other processes. */
  ms: number;
  anonymousMiB: number;
  entries: number;
}

/** Returns the CPU time that all threads in a process have used so far. */
function processorMs(pid: number): number {
  const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return 10 * (Number(fields[11]) + Number(fields[12]));
}

/** Runs a process until it ends or listens. Returns its peak private memory. */
async function costOf(args: string[]): Promise<Cost> {
  const child = spawn(process.execPath, [main, ...args], { stdio: ['ignore', 'pipe', 'ignore'] });
  const ended = once(child, 'close');
  const cost: Cost = { ms: 0, anonymousMiB: 0, entries: 0 };
  const look = () => {
    const file = `/proc/${child.pid}/status`;
    const [, kib] = /^RssAnon:\s+(\d+) kB$/m.exec(readFileSync(file, 'utf8')) ?? ['', '0'];
    cost.anonymousMiB = Math.max(cost.anonymousMiB, Number(kib) / 1024);
    cost.ms = processorMs(child.pid!);
  };
  const timer = setInterval(look, LOOK_MS);
  child.once('exit', () => clearInterval(timer));
  child.stdout.once('data', (text: Buffer) => {
    cost.entries = (JSON.parse(text.toString()) as { entries?: number }).entries ?? 0;
    if (args[0] === 'serve') look();
    clearInterval(timer);
    child.kill('SIGTERM');
  });
  await ended;
  expect(cost.anonymousMiB).toBeGreaterThan(0);
  return cost;
}

const folder = suiteFolder();
const small = join(folder, 'small');
const large = join(folder, 'large');

/** Makes a run with signatures that are not verified, which is fast and can be served. */
async function make(out: string, times: number): Promise<void> {
  const size = ['--agents', `${agents}`, '--blocks', `${times * blocks}`, '--seed', '1'];
  const ended = await folkmoot(['sim', ...size, '--verifier', 'off', '--no-audit', '--out', out]);
  expect(ended.code, ended.stderr).toBe(0);
}

beforeAll(async () => {
  await make(small, 1);
  await make(large, 4);
});

function print(what: string, costs: Cost[]): void {
  const shown = costs.map(({ ms, anonymousMiB, entries }) => {
    const many = entries > 0 ? `${entries} entries, ` : '';
    return `${many}${Math.round(ms)} ms, ${Math.round(anonymousMiB)} MiB`;
  });
  process.stdout.write(`slope: ${what}: ${shown.join('; four times as long: ')}\n`);
}

test.skipIf(process.platform !== 'linux')('serve: opens a long log at the same cost', async () => {
  const costs: Cost[] = [];
  for (const run of [small, large]) {
    const options = ['--port', '0', '--limits', 'off', '--data', join(run, 'network')];
    costs.push(await costOf(['serve', ...options]));
  }
  print('serve', costs);
  const [one, four] = costs as [Cost, Cost];
  expect(four.anonymousMiB).toBeLessThan(1.5 * one.anonymousMiB + SLACK_MIB);
  // Opening reads only the ends of the log and the branch pages.
  expect(four.ms).toBeLessThan(3 * one.ms);
});
