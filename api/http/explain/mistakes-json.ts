/** Mistakes in texts that are signed as canonical JSON of a request's members. */
import { type Admitted, type CommandKind, canonical, carriage } from '../../../engine/internal.js';
import { httpInput, sha256Hex } from '../../../engine/protocol/signing.js';
import type { Candidate } from './candidate.js';

type Members = Record<string, unknown>;

const nameOf = (kind: CommandKind) => (kind === 'propose' ? 'block' : kind);

export function ofJson({ request, raw, command }: Admitted): Candidate[] {
  const { kind } = command;
  const { signature: _, ...rest } = raw;
  const members: Members = kind === 'meme' ? { ...rest, timestamp: request.timestamp } : rest;
  const { method, path } = carriage[kind];
  const { timestamp, body } = request;
  const prefix = `agentnet-v1-${nameOf(kind)}`;
  return [
    ...ofMembers(prefix, members),
    {
      mistake: 'other_kind',
      advice: `this request is signed as ${prefix}, not by header`,
      message: httpInput({ method, target: path, timestamp, bodySha256: sha256Hex(body) }),
    },
    ...wrongPrefixes(kind, canonical(members)),
  ];
}

/** Other JSON of the members, or JSON of other members. */
function ofMembers(prefix: string, members: Members): Candidate[] {
  const json = (mistake: string, advice: string, text: string): Candidate => ({
    mistake,
    advice: `${advice}; sign RFC 8785 canonical JSON of all members but signature`,
    message: `${prefix}\n${text}`,
  });
  const { timestamp: _, ...timeless } = members;
  const order = 'members were signed in the order they are sent';
  const blanks = 'JSON with blanks was signed';
  const member = 'a member signature was signed';
  return [
    json('json_not_canonical', order, JSON.stringify(members)),
    json('json_not_canonical', blanks, spaced(members, false)),
    json('json_not_canonical', blanks, spaced(members, true)),
    json('signature_member', member, canonical({ ...members, signature: '' })),
    json('signature_member', member, canonical({ ...members, signature: null })),
    json('timestamp', 'the timestamp was left out', canonical(timeless)),
  ];
}

/** As Python's json.dumps writes it. */
function spaced(value: unknown, sorted: boolean): string {
  if (Array.isArray(value)) return `[${value.map((item) => spaced(item, sorted)).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value);
  if (sorted) members.sort(([a], [b]) => (a < b ? -1 : 1));
  const texts = members.map(([name, one]) => `${JSON.stringify(name)}: ${spaced(one, sorted)}`);
  return `{${texts.join(', ')}}`;
}

function wrongPrefixes(kind: CommandKind, json: string): Candidate[] {
  const right = nameOf(kind);
  return ['vote', 'block', 'propose', 'meme']
    .filter((name) => name !== right)
    .map((name) => ({
      mistake: 'prefix',
      advice: `the first line agentnet-v1-${name} was signed; it is agentnet-v1-${right}`,
      message: `agentnet-v1-${name}\n${json}`,
    }));
}
