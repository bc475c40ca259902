/** Agents, blocks and entries by what they are called, each a way to all about it. */
import { shown } from '../../report/shared/numbers.js';
import { agents, blocks } from '../data/store.js';
import { href } from '../route/router.js';
import { Name, plain } from './text.js';

/** An agent by number or id. */
export function Who({ number, id }: { number?: number | undefined; id?: string }) {
  const known = number ?? (id === undefined ? null : agents.numberOf(id));
  const row = known === null ? undefined : agents.rows[known];
  if (!row) return <span class="faint">{id === undefined ? 'nobody' : plain(id, 14)}</span>;
  return (
    <a href={href('agent', row.id)} title={plain(row.personality, 32)}>
      <Name text={row.name === '' ? row.id : row.name} most={32} />
    </a>
  );
}

/** A block by number, where the page knows it, or by its hash. */
export function BlockLink({ number, hash }: { number?: number; hash?: string }) {
  const block = blocks.value.find((one) => one.number === number || one.hash === hash);
  const known = block?.hash ?? hash;
  if (known === undefined) return <span class="faint">an earlier block</span>;
  return (
    <a href={href('block', known)}>
      {block ? `block ${block.height}` : `block ${known.slice(0, 8)}…`}
    </a>
  );
}

/** The position after an entry. */
export function EntryLink({ entry }: { entry: number }) {
  return <a href={href('explore', undefined, { at: String(entry) })}>entry {shown(entry)}</a>;
}
