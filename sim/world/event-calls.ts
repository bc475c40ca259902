/** Calls the agents that an event concerns: voters, producers, invitees and new members. */
import type { Event } from '../../engine/protocol/schema/event.js';
import { type Behaviour, isHere, type ScriptedAgent, type World } from '../agents/port.js';
import type { Faults } from './faults.js';
import type { Talk } from './gossip.js';
import { eventBytes, type Knowledge } from './knowledge.js';
import type { Links } from './links.js';
import type { MessageKind } from './messages.js';
import type { Observer } from './observer.js';

interface NewsOptions {
  agents: readonly ScriptedAgent[];
  behaviour: Behaviour;
  faults: Faults;
  links: Links;
  observer: Observer;
}

type EventOf<T extends Event['type']> = Event & { type: T };

export class EventCalls {
  readonly #world: World;
  readonly #knowledge: Knowledge;
  readonly #options: NewsOptions;
  readonly #invited = new Set<string>();

  constructor(world: World, knowledge: Knowledge, options: NewsOptions) {
    this.#world = world;
    this.#knowledge = knowledge;
    this.#options = options;
  }

  spread(event: Event, at: number): void {
    if (event.type === 'block_proposal') this.#announce(event.data.block_hash);
    else if (event.type === 'block_status') this.#close(event.data, at);
    else if (event.type === 'alliance_update') this.#invite(event, at);
    else if (event.type === 'agent_status') this.#callAgents(event.data, at);
  }

  #announce(hash: string): void {
    const {
      opening,
      proposedAt: at,
      receivedAt,
      openingBytes: bytes,
    } = this.#knowledge.talk(hash)!;
    const audience = this.#audience(at);
    this.#send('event.proposal', opening, audience, { at, bytes });
    const event = { type: 'hear', block: hash } as const;
    for (const { ordinal, onBreak } of audience) {
      if (onBreak) continue;
      this.#world.schedule(ordinal, this.#availableAt(ordinal, receivedAt[ordinal]!), event);
    }
  }

  /** Returns the delivery time. A crashed agent receives the event only after its restart. */
  #availableAt(agent: number, at: number): number {
    const down = this.#options.faults.down(agent, at);
    return down?.kind === 'crash' ? down.end + 1 : at;
  }

  #close({ status, block_hash }: EventOf<'block_status'>['data'], at: number): void {
    const talk = this.#knowledge.talk(block_hash);
    if (!talk || status === 'voting') return;
    this.#send('event.close', talk.closing, this.#audience(at), { at, bytes: talk.closingBytes });
    if (status !== 'orphaned') this.#scheduleProducers(talk, at);
  }

  /** Counts a feed event to all present agents, including retransmissions. */
  #send(
    kind: MessageKind,
    name: number,
    audience: readonly ScriptedAgent[],
    { at, bytes }: { at: number; bytes: number },
  ): void {
    const { links, observer } = this.#options;
    let losses = 0;
    if (links.lossy) for (const { ordinal } of audience) losses += links.losses(name, ordinal, at);
    observer.traffic(kind, 'sent', audience.length + losses, bytes);
    if (losses > 0) observer.traffic(kind, 'lost', losses, bytes);
  }

  /** Returns agents that have joined and have not permanently left. */
  #audience(at: number): readonly ScriptedAgent[] {
    const runMs = at - this.#world.startMs;
    const { agents } = this.#options;
    // An intervention can let an agent leave at any time. Mostly all agents are present.
    const isPresent = (agent: ScriptedAgent) => isHere(agent, runMs);
    return agents.every(isPresent) ? agents : agents.filter(isPresent);
  }

  /** Schedules producers in an open schedule, after a random time so that few propose at once. */
  #scheduleProducers(talk: Talk, at: number): void {
    if (this.#world.scenario.producers.schedule !== 'open') return;
    const { agents, behaviour } = this.#options;
    for (const ordinal of this.#world.producers) {
      const agent = agents[ordinal]!;
      if (agent.onBreak || !isHere(agent, at - this.#world.startMs)) continue;
      const received = this.#knowledge.closeReceivedAt(ordinal, talk.closing, at);
      behaviour.blockClosed(agent, this.#world, received, talk);
    }
  }

  #invite(event: EventOf<'alliance_update'>, at: number): void {
    const { alliance_id, status, members } = event.data;
    // A declined invitation updates the alliance too, so call the invitees only once.
    const known = this.#invited.has(alliance_id);
    if (status === 'proposed') this.#invited.add(alliance_id);
    else this.#invited.delete(alliance_id);
    if (known || status !== 'proposed') return;
    const { links, observer } = this.#options;
    const founder = members.find(({ role }) => role !== 'invited') ?? members[0]!;
    const place = this.#knowledge.placeOf(founder.id);
    const name = this.#knowledge.nextName('event.invitation', place);
    const bytes = eventBytes(event);
    for (const { id, role } of members) {
      const agent = this.#knowledge.ordinalOf(id);
      if (role !== 'invited' || agent < 0) continue;
      const losses = links.losses(name, agent, at);
      observer.traffic('event.invitation', 'sent', 1 + losses, bytes);
      if (losses > 0) observer.traffic('event.invitation', 'lost', losses, bytes);
      const hears = this.#availableAt(agent, links.delivery(name, agent, at));
      this.#world.schedule(agent, hears, { type: 'invited', alliance: alliance_id });
    }
  }

  #callAgents({ agent_id, status }: EventOf<'agent_status'>['data'], at: number): void {
    const agent = this.#options.agents[this.#knowledge.ordinalOf(agent_id)];
    if (agent) this.#options.behaviour.handleStatus(agent, this.#world, at, status);
  }
}
