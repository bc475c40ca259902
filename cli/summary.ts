/** The readable summary of a run. */
import type { SimResult } from '../sim/index.js';

const number = (value: number) => value.toLocaleString('en-US');

export function summary(result: SimResult): string {
  const { blocks, refused } = result;
  const { proposed, ...closed } = blocks;
  const ends = Object.entries(closed).map(([end, count]) => `${count} ${end}`);
  const reasons = Object.entries(refused).map(([reason, count]) => `${number(count)} ${reason}`);
  const seconds = (milliseconds: number) => (milliseconds / 1000).toFixed(1);
  const rows: [string, string][] = [
    ['outcome', result.outcome],
    ['blocks', `${proposed} proposed: ${ends.join(', ')}`],
    ['votes', number(result.votes)],
    ['transactions', `${number(result.transactions.finalized)} finalized`],
    ['turned away', reasons.join(', ') || 'none'],
    ['log', `${number(result.entries)} entries, ${number(result.events)} events`],
    ['verified', `${number(result.verified)} signatures (${result.options.verifier})`],
    ['commits', `${number(result.commits)} durable`],
    ['time', `${seconds(result.virtual_ms)} s simulated in ${seconds(result.wall_ms)} s`],
    ['speed', `${number(result.votes_per_s)} votes/s`],
    ['memory', `${Math.round(result.peak_rss_bytes / 2 ** 20)} MiB at most`],
    ['seed', result.seed],
    ['log digest', result.log_digest],
    ['digest', result.digest],
  ];
  return rows.map(([name, value]) => `${name.padEnd(13)} ${value}`).join('\n');
}
