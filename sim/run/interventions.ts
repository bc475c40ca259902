/** Interventions in a run: their moments, their effects, and the number of changes by each. */
import { composeAllianceLeave } from '../../engine/protocol/compose.js';
import type { Command } from '../../engine/protocol/schema/command.js';
import type { Event } from '../../engine/protocol/schema/event.js';
import type { ScheduledEvent, ScriptedAgent, Strategy } from '../agents/port.js';
import type { Collector } from '../measure/collector.js';
import { Streams } from '../rng.js';
import {
  type AllianceMembers,
  interventionText,
  momentText,
  Names,
  resolveWhom,
  toCondition,
} from '../scenario/interventions.js';
import { drawnTraits, fixedTraits } from '../scenario/population.js';
import type {
  Intervention,
  InterventionKind,
  InterventionOf,
  Named,
  Whom,
} from '../scenario/schema/interventions.js';
import type { Scenario } from '../scenario/schema/scenario.js';
import type { Faults } from '../world/faults.js';
import type { Links } from '../world/links.js';
import type { Changeable, Intervening, Outgoing } from '../world/observer.js';
import { Conditions } from './ending.js';
import { type DroppedProposal, Drops, Mutes, Numbers, type Order, Votes } from './overrides.js';
import { type Acted, NEVER } from './result.js';

interface InterventionsOptions {
  scenario: Scenario;
  seed: string;
  startMs: number;
  agents: readonly ScriptedAgent[];
  /** Strategies by intervention index. */
  strategies: ReadonlyMap<number, Strategy>;
  faults: Faults;
  links: Links;
}

interface Pending {
  place: number;
  intervention: Intervention;
  order: Order | undefined;
  /** Unix time in milliseconds; infinite if the moment is not a time. */
  at: number;
  conditions: Conditions | null;
}

interface Past {
  at: number;
  entry: number;
  did: () => number;
}

export class Interventions implements Intervening {
  readonly #options: InterventionsOptions;
  readonly #names: Names;
  readonly #numbers = new Numbers();
  readonly #mutes = new Mutes(this.#numbers);
  readonly #drops = new Drops(this.#numbers);
  readonly #votes: Votes;
  #pending: Pending[];
  readonly #past = new Map<number, Past>();
  #world: Changeable | null = null;
  #entryNow: () => number = () => 0;

  constructor(options: InterventionsOptions) {
    this.#options = options;
    const { scenario, startMs, links, agents } = options;
    this.#names = new Names(scenario);
    const all = scenario.interventions.map((intervention, place) => ({
      place,
      intervention,
      order: intervention.kind === 'vote' ? this.#orderOf(intervention, agents) : undefined,
      at: actsAt(startMs, intervention, links.windowMs),
      conditions: null,
    }));
    this.#pending = all.filter(({ intervention: { acts } }) => acts !== false);
    const orders = this.#pending.flatMap(({ order }) => order ?? []);
    this.#votes = new Votes(orders, this.#numbers, () => this.#there);
  }

  /** Prepares the interventions. Call before the run. `entryNow` returns the last applied entry. */
  begin(world: Changeable, collector: Collector, entryNow: () => number): void {
    this.#world = world;
    this.#entryNow = entryNow;
    for (const one of this.#pending) {
      const { at_condition } = one.intervention;
      if (!at_condition) continue;
      one.conditions = new Conditions([toCondition(at_condition)], collector);
    }
  }

  get mutes() {
    return this.#mutes.memes;
  }

  get nextAt(): number {
    let next = Number.POSITIVE_INFINITY;
    for (const { at } of this.#pending) next = Math.min(next, at);
    return next;
  }

  /**
   * Time at which conditions must be checked even if nothing happens, because a condition with a
   * holding time has a deadline. Infinite without such a condition.
   */
  get looksAt(): number {
    let next = Number.POSITIVE_INFINITY;
    for (const { conditions } of this.#pending) {
      if (conditions) next = Math.min(next, conditions.metAt);
    }
    return next;
  }

  actAt(now: number): void {
    this.#act(({ at }) => at <= now);
  }

  /** After a window, applies interventions that wait for an entry, height or condition. */
  actAfterWindow(): void {
    if (this.#pending.length === 0) return;
    const [seq, { height }, { now }] = [this.#entryNow(), this.#numbers, this.#there];
    this.#act(({ intervention: { at_entry, at_height }, conditions }) => {
      if (at_entry !== undefined) return seq >= at_entry;
      if (at_height !== undefined) return height >= at_height;
      return conditions !== null && conditions.met(now) !== null;
    });
  }

  scheduled = (agent: number, event: ScheduledEvent): void => this.#votes.scheduled(agent, event);
  called = (agent: number, event: ScheduledEvent): void => this.#votes.called(agent, event);
  sending = (from: number, outgoing: Outgoing): Outgoing | null =>
    this.#votes.sending(from, outgoing);
  keepsOut = (command: Command, accepted: () => boolean): boolean =>
    this.#drops.keepsOut(command, accepted);

  happened(event: Event): void {
    this.#numbers.happened(event);
    if (event.type !== 'meme_posted') return;
    const { meme_id, creator } = event.data;
    this.#mutes.posted(meme_id, creator.id);
  }

  get acted(): Acted[] {
    const { scenario, startMs } = this.#options;
    return scenario.interventions.map((intervention, place) => {
      const past = this.#past.get(place);
      const when = intervention.acts === false ? NEVER : momentText(intervention);
      return {
        what: interventionText(intervention),
        when,
        at_ms: past ? past.at - startMs : null,
        entry: past ? past.entry : null,
        did: past ? past.did() : 0,
      };
    });
  }

  get #there(): Changeable {
    return this.#world!;
  }

