/** /api/v1/agents/{id}/decisions: what an agent's votes rested on, where that was recorded. */
import {
  type RecordOf,
  type Refusal,
  refuse,
  type ServedNetwork,
} from '../../../engine/internal.js';
import { serverBounds } from '../../contract/limit-table.js';
import type { Decided } from '../../contract/run.js';
import {
  badQuery,
  expectedCursor,
  expectedRows,
  number,
  pathProblem,
  rowsOf,
} from '../reads/parameters.js';
import { success } from '../response/envelope.js';
import type { Showing } from './shown.js';

const none = (why: string) => ({ refusal: refuse('NO_DECISIONS', why) });
const unknownRun =
  'of agents that no simulation made nobody knows what their votes rest on; of those of a run ' +
  'folkmoot explore DIR shows it, where sim --set measure.decisions=true recorded it';

/** Newest first. */
export const agentDecisions: Showing = async ({ services, params: [id = ''] }, query) => {
  const { network, run } = services;
  const { read } = network;
  const refusal = pathProblem('agent_id', id);
  if (refusal) return { refusal };
  const limit = rowsOf(query);
  if (limit === null) return badQuery('limit', expectedRows);
  const before = number(query, 'cursor', Number.MAX_SAFE_INTEGER);
  if (before === null) return badQuery('cursor', expectedCursor);
  const at = number(query, 'at', Number.MAX_SAFE_INTEGER);
  if (at === null) return badQuery('at', 'the number of an entry');
  const profile = read.record('agents', id);
  if (!profile) return { refusal: refuse('UNKNOWN_AGENT', `no agent has the id ${id}`) };
  if (!run) return none(unknownRun);
  const { decisions } = run;
  if (typeof decisions === 'string') return none(decisions);
  const place = run.placeOf(profile);
  if (place === null) return none(`${id} is not of the scenario`);
  const blocks = await decisions.blocksOf(place);
  if (typeof blocks === 'string') return none(blocks);
  const votes = votesOf(network, profile.ordinal);
  const recorded = placeAfter(blocks, (block) => (votes(block)?.entry ?? 0) <= at);
  const end = Math.min(before, recorded);
  const from = Math.max(0, end - limit);
  const lines = await decisions.read(place, from, end);
  const rows: object[] = [];
  let bytes = 0;
  for (const line of lines.reverse()) {
    const row = rowOf(network, line, votes(line.block));
    if (row === null) return { refusal: contradiction(id, line.block) };
    bytes += Buffer.byteLength(JSON.stringify(row));
    if (bytes > serverBounds.pageBytes && rows.length > 0) break;
    rows.push(row);
  }
  const left = end - rows.length;
  const next_cursor = left > 0 && rows.length > 0 ? String(left) : null;
  return success(200, { agent_id: id, recorded, decisions: rows, next_cursor });
};

const votesOf =
  ({ read }: ServedNetwork, agent: number) =>
  (block: number): RecordOf['votes'] | undefined =>
    read.record('votes', [block, agent]);

/** How many at the beginning of a list fit: those that do come before those that do not. */
function placeAfter(blocks: readonly number[], fits: (block: number) => boolean): number {
  let low = 0;
  let high = blocks.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (fits(blocks[middle]!)) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Null where the log has no such vote. */
function rowOf({ read }: ServedNetwork, line: Decided, vote: RecordOf['votes'] | undefined) {
  const { block: ordinal, decision, ...reasons } = line;
  if (vote?.decision !== decision) return null;
  const { block_hash } = read.record('block_numbers', ordinal)!;
  const { height } = read.record('blocks', block_hash)!.context;
  const { entry, at } = vote;
  return { block_hash, height, decision, entry, at, ...reasons };
}

function contradiction(id: string, block: number): Refusal {
  const what = `the vote of ${id} on block number ${block}`;
  return refuse('LOG_DAMAGED', `what was recorded of ${what} is not what the log says`);
}
