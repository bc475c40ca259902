/** A signing thread. Derives keys on first use. Secret keys stay in the thread. */
import { workerData } from 'piscina';
import { type KeyPair, keyPairFromSeed, sign } from '../../engine/crypto/keys.js';
import { sha256Hex, transactionInput } from '../../engine/protocol/signing.js';
import { deriveSecret } from '../../sim/agents/port.js';
import {
  hashedProposal,
  type LinkedBlock,
  type LinkTask,
  proposalBody,
  type SignTask,
  signedProposal,
  type TransactionTask,
  transactionData,
  type WorkerSetting,
} from './request-texts.js';

const setting = workerData as WorkerSetting;
const SIGNATURE_BYTES = 64;

const keys = new Map<number, KeyPair>();

function keyOf(ordinal: number): KeyPair {
  const known = keys.get(ordinal);
  if (known) return known;
  const secret = Buffer.from(deriveSecret(`load/${setting.seed}`, ordinal), 'hex');
  const made = keyPairFromSeed(secret);
  keys.set(ordinal, made);
  return made;
}

export function publicKeys(ordinals: readonly number[]): string[] {
  return ordinals.map((ordinal) => keyOf(ordinal).publicKeyHex);
}

export function signatures({ ordinals, inputs }: SignTask): Uint8Array {
  const messages = inputs.map((input) => Buffer.from(input));
  const made = new Uint8Array(ordinals.length * SIGNATURE_BYTES);
  for (const [index, ordinal] of ordinals.entries()) {
    const message = messages.length === 1 ? messages[0]! : messages[index]!;
    made.set(sign(message, keyOf(ordinal)), index * SIGNATURE_BYTES);
  }
  return made;
}

export function transactions({ first, count, senders }: TransactionTask): Uint8Array {
  const texts: string[] = [];
  for (let number = first; number < first + count; number += 1) {
    const key = keyOf(senders.first + (number % senders.count));
    const data = transactionData(setting.run, number, setting.payload);
    const hash = sha256Hex(data);
    const input = Buffer.from(transactionInput(setting.networkId, hash));
    const signature = hexOf(sign(input, key));
    texts.push(JSON.stringify({ data, hash, sender: key.publicKeyHex, signature }));
  }
  return new Uint8Array(Buffer.from(`[${texts.join(',')}]`));
}

/** Signs a chain of blocks. Each block's computed hash is the parent of the next block. */
export function links({ parent, blocks }: LinkTask): LinkedBlock[] {
  let tip = parent;
  return blocks.map(({ producer, timestamp, transactions }) => {
    const parts = { parent: tip, timestamp, transactions };
    const key = keyOf(producer);
    const signature = hexOf(sign(signedProposal(parts), key));
    const hash = sha256Hex(hashedProposal(parts, key.publicKeyHex, setting.networkId));
    const linked = { parent: tip, hash, body: new Uint8Array(proposalBody(parts, signature)) };
    tip = hash;
    return linked;
  });
}

const hexOf = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');
