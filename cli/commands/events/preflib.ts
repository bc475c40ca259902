/** Exports the ballots of blocks with options as PrefLib files, one per block. */
import { existsSync, mkdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { EventData } from '../../../engine/protocol/schema/event.js';
import type { Store } from '../../../engine/store/store.js';
import { writeWhole } from '../../../report/folder.js';
import { writePrefLib } from '../../../sim/elections/preflib-file.js';
import { labelOption, toPreference } from '../../../sim/elections/rule-ballots.js';
import { UsageError } from '../../output/exit.js';
import { writeStderr, writeStdoutAsync } from '../../output/output.js';
import { selectEvents } from './columns.js';

/** A block with options, and the ballots of its approving votes. */
interface Poll {
  proposal: EventData['block_proposal'];
  options: readonly string[];
  ballots: unknown[];
}

type Labels = Readonly<Record<string, string>>;

export interface PrefLibOptions {
  from: number;
  to: number;
  agents: ReadonlySet<string>;
  /** Hash of the block, or its first digits. Default: all blocks. */
  block: string | undefined;
  /** Folder for all blocks, or file for one block. Default: standard output. */
  out: string | undefined;
  /** Original names of options, by name; only those that differ. */
  labels: Labels;
}

/**
 * @throws {UsageError} if no block, or more than one block, has the hash.
 * @throws {StoreError} if a file cannot be written.
 */
export async function exportPrefLib(store: Store, options: PrefLibOptions): Promise<void> {
  const { block, out, labels } = options;
  if (block === undefined) {
    mkdirSync(out!);
    let files = 0;
    for (const poll of readPolls(store, options)) files += writePoll(poll, out!, labels) ? 1 : 0;
    writeStderr(`${files} files written to ${out}`);
    return;
  }
  const found = [...readPolls(store, options)];
  const [poll, ...others] = found;
  if (!poll || others.length > 0) {
    const expected = poll
      ? `more digits; ${found.length} blocks begin with it`
      : 'the hash of a block with options';
    throw new UsageError('INVALID_VALUE', { option: '--block', value: block, expected });
  }
  const name = basename(out ?? nameOf(poll.proposal)).replace(/\.(?:soc|soi|toc|toi)$/, '');
  const file = format(poll, name, labels);
  if (file === null) {
    const expected = 'a block whose approving votes have ballots over its options';
    throw new UsageError('INVALID_VALUE', { option: '--block', value: block, expected });
  }
  if (out === undefined) return writeStdoutAsync(...file.text.trimEnd().split('\n'));
  write(dirname(out), basename(out), file.text);
  writeStderr(`${poll.ballots.length} ballots written to ${out} (type ${file.type})`);
}

/** Yields a block when it closes. Blocks that are still open at the end follow. */
function* readPolls(store: Store, { from, to, agents, block = '' }: PrefLibOptions) {
  const open = new Map<string, Poll>();
  for (const one of selectEvents(store, { from, to, types: new Set(), agents: new Set() })) {
    if (!one) continue;
    const { type, data } = one.event;
    if (type === 'block_proposal') {
      const { options, block_hash: hash } = data;
      const isWanted = options !== undefined && hash.startsWith(block);
      if (isWanted) open.set(hash, { proposal: data, options, ballots: [] });
    } else if (type === 'block_validation') {
      const poll = open.get(data.block_hash);
      const isWanted = agents.size === 0 || agents.has(data.validator.id);
      const isCounted = data.decision === 'approve' && data.ballot !== undefined;
      if (poll && isWanted && isCounted) poll.ballots.push(data.ballot);
    } else if (type === 'block_status') {
      const poll = open.get(data.block_hash);
      if (poll && data.status !== 'voting') yield poll;
      open.delete(data.block_hash);
    }
  }
  yield* open.values();
}

const nameOf = ({ height, block_hash }: EventData['block_proposal']): string =>
  `block-${height}-${block_hash.slice(0, 12)}`;

/** Returns null if no ballot is a preference over the options. */
function format({ proposal, options, ballots }: Poll, name: string, labels: Labels) {
  const counted = ballots.flatMap((one) => {
    const ballot = toPreference(one, options);
    return ballot ? [{ count: 1, ballot }] : [];
  });
  if (counted.length === 0) return null;
  const named = options.map((option) => labelOption({ labels }, option));
  return writePrefLib({
    name,
    title: `Block ${proposal.block_hash}`,
    description: 'Ballots of approving votes, one per voter, without weights',
    // Names of alternatives are unique in a file.
    alternatives: new Set(named).size === options.length ? named : options,
    ballots: counted,
    date: proposal.timestamp.slice(0, 10),
  });
}

/** Returns false if the block has no ballots over its options. */
function writePoll(poll: Poll, folder: string, labels: Labels): boolean {
  const name = nameOf(poll.proposal);
  const file = format(poll, name, labels);
  if (!file) return false;
  write(folder, `${name}.${file.type}`, file.text);
  return true;
}

function write(folder: string, name: string, text: string): void {
  if (existsSync(join(folder, name))) throw new UsageError('FILE_EXISTS', { path: name });
  writeWhole(folder, name, text);
}
