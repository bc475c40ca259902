/** What comes before a signature is verified: signing inputs, ids, schemas, admission. */
import { admitNow, bodyProblem, parseJson, type SignedRequest } from '../../../engine/internal.js';
import {
  agentId,
  blockHash,
  httpInput,
  memeInput,
  proposalInput,
  transactionInput,
  voteInput,
} from '../../../engine/protocol/signing.js';
import { defineCase, type Round } from '../../case.js';
import { composers } from '../../fixtures/bodies.js';
import { NETWORK_ID, signatories } from '../../fixtures/chain.js';
import { rateOver } from '../../raw/measure.js';
import type { Row } from '../../result.js';

const HASH = 'ab'.repeat(32);
const KEYS = 1_000;

interface Configuration {
  seconds: number;
}

type Body = Record<string, unknown>;
const bodyOf = (request: SignedRequest) => JSON.parse(Buffer.from(request.body).toString()) as Body;

async function run({ seconds }: Configuration, { seed }: Round): Promise<Row[]> {
  const by = signatories(seed, KEYS, false);
  const rows: Row[] = [];
  const rate = <T>(name: string, itemOf: (ordinal: number) => T, work: (item: T) => unknown) => {
    const items = Array.from({ length: / 100 /.test(name) ? 20 : 500 }, (_, at) => itemOf(at));
    const { perSecond, cpuUs } = rateOver(items, work, seconds);
    rows.push({ name, per_s: perSecond, cpu_us: cpuUs });
  };
  inputs(rate, by);
  for (const [kind, compose] of Object.entries(composers(HASH))) {
    const requestOf = (ordinal: number) => compose(by[ordinal % KEYS]!, ordinal);
    if (kind !== 'meme') rate(`admit: ${kind}`, requestOf, admitted);
    if (!/leave|respond/.test(kind)) rate(`schema: ${kind}`, withBody(requestOf), checked);
  }
  return rows;
}

const withBody = (requestOf: (ordinal: number) => SignedRequest) => (ordinal: number) => {
  const request = requestOf(ordinal);
  return { kind: request.kind, body: bodyOf(request) };
};

function checked({ kind, body }: { kind: SignedRequest['kind']; body: Body }): void {
  const problem = bodyProblem(kind, body);
  if (problem) throw new Error(`${kind} ${problem.pointer} ${problem.message}`);
}

function admitted(request: SignedRequest): void {
  const admission = admitNow(request, NETWORK_ID);
  if ('refusal' in admission) throw new Error(admission.refusal.message);
}

type Rate = <T>(name: string, itemOf: (ordinal: number) => T, work: (item: T) => unknown) => void;

/** Texts that signatures cover, and ids that follow from content. */
function inputs(rate: Rate, by: ReturnType<typeof signatories>): void {
  const kinds = composers(HASH);
  const of = (kind: string) => (ordinal: number) => kinds[kind]!(by[ordinal % KEYS]!, ordinal);
  const bodies = (kind: string) => (ordinal: number) => bodyOf(of(kind)(ordinal));
  const large = 'proposal, 100 transactions';
  rate('parse: vote', of('vote'), ({ body }) => parseJson(body));
  rate('signing input: vote', bodies('vote'), voteInput);
  rate(`signing input: ${large}`, bodies(large), proposalInput);
  rate(
    'signing input: transaction',
    (n) => `${n}`.padStart(64, '0'),
    (hash) => transactionInput(NETWORK_ID, hash),
  );
  rate('signing input: header', of('status'), ({ target, timestamp }) =>
    httpInput({ method: 'PUT', target, timestamp, bodySha256: HASH }),
  );
  rate('signing input: meme', bodies('meme'), (body) =>
    memeInput({ caption: `${body.caption}`, content_sha256: HASH, tags: [], timestamp: '' }),
  );
  rate('id: agent', (n) => `${n}`.padStart(64, '0'), agentId);
  rate(`id: ${large}`, bodies(large), (body) => blockHash(body, HASH, NETWORK_ID));
}

export const admissionCase = defineCase<Configuration>({
  name: 'admission',
  about: 'signing inputs, ids, schema validation and admission, on one thread',
  sizes: { small: { seconds: 0.1 }, large: { seconds: 2 } },
  run,
});
