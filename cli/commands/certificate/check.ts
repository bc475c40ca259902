/** `folkmoot check-certificate`: checks a certificate offline, and says what it proves. */
import { createReadStream } from 'node:fs';
import { Command } from 'commander';
import type { CertificateHolds, TrustedDigest } from '../../../engine/internal.js';
import { integer } from '../../options/options.js';
import { exitCodes, UsageError } from '../../output/exit.js';
import { print, printJson, say } from '../../output/output.js';

const sizes = integer({ least: 0, most: 1_048_576 });

interface CheckFlags {
  trustedDigest: TrustedDigest[];
  most: number;
  json?: boolean;
}

export function checkCertificateCommand(): Command {
  return new Command('check-certificate')
    .description('check a certificate without its log, and say what it proves')
    .argument('<file>', 'what the command certify wrote; - for standard input')
    .option(
      '--trusted-digest <seq:hex>',
      'the digest of the log after an entry, from a source that you trust; repeatable',
      trustedDigest,
      [],
    )
    .option('--most <kib>', 'read no larger certificate', sizes, 16 * 1024)
    .option(
      '--json',
      'print {holds, claim, votes, spans, proves, trusts}, or {holds, where, problem}',
    )
    .addHelpText(
      'after',
      `
Digests, hashes, signatures, weights and sums are all recomputed. Exit code 0 when it holds, with
what follows from it and what must be trusted; 12 when it is refused, with one line that says why.

Examples:
  $ folkmoot check-certificate c.json
  $ folkmoot check-certificate c.json --trusted-digest 5000:$(ssh host cat digest)`,
    )
    .action(check);
}

function trustedDigest(text: string, before: TrustedDigest[]): TrustedDigest[] {
  const [, seq, digest] = /^(\d{1,15}):([0-9a-fA-F]{64})$/.exec(text) ?? [];
  if (seq === undefined || digest === undefined) {
    const expected = 'expected SEQ:HEX, the number of an entry and 64 hex digits';
    throw new UsageError(`--trusted-digest ${text.slice(0, 100)}: ${expected}`);
  }
  return [...before, { seq: Number(seq), digest }];
}

async function check(file: string, { trustedDigest: trusted, most, json }: CheckFlags) {
  const { checkCertificate } = await import('../../../engine/internal.js');
  const mostBytes = most * 1024;
  const checked = checkCertificate(await readUpTo(file, mostBytes), { trusted, mostBytes });
  if (json) printJson(checked);
  else if (checked.holds) print(...readable(checked));
  if (checked.holds) return;
  process.exitCode = exitCodes.differs;
  const where = checked.where === '' ? '' : `${checked.where}: `;
  if (!json) say(`folkmoot: ${file} is refused: ${where}${checked.problem}`);
}

/** The file's bytes, or one more than it may have. */
async function readUpTo(file: string, most: number): Promise<Uint8Array> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  const source = file === '-' ? process.stdin : createReadStream(file);
  try {
    for await (const chunk of source) {
      chunks.push(chunk as Buffer);
      bytes += (chunk as Buffer).length;
      if (bytes > most) break;
    }
  } catch (cause) {
    throw new UsageError(`${file} cannot be read: ${(cause as Error).message}`, { cause });
  }
  return Buffer.concat(chunks);
}

function readable({ claim, proves, trusts, spans }: CertificateHolds): string[] {
  const { block_hash, network_id, status, height } = claim;
  return [
    `holds: block ${block_hash} of the network ${network_id} was ${status} at height ${height}`,
    ...['', 'It proves:', ...proves.map((line) => `- ${line}`)],
    ...['', 'For this to be what the log says, trust:', ...trusts.map((line) => `- ${line}`)],
    ...['', `It holds entries ${spans.map(runOf).join(', ')}.`],
  ];
}

const runOf = ({ first, last }: { first: number; last: number }) =>
  first === last ? `${first}` : `${first} to ${last}`;
