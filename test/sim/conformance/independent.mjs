/**
 * A small second implementation, written from docs/protocol.md and docs/conformance.md alone: it
 * shares no code with the engine. It reads a suite and prints results, one JSON object per line:
 * all digests, signing inputs and ids of accepted requests, full status updates and quorums.
 */
import { createHash, createPublicKey, verify } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { quorumOf } from './independent-quorum.mjs';
import { Register } from './independent-status.mjs';

const [suite] = process.argv.slice(2);
const linesOf = (path) =>
  readFileSync(join(suite, path), 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
const print = (result) => process.stdout.write(`${JSON.stringify(result)}\n`);
export const sha256 = (...parts) => {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return hash.digest();
};
const hex = (text) => sha256(text).toString('hex');

/** RFC 8785 of JSON values: members by UTF-16 units, numbers as JavaScript prints them. */
function jcs(value) {
  if (Array.isArray(value)) return `[${value.map(jcs).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const names = Object.keys(value).sort();
  return `{${names.map((name) => `${JSON.stringify(name)}:${jcs(value[name])}`).join(',')}}`;
}

function framed(parts) {
  return Buffer.concat(
    parts.flatMap((part) => {
      const bytes = Buffer.from(part);
      const length = Buffer.alloc(8);
      length.writeBigUInt64BE(BigInt(bytes.length));
      return [length, bytes];
    }),
  );
}

const entryFrame = ({ seq, at, kind, ...of }) => {
  const { public_key = '', target = '', timestamp = '', signature = '', body = '' } = of;
  return framed([`${seq}`, `${at}`, kind, public_key, target, timestamp, signature, body]);
};

function bodyOf({ body, body_hex, body_filled }) {
  if (body_hex !== undefined) return Buffer.from(body_hex, 'hex');
  if (body_filled) return Buffer.alloc(body_filled.bytes, body_filled.byte);
  return Buffer.from(body);
}

const paths = {
  register: ['POST', '/api/v1/agents/register'],
  status: ['PUT'],
  discuss: ['POST'],
  alliance_propose: ['POST'],
  alliance_respond: ['POST'],
  alliance_leave: ['POST'],
};

const withoutSignature = ({ signature: _, ...rest }) => rest;

/** Text covered by a request's signature, and the signature. */
function signed(request) {
  const bytes = bodyOf(request);
  const { kind, target, timestamp, signature } = request;
  if (kind === 'vote' || kind === 'propose') {
    const body = JSON.parse(bytes);
    const name = kind === 'vote' ? 'vote' : 'block';
    const text = `agentnet-v1-${name}\n${jcs(withoutSignature(body))}`;
    return { text, signature: body.signature, body };
  }
  if (kind === 'meme') {
    const { caption, content_sha256, tags } = JSON.parse(bytes);
    const object = jcs({ caption, content_sha256: content_sha256.toLowerCase(), tags, timestamp });
    return { text: `agentnet-v1-meme\n${object}`, signature, object };
  }
  const [method] = paths[kind];
  const text = `agentnet-v1-http\n${method}\n${target}\n${timestamp}\n${hex(bytes)}`;
  return { text, signature };
}

export function isSignedBy(publicKey, text, signature) {
  const prefix = Buffer.from('302a300506032b6570032100', 'hex');
  const der = Buffer.concat([prefix, Buffer.from(publicKey, 'hex')]);
  const key = createPublicKey({ key: der, format: 'der', type: 'spki' });
  return verify(null, Buffer.from(text), key, Buffer.from(signature, 'hex'));
}

/** Ids derived from the request, by the member of the response that holds them. */
function idsOf(request, networkId) {
  const { text, body, object } = signed(request);
  const { kind } = request;
  const key = request.public_key.toLowerCase();
  const short = (name, ...rest) =>
    hex([`agentnet-v1-${name}`, key, ...rest].join('\n')).slice(0, 32);
  if (kind === 'register') return { agent_id: `agent_${short('agent')}` };
  if (kind === 'meme') return { meme_id: `meme_${short('memeid', object)}` };
  if (kind === 'alliance_propose') return { alliance_id: `ally_${short('allianceid', hex(text))}` };
  if (kind !== 'propose') return {};
  const whole = { ...withoutSignature(body), producer: key, network_id: networkId };
  return { block_hash: hex(`agentnet-v1-blockhash\n${jcs(whole)}`) };
}

const fail = (message) => {
  throw new Error(message);
};

function checkDone(name, { line, request }, outcome, networkId) {
  const { text, signature } = signed(request);
  isSignedBy(request.public_key, text, signature) || fail(`${name} ${line}: not signed`);
  for (const [member, id] of Object.entries(idsOf(request, networkId))) {
    outcome.data[member] === id || fail(`${name} ${line}: ${member} is not ${id}`);
  }
}

function playVectors({ name }) {
  const input = linesOf(`vectors/${name}.input.ndjson`);
  const expected = linesOf(`vectors/${name}.expected.ndjson`);
  const { genesis, at } = input[0];
  let [log, state] = [Buffer.alloc(32), Buffer.alloc(32)];
  const register = new Register();
  const quorum = quorumOf(genesis);
  const advance = ({ events, records, ...entry }) => {
    log = sha256(log, entryFrame(entry));
    state = sha256(state, log, framed([...events, ...records].map(jcs)));
    quorum.see(records);
    const { seq } = entry;
    return { seq, log_digest: log.toString('hex'), digest: state.toString('hex') };
  };
  const first = advance({ ...expected[0].entries[0], at, body: jcs(genesis) });
  print({ case: name, line: 0, entries: [first] });
  for (const [index, one] of input.entries()) {
    if (index === 0) continue;
    const { request } = one;
    const { outcome, entries } = expected[index];
    const done = request && (outcome.result === 'accepted' || outcome.result === 'equivocation');
    const computed = entries.map((entry, place) => {
      const own = done && place === entries.length - 1;
      return advance(own ? { ...entry, ...request, body: bodyOf(request) } : entry);
    });
    const judged = request && register.judge(request, bodyOf(request), { signed, isSignedBy });
    if (outcome?.result === 'accepted') {
      checkDone(name, one, outcome, genesis.network_id);
      register.learn(request, outcome, signed(request).text);
      if (request.kind === 'vote') quorum.check(`${name} ${one.line}`, request, outcome.data);
    }
    print({
      case: name,
      line: one.line,
      ...(judged ? { outcome: judged } : {}),
      entries: computed,
    });
  }
}

function playLog({ name }) {
  let log = Buffer.alloc(32);
  for (const entry of linesOf(`logs/${name}.ndjson`)) {
    log = sha256(log, entryFrame(entry));
    print({ case: name, line: entry.seq, log_digest: log.toString('hex') });
  }
}

const { cases } = JSON.parse(readFileSync(join(suite, 'suite.json'), 'utf8'));
for (const one of cases) (one.kind === 'log' ? playLog : playVectors)(one);
