import type { Verifier, VerifyJob } from '../../engine/crypto/verifier.js';
import { parseUnique } from '../../engine/protocol/repeated-members.js';
import { CliCommand } from '../options/options.js';
import { io } from '../output/io.js';
import { writeStdoutAsync } from '../output/output.js';

/** Lines per batch. */
const CHUNK = 4_096;
const LINE_BYTES = 16 * 1024 * 1024;

export function verifyCommand(): CliCommand {
  return new CliCommand('verify')
    .description('verify Ed25519 signatures from standard input')
    .choice('--verifier <name>', 'signature verifier', ['pool', 'inline', 'reference'], 'pool')
    .explain({
      notes: `
Reads NDJSON {public_key, message, signature} in hex. Prints one line per input
line, in order: {"valid": true|false}, or {"valid": false, "error": "..."} for a
malformed line. All verifiers give the same results.`,
      examples: [
        'verify < signatures.ndjson',
        'verify < signatures.ndjson | grep -c true',
        'verify --verifier reference < signatures.ndjson',
      ],
    })
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

/** Returns a job, or the problem with the line. */
function parse(line: string): VerifyJob | string {
  if (line.length > LINE_BYTES) return `line too long (limit ${LINE_BYTES} characters)`;
  let value: unknown;
  try {
    value = parseUnique(line);
  } catch {
    return 'invalid JSON';
  }
  const { public_key, message, signature } = (value ?? {}) as Record<string, unknown>;
  const publicKey = hex(public_key, 32);
  const bytes = hex(message, null);
  const signatureBytes = hex(signature, 64);
  if (!publicKey) return 'invalid public_key (expected 64 hex characters)';
  if (!bytes) return 'invalid message (expected hex)';
  if (!signatureBytes) return 'invalid signature (expected 128 hex characters)';
  return { publicKey, message: bytes, signature: signatureBytes };
}

/** Decodes hex. Returns null for invalid hex or a wrong length. */
function hex(text: unknown, bytes: number | null): Uint8Array | null {
  if (typeof text !== 'string' || !/^(?:[0-9a-fA-F]{2})*$/.test(text)) return null;
  return bytes === null || text.length === 2 * bytes ? Buffer.from(text, 'hex') : null;
}
