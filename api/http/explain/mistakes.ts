/**
 * The common mistakes in what was signed: each gives a text, and the one whose signature holds is
 * what the client did. A search costs a handful of verifications, so callers bound how often.
 */
import {
  type Admitted,
  carriage,
  type Refusal,
  type ServedNetwork,
} from '../../../engine/internal.js';
import { sha256Hex } from '../../../engine/protocol/signing.js';
import type { Candidate } from './candidate.js';
import { ofHeader } from './mistakes-header.js';
import { ofJson } from './mistakes-json.js';

export interface Mistake {
  mistake: string;
  message: string;
}

/** How many texts are tried at the most, and of which bodies: to build them must be cheap. */
const MOST_CANDIDATES = 20;
const MOST_BYTES = 8 * 1024;

export const withMistake = (refusal: Refusal, { mistake, message }: Mistake): Refusal => ({
  ...refusal,
  message,
  details: { ...refusal.details, mistake },
});

/** The mistake that explains a signature which does not fit, or null. */
export async function mistakeOf(
  network: ServedNetwork,
  admitted: Admitted,
  host: string,
): Promise<Mistake | null> {
  if (admitted.request.body.length > MOST_BYTES) return null;
  const candidates = candidatesOf(network, admitted, host).slice(0, MOST_CANDIDATES);
  const signature = Buffer.from(admitted.signature, 'hex');
  const held = await Promise.all(
    candidates.map(({ message, publicKey = admitted.command.public_key }) =>
      network.verification
        .text({
          publicKey: Buffer.from(publicKey, 'hex'),
          message: Buffer.from(message as string),
          signature,
        })
        // A verifier that is busy has better things to do.
        .catch(() => false),
    ),
  );
  const found = candidates[held.indexOf(true)];
  if (!found) return null;
  const { mistake, advice } = found;
  return { mistake, message: `the signature does not fit; what was signed is known: ${advice}` };
}

function candidatesOf(network: ServedNetwork, admitted: Admitted, host: string): Candidate[] {
  const text = Buffer.from(admitted.ownJob().message).toString();
  const { kind } = admitted.command;
  const own = carriage[kind].signed === 'header' ? ofHeader(admitted, host) : ofJson(admitted);
  return [...ofText(text), ...own, ...ofOthers(network, admitted, text)];
}

/** What can happen to any text. */
function ofText(text: string): Candidate[] {
  const lines = text.split('\n');
  const [prefix = '', ...rest] = lines;
  return [
    {
      mistake: 'digest_signed',
      advice: 'the sha256 of the text was signed; sign the text itself',
      message: Buffer.from(sha256Hex(text), 'hex'),
    },
    {
      mistake: 'digest_signed',
      advice: 'the hex sha256 of the text was signed; sign the text itself',
      message: sha256Hex(text),
    },
    {
      mistake: 'prefix_missing',
      advice: `the first line is missing; begin with ${prefix} and a line feed`,
      message: rest.join('\n'),
    },
    {
      mistake: 'trailing_newline',
      advice: 'a line feed was signed at the end; the text ends without one',
      message: `${text}\n`,
    },
    {
      mistake: 'separator',
      advice: 'lines were ended with CR LF; they end with LF',
      message: lines.join('\r\n'),
    },
  ];
}

/** The key of the agent in the path, where another one is named in the header. */
function ofOthers(network: ServedNetwork, { command }: Admitted, text: string): Candidate[] {
  const agent = command.kind === 'status' ? network.read.agent(command.agent_id) : undefined;
  if (!agent || agent.public_key === command.public_key) return [];
  const named = command.public_key;
  const advice = `the key of ${agent.id} was used, but X-Agent-Public-Key names ${named}`;
  return [{ mistake: 'other_key', advice, message: text, publicKey: agent.public_key }];
}
