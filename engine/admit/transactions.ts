/** The transactions of a proposal: content hashes, types, and the signatures to verify. */
import type { VerifyJob } from '../crypto/verifier.js';
import { type Refusal, type RequestBody, refuse } from '../protocol/schema/index.js';
import { sha256Hex, transactionInput } from '../protocol/signing.js';
import { lowerAscii } from '../protocol/unicode/unicode.js';
import { hexBytes, signatureProblem } from './credentials.js';

type Transactions = RequestBody['propose']['transactions'];

const DATA_BYTES = 4 * 1024;

export function transactionProblem(transactions: Transactions): Refusal | null {
  for (const [index, transaction] of transactions.entries()) {
    const pointer = `/transactions/${index}`;
    if (Buffer.byteLength(transaction.data) > DATA_BYTES) {
      const message = `the data is larger than ${DATA_BYTES} bytes`;
      return refuse('SCHEMA', message, { pointer: `${pointer}/data` });
    }
    if (sha256Hex(transaction.data) !== lowerAscii(transaction.hash)) {
      const message = 'the hash is not the sha256 of the data';
      return refuse('HASH_MISMATCH', message, { pointer: `${pointer}/hash` });
    }
  }
  for (const [index, transaction] of transactions.entries()) {
    const refusal = signatureProblem(signatureOf(transaction));
    if (refusal) return { ...refusal, pointer: `/transactions/${index}/signature` };
  }
  return null;
}

export function transactionJobs(
  transactions: Transactions,
  producer: string,
  networkId: string,
): VerifyJob[] {
  return transactions.map((transaction) => ({
    publicKey: hexBytes(transaction.sender ?? producer),
    message: Buffer.from(transactionInput(networkId, transaction.hash)),
    signature: hexBytes(String(signatureOf(transaction))),
  }));
}

function signatureOf(transaction: object): unknown {
  return 'signature' in transaction ? transaction.signature : undefined;
}

/** The member `type` of data that is a JSON object and has a plain one, else `custom`. */
export function typeOf(data: string): string {
  if (!/^[\t\n\r ]*\{/.test(data)) return 'custom';
  try {
    const { type } = JSON.parse(data) as { type?: unknown };
    return typeof type === 'string' && /^[a-z_]{1,32}$/.test(type) ? type : 'custom';
  } catch {
    return 'custom';
  }
}
