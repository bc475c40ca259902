/** Load run progress on standard error, one line per second. */
import { describeServer, type LoadOptions, serversOf } from '../../../bench/load/options.js';
import type { Probe, Second } from '../../../bench/load/result.js';
import type { LoadHooks } from '../../../bench/load/run.js';
import type { SaturateHooks } from '../../../bench/load/saturation.js';
import { writeStderr } from '../../output/output.js';

export type LoadDisplay = Required<Pick<LoadHooks, 'onTarget' | 'onPreparing' | 'onSecond'>>;

const names = { 'warm-up': 'warming up', measured: 'measuring', draining: 'draining' };

export function showLoad(options: LoadOptions): LoadDisplay {
  const others = serversOf(options).slice(1);
  const more = others.length > 0 ? `, and ${others.join(', ')}` : '';
  return {
    onTarget: (server) =>
      writeStderr(
        `folkmoot load ${options.workload}: ${server.url}, ${describeServer(server)}${more}, ` +
          `seed ${options.seed}`,
      ),
    onPreparing: (line) => writeStderr(line),
    onSecond({ phase, elapsedMs, second }) {
      const { warmupMs, durationMs } = options;
      const passed = phase === 'warm-up' ? elapsedMs + warmupMs : elapsedMs;
      const whole = phase === 'warm-up' ? warmupMs : durationMs;
      // The first second has no figures yet.
      if (phase === 'measured' && !second) return;
      const time = `${Math.round(passed / 1000)}/${Math.round(whole / 1000)} s`;
      const shown = phase === 'measured' && second;
      const what = shown ? `: ${secondText(second)}` : '';
      writeStderr(`${names[phase]} ${time}${what}`);
    },
  };
}

/** Formats one second. Without a response it has no p99. */
export function secondText({ accepted, failed, response_p99: p99 }: Second): string {
  const time = p99 === null ? '' : `, p99 ${p99.toFixed(1)} ms`;
  return `${accepted} accepted/s, ${failed} failed${time}`;
}

/** Prints a search probe, with R before and after. */
export function showProbe(
  { rate, holds, p99, verdict, reasons, r_before, r_after }: Probe,
  bracket: number,
  leftMs: number,
) {
  const outcome = holds
    ? `passed${p99 === null ? '' : `, p99 ${p99.toFixed(1)} ms`}`
    : `failed, ${reasons[0] ?? verdict}`;
  const speed =
    r_before === null ? '' : ` (R ${rounded(r_before)} before, ${rounded(r_after ?? 0)} after)`;
  const left = leftMs > 0 ? `; about ${formatLeft(leftMs)} left` : '';
  writeStderr(`bracket ${bracket + 1}: ${rounded(rate)}/s ${outcome}${speed}${left}`);
}

/** Formats the time that is left, in seconds or in minutes. */
const formatLeft = (ms: number): string =>
  ms < 100_000 ? `${Math.ceil(ms / 1_000)} s` : `${Math.ceil(ms / 60_000)} min`;

/** Combines hooks. Each call runs all hooks in order. */
export const notifyAll = (all: readonly SaturateHooks[]): SaturateHooks => ({
  onTarget: (server) => all.forEach((one) => void one.onTarget?.(server)),
  onPreparing: (line) => all.forEach((one) => void one.onPreparing?.(line)),
  onSecond: (progress) => all.forEach((one) => void one.onSecond?.(progress)),
  onProbing: (rate, bracket) => all.forEach((one) => void one.onProbing?.(rate, bracket)),
  onProbe: (probe, bracket, leftMs) =>
    all.forEach((one) => void one.onProbe?.(probe, bracket, leftMs)),
});

const rounded = (value: number) => Math.round(value).toLocaleString('en-US');
