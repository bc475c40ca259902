import { decidedText } from '../../report/shared/verdicts.js';
import { describeElections } from '../../sim/elections/rule-ballots.js';
import type { Finding, SimResult } from '../../sim/index.js';
import { describeTies } from '../../sim/run/result.js';

const number = (value: number) => value.toLocaleString('en-US');

export function summary(result: SimResult): string[] {
  const { measures, refused, scenario, broken, censored } = result;
  const ends = ['finalized', 'rejected', 'expired', 'orphaned'] as const;
  const closed = ends.map((end) => `${measures[end]} ${end}`).join(', ');
  const reasons = Object.entries(refused).map(([reason, count]) => `${number(count)} ${reason}`);
  const seconds = (milliseconds: number) => (milliseconds / 1000).toFixed(1);
  const rows: [string, string][] = [
    ['verdict', `${result.verdict}: ${decidedText(result.verdict, measures)}`],
    ...(broken
      ? [['broken', `${broken.rule}: ${broken.found} (expected ${broken.expected})`] as const]
      : []),
    ...(result.findings ?? []).map((one) => ['finding', findingText(one)] as const),
    ['ended by', result.ended_by],
    ...describeElections(result.elections).map((what) => ['election', what] as const),
    ...censored.map((what) => ['cut short', what] as const),
    ['blocks', `${measures.proposed} proposed: ${closed}`],
    ['votes', number(measures.votes ?? 0)],
    ...describeTies(result).map((what) => ['tied', what] as const),
    ['transactions', `${number(measures.transactions ?? 0)} finalized`],
    ['finality', finality(result)],
    ...deciders(result).map((line) => ['deciders', line] as const),
    ...figures(result).map((line) => ['reported', line] as const),
    ...(result.reported.missing ?? []).map((text) => ['warning', text] as const),
    ['refused', reasons.join(', ') || 'none'],
    ['log', `${number(result.entries)} entries, ${number(result.events)} events`],
    ['signatures', signatures(result)],
    ...(result.url === undefined && result.digest !== ''
      ? [['commits', `${number(result.commits)} durable`] as const]
      : []),
    ['time', `${seconds(result.virtual_ms)} s simulated in ${seconds(result.wall_ms)} s`],
    ['speed', `${number(result.votes_per_s)} votes/s`],
    ['memory', `${Math.round(result.peak_rss_bytes / 2 ** 20)} MiB peak`],
    ['seed', result.seed],
    ...(result.trace_digest === undefined ? [] : [['trace digest', result.trace_digest] as const]),
    ...(result.url === undefined
      ? ([
          ['log digest', result.log_digest || 'none (--log none)'],
          ['digest', result.digest || 'none (--log none)'],
        ] as const)
      : ([['server', `${result.url} keeps the log and the digest`]] as const)),
  ].map(([name, text]) => [name!, text!]);
  const lines = rows.map(([name, value]) => `${name.padEnd(13)} ${value}`);
  return [scenario.title, ...lines];
}

const findingText = ({ name, count, agent, at_ms, detail }: Finding): string =>
  `${name} (${number(count)}), first by ${agent} at ${number(at_ms)} ms: ${detail}`;

/** Formats the measures that scripts report, with one line for the run and one line per group. */
function figures({ reported }: SimResult): string[] {
  const line = (of: string, named: Record<string, number | null>) => {
    const each = Object.entries(named).map(([name, value]) => `${name} ${value ?? 'unknown'}`);
    return each.length === 0 ? [] : [`${of}${each.join(', ')}`];
  };
  const groups = Object.entries(reported.groups);
  return [...line('', reported.run), ...groups.flatMap(([of, named]) => line(`${of}: `, named))];
}

/** Formats the calls to external deciders. */
function deciders({ deciders: cost }: SimResult): string[] {
  if (!cost) return [];
  const { questions, asked, calls, retries, failures, input_tokens, output_tokens } = cost;
  const failed = Object.entries(failures).map(([reason, count]) => `${number(count)} ${reason}`);
  const tokens = [input_tokens, output_tokens].map(number).join(' input tokens, ');
  return [
    `${number(questions)} questions, ${number(asked)} asked in this run`,
    `${number(calls)} calls, including ${number(retries)} retries`,
    `failures: ${failed.join(', ') || 'none'}`,
    ...(input_tokens + output_tokens > 0 ? [`${tokens} output tokens`] : []),
  ];
}

function finality({ measures }: SimResult): string {
  const { finality_p50_ms: half, finality_p95_ms: most } = measures;
  return half === null ? 'none' : `p50 ${number(half)} ms, p95 ${number(most!)} ms`;
}

function signatures({ scenario, verified, verifier }: SimResult): string {
  if (scenario.signatures === 'none') return 'none (signatures: none)';
  if (verifier === 'server') return 'verified by the server';
  if (verifier === 'off') return 'not verified';
  return `${number(verified)} verified (${verifier})`;
}
