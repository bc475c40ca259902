/** Hex in either case, over the wire and in process, yields the same outcomes, ids and digests. */
import {
  composeAllianceLeave,
  composeAlliancePropose,
  composeAllianceRespond,
  composeDiscuss,
  composeMeme,
  composeProposal,
  composeRegister,
  composeStatus,
  composeTransaction,
  composeVote,
  GENESIS_HASH,
  type Outcome,
  type Signatory,
  type SignedRequest,
  virtualClock,
} from 'folkmoot';
import { AgentClient, ApiError, generateKeys } from 'folkmoot/client';
import { agentId, allianceId, blockHash, httpInput, memeId, sha256Hex } from 'folkmoot/signing';
import { instant, START_MS } from '../support/citizens.js';
import { counts } from '../support/counts.js';
import { signatoryOf, testNetwork } from '../support/fixture.js';
import { fc, forAllAsync } from '../support/property.js';
import { oneTransport, serve } from '../support/service/server.js';

type Cased = (hex: string) => string;

/** Builds requests from two agents, with each hex text in the case that `cased` chooses. */
function life(cased: Cased): SignedRequest[] {
  const [ada, bob] = [1, 2].map((number): Signatory => {
    const { publicKey, sign } = signatoryOf(number);
    return { publicKey: cased(publicKey), sign: (input) => cased(sign(input)) };
  }) as [Signatory, Signatory];
  const capabilities = ['validator', 'producer'] as const;
  const profile = { personality: 'Lawful', name: 'n', capabilities };
  const at = instant(0);
  const own = composeTransaction(ada, 'testnet', 'own', false);
  const other = composeTransaction(bob, 'testnet', 'other', true);
  const fields = {
    parent_hash: cased(GENESIS_HASH),
    transactions: [own, other].map((one) => ({ ...one, hash: cased(one.hash) })),
  };
  const key = ada.publicKey.toLowerCase();
  const block_hash = blockHash({ ...fields, timestamp: at }, key, 'testnet');
  const allies = { target_ids: [agentId(bob.publicKey)], purpose: 'win' };
  const founding = composeAlliancePropose(ada, at, allies);
  const ally = allianceId(key, sha256Hex(inputOf(founding)));
  const discussion = { block_hash: cased(block_hash), message: 'm', sentiment: 'neutral' } as const;
  return [
    ...[composeRegister(ada, at, profile), composeRegister(bob, at, profile)],
    composeStatus(ada, at, agentId(key), { status: 'active', expected_duration: '' }),
    composeMeme(ada, at, { caption: 'gm', tags: ['A', 'a'], file: Buffer.from('gm') }),
    ...[composeProposal(ada, at, fields), composeDiscuss(bob, at, discussion), founding],
    ...[composeAllianceRespond(bob, at, ally, true), composeAllianceLeave(bob, at, ally)],
    composeVote(ada, at, { block_hash: cased(block_hash), decision: 'approve' }),
    composeVote(bob, at, { block_hash: cased(block_hash), decision: 'approve' }),
  ];
}

function inputOf({ target, timestamp, body }: SignedRequest): string {
  return httpInput({ method: 'POST', target, timestamp, bodySha256: sha256Hex(body) });
}

/** The response, or the reason for the refusal. */
type CallerAnswer = { data: object } | { reason: string };
const answerTo = (outcome: Outcome): CallerAnswer =>
  'data' in outcome ? { data: outcome.data } : { reason: outcome.refusal.reason };

async function inProcess(requests: readonly SignedRequest[]) {
  const { network, clock, submit } = await testNetwork({ genesis: { network_id: 'testnet' } });
  const answers: CallerAnswer[] = [];
  for (const [index, request] of requests.entries()) {
    clock.set(START_MS + index);
    answers.push(answerTo(await submit(request)));
  }
  const { digest, log_digest } = network.read.position;
  return { answers, digest, log_digest };
}

async function overTheWire(requests: readonly SignedRequest[], transport: 'uws' | 'node') {
  const clock = virtualClock(START_MS);
  const server = await serve({ transport, clock });
  const client = new AgentClient({ url: server.url, keys: generateKeys() });
  const answers: CallerAnswer[] = [];
  for (const [index, request] of requests.entries()) {
    clock.set(START_MS + index);
    const answer = client.send(request).then(
      (data) => ({ data: data as object }),
      (error) => ({ reason: String(error instanceof ApiError ? error.reason : error) }),
    );
    answers.push(await answer);
  }
  const { digest, log_digest } = server.network.read.position;
  await server.close();
  return { answers, digest, log_digest };
}

const lower = life((hex) => hex);
const idOf = ({ data }: { data?: Record<string, unknown> }, member: string) => data?.[member];

test.each(oneTransport)('case over %s: takes hex in either case', async (transport) => {
  const plain = await inProcess(lower);
  expect(plain.answers.filter((answer) => 'reason' in answer)).toEqual([]);
  const masks = fc.array(fc.integer({ min: 0, max: 0xffff }), { minLength: 1, maxLength: 40 });
  await forAllAsync([masks], { numRuns: counts.casedLives, seed: 20_260_701 }, async (mask) => {
    let drawn = 0;
    const cased: Cased = (hex) => {
      const bits = mask[drawn++ % mask.length]!;
      const of = (character: string, index: number) =>
        bits & (1 << (index % 16)) ? character.toUpperCase() : character;
      return [...hex].map(of).join('');
    };
    const requests = life(cased);
    const here = await inProcess(requests);
    expect(await overTheWire(requests, transport)).toEqual(here);
    // Ids derived from the content as sent differ. All other ids, and the effects, are the same.
    for (const [index, answer] of here.answers.entries()) {
      expect('reason' in answer ? answer : null).toBe(null);
      for (const member of ['agent_id', 'meme_id']) {
        expect(idOf(answer as never, member)).toBe(idOf(plain.answers[index] as never, member));
      }
    }
  });
});

test('case: an upper-case content_sha256 is the same meme', async () => {
  const by = signatoryOf(1);
  const [register] = lower;
  const posted = composeMeme(by, instant(0), { caption: 'c', tags: [], file: Buffer.from('gm') });
  const form = JSON.parse(Buffer.from(posted.body).toString()) as Record<string, string>;
  const upper = { ...form, content_sha256: form.content_sha256!.toUpperCase() };
  const body = Buffer.from(JSON.stringify(upper));
  const { submit } = await testNetwork({ genesis: { network_id: 'testnet' } });
  await submit(register!);
  const { data } = answerTo(await submit({ ...posted, body })) as { data: { meme_id: string } };
  const signed = { caption: 'c', content_sha256: form.content_sha256!, tags: [] };
  expect(data.meme_id).toBe(memeId(by.publicKey, { ...signed, timestamp: instant(0) }));
  expect(await submit(posted)).toMatchObject({ result: 'duplicate', data });
});
