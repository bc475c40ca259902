/**
 * A member of a simulated etcd: its requests, streams and leases. What it answers is what etcd 3.4
 * answers; etcd's limits of time for one request are longer than those of the clients, and missing.
 */
import type { HostClock } from '../../engine/store/host-clock.js';
import type { Answers, MethodName } from '../etcd/wire.js';
import { ELECTION_MS, type Entry, type Links, type Quorum, type Voter } from './etcd-quorum.js';
import {
  type Command,
  EtcdStore,
  findRequestRefusal,
  includes,
  isRead,
  type Outcome,
  type RangeRequest,
  type Refusal,
  refusalOf,
  toWireEvent,
  writtenBytes,
} from './etcd-store.js';

/** Interval at which a leader looks for expired leases. */
const LEASE_CHECK_MS = 500;
/** A member ends its streams after this time without a leader. */
const LEADERLESS_MS = 3 * ELECTION_MS;
/** Interval at which the renewal of an expired lease looks whether the lease is revoked. */
const REVOKED_CHECK_MS = 50;
/** Revisions in one response of a watch that catches up. */
const REVISIONS_AT_ONCE = 1_000;

export type Reply = { answer: object } | { error: { code: number; details: string } };
export type Respond = (reply: Reply) => void;

interface Shared {
  quorum: Quorum;
  clock: HostClock;
  links: Links;
  serverOf(voter: Voter): Server;
}

const refused = (refusal: Refusal): Reply => ({ error: refusalOf(refusal) });

/** A member's process, and the database on its disk. */
export class Server {
  readonly voter: Voter;
  readonly id: string;
  readonly store = new EtcdStore();
  isFull = false;
  readonly #streams = new Set<ServerStream>();
  /** When leases expire, while this member leads. */
  readonly #expiries = new Map<string, number>();
  #forgetLeaderless = () => {};
  readonly #shared: Shared;

  constructor(voter: Voter, shared: Shared) {
    this.voter = voter;
    this.id = String(1_001 + voter.index);
    this.#shared = shared;
    shared.clock.every(LEASE_CHECK_MS, () => this.#revokeExpired());
  }

  stop(): void {
    this.#streams.clear();
    this.#expiries.clear();
    this.#forgetLeaderless();
  }

  onLeader(): void {
    const { leader } = this.voter;
    const { clock } = this.#shared;
    this.#expiries.clear();
    this.#forgetLeaderless();
    if (!leader) {
      this.#forgetLeaderless = clock.after(LEADERLESS_MS, () => {
        for (const stream of this.#streams) stream.respond(refused('noLeader'));
        this.#streams.clear();
      });
    }
    if (leader !== this.voter) return;
    // A new leader does not know when leases were renewed, so each begins again.
    const now = clock.monotonic() + ELECTION_MS;
    for (const [id, { seconds }] of this.store.leases)
      this.#expiries.set(id, now + 1_000 * seconds);
  }

