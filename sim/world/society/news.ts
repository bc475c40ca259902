/** Who is called because something happened: voters, producers, the invited, the newly joined. */
import type { Event } from '../../../engine/internal.js';
import type { ScriptedAgent } from '../../agents/port/agent.js';
import type { Behaviour } from '../../agents/port/behaviour.js';
import type { World } from '../../agents/port/world.js';
import type { Faults } from '../links/faults.js';
import type { Links } from '../links/links.js';
import type { Observer } from '../observer.js';
import type { Knowledge } from './knowledge.js';

export interface NewsOptions {
  agents: readonly ScriptedAgent[];
  behaviour: Behaviour;
  faults: Faults;
  links: Links;
  observer: Observer;
}

type EventOf<T extends Event['type']> = Event & { type: T };

export class News {
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
    if (event.type === 'block_proposal') this.#announce(event.data.block_hash, event.seq);
    else if (event.type === 'block_status') this.#scheduleProducers(event.data, at);
    else if (event.type === 'alliance_update') this.#invite(event, at);
    else if (event.type === 'agent_status') this.#welcome(event.data.agent_id, at);
  }

  #announce(hash: string, seq: number): void {
    const talk = this.#knowledge.talk(hash)!;
    const { agents, links, observer } = this.#options;
    observer.traffic('sent', agents.length);
    for (const { ordinal, onBreak } of agents) {
      const losses = links.losses(seq, ordinal);
      if (losses > 0) observer.traffic('lost', losses);
      if (onBreak) continue;
      const at = this.#availableAt(ordinal, this.#knowledge.receivedAt(ordinal, talk));
      this.#world.schedule(ordinal, at, { type: 'hear', block: hash });
    }
  }

  /** Who has crashed when something comes hears of it when it is back. */
  #availableAt(agent: number, at: number): number {
    const down = this.#options.faults.down(agent, at);
    return down?.kind === 'crash' ? down.end + 1 : at;
  }

  /** In the open schedule each producer waits a while by chance, so that few propose at once. */
  #scheduleProducers({ status, block_hash }: EventOf<'block_status'>['data'], at: number): void {
    const talk = this.#knowledge.talk(block_hash);
    if (status === 'orphaned' || status === 'voting' || !talk) return;
    if (this.#world.scenario.producers.schedule !== 'open') return;
    const { agents, behaviour } = this.#options;
    for (const ordinal of this.#world.producers) {
      const agent = agents[ordinal]!;
      if (agent.onBreak) continue;
      const received = this.#knowledge.closeReceivedAt(ordinal, talk.seq, at);
      behaviour.blockClosed(agent, this.#world, received);
    }
  }

  #invite({ data, seq }: EventOf<'alliance_update'>, at: number): void {
    const { alliance_id, status } = data;
    // A declining invitee updates the alliance too: the others are called once all the same.
    const known = this.#invited.has(alliance_id);
    if (status === 'proposed') this.#invited.add(alliance_id);
    else this.#invited.delete(alliance_id);
    if (known || status !== 'proposed') return;
    for (const { id, role } of data.members) {
      const agent = this.#knowledge.ordinalOf(id);
      if (role !== 'invited' || agent < 0) continue;
      const hears = this.#availableAt(agent, this.#options.links.delivery(seq, agent, at));
      this.#world.schedule(agent, hears, { type: 'invited', alliance: alliance_id });
    }
  }

  #welcome(agentId: string, at: number): void {
    const agent = this.#options.agents[this.#knowledge.ordinalOf(agentId)];
    if (agent) this.#options.behaviour.registered(agent, this.#world, at);
  }
}
