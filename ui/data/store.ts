/** What the page knows, as signals: they carry what a view draws, never events. */
import { computed, signal } from '@preact/signals';
import type { PictureOf } from '../../api/view/fold.js';
import type { AllianceRow, MemeRow, Overview, Said, Totals } from '../../api/view/model.js';
import { Agents } from './agents.js';
import type {
  BlockShown,
  ClockState,
  KnownPart,
  LinkState,
  Notice,
  Patch,
  Position,
  Rates,
  World,
} from './messages.js';

/** Null until the first picture has come. */
export const network = signal<PictureOf | null>(null);
export const position = signal<Position | null>(null);
export const totals = signal<Totals | null>(null);
export const rates = signal<Rates>({ events: null, votes: null, transactions: null });
export const blocks = signal<readonly BlockShown[]>([]);
/** Number of the block whose ballots the agents' decisions are; null where there is none. */
export const focus = signal<number | null>(null);
export const alliances = signal<readonly AllianceRow[]>([]);
export const memes = signal<readonly MemeRow[]>([]);
export const said = signal<readonly Said[]>([]);
export const overview = signal<Overview | null>(null);
export const link = signal<LinkState>({ is: 'starting' });
export const notice = signal<Notice | null>(null);
/** What the server can be asked beside what every one is; null until it has said so. */
export const known = signal<readonly KnownPart[] | null>(null);
/** What the server said last of its world's clock. */
export const world = signal<World | null>(null);
export const clock = signal<ClockState>({
  mode: 'live',
  speed: 1,
  goal: null,
  head: { entry: -1, at: 0 },
  follows: true,
});

/** Of what passes. Where the page stands there are none: they would tell how one came there. */
export const passing = computed<Rates>(() => {
  const { mode, follows } = clock.value;
  const stands = mode === 'paused' || (mode === 'live' && !follows);
  return stands ? { events: null, votes: null, transactions: null } : rates.value;
});

/** By number, with what the grid draws of each. */
export const agents = new Agents();

export function apply(patch: Patch): void {
  agents.apply(patch);
  if (network.value?.epoch !== patch.of.epoch) network.value = patch.of;
  position.value = patch.position;
  totals.value = patch.totals;
  rates.value = patch.rates;
  focus.value = patch.focus.block;
  if (patch.blocks.all) blocks.value = patch.blocks.list;
  else if (patch.blocks.list.length > 0) {
    const changed = new Map(patch.blocks.list.map((block) => [block.number, block]));
    blocks.value = blocks.value.map((block) => changed.get(block.number) ?? block);
  }
  if (patch.alliances) alliances.value = patch.alliances;
  if (patch.memes) memes.value = patch.memes;
  if (patch.said) said.value = patch.said;
}

/** The block that is looked at. */
export const focused = (): BlockShown | undefined =>
  blocks.value.find(({ number }) => number === focus.value);

export const knows = (part: KnownPart): boolean => known.value?.includes(part) ?? false;