  apply({ command, origin, run, answer }: Entry): void {
    const { revision } = this.store;
    const isOwn = origin === this.voter && run === this.voter.run;
    const outcome = this.store.apply(command, isOwn);
    const { name, request } = command;
    const isLeading = this.voter.leader === this.voter;
    if (isLeading && name === 'Lease/LeaseGrant' && 'answer' in outcome) this.#renew(request.ID);
    if (isOwn) answer(outcome);
    if (this.store.revision > revision) for (const stream of this.#streams) stream.advance();
  }

  /** Handles a unary request. */
  handle(name: MethodName, request: object, respond: Respond): void {
    if (name === 'Maintenance/Status') return respond({ answer: this.#status() });
    const isSerializable = name === 'KV/Range' && (request as RangeRequest).serializable === true;
    const needsLeader = !isSerializable && name !== 'Maintenance/Alarm';
    if (needsLeader && !this.voter.leader) return respond(refused('noLeader'));
    const command = this.#commandOf(name, request);
    const refusal = findRequestRefusal(command);
    if (refusal) return respond(refused(refusal));
    const finish = (outcome: Outcome) => respond(this.#replyOf(outcome));
    if (isRead(command)) {
      // Changes nothing, so this member alone applies it.
      const read = () => finish(this.store.apply(command));
      if (isSerializable) read();
      else this.#shared.quorum.read(this.voter, read, () => respond(refused('leaderChanged')));
    } else if (!this.isFull || writtenBytes(command) === 0) this.#propose(command, finish);
    else {
      const alarm = { action: 'ACTIVATE', memberID: this.id, alarm: 'NOSPACE' } as const;
      const raise: Command = { name: 'Maintenance/Alarm', request: alarm };
      this.#propose(raise, () => respond(refused('noSpace')));
    }
  }

  open(name: MethodName, respond: Respond): ServerStream {
    const stream = new ServerStream(this, name, respond, this.#shared.links);
    if (this.voter.leader) this.#streams.add(stream);
    else respond(refused('noLeader'));
    return stream;
  }

  close(stream: ServerStream): void {
    this.#streams.delete(stream);
  }

  /** Renews a lease at the leader. Answers with the seconds left, 0 for an expired lease. */
  keepAlive(id: string, respond: Respond): void {
    const { quorum, clock, serverOf } = this.#shared;
    const { leader } = this.voter;
    if (!leader) return respond(refused('noLeader'));
    if (leader !== this.voter) {
      const back: Respond = (reply) => quorum.send(leader, this.voter, () => respond(reply));
      quorum.send(this.voter, leader, () => serverOf(leader).keepAlive(id, back));
      return;
    }
    const lease = this.store.leases.get(id);
    const expiry = this.#expiries.get(id) ?? Number.NEGATIVE_INFINITY;
    if (lease && expiry <= clock.monotonic()) {
      // The revocation is on its way.
      clock.after(REVOKED_CHECK_MS, () => this.keepAlive(id, respond));
      return;
    }
    if (lease) this.#renew(id);
    respond({ answer: { header: this.header(), ID: id, TTL: String(lease?.seconds ?? 0) } });
  }

  header(revision = this.store.revision) {
    return { member_id: this.id, revision: String(revision) };
  }

  #renew(id: string): void {
    const { seconds } = this.store.leases.get(id)!;
    this.#expiries.set(id, this.#shared.clock.monotonic() + 1_000 * seconds);
  }

  #revokeExpired(): void {
    if (this.voter.leader !== this.voter || this.#shared.links.paused.has(this.voter.name)) return;
    const now = this.#shared.clock.monotonic();
    for (const [id, expiry] of this.#expiries) {
      if (!this.store.leases.has(id)) this.#expiries.delete(id);
      else if (expiry <= now) {
        this.#propose({ name: 'Lease/LeaseRevoke', request: { ID: id } }, () => {});
      }
    }
  }

  #propose(command: Command, finish: (outcome: Outcome) => void): void {
    const isProposed = this.#shared.quorum.propose(this.voter, command, finish);
    if (!isProposed) finish({ refusal: 'dropped' });
  }

  /** Draws the ID of a lease if the client leaves it open. */
  #commandOf(name: MethodName, request: object): Command {
    if (name !== 'Lease/LeaseGrant' || Number((request as { ID?: string }).ID ?? 0) > 0) {
      return { name, request } as Command;
    }
    const ID = String(1 + Math.floor(this.#shared.links.random() * 2 ** 52));
    return { name, request: { ...request, ID } } as Command;
  }

  #replyOf(outcome: Outcome): Reply {
    if ('refusal' in outcome) return refused(outcome.refusal);
    return { answer: { header: this.header(outcome.revision), ...outcome.answer } };
  }

  #status(): Answers['Maintenance/Status'] {
    const { leader } = this.voter;
    return {
      ...{ header: this.header(), version: '3.4.23', dbSize: '20480' },
      leader: leader ? this.#shared.serverOf(leader).id : '0',
    };
  }
}

interface WatchRequest {
  create_request?: { key: Uint8Array; range_end?: Uint8Array; start_revision?: number | string };
}

/** A stream at the member: one watch, or renewals of leases. */
export class ServerStream {
  readonly respond: Respond;
  readonly #server: Server;
  readonly #name: MethodName;
  readonly #links: Links;
  #watched: WatchRequest['create_request'] | null = null;
  /** First revision that was not delivered. */
  #next = 0;
  #last: object | null = null;

  constructor(server: Server, name: MethodName, respond: Respond, links: Links) {
    this.#server = server;
    this.#name = name;
    this.respond = respond;
    this.#links = links;
  }

  receive(request: object): void {
    if (this.#name === 'Lease/LeaseKeepAlive') {
      return this.#server.keepAlive(String((request as { ID: string }).ID), this.respond);
    }
    const { create_request } = request as WatchRequest;
    if (create_request) this.#watch(create_request);
    else this.#tell({});
  }

  /** Delivers the events since the last call. */
  advance(): void {
    const { store } = this.#server;
    if (!this.#watched) return;
    while (this.#next <= store.revision) {
      const end = Math.min(store.revision, this.#next + REVISIONS_AT_ONCE - 1);
      const events: Answers['Watch/Watch']['events'] = [];
      for (; this.#next <= end; this.#next += 1) {
        for (const change of store.changesAt(this.#next)) {
          if (includes(this.#watched, change.key)) events.push(toWireEvent(change));
        }
      }
      if (events.length > 0) this.#deliver(events);
    }
  }

  #watch(create: NonNullable<WatchRequest['create_request']>): void {
    const { revision, compactRevision } = this.#server.store;
    this.#tell({ created: true });
    const from = Number(create.start_revision ?? 0);
    if (from > 0 && from < compactRevision) {
      this.#tell({ canceled: true, compact_revision: String(compactRevision) });
      return;
    }
    this.#watched = create.key.length === 0 ? { ...create, key: Buffer.of(0) } : create;
    this.#next = from > 0 ? from : revision + 1;
    this.advance();
  }

  /** May split a revision in two, and may repeat a message, as etcd does. */
  #deliver(events: Answers['Watch/Watch']['events']): void {
    const { repeated } = this.#links.messages;
    if (this.#last && this.#links.happens(repeated)) this.#tell(this.#last);
    const cut = this.#links.happens(repeated)
      ? Math.floor(events.length * this.#links.random())
      : 0;
    if (cut > 0) this.#tell({ events: events.slice(0, cut), fragment: true });
    this.#last = { events: events.slice(cut) };
    this.#tell(this.#last);
  }

  #tell(message: object): void {
    const none = { created: false, canceled: false, compact_revision: '0', cancel_reason: '' };
    this.respond({ answer: { header: this.#server.header(), ...none, events: [], ...message } });
  }
}
