/** Certificates for every policy and weighting, and their trusted digests. */
import { createHash } from 'node:crypto';
import {
  type CertificateHolds,
  type CheckCertificateOptions,
  certify,
  checkCertificate,
  prepareSandbox,
  storedLines,
  weightings,
} from 'folkmoot';
import { temporaryFolder } from '../../support/fixture.js';
import { openForReading } from '../../support/runs.js';
import { answerOf, newPopulation } from '../helpers.js';
import { certificateOf, policies, type Town, town } from './town.js';

function holding(text: string, options?: CheckCertificateOptions): CertificateHolds {
  const checked = checkCertificate(text, options);
  if (!checked.holds) throw new Error(`${checked.where}: ${checked.problem}`);
  return checked;
}

async function digestsOf({ path }: Town): Promise<string[]> {
  const store = openForReading(path);
  const lines = [...storedLines(store, 0, store.meta()!.seq)];
  await store.close();
  return lines.map(({ digest }) => digest!);
}

const cases = policies.flatMap((policy) => weightings.map((weights) => [policy, weights] as const));

test.each(cases)('certify: makes valid certificates with %s and %s', async (...of) => {
  const [policy, weights] = of;
  const decided = await town(policy, weights);
  const digests = await digestsOf(decided);
  for (const [status, block] of Object.entries(decided.blocks)) {
    // Certificates with all entries, and with required entries only.
    for (const bridgeBytes of [undefined, 0]) {
      const how = bridgeBytes === undefined ? {} : { bridgeBytes };
      const text = await certificateOf(decided, block, how);
      const { claim, genesis, votes, spans, proposal } = holding(text);
      expect(claim).toMatchObject({ network_id: 'devnet', block_hash: block, status });
      expect(genesis).toMatchObject({ policy, weights });
      const weightOf = (side: string) =>
        votes.filter(({ decision }) => decision === side).reduce((sum, one) => sum + one.weight, 0);
      expect([claim.approve, claim.reject]).toEqual([weightOf('approve'), weightOf('reject')]);
      for (const { last, digest } of spans) expect(digest).toBe(digests[last]);
      expect(spans.length > 1).toBe(bridgeBytes === 0);
      if (status === 'finalized') expect(proposal.body.state_diff).toBeDefined();
    }
  }
});

test('checkCertificate: needs one trusted digest for a single span', async () => {
  const decided = await town('bft', 'reputation');
  const digests = await digestsOf(decided);
  const text = await certificateOf(decided, decided.blocks.rejected);
  const alone = holding(text);
  expect(alone.trusts).toHaveLength(1);
  expect(alone.trusts[0]).toContain(`digest ${alone.spans[0]!.digest} after entry`);
  const { last } = alone.spans[0]!;
  const bound = holding(text, { trusted: [{ seq: last, digest: digests[last]! }] });
  expect(bound.trusts).toEqual([expect.stringMatching(`entry ${last}\\b`)]);
  expect(bound.spans[0]!.trusted_to).toBe(last);
  // A digest before the end covers only the preceding entries, such as genesis.
  const early = holding(text, { trusted: [{ seq: 3, digest: digests[3]! }] });
  expect(early.trusts).toEqual([
    expect.stringContaining(`digest ${alone.spans[0]!.digest} after entry`),
    expect.stringMatching('entry 3\\b'),
  ]);
  expect(alone.trusts[0]).toContain('parameters');
  expect(early.trusts[0]).not.toContain('parameters');
});

test('certificate: can extend to a later entry whose digest is known', async () => {
  const decided = await town('veto', 'alliance_bonus');
  const { end, blocks } = decided;
  const digests = await digestsOf(decided);
  const text = await certificateOf(decided, blocks.finalized, { through: end });
  const { spans } = holding(text, { trusted: [{ seq: end, digest: digests[end]! }] });
  expect(spans.at(-1)!.last).toBe(end);
  const beyond = certificateOf(decided, blocks.finalized, { through: end + 1 });
  await expect(beyond).rejects.toMatchObject({ problem: 'CERTIFY_LOG_END' });
  const gap = certificateOf(decided, blocks.finalized, { through: end, bridgeBytes: 0 });
  await expect(gap).rejects.toMatchObject({ problem: 'CERTIFY_GAP' });
});

test('certify: refuses to end before the entry that decided the block', async () => {
  const decided = await town('majority', 'equal');
  const { finalized } = decided.blocks;
  const { last } = holding(await certificateOf(decided, finalized)).spans.at(-1)!;
  const early = certificateOf(decided, finalized, { through: last - 1 });
  await expect(early).rejects.toMatchObject({ code: 'MISSING', problem: 'CERTIFY_TOO_EARLY' });
  const { spans } = holding(await certificateOf(decided, finalized, { through: last }));
  expect(spans.at(-1)!.last).toBe(last);
});

