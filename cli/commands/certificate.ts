/**
 * `folkmoot certify` writes the certificate of a decision, out of its log; `folkmoot check-
 * certificate` checks one, without a server and without the log.
 */

import { createReadStream, existsSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { Command } from 'commander';
import type { CertificateHolds } from '../../engine/certificate/check.js';
import type { TrustedDigest } from '../../engine/certificate/statement.js';
import { blockInFile, blockName, blockSyntax, findStoredBlock } from '../options/ids.js';
import { integer } from '../options/options.js';
import { exitCodes, UsageError } from '../output/exit.js';
import { io, setExitCode } from '../output/io.js';
import { canRedraw, printJson, redraw, writeStderr, writeStdout } from '../output/output.js';

const position = integer({ least: 0, most: Number.MAX_SAFE_INTEGER });
const sizes = integer({ least: 0, most: 1_048_576 });

interface MakeFlags {
  through?: number;
  bridge: number;
  most: number;
  out?: string;
}

export function certifyCommand(): Command {
  return new Command('certify')
    .description(
      'write a certificate: why a block was finalized or rejected, to be checked offline',
    )
    .argument('<dir|file>', 'a kept run, a data folder, or what the command log printed')
    .argument('<block>', `a block that was finalized or rejected: ${blockSyntax}`)
    .option('--through <n>', 'carry the digest chain on to this entry', position)
    .option('--bridge <kib>', 'results of other entries that may be added', sizes, 1024)
    .option('--most <kib>', 'make no larger certificate', sizes, 16 * 1024)
    .option('--out <file>', 'file to write; default: standard output')
    .addHelpText(
      'after',
      `
The log is replayed as far as that block; nothing is taken from what was stored beside it. The
certificate holds genesis, the electorate, the signed proposal and every counted vote, and binds
them to the log by its digest chain. docs/certificates.md says what it proves.

Examples:
  $ folkmoot certify runs/7 12 --out c.json
  $ folkmoot certify folkmoot-data HASH --through 5000 > c.json`,
    )
    .action(certifyBlock);
}

async function certifyBlock(source: string, block: string, flags: MakeFlags): Promise<void> {
  const { certify } = await import('../../engine/certificate/certify.js');
  const { fileLines, storedLines } = await import('../../engine/replay/lines.js');
  const { isFolder, openForReading } = await import('../options/folder.js');
  expectNew(flags.out);
  const options = {
    through: flags.through,
    bridgeBytes: flags.bridge * 1024,
    mostBytes: flags.most * 1024,
    onProgress: canRedraw() ? (seq: number) => redraw(`entry ${seq}`) : undefined,
  };
  const write = async (text: string) => {
    if (canRedraw()) redraw('');
    return flags.out === undefined ? writeStdout(text.trimEnd()) : writeNew(flags.out, text);
  };
  if (source === '-' || !isFolder(source)) {
    const hash = source === '-' ? wholeHash(block) : await blockInFile(source, block);
    const lines = fileLines(source === '-' ? '/dev/stdin' : source);
    return write(await certify({ ...options, block: hash, lines }));
  }
  const store = openForReading(source);
  try {
    const lines = storedLines(store, 0, store.meta()?.seq ?? -1);
    await write(await certify({ ...options, block: await findStoredBlock(store, block), lines }));
  } finally {
    await store.close();
  }
}

/** Standard input is read once: the block must be known before. */
function wholeHash(block: string): string {
  const name = blockName(block);
  if ('hash' in name) return name.hash;
  throw new UsageError(`block ${block}: expected the whole hash, as - is read only once`);
}

/** Before any work is done. */
function expectNew(file: string | undefined): void {
  if (file === undefined) return;
  if (existsSync(file)) {
    throw new UsageError(`--out ${file} exists already; expected the name of a new file`);
  }
  if (existsSync(dirname(file))) return;
  throw new UsageError(`--out ${file}: there is no folder ${dirname(file)}; create it first`);
}

async function writeNew(file: string, text: string): Promise<void> {
  const { writeWhole } = await import('../../report/folder.js');
  writeWhole(dirname(file), basename(file), text);
}

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
      'print {holds, claim, votes, spans, proves, trusts}, or {holds, where, code, problem}',
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
  const { checkCertificate } = await import('../../engine/certificate/check.js');
  const mostBytes = most * 1024;
  const checked = checkCertificate(await readUpTo(file, mostBytes), { trusted, mostBytes });
  if (json) printJson(checked);
  else if (checked.holds) writeStdout(...readable(checked));
  if (checked.holds) return;
  setExitCode(exitCodes.differs);
  const where = checked.where === '' ? '' : `${checked.where}: `;
  if (!json) writeStderr(`folkmoot: ${file} is refused: ${where}${checked.problem}`);
}

/** The file's bytes, or one more than it may have. */
async function readUpTo(file: string, most: number): Promise<Uint8Array> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  const source = file === '-' ? io().stdin : createReadStream(file);
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
