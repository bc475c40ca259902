/**
 * Vector cases, from the files in `cases/`. `index.ndjson` lists the cases in suite order, and
 * `NAME.ndjson` has one {@link Step} per line. Steps are unsigned, so that a case can be changed by
 * hand; keys and timestamps are derived from numbers.
 */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { GenesisOptions } from '../../engine/admit/genesis.js';
import { keyPairFromSeed, sign } from '../../engine/crypto/keys.js';
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
  type Signatory,
  type SignedTransaction,
} from '../../engine/protocol/compose.js';
import { parseUnique } from '../../engine/protocol/repeated-members.js';
import type { CommandKind } from '../../engine/protocol/schema/command.js';
import { carriage, type SignedRequest } from '../../engine/protocol/schema/entry.js';
import { agentId, httpInput, sha256Hex } from '../../engine/protocol/signing.js';
import type { InputRequest } from './format.js';

/** 2025-01-01T00:00:00Z. */
export const START_MS = 1_735_689_600_000;
export const NETWORK_ID = 'conformance';

export interface Case {
  name: string;
  about: string;
  genesis?: Omit<Partial<GenesisOptions>, 'network_id'>;
  /** Final digests, which the tests compare with those of the engine. */
  log_digest: string;
  digest: string;
}

/** The path is valid in a checkout and in an installed package. */
export const caseFile = (name: string): string =>
  fileURLToPath(new URL(`../../../sim/conformance/cases/${name}.ndjson`, import.meta.url));

/** Returns the lines of a file in `cases/`. */
export const caseLines = (name: string): string[] =>
  readFileSync(caseFile(name), 'utf8').trimEnd().split('\n');

/** Returns the vector cases, in suite order. */
export const vectorCases = (): Case[] =>
  caseLines('index').map((line) => parseUnique(line) as Case);

/** Members of a body, or of a file, in one of its forms. */
type Bytes = Pick<InputRequest, 'body_hex' | 'body_filled' | 'file_base64' | 'file_filled'>;

/** A request to compose and sign. Timestamps are numbered: each is later than the one before. */
interface Unsigned extends Bytes {
  kind: CommandKind;
  /** Number of the agent that signs. */
  by: number;
  /** Id in the target. */
  to?: string;
  /** Members, or text that is signed as it is. */
  body?: Record<string, unknown> | string;
  /** Number of the timestamp, if it is not the next one. */
  stamp?: number;
  timestamp?: string;
}

/** A step submits a request, submits the request of an earlier line again, or lets time pass. */
interface Step extends Partial<Unsigned> {
  repeat?: number;
  /** Milliseconds. */
  pass?: number;
  /** Members that replace those of the signed request; null removes one. */
  set?: Partial<Record<keyof InputRequest, unknown>>;
  note?: string;
  /** `accepted`, `duplicate`, or a reason with its pointer. The tests compare it. */
  outcome?: string;
}

/** Returns an agent whose key depends only on its number. */
function agent(number: number): Signatory & { id: string } {
  const seed = new Uint8Array(32);
  new DataView(seed.buffer).setUint32(0, number);
  const keys = keyPairFromSeed(seed);
  const { publicKeyHex: publicKey } = keys;
  const signed = (input: string) => Buffer.from(sign(Buffer.from(input), keys)).toString('hex');
  return { publicKey, id: agentId(publicKey), sign: signed };
}

type Compose = (by: Signatory, timestamp: string, body: never, to: string) => SignedRequest;

const composers: Record<CommandKind, Compose> = {
  register: composeRegister,
  status: (by, timestamp, body, to) => composeStatus(by, timestamp, to, body),
  vote: composeVote,
  propose: composeProposal,
  meme: composeMeme,
  discuss: composeDiscuss,
  alliance_propose: composeAlliancePropose,
  alliance_respond: (by, timestamp, { accepted }, to) =>
    composeAllianceRespond(by, timestamp, to, accepted),
  alliance_leave: (by, timestamp, _, to) => composeAllianceLeave(by, timestamp, to),
};

/** Composes the requests of one case, step by step. */
export class Composer {
  readonly #requests: (InputRequest | null)[] = [null];
  /** Ids that requests created, by line. */
  readonly #created: string[] = [];
  #stamps = 0;