test('checkCertificate: refuses a trusted digest of another log', async () => {
  const decided = await town('majority', 'equal');
  const text = await certificateOf(decided, decided.blocks.finalized);
  const of = (seq: number, digest: string) =>
    checkCertificate(text, { trusted: [{ seq, digest }] });
  expect(of(2, 'ab'.repeat(32))).toMatchObject({ code: 'TRUSTED_DIGEST_MISMATCH' });
  expect(of(9_999, 'ab'.repeat(32))).toMatchObject({ code: 'TRUSTED_ENTRY_MISSING' });
});

test('certify: refuses an unknown or undecided block', async () => {
  const refused = (problem: string, named = '') =>
    expect.objectContaining({ problem, message: expect.stringContaining(named) });
  const decided = await town('bft', 'equal');
  const unknown = 'f'.repeat(64);
  const missing = refused('BLOCK_NOT_FOUND', unknown);
  await expect(certificateOf(decided, unknown)).rejects.toEqual(missing);
  await expect(certificateOf(decided, 'f')).rejects.toEqual(refused('BAD_BLOCK_HASH'));
  const people = await newPopulation({ path: `${decided.path}/other`, verifier: 'inline' });
  const [ada] = await people.joinMany(1, ['validator', 'producer']);
  const open = await people.open(ada!);
  const other = { path: `${decided.path}/other` };
  const undecided = (status: string) => refused('BLOCK_UNDECIDED', status);
  await expect(certificateOf(other, open)).rejects.toEqual(undecided('voting'));
  await people.wait(60_000);
  await expect(certificateOf(other, open)).rejects.toEqual(undecided('expired'));
});

test('certify: stops when its signal is aborted', async () => {
  const { path, blocks } = await town('bft', 'equal');
  const store = openForReading(path);
  const lines = storedLines(store, 0, store.meta()!.seq);
  const signal = AbortSignal.abort(new Error('enough'));
  await expect(certify({ lines, block: blocks.finalized, signal })).rejects.toThrow('enough');
  await store.close();
});

test('certificate: a block of a module with vetoes holds without running the module', async () => {
  await prepareSandbox();
  const source = `export default {
    usesVetoes: true,
    decide: ({ vetoes }, _, over) => vetoes > 0 ? 'rejected' : over ? 'expired' : null,
  };`;
  const path = temporaryFolder();
  const genesis = { policy: 'module', rule: { source } };
  const people = await newPopulation({ path, genesis, verifier: 'inline' });
  const lawful = await people.joinMany(3, ['validator', 'producer'], { personality: 'lawful' });
  await people.joinMany(2, ['validator'], { personality: 'greedy' });
  const block = await people.open(lawful[0]!);
  await people.votes(lawful, block, 'reject');
  const text = await certificateOf({ path }, block, { bridgeBytes: 0 });
  const { claim, proves, trusts } = holding(text);
  expect(claim).toMatchObject({ status: 'rejected', reject: 3, total: 5 });
  expect(proves).toHaveLength(2);
  const sha256 = createHash('sha256').update(source).digest('hex');
  expect(trusts.join()).toContain(sha256);
  expect(holding(text, { rules: [sha256] }).proves).toHaveLength(3);
});

test('certificate: holds if the state diff and the chosen option set the same key', async () => {
  const path = temporaryFolder();
  const genesis = { policy: 'plurality' };
  const people = await newPopulation({ path, genesis, verifier: 'inline' });
  const [ada, ben] = await people.joinMany(2, ['validator', 'producer']);
  const diff = (additions: Record<string, unknown>, deletions = {}) => ({ additions, deletions });
  const options = [
    { name: 'x', state_diff: diff({ both: 'x' }, { gone: 0 }) },
    { name: 'y', state_diff: diff({ both: 'y' }) },
  ];
  const state_diff = diff({ both: 'all', gone: 1, kept: 1 });
  const block = await people.open(ada!, { options, state_diff });
  for (const by of [ada!, ben!]) {
    answerOf(await people.vote(by, block, 'approve', { ballot: { option: 'x' } }));
  }
  expect(holding(await certificateOf({ path }, block)).claim.choice).toBe('x');
  const { read } = people.network;
  const values = ['both', 'gone', 'kept'].map((key) => read.record('state', key)?.value);
  expect(values).toEqual(['x', undefined, 1]);
});
