/** Repeated votes while blocks close and the server is killed. The responses agree with the log. */
import { join } from 'node:path';
import { composeVote, type Decision, type SignedRequest } from 'folkmoot';
import { counts } from '../../support/counts.js';
import { signatoryOf, temporaryFolder } from '../../support/fixture.js';
import { type Host, host, stop } from '../../support/host.js';
import { type Line, logLines } from '../../support/runs.js';
import { drawnFrom, seed } from '../../support/seeded.js';
import { stamp } from '../../support/service/signer.js';
import { proposal, registration } from '../clients/actions.js';
import { type Answer, Caller, expectCut, inParallel } from '../clients/caller.js';

const draw = drawnFrom(seed);
const voters = Array.from({ length: 21 }, (_, number) => signatoryOf(number));

/** Returns the signature, which is in the vote's body. */
const signatureIn = (body: string): string => JSON.parse(body).signature as string;

interface Told {
  request: SignedRequest;
  signature: string;
  block: string;
  decision: Decision;
  /** Response; null if the connection was cut earlier. */
  answer: (Answer & { duplicate: boolean }) | null;
}

class Crowd {
  readonly told: Told[] = [];
  readonly #drawn: (below: number) => number;

  constructor(drawn: (below: number) => number) {
    this.#drawn = drawn;
  }

  /**
   * All agents vote on one block, then repeat the same bytes, send a newly signed repeat, and vote
   * the opposite way.
   */
  async vote(caller: Caller, block: string): Promise<void> {
    const requests: SignedRequest[] = [];
    for (const by of voters) {
      const decision: Decision = this.#drawn(3) === 0 ? 'reject' : 'approve';
      const other: Decision = decision === 'approve' ? 'reject' : 'approve';
      const first = await composeVote(by, stamp(), { block_hash: block, decision });
      const anew = (milliseconds: number, what: Decision) =>
        composeVote(by, new Date(Date.now() - milliseconds).toISOString(), {
          block_hash: block,
          decision: what,
        });
      requests.push(first, first, first, await anew(500, decision), await anew(900, decision));
      if (this.#drawn(4) === 0) requests.push(await anew(300, other));
    }
    this.#shuffle(requests);
    await inParallel(requests, 48, (request) => this.send(caller, request));
  }

  async send(caller: Caller, request: SignedRequest): Promise<Told> {
    const { block_hash, decision, signature } = JSON.parse(Buffer.from(request.body).toString());
    const answer = await caller.send(request).catch((error) => {
      expectCut(error);
      return null;
    });
    const duplicate = answer?.status === 200 && JSON.parse(answer.text).data.duplicate === true;
    const whole = answer && { ...answer, duplicate };
    const told = { request, signature, block: block_hash, decision, answer: whole };
    this.told.push(told);
    return told;
  }

  #shuffle(items: unknown[]): void {
    for (let at = items.length - 1; at > 0; at -= 1) {
      const other = this.#drawn(at + 1);
      [items[at], items[other]] = [items[other], items[at]];
    }
  }
}

/** Returns the votes in the log: entries by signature, and each agent's vote on each block. */
function votesOf(lines: readonly Line[]) {
  const bySignature = new Map<string, Line[]>();
  const cast = new Map<string, string>();
  for (const line of lines) {
    if (line.kind !== 'vote') continue;
    const signature = signatureIn(line.body);
    bySignature.set(signature, [...(bySignature.get(signature) ?? []), line]);
    const { block_hash, decision } = JSON.parse(line.body);
    const id = `${line.public_key} ${block_hash}`;
    // A second vote contradicts the first, so it is logged as an equivocation and does not count.
    if (!cast.has(id)) cast.set(id, decision);
  }
  return { bySignature, cast };
}

