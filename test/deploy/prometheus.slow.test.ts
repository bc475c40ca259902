/**
 * Alert rules and dashboard in a real Prometheus (Debian package prometheus) that scrapes a real
 * server. Skipped without that package.
 */
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse, stringify } from 'yaml';
import { freePort, temporaryFolder } from '../support/fixture.js';
import { root } from '../support/paths.js';
import { world } from '../support/service/server.js';
import { alertExpressions, dashboardExpressions } from './promql.js';

const promtool = '/usr/bin/promtool';
const withPrometheus = test.skipIf(!existsSync(promtool));
const folder = join(root, 'deploy/prometheus');

/** Throws with the output of promtool if a check fails. */
const check = (args: readonly string[], input = '') =>
  execFileSync(promtool, args, { cwd: folder, input, encoding: 'utf8' });

withPrometheus('prometheus: promtool accepts the rules, their tests and the configuration', () => {
  expect(check(['check', 'rules', 'alerts.yml'])).toContain('SUCCESS');
  expect(check(['check', 'config', 'prometheus.yml'])).toContain('SUCCESS');
  expect(check(['test', 'rules', 'alert-tests.yml'])).toContain('SUCCESS');
});

withPrometheus('prometheus: promtool accepts /metrics without lint', async () => {
  const there = await world({ path: temporaryFolder() });
  const [ada] = await there.joinAll('Ada', 'Bob');
  await there.propose(ada!);
  expect(check(['check', 'metrics'], (await there.get('/metrics')).text)).toBe('');
});

withPrometheus('prometheus: every expression of the dashboard has a result', async () => {
  const there = await world({ path: temporaryFolder() });
  const prometheus = await scrape(new URL(there.url).host);
  const agents = await there.joinAll('Ada', 'Bob', 'Cyd');
  const expressions = dashboardExpressions();
  expect(expressions.length).toBeGreaterThan(30);
  let missing = expressions.map(({ of }) => of);
  await expect
    .poll(
      async () => {
        // Rates need samples before and after an event.
        const hash = await there.propose(agents[0]!);
        for (const agent of agents) await there.vote(agent, hash);
        missing = [];
        for (const { of, expr } of expressions) {
          const result = await query(prometheus, expr);
          // Restarts are not expected.
          if (result.length === 0 && of !== 'Restarts') missing.push(`${of}: ${expr}`);
        }
        return missing;
      },
      { interval: 1_000 },
    )
    .toEqual([]);
  for (const { expr } of alertExpressions()) await query(prometheus, expr);
  const rules = (await api(prometheus, '/api/v1/rules')) as {
    groups: { rules: { name: string; health: string }[] }[];
  };
  const all = rules.groups.flatMap((group) => group.rules);
  expect(all.map(({ name }) => name)).toEqual(alertExpressions().map(({ of }) => of));
  expect(all.filter(({ health }) => health !== 'ok')).toEqual([]);
});

/** Starts a Prometheus with the rules of this repository that scrapes `target` every second. */
async function scrape(target: string): Promise<string> {
  const here = temporaryFolder();
  const config = parse(readFileSync(join(folder, 'prometheus.yml'), 'utf8'));
  config.global = { scrape_interval: '1s', evaluation_interval: '1s' };
  config.rule_files = [join(folder, 'alerts.yml')];
  config.scrape_configs = [{ job_name: 'folkmoot', static_configs: [{ targets: [target] }] }];
  writeFileSync(join(here, 'prometheus.yml'), stringify(config));
  const port = await freePort();
  const child = spawn(
    '/usr/bin/prometheus',
    [
      `--config.file=${join(here, 'prometheus.yml')}`,
      `--storage.tsdb.path=${join(here, 'data')}`,
      `--web.listen-address=127.0.0.1:${port}`,
    ],
    { stdio: 'ignore' },
  );
  const ended = new Promise((resolve) => child.once('exit', resolve));
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  const url = `http://127.0.0.1:${port}`;
  const isReady = () =>
    fetch(`${url}/-/ready`).then(
      ({ ok }) => ok,
      () => false,
    );
  await expect.poll(isReady).toBe(true);
  return url;
}

async function api(url: string, path: string): Promise<unknown> {
  const answer = (await (await fetch(url + path)).json()) as { status: string; data: unknown };
  expect(answer).toMatchObject({ status: 'success' });
  return answer.data;
}

async function query(url: string, expr: string): Promise<unknown[]> {
  const path = `/api/v1/query?query=${encodeURIComponent(expr)}`;
  const { result } = (await api(url, path)) as { result: unknown[] };
  return result;
}