  /**
   * Parses a step and signs its request. Fills in the places `{agent 2}` (an id), `{key 2}` and
   * `{line 12}` (the block, meme or alliance that this line created).
   */
  read(text: string): { step: Step; request: InputRequest | null } {
    const step = parseUnique(
      text.replaceAll(/\{(agent|key|line) (\d+)\}/g, (_, what: string, number: string) => {
        if (what === 'line') return this.#created[Number(number)]!;
        const { id, publicKey } = agent(Number(number));
        return what === 'agent' ? id : publicKey;
      }),
    ) as Step;
    const signed =
      step.repeat !== undefined
        ? this.#requests[step.repeat]!
        : step.pass === undefined
          ? printRequest(this.#sign(step as Unsigned))
          : null;
    const request = signed && step.set ? changed(signed, step.set) : signed;
    this.#requests.push(request);
    return { step, request };
  }

  /** Keeps the id that the last step created, for later steps. */
  keep(answer: unknown): void {
    const { block_hash, meme_id, alliance_id } = answer as Record<string, string | undefined>;
    this.#created[this.#requests.length - 1] = block_hash ?? meme_id ?? alliance_id ?? '';
  }

  #sign(step: Unsigned): SignedRequest {
    const by = agent(step.by);
    const timestamp = step.timestamp ?? this.#stamp(step.stamp);
    const { kind, to = '', body = {} } = step;
    const isRaw = typeof body === 'string' || step.body_hex !== undefined || step.body_filled;
    const members = { ...(isRaw ? {} : (body as object)) } as Record<string, unknown>;
    if (kind === 'propose') members.transactions = transactionsIn(members.transactions);
    if (kind === 'meme') members.file = bytesOf(step.file_base64, 'base64', step.file_filled);
    const signed = composers[kind](by, timestamp, members as never, to);
    if (!isRaw) return signed;
    const { method } = carriage[kind];
    const raw =
      typeof body === 'string'
        ? Buffer.from(body)
        : bytesOf(step.body_hex, 'hex', step.body_filled);
    const input = { method, target: signed.target, timestamp, bodySha256: sha256Hex(raw) };
    return { ...signed, body: raw, signature: by.sign(httpInput(input)) };
  }

  #stamp(number = this.#stamps + 1): string {
    this.#stamps = number;
    return new Date(START_MS + number).toISOString();
  }
}

type Transaction = SignedTransaction | { by: number; data: string; by_sender?: boolean };

/** Signs the transactions that name an agent. */
const transactionsIn = (list: unknown): unknown =>
  (list as Transaction[]).map((one) =>
    'by' in one
      ? composeTransaction(agent(one.by), NETWORK_ID, one.data, one.by_sender === true)
      : one,
  );

const bodyForms = ['body', 'body_hex', 'body_filled'] as const;
const fileForms = ['file_base64', 'file_filled'] as const;

/** Replaces members; a new body or file replaces the old one in any form. */
function changed(request: InputRequest, set: NonNullable<Step['set']>): InputRequest {
  const result: Record<string, unknown> = { ...request };
  for (const forms of [bodyForms, fileForms]) {
    if (forms.some((form) => form in set)) for (const form of forms) delete result[form];
  }
  for (const [name, value] of Object.entries(set)) {
    if (value !== null) result[name] = value;
  }
  return printRequest(parseRequest(result as InputRequest));
}

type Filled = InputRequest['body_filled'];

const bytesOf = (text: string | undefined, encoding: BufferEncoding, filled: Filled): Uint8Array =>
  filled
    ? new Uint8Array(filled.bytes).fill(filled.byte)
    : Uint8Array.from(Buffer.from(text ?? '', encoding));

/** Returns the request that a printed request describes. */
export function parseRequest(printed: InputRequest): SignedRequest {
  const { body, body_hex, body_filled, file_base64, file_filled, ...head } = printed;
  const hasFile = file_base64 !== undefined || file_filled !== undefined;
  return {
    ...(head as SignedRequest),
    body: body === undefined ? bytesOf(body_hex, 'hex', body_filled) : Buffer.from(body),
    ...(hasFile ? { file: bytesOf(file_base64, 'base64', file_filled) } : {}),
  };
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Prints bytes that repeat one byte, and all others as text or in an encoding. */
function printBytes(bytes: Uint8Array, name: 'body' | 'file'): Partial<InputRequest> {
  const [byte] = bytes;
  if (byte !== undefined && bytes.length >= 4096 && bytes.every((one) => one === byte)) {
    return { [`${name}_filled`]: { byte, bytes: bytes.length } };
  }
  if (name === 'file') return { file_base64: Buffer.from(bytes).toString('base64') };
  try {
    return { body: utf8.decode(bytes) };
  } catch {
    return { body_hex: Buffer.from(bytes).toString('hex') };
  }
}

function printRequest(request: SignedRequest): InputRequest {
  const { kind, public_key, target, timestamp, signature, body, file } = request;
  const head = { kind, public_key, target, timestamp, signature };
  return { ...head, ...printBytes(body, 'body'), ...(file ? printBytes(file, 'file') : {}) };
}
