/** What a network is as a whole, out of its records: what an engine counts while it goes on. */
import type { Summary } from '../../core/index.js';
import { limits } from '../../protocol/limits.js';
import type { RecordOf, Table } from '../../protocol/schema/index.js';
import { type Store, StoreError } from '../../store/index.js';

/** The same that an engine gives which goes on where the records end, at that time. */
export function summaryOf(store: Store, at: number): Summary {
  const head = read(store, 'network', 'head');
  return {
    block_height: head.height,
    head_hash: head.head_hash,
    ...activeIn(store),
    pending_transactions: pendingIn(store),
    recent: recentIn(store, at),
  };
}

function read<T extends Table>(store: Store, table: T, key: string): RecordOf[T] {
  const json = store.get(table, key);
  if (json === undefined) throw new StoreError('CORRUPT', `no record ${key} in ${table}`);
  return JSON.parse(json) as RecordOf[T];
}

function activeIn(store: Store) {
  const active = { active_validators: 0, active_producers: 0 };
  for (const { key, json } of store.range('agents')) {
    if (read(store, 'agent_states', key as string).state !== 'active') continue;
    const { capabilities } = JSON.parse(json) as RecordOf['agents'];
    if (capabilities.includes('validator')) active.active_validators += 1;
    if (capabilities.includes('producer')) active.active_producers += 1;
  }
  return active;
}

function pendingIn(store: Store): number {
  let pending = 0;
  for (const { key } of store.range('open')) {
    const [what, id] = key as readonly [string, string];
    if (what === 'block') pending += read(store, 'blocks', id).context.transactions;
  }
  return pending;
}

/** What the last minute finalized, ascending; what is finalized at one instant as one. */
function recentIn(store: Store, at: number): { at: number; count: number }[] {
  const recent: { at: number; count: number }[] = [];
  for (const { json } of store.range('heights', { reverse: true })) {
    const { block_hash } = JSON.parse(json) as RecordOf['heights'];
    const { closed_at, transactions } = read(store, 'blocks', block_hash).context;
    if (closed_at <= at - limits.throughputWindowMs) break;
    if (transactions === 0) continue;
    if (recent[0]?.at === closed_at) recent[0].count += transactions;
    else recent.unshift({ at: closed_at, count: transactions });
  }
  return recent;
}
