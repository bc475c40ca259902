/** Refused requests, each as costly as possible for its kind. */
import { type Agent, meme, propose, register, sha256, vote } from '../../support/service/signer.js';

export interface Costly {
  name: string;
  /** Request bytes, encoded once and sent repeatedly. */
  bytes: Buffer;
}

const MIB = 1024 * 1024;

type Headers = Record<string, string>;

function request(name: string, line: string, headers: Headers, body: string | Uint8Array = '') {
  const length = Buffer.byteLength(body as Uint8Array);
  const lines = Object.entries({ Host: '127.0.0.1', ...headers, 'Content-Length': length });
  const head = [`${line} HTTP/1.1`, ...lines.map(([header, value]) => `${header}: ${value}`)];
  const bytes = [`${head.join('\r\n')}\r\n\r\n`, body];
  return { name, bytes: Buffer.concat(bytes.map((part) => Buffer.from(part as Uint8Array))) };
}

const POST = {
  ...{ register: 'POST /api/v1/agents/register', vote: 'POST /api/v1/consensus/vote' },
  ...{ propose: 'POST /api/v1/blocks/propose', meme: 'POST /api/v1/social/memes' },
  ...{ discuss: 'POST /api/v1/consensus/discuss', verify: 'POST /api/v1/debug/verify' },
};

const zeros = (bytes: number) => `[${'0,'.repeat(bytes / 2 - 2)}0]`;
const members = (count: number) =>
  `{${Array.from({ length: count }, (_, index) => `"m${index}":"\\u00e9"`).join(',')}}`;

/** Returns requests with invalid signatures that name a registered key. */
export function costliest(known: Agent): Costly[] {
  const at = new Date().toISOString();
  const json = { 'Content-Type': 'application/json' };
  const keyed = { ...json, 'X-Agent-Public-Key': known.publicKey };
  const headed = { ...keyed, 'X-Timestamp': at, 'X-Agent-Signature': known.sign('something else') };
  const wrong = known.sign('something else');
  const proposal = bigProposal(known, at, wrong);
  return [
    request('an unknown path', 'GET /nothing', {}),
    request('another method', 'DELETE /api/v1/agents/register', {}),
    request('another media type', POST.register, { 'Content-Type': 'text/plain' }, 'x'),
    request('no credentials', POST.register, json, members(400)),
    request('an unknown key', POST.vote, { ...json, 'X-Agent-Public-Key': '0'.repeat(64) }, '{}'),
    request('zeros of 8 KiB', POST.vote, keyed, zeros(8_190)),
    request('members of 8 KiB', POST.discuss, headed, members(500)),
    request(
      'a vote with a wrong signature',
      POST.vote,
      keyed,
      wronged(vote(known, { block_hash: '0'.repeat(64) }), wrong),
    ),
    request('a wrongly signed registration', POST.register, headed, String(register(known).body)),
    request('zeros of 2 MiB', POST.propose, keyed, zeros(2 * MIB - 2)),
    request('members of 2 MiB', POST.propose, keyed, members(110_000)),
    request('texts of 2 MiB', POST.propose, keyed, JSON.stringify({ a: 'é'.repeat(1_000_000) })),
    request('a proposal of 2 MiB, wrongly signed', POST.propose, keyed, proposal),
    request('a meme that is a zip', POST.meme, ...zip(known, at, wrong)),
    request('a meme of many parts', POST.meme, ...parts(known, at)),
    request(
      'a request to look at, of 4 MiB',
      POST.verify,
      json,
      JSON.stringify({
        ...{ method: 'POST', target: '/api/v1/blocks/propose', headers: keyed, body: proposal },
      }),
    ),
    request('zeros to look at, of 4 MiB', POST.verify, json, zeros(4 * MIB - 4)),
  ];
}

const wronged = (sent: { body: string | Uint8Array }, signature: string) =>
  JSON.stringify({ ...JSON.parse(String(sent.body)), signature });

/** Builds a proposal of the largest valid size, with correct transaction hashes. */
function bigProposal(by: Agent, timestamp: string, signature: string): string {
  const transactions = Array.from({ length: 160 }, (_, index) => {
    const data = `${index} `.padEnd(4_000, '\u0007x"');
    return { hash: sha256(data), data, signature };
  });
  const { body } = propose(by, { parent_hash: '0'.repeat(64), transactions: [] }, timestamp);
  return JSON.stringify({ ...JSON.parse(String(body)), transactions, signature });
}

function zip(by: Agent, timestamp: string, signature: string): [Headers, Uint8Array] {
  const file = Buffer.alloc(MIB - 1_000);
  Buffer.from('504b0304140000000800', 'hex').copy(file);
  const { headers, body } = meme(by, { file, caption: 'c' }, timestamp);
  const text = Buffer.from(body as Uint8Array);
  const at = text.indexOf('name="signature"\r\n\r\n') + 'name="signature"\r\n\r\n'.length;
  text.write(signature, at);
  return [headers, text];
}

function parts(by: Agent, timestamp: string): [Headers, string] {
  const { headers } = meme(by, { file: 'x' }, timestamp);
  const part = '--a-boundary-of-forms\r\nContent-Disposition: form-data; name="a"\r\n\r\nb\r\n';
  return [headers, `${part.repeat(12_000)}--a-boundary-of-forms--\r\n`];
}
