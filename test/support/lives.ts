/** Random network lives, as row batches that an engine could produce. */
import fc from 'fast-check';
import {
  type AllianceRow,
  formatRowValue,
  type RowBatch,
  type RowKind,
  rowKinds,
  viewRows,
} from '../../dist/api/view/model.js';
import { newRows } from '../../dist/api/view/row-batch.js';
import { saidKinds } from '../../dist/engine/protocol/event-types.js';

/** Random numbers for one row. Each number is taken modulo the number of choices. */
interface Act {
  kind: RowKind;
  who: number;
  what: number;
  value: number;
  text: string;
  /** True to start a new entry. */
  fresh: boolean;
  /** Number of preceding entries without rows. */
  skipped: number;
  /** Time since the previous entry. */
  passed: number;
}

const acts: fc.Arbitrary<Act[]> = fc.array(
  fc.record({
    ...{ kind: fc.constantFrom(...rowKinds), who: fc.nat(1_000), what: fc.nat(1_000) },
    value: fc.nat(1_000_000),
    text: fc.oneof(fc.string(), fc.constantFrom('\u202ebidi', '<img src=x onerror=1>', '\u200b')),
    ...{ fresh: fc.boolean(), skipped: fc.nat(3) },
    passed: fc.oneof(fc.nat(2_000), fc.constant(6_000_000_000)),
  }),
  { maxLength: 160 },
);

/** Whole lives, each as one batch from entry 0. */
export const lives: fc.Arbitrary<RowBatch> = acts.map(spanOf);

interface Open {
  number: number;
  producer: number;
}

function spanOf(life: readonly Act[]): RowBatch {
  const rows: {
    entry: number;
    at: number;
    kind: number;
    who: number;
    what: number;
    value: number;
  }[] = [];
  const introduced: RowBatch['introduced'] = { agents: [], blocks: [], memes: [], alliances: [] };
  const said: RowBatch['said'] = [];
  const open: Open[] = [];
  const alliances: AllianceRow[] = [];
  let entry = 0;
  let at = 1_700_000_000_000;
  let events = 0;
  let omitted = 0;
  for (const act of life) {
    if (act.fresh) {
      entry += 1 + act.skipped;
      at += act.passed;
    }
    const agents = introduced.agents.length;
    const kind: RowKind = agents === 0 ? 'registered' : act.kind;
    const who = agents === 0 ? 0 : act.who % agents;
    const block = open[act.what % Math.max(1, open.length)];
    const row = { entry, at, kind: rowKinds.indexOf(kind), who, what: 0, value: 0 };
    if (kind === 'registered') {
      row.who = agents;
      introduced.agents.push({
        ...{ number: agents, id: `agent_${agents}`, public_key: 'ab', name: act.text },
        ...{ personality: 'lawful', validator: act.value % 2 === 0, producer: act.value % 3 === 0 },
      });
    } else if (kind === 'block_proposal') {
      row.what = introduced.blocks.length;
      open.push({ number: row.what, producer: who });
      introduced.blocks.push({
        ...{ number: row.what, hash: `hash ${row.what}`, parent: 'parent', height: row.what + 1 },
        ...{ producer: who, transactions: act.value % 50, total: 10, electors: 10, needed: 7 },
        ...{ proposed_at: at, deadline: at + 30_000, entry },
      });
    } else if (kind === 'meme_posted') {
      const number = introduced.memes.length;
      row.what = number;
      const what = { number, id: `meme_${number}`, creator: who, type: 'image' };
      introduced.memes.push({ ...what, caption: act.text, entry, at });
    } else if (kind === 'alliance_update') {
      const known = alliances[act.what % (alliances.length + 1)];
      const next: AllianceRow = {
        number: known?.number ?? alliances.length,
        id: `ally_${known?.number ?? alliances.length}`,
        purpose: act.text,
        duration: 'PT1H',
        status: known ? (act.value % 2 ? 'active' : 'expired') : 'proposed',
        founder: known?.founder ?? who,
        members: [...(known?.members ?? []), who],
        invited: [who],
        proposed_at: known?.proposed_at ?? at,
        at,
        entry,
      };
      // An expired alliance stays expired.
      if (known?.status === 'expired') continue;
      alliances[next.number] = next;
      row.what = next.number;
      introduced.alliances.push(next);
    } else if (kind === 'block_validation' || kind === 'block_status') {
      if (!block) continue;
      row.what = block.number;
      row.value = kind === 'block_validation' ? act.value : 1 + (act.value % 4);
      if (kind === 'block_status') {
        row.who = block.producer;
        open.splice(open.indexOf(block), 1);
      }
    } else if (kind === 'agent_status' || kind === 'consensus_discussion')
      row.value = act.value % 3;
    else if (kind === 'dormancy') row.value = act.value % 2;
    else if (kind === 'reputation_update' || kind === 'network_metrics') row.value = act.value;
    if (kind !== 'registered' && kind !== 'dormancy') events += 1;
    if (act.text && act.value % 3 === 0) {
      const spoken = saidKinds[act.value % saidKinds.length]!;
      const stance = formatRowValue(viewRows[kind].value, row.value);
      said.push({ entry, at, who: row.who, kind: spoken, what: row.what, stance, text: act.text });
    } else if (act.text) omitted += 1;
    rows.push(row);
  }
  const columns = newRows(rows.length);
  for (const [index, row] of rows.entries()) {
    for (const name of Object.keys(columns) as (keyof typeof columns)[]) {
      columns[name][index] = row[name];
    }
  }
  const digests = { digest: 'd'.repeat(64), log_digest: 'e'.repeat(64) };
  const end = { to: entry + 2, at: at + 5, event_seq: events };
  return { from: 0, ...end, ...digests, rows: columns, introduced, said, omitted };
}
