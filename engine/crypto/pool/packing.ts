/**
 * Batches as one buffer, so that a batch crosses the thread boundary as one transfer.
 * Layout: count, then each message's length (32-bit, in the machine's order, for it never leaves
 * the process), then for each job its key, signature and message.
 */
import { publicKeyBytes, signatureBytes } from '../job.js';
import type { VerifyJob } from '../verifier.js';

/** A copy of the jobs in a buffer of its own, which may be transferred. */
export function packJobs(jobs: readonly VerifyJob[]): ArrayBuffer {
  const headerBytes = 4 * (1 + jobs.length);
  let totalBytes = headerBytes + jobs.length * (publicKeyBytes + signatureBytes);
  for (const job of jobs) totalBytes += job.message.length;
  const buffer = new ArrayBuffer(totalBytes);
  const header = new Uint32Array(buffer, 0, 1 + jobs.length);
  const bytes = new Uint8Array(buffer);
  header[0] = jobs.length;
  let offset = headerBytes;
  jobs.forEach((job, index) => {
    header[1 + index] = job.message.length;
    bytes.set(job.publicKey, offset);
    bytes.set(job.signature, offset + publicKeyBytes);
    bytes.set(job.message, offset + publicKeyBytes + signatureBytes);
    offset += publicKeyBytes + signatureBytes + job.message.length;
  });
  return buffer;
}

/** The jobs of `packJobs`, as views into the buffer. */
export function unpackJobs(buffer: ArrayBuffer): VerifyJob[] {
  const count = new Uint32Array(buffer, 0, 1)[0]!;
  const lengths = new Uint32Array(buffer, 4, count);
  let offset = 4 * (1 + count);
  const take = (length: number) => {
    const view = new Uint8Array(buffer, offset, length);
    offset += length;
    return view;
  };
  return Array.from(lengths, (messageBytes) => ({
    publicKey: take(publicKeyBytes),
    signature: take(signatureBytes),
    message: take(messageBytes),
  }));
}
