/** Remembers acknowledged writes and checks them later. */
import type { SignedRequest } from 'folkmoot';
import { agentId } from 'folkmoot/signing';
import type { Answer, Caller, Data } from './caller.js';

interface Promised {
  request: SignedRequest;
  data: Data;
}

export class Witness {
  #promised: Promised[] = [];
  #kept = 0;

  /** Number of acknowledged writes. */
  get total(): number {
    return this.#kept + this.#promised.length;
  }

  /** Records a response that acknowledges a write. */
  note(request: SignedRequest, { status, text }: Answer): boolean {
    if (status !== 200 && status !== 201) return false;
    this.#promised.push({ request, data: (JSON.parse(text) as { data: Data }).data });
    return true;
  }

  /** Checks all writes since the last check, then forgets these writes. */
  async expectKept(caller: Caller): Promise<void> {
    const promised = this.#promised;
    this.#promised = [];
    this.#kept += promised.length;
    const votes = new Map<string, Map<string, string>>();
    for (const { request, data } of promised) {
      if (request.kind === 'register') await expectAgent(caller, request, data);
      else if (request.kind === 'propose') await expectBlock(caller, request, data);
      else if (request.kind === 'meme') await expectMeme(caller, request, data);
      else if (request.kind === 'vote') await expectVote(caller, request, data, votes);
      else throw new Error(`no check of ${request.kind}`);
    }
  }
}

async function expectAgent(caller: Caller, { public_key }: SignedRequest, data: Data) {
  const id = agentId(public_key);
  expect(data.agent_id).toBe(id);
  expect(await caller.find(`/api/v1/agents/${id}`)).toMatchObject({
    public_key,
    registration_time: data.registration_time,
  });
}

async function expectBlock(caller: Caller, { public_key, body }: SignedRequest, data: Data) {
  expect(await caller.find(`/api/v1/blocks/${data.block_hash}`)).toMatchObject({
    ...{ public_key, height: data.height, proposal: JSON.parse(Buffer.from(body).toString()) },
  });
}

async function expectMeme(caller: Caller, { file }: SignedRequest, data: Data) {
  const { status, text } = await caller.call('GET', `/api/v1/social/memes/${data.meme_id}/content`);
  expect([status, text]).toEqual([200, Buffer.from(file!).toString()]);
}

/** Reads each voter's decision on a block once. */
async function expectVote(
  caller: Caller,
  { public_key, body }: SignedRequest,
  data: Data,
  seen: Map<string, Map<string, string>>,
) {
  const hash = String(data.block_hash);
  if (!seen.has(hash)) seen.set(hash, await votesOn(caller, hash));
  const { decision } = JSON.parse(Buffer.from(body).toString()) as { decision: string };
  expect(seen.get(hash)!.get(public_key), `${public_key} on ${hash}`).toBe(decision);
}

interface VotesPage {
  votes: { public_key: string; vote: { decision: string } }[];
  next_cursor: string | null;
}

async function votesOn(caller: Caller, hash: string): Promise<Map<string, string>> {
  const decisions = new Map<string, string>();
  for (let cursor: string | null = ''; cursor !== null; ) {
    const query: string = cursor === '' ? '' : `?cursor=${cursor}`;
    const page: VotesPage = await caller.read(`/api/v1/blocks/${hash}/votes${query}`);
    for (const { public_key, vote } of page.votes) decisions.set(public_key, vote.decision);
    cursor = page.next_cursor;
  }
  return decisions;
}
