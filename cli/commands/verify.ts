/** `folkmoot verify`: checks signatures, one JSON object a line in, one verdict a line out. */

import { Command, Option } from 'commander';
import type { Verifier, VerifyJob } from '../../engine/crypto/verifier.js';
import { io } from '../output/io.js';
import { writeStdoutAsync } from '../output/output.js';

/** Lines that are read ahead and checked together. */
const CHUNK = 4_096;
const LINE_BYTES = 16 * 1024 * 1024;

export function verifyCommand(): Command {
  return new Command('verify')
    .description('check Ed25519 signatures: NDJSON {public_key, message, signature} in hex')
    .addOption(
      new Option('--verifier <name>', 'who checks')
        .choices(['pool', 'inline', 'reference'])
        .default('pool'),
    )
    .addHelpText(
      'after',
      `
Reads standard input, writes {"valid": true|false} one for one, in order; a malformed line gets
{"valid": false, "error": "..."}. All verifiers obey the same rule, bit for bit.

Example:
  $ echo '{"public_key":"...","message":"","signature":"..."}' | folkmoot verify`,
    )
    .action(run);
}

async function run({ verifier: kind }: { verifier: 'pool' | 'inline' | 'reference' }) {
  const { createVerifier } = await import('../../engine/crypto/create-verifier.js');
  const { splitLines } = await import('../../engine/replay/lines.js');
  const verifier = createVerifier(kind);
  try {
    let chunk: string[] = [];
    for await (const line of splitLines(io().stdin)) {
      chunk.push(line);
      if (chunk.length < CHUNK) continue;
      await answer(verifier, chunk);
      chunk = [];
    }
    await answer(verifier, chunk);
  } finally {
    await verifier.close();
  }
}

async function answer(verifier: Verifier, lines: string[]): Promise<void> {
  const parsed = lines.map(parse);
  const jobs = parsed.filter((one): one is VerifyJob => typeof one !== 'string');
  const verdicts = await verifier.verify(jobs);
  let next = 0;
  const results = parsed.map((one) => {
    if (typeof one === 'string') return { valid: false, error: one };
    next += 1;
    return { valid: verdicts[next - 1] };
  });
  await writeStdoutAsync(...results.map((result) => JSON.stringify(result)));
}

/** A job, or what is wrong with the line. */
function parse(line: string): VerifyJob | string {
  if (line.length > LINE_BYTES) return `the line is longer than ${LINE_BYTES} characters`;
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return 'the line is not JSON';
  }
  const { public_key, message, signature } = (value ?? {}) as Record<string, unknown>;
  const publicKey = hex(public_key, 32);
  const bytes = hex(message, null);
  const signatureBytes = hex(signature, 64);
  if (!publicKey) return 'public_key is not 64 hex characters';
  if (!bytes) return 'message is not hex';
  if (!signatureBytes) return 'signature is not 128 hex characters';
  return { publicKey, message: bytes, signature: signatureBytes };
}

/** Bytes of a hex text of the given length, or null. */
function hex(text: unknown, bytes: number | null): Uint8Array | null {
  if (typeof text !== 'string' || !/^(?:[0-9a-fA-F]{2})*$/.test(text)) return null;
  return bytes === null || text.length === 2 * bytes ? Buffer.from(text, 'hex') : null;
}
