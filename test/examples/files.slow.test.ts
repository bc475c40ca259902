/** Runs the example files that people copy: a scenario with a sweep, and a workflow for CI. */
import { execFile } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { parse as parseCsv } from 'csv-parse/sync';
import { parse } from 'yaml';
import { freePort, temporaryFolder } from '../support/fixture.js';
import { main, root } from '../support/paths.js';

const run = promisify(execFile);

test('examples: the sweep finds the documented share for each threshold', async () => {
  const file = join(root, 'examples/scenarios/thresholds.yaml');
  const out = join(temporaryFolder(), 'sweep');
  await run(process.execPath, [main, 'sweep', file, '--out', out]);
  const summary = readFileSync(join(out, 'summary.csv'), 'utf8');
  const rows = parseCsv(summary, { columns: true }) as Record<string, string>[];
  const shares = rows.filter(({ measure }) => measure === 'finalized_share');
  expect(shares.map(({ for_bps }) => for_bps)).toEqual(['5000', '6000', '7000']);
  const documented = [0.79, 0.46, 0.12];
  for (const [index, { mean }] of shares.entries()) {
    expect(Math.abs(Number(mean) - documented[index]!)).toBeLessThan(0.08);
  }
  expect(existsSync(join(out, 'report.html'))).toBe(true);
});

interface Workflow {
  jobs: { load: { env: Record<string, string>; steps: { name?: string; run?: string }[] } };
}

/** Exit codes of `load`: valid, invalid on a busy machine, and a missed threshold. */
const measured = [0, 14, 15];

test('examples: the steps of the workflow measure, compare and report', async (context) => {
  if (process.platform === 'win32') return context.skip('needs bash');
  const text = readFileSync(join(root, 'examples/ci/load-test.yml'), 'utf8');
  const { env: given, steps } = (parse(text) as Workflow).jobs.load;
  const here = temporaryFolder();
  const url = `http://127.0.0.1:${await freePort()}`;
  const summary = join(here, 'summary.md');
  const env = {
    ...process.env,
    ...given,
    PATH: `${npxFolder(here)}${delimiter}${process.env.PATH}`,
    // The program ends with its parent only under npm.
    npm_execpath: undefined,
    RUNNER_TEMP: here,
    GITHUB_STEP_SUMMARY: summary,
    FOLKMOOT_PORT: new URL(url).port,
    FOLKMOOT_URL: url,
    // Enough to measure, because the test asserts no speed.
    FOLKMOOT_LOAD_AGENTS: '60',
    FOLKMOOT_LOAD_RATE: '40',
    FOLKMOOT_LOAD_DURATION: '3s',
    FOLKMOOT_LOAD_WARMUP: '1s',
  };
  const bash = (script: string) =>
    run('bash', ['-e', '-o', 'pipefail', '-c', script], { cwd: here, env }).then(
      () => 0,
      ({ code }: { code: number }) => code,
    );
  const step = (name: string) => steps.find((one) => one.name?.startsWith(name))!.run!;

  // The step's shell ends, and leaves the server running.
  const server = step('Start a server').replace('2> server.log &', '2> server.log & echo $! > pid');
  expect(await bash(server)).toBe(0);
  onTestFinished(() => void process.kill(Number(readFileSync(join(here, 'pid'), 'utf8'))));
  expect(measured).toContain(await bash('npx folkmoot load --out baseline'));
  expect(measured).toContain(await bash(step('Run the load test')));
  expect(measured).toContain(await bash(step('Compare with the baseline')));

  expect(readFileSync(join(here, 'junit.xml'), 'utf8')).toMatch(/<testsuites?[\s\S]*<testcase/);
  expect(existsSync(join(here, 'now/result.json'))).toBe(true);
  // The load test and the comparison each write a table with the service time.
  expect(readFileSync(summary, 'utf8').split('service.p99').length).toBeGreaterThan(2);
});

/** Creates a folder with a program `npx` that runs the built command line. */
function npxFolder(parent: string): string {
  const folder = join(parent, 'bin');
  mkdirSync(folder);
  writeFileSync(
    join(folder, 'npx'),
    `#!/bin/sh\nshift\nexec "${process.execPath}" "${main}" "$@"\n`,
  );
  chmodSync(join(folder, 'npx'), 0o755);
  return folder;
}