  #act(due: (one: Pending) => boolean): void {
    const those = this.#pending.filter(due);
    if (those.length === 0) return;
    this.#pending = this.#pending.filter((one) => !those.includes(one));
    const [at, entry] = [this.#there.now, this.#entryNow()];
    for (const { place, intervention, order } of those) {
      const act = acts[intervention.kind] as (one: Intervention, acting: Acting) => () => number;
      const did = act(intervention, this.#acting(place, order));
      this.#past.set(place, { at, entry, did });
    }
  }

  #acting(place: number, order: Order | undefined): Acting {
    const { scenario, seed, agents, faults, links, strategies } = this.#options;
    const membersOf = (alliance: Named) => {
      const id = this.#numbers.alliance(alliance);
      return id === undefined ? [] : this.#there.membersOf(id);
    };
    const chosen = (whom: readonly Whom[]) =>
      resolveWhom(scenario, this.#names, whom, { place, seed, membersOf }).map(
        (ordinal) => agents[ordinal]!,
      );
    return {
      ...{ place, world: this.#there, names: this.#names, numbers: this.#numbers, agents },
      ...{ mutes: this.#mutes, drops: this.#drops, votes: this.#votes, faults, links, order },
      ...{ strategy: strategies.get(place), chosen, membersOf },
    };
  }

  #orderOf(
    { agent, block, decision }: InterventionOf<'vote'>,
    agents: readonly ScriptedAgent[],
  ): Order {
    const voter = agents[this.#names.ordinalOf(agent)]!;
    return { agent: voter, block, decision, acts: false, pending: 0, sent: false, did: 0 };
  }
}

/** Returns the first window boundary at or after the time: a multiple of the window length. */
function actsAt(startMs: number, { at_ms }: Intervention, windowMs: number): number {
  if (at_ms === undefined) return Number.POSITIVE_INFINITY;
  return Math.ceil((startMs + at_ms) / windowMs) * windowMs;
}

/** Context for applying an intervention. */
interface Acting {
  place: number;
  world: Changeable;
  names: Names;
  agents: readonly ScriptedAgent[];
  numbers: Numbers;
  mutes: Mutes;
  faults: Faults;
  links: Links;
  drops: Drops;
  votes: Votes;
  /** Order that replaces a vote, for interventions on votes. */
  order: Order | undefined;
  /** New strategy, for interventions on strategies. */
  strategy: Strategy | undefined;
  chosen(whom: readonly Whom[]): ScriptedAgent[];
  membersOf: AllianceMembers;
}

const TWO_32 = 4_294_967_296;

/** Returns the number of changes. Called at the end, because some effects continue. */
type Did = () => number;
type Acts = { [K in InterventionKind]: (one: InterventionOf<K>, acting: Acting) => Did };

const acts: Acts = {
  mute({ meme, whom = [] }, { mutes, chosen, world }) {
    const authors = chosen(whom).map(({ ordinal }) => world.agentId(ordinal));
    const muted =
      meme === undefined ? mutes.authors(authors, world.now) : mutes.meme(meme, world.now);
    return () => muted.did;
  },

  silence({ whom }, { chosen, faults, world }) {
    const those = chosen(whom);
    for (const { ordinal } of those) faults.silence(ordinal, world.now);
    return () => those.length;
  },

  remove({ whom }, { chosen, world }) {
    const atMs = world.now - world.startMs;
    const those = chosen(whom).filter(({ leavesMs }) => leavesMs === null || leavesMs > atMs);
    for (const agent of those) {
      agent.leavesMs = atMs;
      world.schedule(agent.ordinal, world.now, { type: 'depart' });
    }
    return () => those.length;
  },

  dissolve({ alliance }, { numbers, membersOf, agents, world }) {
    const id = numbers.alliance(alliance);
    const members = membersOf(alliance);
    for (const member of members) {
      const { by, ordinal } = agents[member]!;
      world.send(ordinal, composeAllianceLeave(by, world.stamp(ordinal), id!));
    }
    return () => members.length;
  },

  drop({ block, alliance }, { drops }) {
    const drop: DroppedProposal =
      block === undefined
        ? { of: 'alliances', named: alliance!, did: 0 }
        : { of: 'blocks', named: block, did: 0 };
    drops.add(drop);
    return () => drop.did;
  },

  vote(_, { votes, order }) {
    votes.begin(order!);
    return () => order!.did;
  },

  strategy({ whom }, { chosen, strategy, world }) {
    const those = chosen(whom);
    for (const agent of those) {
      agent.strategy = strategy!;
      const begins = agent.joined && strategy!.start !== undefined;
      if (begins) world.schedule(agent.ordinal, world.now, { type: 'start' });
    }
    return () => those.length;
  },

  traits({ whom, traits }, { chosen, place }) {
    const those = chosen(whom);
    for (const agent of those) {
      const drawn = drawnTraits(traits, (purpose) => agent.rng(`intervention/${place}/${purpose}`));
      agent.personality = { ...agent.personality, ...fixedTraits(traits), ...drawn };
    }
    return () => those.length;
  },

  set({ path, value }, { world }) {
    world.change(path, value);
    return () => 1;
  },

  redraw({ seed }, { agents, world }) {
    const streams = new Streams(`redraw/${world.seedNumber}/${seed}`);
    for (const agent of agents) agent.streams = streams;
    world.redraw(streams.of('world', 'latency').int(TWO_32));
    return () => agents.length;
  },

  link({ between, loss, factor }, { names, links, world }) {
    const [a = 0, b = 0] = between.map((end) => names.ordinalOf(end));
    links.setOwn(a, b, {
      from: world.now,
      ...(loss === undefined ? {} : { loss }),
      ...(factor === undefined ? {} : { factor }),
    });
    return () => 1;
  },
};