/** Checks that each response is true. Returns the number of responses of each kind. */
function expectKept(told: readonly Told[], lines: readonly Line[]): Map<string, number> {
  const { bySignature, cast } = votesOf(lines);
  const counted = new Map<string, number>();
  for (const { request, signature, block, decision, answer } of told) {
    const logged = bySignature.get(signature) ?? [];
    expect(logged.length).toBeLessThanOrEqual(1);
    const how = answer === null ? 'cut' : answer.duplicate ? 'repeat' : String(answer.status);
    counted.set(how, (counted.get(how) ?? 0) + 1);
    if (answer === null) continue;
    const { status, text } = answer;
    const reason = status < 300 ? null : JSON.parse(text).error.details.reason;
    if (status === 201) {
      expect(logged.map(({ body }) => body)).toEqual([Buffer.from(request.body).toString()]);
    } else if (answer.duplicate) {
      // For a newly signed repeat, the log contains only the first vote.
      expect(cast.get(`${request.public_key} ${block}`), text).toBe(decision);
    } else {
      expect([409, ['ALREADY_VOTED', 'VOTING_CLOSED'].includes(reason)], text).toEqual([409, true]);
      if (reason === 'VOTING_CLOSED') expect(logged).toEqual([]);
    }
  }
  return counted;
}

/** Returns the responses to requests whose signature is not in the log. */
function missingBySignature(told: readonly Told[], lines: readonly Line[]): Told[] {
  const { bySignature } = votesOf(lines);
  const accepted = told.filter(({ answer }) => answer !== null && answer.status < 300);
  return accepted.filter(({ signature }) => !bySignature.has(signature));
}

async function propose(caller: Caller, number: number): Promise<string> {
  const { status, text } = await caller.send(await proposal(caller, voters[number % 21]!));
  expect(status, text).toBe(201);
  return (JSON.parse(text) as { data: { block_hash: string } }).data.block_hash;
}

async function found(data: string): Promise<void> {
  const server = await host({ data });
  const caller = new Caller(server.url);
  await inParallel(voters, 8, (by) => caller.do(registration(by, 'Voter')));
  caller.close();
  await stop(server);
}

describe(`repeats, seed ${seed}`, () => {
  test('vote: each response has its entry in the log under repeats and kills', async () => {
    const run = temporaryFolder();
    const data = join(run, 'network');
    await found(data);
    const crowd = new Crowd(draw);
    let server: Host | undefined;
    for (let round = 0; round < counts.repeatedBlocks; round += 1) {
      server ??= await host({ data, args: ['--transport', round % 2 === 0 ? 'uws' : 'node'] });
      const caller = new Caller(server.url, 48);
      const block = await propose(caller, round);
      const dying = round % 3 === 2 ? server : undefined;
      const kill = dying && setTimeout(() => void dying.kill('SIGKILL'), draw(250));
      await crowd.vote(caller, block);
      caller.close();
      clearTimeout(kill);
      if (!dying) continue;
      await dying.kill('SIGKILL');
      server = undefined;
    }
    if (server) await stop(server);
    const lines = await logLines(run);
    const counted = expectKept(crowd.told, lines);
    expect(counted.get('201')).toBeGreaterThan(0);
    expect(counted.get('repeat')).toBeGreaterThan(0);
    // The newly signed repeats are exactly the requests without a log entry.
    for (const { answer } of missingBySignature(crowd.told, lines)) {
      expect(answer).toMatchObject({ status: 200, duplicate: true });
    }
  });

  test('vote: a vote signed again after a lost response is a repeat of the first', async () => {
    const run = temporaryFolder();
    const data = join(run, 'network');
    await found(data);
    const crowd = new Crowd(draw);
    let server = await host({ data });
    let caller = new Caller(server.url);
    const block = await propose(caller, 0);
    const first = await composeVote(voters[0]!, stamp(), {
      block_hash: block,
      decision: 'approve',
    });
    // The commit is durable, but the response has not been sent.
    await server.kill('SIGKILL');
    const env = { FOLKMOOT_CRASH_AT: 'commit.after:1' };
    server = await host({ data, env });
    caller = new Caller(server.url);
    expect((await crowd.send(caller, first)).answer).toBe(null);
    await server.ended;
    server = await host({ data });
    caller = new Caller(server.url);
    const at = new Date(Date.now() + 1_000).toISOString();
    const anew = await composeVote(voters[0]!, at, { block_hash: block, decision: 'approve' });
    const { answer } = await crowd.send(caller, anew);
    expect(answer).toMatchObject({ status: 200, duplicate: true });
    await stop(server);
    const lines = await logLines(run);
    expectKept(crowd.told, lines);
    const missing = missingBySignature(crowd.told, lines).map(({ request }) => request);
    expect(missing).toEqual([anew]);
    const { bySignature } = votesOf(lines);
    expect(bySignature.get(crowd.told[0]!.signature)).toHaveLength(1);
  });
});
