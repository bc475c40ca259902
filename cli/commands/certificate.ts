import { createReadStream, existsSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import type { CertificateHolds } from '../../engine/certificate/check.js';
import type { TrustedDigest } from '../../engine/certificate/statement.js';
import { describeSystemError } from '../../engine/protocol/messages.js';
import { blockInFile, blockName, blockSyntax, findStoredBlock } from '../options/ids.js';
import { CliCommand, collect, integer } from '../options/options.js';
import { exitCodes, UsageError } from '../output/exit.js';
import { io, setExitCode } from '../output/io.js';
import { canRedraw, printJson, redraw, writeStderr, writeStdout } from '../output/output.js';

const position = integer(0, Number.MAX_SAFE_INTEGER);
const sizes = integer(0, 1_048_576);

interface MakeFlags {
  through?: number;
  bridge: number;
  most: number;
  out?: string;
}

export function certifyCommand(): CliCommand {
  return new CliCommand('certify')
    .description('write an offline-verifiable certificate of a block')
    .argument('<dir|file>', 'saved run, data folder or printed log')
    .argument('<block>', blockSyntax)
    .option('--through <n>', 'last entry of the digest chain', position)
    .option('--bridge <kib>', 'size limit for results of other entries, in KiB', sizes, 1024)
    .option('--most <kib>', 'size limit of the certificate, in KiB', sizes, 16 * 1024)
    .option('--out <file>', 'file to write (default: standard output)')
    .notes(`
Replays the log up to the block, which must be finalized or rejected, and uses
no stored state. The certificate contains the genesis, the electorate, the
signed proposal and every counted vote. The digest chain binds them to the log.
See docs/certificates.md.`)
    .examples(
      'certify runs/7 12 --out c.json',
      'certify folkmoot-data 3f9a0c11 --through 5000 > c.json',
      'check-certificate c.json',
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
    const hash = await findStoredBlock(store, source, block);
    await write(await certify({ ...options, block: hash, lines }));
  } finally {
    await store.close();
  }
}

/** Requires a full hash, because standard input can be read only once. @throws {UsageError} */
function wholeHash(block: string): string {
  const name = blockName(block);
  if ('hash' in name) return name.hash;
  throw new UsageError('FULL_HASH_REQUIRED', { source: 'standard input' });
}

/** Checks the output path before any work is done. @throws {UsageError} */
function expectNew(file: string | undefined): void {
  if (file === undefined) return;
  if (existsSync(file)) throw new UsageError('FILE_EXISTS', { path: file });
  if (existsSync(dirname(file))) return;
  throw new UsageError('FOLDER_NOT_FOUND', { path: dirname(file) });
}

async function writeNew(file: string, text: string): Promise<void> {
  const { writeWhole } = await import('../../report/folder.js');
  writeWhole(dirname(file), basename(file), text);
}

interface CheckFlags {
  trustedDigest: TrustedDigest[];
  rule: string[];
  most: number;
  json?: boolean;
}

export function checkCertificateCommand(): CliCommand {
  return new CliCommand('check-certificate')
    .description('verify a certificate without the log')
    .argument('<file>', 'certificate written by certify, - for standard input')
    .option(
      '--trusted-digest <seq:hex>',
      'digest from a trusted source, may be repeated',
      trustedDigest,
      [],
    )
    .option('--rule <file>', 'decision rule to run, may be repeated', collect, [])
    .option('--most <kib>', 'size limit of the certificate, in KiB', sizes, 16 * 1024)
    .option('--json', 'print one JSON object')
    .notes(`
Recomputes all digests, hashes, signatures, weights and sums. Prints what the
certificate proves and what it assumes. Exits with code 12 if the certificate is
invalid.

A decision rule that is a module runs, in a sandbox, only if --rule gives a file
with the same text. Otherwise the check proves all but the decision.`)
    .examples(
      'check-certificate c.json',
      'check-certificate c.json --rule sixty.js',
      'certify runs/7 12 | folkmoot check-certificate -',
      'check-certificate c.json --trusted-digest 5000:$(cat digest.txt)',
    )
    .action(check);
}

function trustedDigest(text: string, before: TrustedDigest[]): TrustedDigest[] {
  const [, seq, digest] = /^(\d{1,15}):([0-9a-fA-F]{64})$/.exec(text) ?? [];
  if (seq === undefined || digest === undefined) {
    throw new UsageError('INVALID_VALUE', {
      option: '--trusted-digest',
      value: text.slice(0, 100),
      expected: 'SEQ:HEX, an entry number and 64 hex digits',
    });
  }
  return [...before, { seq: Number(seq), digest }];
}

async function check(file: string, flags: CheckFlags): Promise<void> {
  const { trustedDigest: trusted, rule: files, most, json } = flags;
  const { checkCertificate } = await import('../../engine/certificate/check.js');
  const mostBytes = most * 1024;
  const rules = await readModules(files);
  const options = { trusted, mostBytes, rules: rules.map(({ sha256 }) => sha256) };
  const checked = checkCertificate(await readUpTo(file, mostBytes), options);
  if (json) printJson({ ...checked, rules });
  else if (checked.holds) writeStdout(...readable(checked));
  if (checked.holds) return adviseOnRule(checked, rules);
  setExitCode(exitCodes.differs);
  const where = checked.where === '' ? '' : `${checked.where}: `;
  if (!json) writeStderr(`folkmoot: invalid certificate: ${file}: ${where}${checked.problem}`);
}

/** A module that the check may run. */
interface AllowedModule {
  file: string;
  sha256: string;
}

/** Reads modules and enables the sandbox. @throws {UsageError} if a file contains no module. */
async function readModules(files: readonly string[]): Promise<AllowedModule[]> {
  const modules: AllowedModule[] = [];
  for (const file of files) {
    const { expectModule } = await import('../options/rule.js');
    modules.push({ file, sha256: (await expectModule('--rule', file)).sha256 });
  }
  return modules;
}

/** Says which module would prove the decision, if the check did not run it. */
async function adviseOnRule({ genesis }: CertificateHolds, rules: readonly AllowedModule[]) {
  if (genesis.policy !== 'module') return;
  const { sha256Hex } = await import('../../engine/protocol/signing.js');
  const sha256 = sha256Hex(genesis.rule?.source ?? '');
  if (rules.some((one) => one.sha256 === sha256)) return;
  const given = rules.map((one) => `; ${one.file} has SHA-256 ${one.sha256}`).join('');
  writeStderr(
    `folkmoot: the check did not run the decision rule, a module with SHA-256 ${sha256}${given}; ` +
      'add --rule FILE with the module if you trust it',
  );
}

/** Reads the file, and stops after the first chunk past the limit. @throws {UsageError} */
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
    const reason = describeSystemError(cause);
    throw new UsageError('FILE_NOT_READABLE', { path: file, reason }, { cause });
  }
  return Buffer.concat(chunks);
}

function readable({ claim, proves, trusts, spans }: CertificateHolds): string[] {
  const { block_hash, network_id, status, height } = claim;
  return [
    `valid: block ${block_hash} of network ${network_id} was ${status} at height ${height}`,
    ...['', 'Proves:', ...proves.map((line) => `- ${line}`)],
    ...['', 'Assumes:', ...trusts.map((line) => `- ${line}`)],
    ...['', `Contains entries ${spans.map(runOf).join(', ')}.`],
  ];
}

const runOf = ({ first, last }: { first: number; last: number }) =>
  first === last ? `${first}` : `${first} to ${last}`;
