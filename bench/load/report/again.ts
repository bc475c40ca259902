/** The commands that do it again, and that compare. */
import { type Html, html } from '../../../report/html.js';
import { code, listing } from '../../../report/page.js';
import { commandLine } from '../../../report/shell.js';
import { loadDefaults, workloadDefaults } from '../options.js';
import type { LoadResult } from '../result.js';

export function again(result: LoadResult): Html {
  const compare = commandLine(
    'load',
    'compare',
    'BASE.json',
    'result.json',
    '--fail-on',
    'p99>+10%',
  );
  return html`<p>Keys and choices are drawn anew each time; on a fresh server
${code(`--seed ${result.seed}`)} draws these:</p>
${listing('the command that loads the server again', commandLine('load', ...options(result)))}
<p>In the folder of this report, against an earlier result:</p>
${listing('the command that compares', compare)}
<p>What the run left on the network, at any entry of its log: DATA stands for the server's folder
(${code('serve --data')}), also while it runs.</p>
${listing('the command that shows it on a page', commandLine('explore', 'DATA'))}`;
}

/** Whatever is not the default. */
function options({ asked, server, saturation }: LoadResult): string[] {
  const defaults = workloadDefaults[asked.workload];
  const given = (name: string, value: number, standard: number, unit = '') =>
    value === standard ? [] : [name, `${value}${unit}`];
  return [
    '--url',
    server.url,
    '--workload',
    asked.workload,
    ...(saturation
      ? ['--saturate', ...saturation.slo.flatMap((text) => ['--slo', text])]
      : asked.rate === null
        ? ['--concurrency', `${asked.concurrency}`]
        : ['--rate', `${asked.rate}`]),
    '--duration',
    `${asked.duration_s}s`,
    ...given('--warmup', asked.warmup_s, loadDefaults.warmupMs / 1_000, 's'),
    ...given('--agents', asked.agents, defaults.agents),
    ...given('--batch', asked.batch, defaults.batch),
    ...given('--timeout', asked.timeout_ms, loadDefaults.timeoutMs, 'ms'),
    ...given('--finality-timeout', asked.finality_timeout_ms, loadDefaults.finalityTimeoutMs, 'ms'),
    ...given('--connections', asked.connections, loadDefaults.connections),
  ];
}
