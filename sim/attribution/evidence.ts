/** Evidence about a block in a store: its rule, its electors with weights, and their votes. */
import { parseGenesis } from '../../engine/admit/genesis.js';
import { decodeEntry, splitStored } from '../../engine/protocol/log.js';
import type { EventData } from '../../engine/protocol/schema/event.js';
import type { Genesis } from '../../engine/protocol/schema/genesis.js';
import type { BlockStatus } from '../../engine/protocol/schema/primitives.js';
import type { RecordOf } from '../../engine/protocol/schema/record.js';
import { storeError } from '../../engine/store/messages.js';
import type { Store } from '../../engine/store/store.js';
import { blockTag } from '../agents/port.js';
import {
  type RecordedElector,
  type RecordedVote,
  readElectorate,
  readRecord,
} from '../rules/recorded-polls.js';

/** Alliance that was active when the block was proposed. */
interface ActiveAlliance {
  alliance_id: string;
  purpose: string;
  /** Agent ids. */
  members: readonly string[];
  /** Activation time, milliseconds since 1970. */
  since: number;
}

/** Meme about the block, posted before the block closed. */
interface MemeAbout {
  meme_id: string;
  /** Agent id and name. */
  creator: string;
  author: string;
  /** Milliseconds since 1970. */
  posted_at: number;
}

export interface Evidence {
  /** Time of the first entry, milliseconds since 1970. */
  startedAt: number;
  genesis: Genesis;
  block: RecordOf['blocks']['context'];
  status: BlockStatus;
  /** Ascending by ordinal. */
  electors: readonly RecordedElector[];
  /** Votes in counting order. */
  votes: readonly RecordedVote[];
  /** Ascending by id. */
  alliances: readonly ActiveAlliance[];
  /** Memes in posting order. */
  memes: readonly MemeAbout[];
}

/** @throws {StoreError} if the block is missing. */
export function collectEvidence(store: Store, hash: string): Evidence {
  const { state: status, context: block } = readRecord(store, 'blocks', hash);
  const { electors, votes } = readElectorate(store, block);
  const alliances = alliancesAt(store, block.block_hash);
  const memes = memesAbout(store, block);
  return { ...beginning(store), block, status, electors, votes, alliances, memes };
}

function beginning(store: Store): Pick<Evidence, 'genesis' | 'startedAt'> {
  const first = store.entry(0);
  if (!first) throw storeError('ENTRY_MISSING', { seq: 0 });
  const entry = decodeEntry(splitStored(first).bytes);
  return { genesis: parseGenesis(entry), startedAt: entry.at };
}

function memesAbout(store: Store, block: Evidence['block']): MemeAbout[] {
  const tag = blockTag(block.block_hash);
  const closed = block.closed_at || Number.POSITIVE_INFINITY;
  const found: MemeAbout[] = [];
  for (const { json } of store.range('memes')) {
    if (!json.includes(tag)) continue;
    const { meme_id, creator, posted_at, tags } = JSON.parse(json) as RecordOf['memes'];
    if (!tags.includes(tag) || posted_at < block.proposed_at || posted_at > closed) continue;
    const { name } = readRecord(store, 'agents', creator);
    found.push({ meme_id, creator, author: name, posted_at });
  }
  return found.sort((a, b) => a.posted_at - b.posted_at || (a.meme_id < b.meme_id ? -1 : 1));
}

/** Finds alliances from events before the proposal: records contain only the latest state. */
function alliancesAt(store: Store, hash: string): ActiveAlliance[] {
  const active = new Map<string, ActiveAlliance>();
  const end = store.meta()?.event_seq ?? 0;
  for (const { json } of store.events(1, end)) {
    // An event's canonical JSON ends with the member `type`, so most events need not be parsed.
    if (json.endsWith('"type":"block_proposal"}')) {
      if (json.includes(`"block_hash":"${hash}"`)) break;
    } else if (json.endsWith('"type":"alliance_update"}')) {
      const { data } = JSON.parse(json) as { data: EventData['alliance_update'] };
      const { alliance_id, purpose, members } = data;
      const joined = members.filter(({ role }) => role !== 'invited').map(({ id }) => id);
      if (data.status !== 'active') active.delete(alliance_id);
      else {
        const since = active.get(alliance_id)?.since ?? Date.parse(data.timestamp);
        active.set(alliance_id, { alliance_id, purpose, members: joined, since });
      }
    }
  }
  return [...active.values()].sort((a, b) => (a.alliance_id < b.alliance_id ? -1 : 1));
}
