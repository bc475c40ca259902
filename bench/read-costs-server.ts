/**
 * A server over a run's folder, in its own process. The server measures every event-loop turn by
 * CPU time, so that other programs do not count. No other thread is working meanwhile.
 */
import { startServer } from '../api/index.js';
import { createVerifier } from '../engine/crypto/create-verifier.js';
import { Network } from '../engine/node/network.js';
import { composeProposal, composeStatus, composeVote } from '../engine/protocol/compose.js';
import type { SignedRequest } from '../engine/protocol/schema/entry.js';
import { formatInstant } from '../engine/protocol/schema/primitives.js';
import { agentId } from '../engine/protocol/signing.js';
import { deriveSignatory } from '../sim/agents/port.js';

/** Messages from the parent: commit an entry, or report the turns since the last report. */
export type Question = 'commit' | 'measured';
/** Longest turn and total of all turns since the last report. */
export interface TurnTimes {
  longestMs: number;
  totalMs: number;
}

const [path = '', seed = '', agents = ''] = process.argv.slice(2);

const verifier = createVerifier('inline');
const network = await Network.open({ path, genesis: { network_id: 'folkmoot-sim' }, verifier });
const by = Array.from({ length: Number(agents) }, (_, ordinal) => deriveSignatory(seed, ordinal));

/** Engine time continues from the end of the log. */
const now = () => formatInstant(Math.max(Date.now(), network.read.position.at));

async function submit(request: SignedRequest) {
  const outcome = await network.submit(await network.verify(request));
  if (outcome.result === 'accepted' && 'data' in outcome) return outcome.data;
  throw new Error(`${request.kind} not accepted: ${JSON.stringify(outcome)}`);
}

/** Opens a block for voting. Nine of ten electors vote, two thirds of them to approve. */
async function openBlock(): Promise<void> {
  const { producers } = network.read.activeAgents();
  const producer = by.find(({ publicKey }) => producers[0]!.public_key === publicKey)!;
  const parent_hash = network.read.networkState().head_hash;
  const proposed = await submit(
    composeProposal(producer, now(), { parent_hash, transactions: [] }),
  );
  if (!('block_hash' in proposed)) throw new Error('expected a block');
  const { block_hash } = proposed;
  const { electorate } = network.read.record('blocks', block_hash)!.context;
  const electors = new Map(
    network.read.electors(electorate).map(({ public_key }, place) => [public_key, place]),
  );
  const votes = by.flatMap((one) => {
    const place = electors.get(one.publicKey);
    if (place === undefined || place % 10 === 9) return [];
    const decision = place % 10 < 6 ? 'approve' : 'reject';
    return [composeVote(one, now(), { block_hash, decision, reason: 'as it seems to me' })];
  });
  await Promise.all(votes.map(submit));
}

await openBlock();
const server = await startServer({ network, limits: 'off', version: 'bench', transport: 'node' });

let measured: TurnTimes = { longestMs: 0, totalMs: 0 };
let last = process.cpuUsage();
function turn(): void {
  const usage = process.cpuUsage();
  const ms = (usage.user + usage.system - last.user - last.system) / 1_000;
  last = usage;
  measured.longestMs = Math.max(measured.longestMs, ms);
  measured.totalMs += ms;
  setImmediate(turn);
}

let commits = 0;
async function commit(): Promise<void> {
  commits += 1;
  const one = by[commits % by.length]!;
  const fields = { status: 'active', reason: `again ${commits}` } as const;
  await submit(composeStatus(one, now(), agentId(one.publicKey), fields));
}

process.on('message', async (question: Question) => {
  if (question === 'commit') await commit();
  process.send?.(measured);
  measured = { longestMs: 0, totalMs: 0 };
});
process.on('disconnect', () => process.exit(0));
process.send?.({ url: server.url });
turn();
