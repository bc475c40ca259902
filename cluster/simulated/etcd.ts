/**
 * An etcd cluster in virtual time: what a client of etcd 3.4 sees through the protocol in use, with
 * faults on demand. Everything happens in calls of the clock, and every choice is drawn from one
 * source of random numbers, so equal draws give equal runs. Between client and member, messages of
 * a stream keep their order, as in TCP, and wait while a link is cut.
 */
import { type HostClock, sleep } from '../../engine/store/host-clock.js';
import type { CallLimits, EtcdMember, MemberStream } from '../etcd/member.js';
import { type Answers, EtcdError, type MethodName, toEtcdError } from '../etcd/wire.js';
import {
  ELECTION_MS,
  type Entry,
  Links,
  Quorum,
  type QuorumHost,
  type Voter,
} from './etcd-quorum.js';
import { type Reply, type Respond, Server, type ServerStream } from './etcd-server.js';
import type { EtcdStore } from './etcd-store.js';

/** Intervals of attempts to connect and to resend, and the time after which gRPC gives up. */
const RETRY_MS = { connect: 100, send: 200, giveUp: 13_000 } as const;
/** Half of the lost messages arrive after all, up to this time late. */
const LATEST_MS = 10_000;

export interface SimulatedEtcdOptions {
  clock: HostClock;
  /** Draws a number from 0 (inclusive) to 1 (exclusive). */
  random: () => number;
  /** From 1 to 5. Default: 3. */
  members?: number;
}

export class SimulatedEtcd implements QuorumHost {
  /** Names of the hosts are `m1` to `m5`. */
  readonly endpoints: readonly string[];
  readonly links: Links;
  /** Faults of messages: between members, and between clients and members. */
  readonly messages: Links['messages'];
  readonly clock: HostClock;
  readonly #quorum: Quorum;
  readonly #servers: readonly Server[];
  readonly #connections = new Set<Connection>();

  constructor({ clock, random, members = 3 }: SimulatedEtcdOptions) {
    this.clock = clock;
    this.links = new Links(random);
    this.messages = this.links.messages;
    this.#quorum = new Quorum(members, clock, this.links, this);
    const serverOf = (voter: Voter) => this.#servers[voter.index]!;
    const shared = { quorum: this.#quorum, clock, links: this.links, serverOf };
    this.#servers = this.#quorum.voters.map((voter) => new Server(voter, shared));
    this.endpoints = this.#quorum.voters.map(({ name }) => `${name}:2379`);
    this.#quorum.begin();
  }

  /** Creates a connection from a client's host. */
  connect(endpoint: string, from: string): EtcdMember {
    const server = this.#servers[this.endpoints.indexOf(endpoint)]!;
    const connection = new Connection(server, this, { endpoint, from });
    this.#connections.add(connection);
    return connection;
  }

  /** Drops a host's connections without a sign to the host, whose process has ended. */
  disconnect(from: string): void {
    for (const connection of this.#connections) {
      if (connection.from !== from) continue;
      connection.drop();
      this.#connections.delete(connection);
    }
  }

  /** The state of the member that has applied most. */
  get newest(): EtcdStore {
    const { voters } = this.#quorum;
    const newest = voters.reduce((one, other) => (other.applied > one.applied ? other : one));
    return this.#servers[newest.index]!.store;
  }

  /** Index of the leader, or null. */
  get leader(): number | null {
    return this.#quorum.leader?.index ?? null;
  }

  /** Ends a member's process. Its data remains. */
  stop(member: number): void {
    const server = this.#servers[member]!;
    if (!server.voter.isUp) return;
    this.resume(member);
    this.#quorum.stop(server.voter);
    server.stop();
    for (const connection of this.#connections)
      if (connection.server === server) connection.reset();
  }

  start(member: number): void {
    const { voter } = this.#servers[member]!;
    if (!voter.isUp) this.#quorum.start(voter);
  }

  /** Stalls a member's process: it is silent, and does not refuse. */
  pause(member: number): void {
    this.links.paused.add(this.#servers[member]!.voter.name);
  }

  resume(member: number): void {
    this.links.paused.delete(this.#servers[member]!.voter.name);
  }

  /** Deposes the leader. An election follows, which takes 1 to 3 s. */
  campaign(): void {
    this.#quorum.depose();
  }

  /** Cuts a member off from the other members, but not from its clients. */
  isolate(member: number): void {
    const names = this.#servers.map(({ voter }) => voter.name);
    for (const name of names)
      if (name !== names[member]) this.links.cut(names[member]!, name, true);
  }

  /** Fills the members' disks, or frees them as an operator does, who then disarms the alarms. */
  full(on: boolean): void {
    const wasFull = this.#isFull;
    for (const server of this.#servers) server.isFull = on;
    if (on) return;
    if (wasFull) void this.#disarm();
  }

  get #isFull(): boolean {
    return this.#servers[0]!.isFull;
  }

  apply(voter: Voter, entry: Entry): void {
    this.#servers[voter.index]!.apply(entry);
  }

  onLeader(voter: Voter): void {
    this.#servers[voter.index]!.onLeader();
  }

  /** Disarms alarms until the disks are full again, because a member can raise one late. */
  async #disarm(): Promise<void> {
    for (; !this.#isFull; await sleep(this.clock, ELECTION_MS)) {
      const { leader } = this.#quorum;
      for (const memberID of leader ? this.newest.alarms : []) {
        const request = { action: 'DEACTIVATE', memberID, alarm: 'NOSPACE' } as const;
        this.#quorum.propose(leader!, { name: 'Maintenance/Alarm', request }, () => {});
      }
    }
  }
}

const BROKEN: Reply = { error: { code: 14, details: 'Connection dropped' } };
const LATE: Reply = { error: { code: 4, details: 'Deadline exceeded' } };
const REFUSED = { code: 14, details: 'No connection established. Last error: ECONNREFUSED' };

/** Part of the cluster that connections need. */
type World = Pick<SimulatedEtcd, 'clock' | 'links'>;

/** A client's connection to one member. */
class Connection implements EtcdMember {
  readonly endpoint: string;
  readonly from: string;
  readonly server: Server;
  readonly #world: World;
  readonly #exchanges = new Set<Exchange>();
  /** The run of the member's process to which the connection leads; null without one. */
  #run: number | null = null;
  #isClosed = false;
  #isDropped = false;

  constructor(
    server: Server,
    world: World,
    { endpoint, from }: { endpoint: string; from: string },
  ) {
    this.server = server;
    this.#world = world;
    this.endpoint = endpoint;
    this.from = from;
  }

  async call<Name extends MethodName>(
    name: Name,
    request: object,
    { connectMs, callMs }: CallLimits,
  ): Promise<Answers[Name]> {
    await this.#connect(connectMs);
    return new Promise((resolve, reject) => {
      const exchange = this.#begin(callMs, (reply) => {
        exchange.end();
        if ('error' in reply) reject(toEtcdError(reply.error, this.endpoint));
        else resolve(reply.answer as Answers[Name]);
      });
      exchange.ask(() => this.server.handle(name, request, exchange.respond));
    });
  }

  async stream<Name extends MethodName>(
    name: Name,
    { connectMs, callMs }: { connectMs: number; callMs?: number },
  ): Promise<MemberStream<Answers[Name]>> {
    await this.#connect(connectMs);
    let open: ServerStream | null = null;
    const exchange = this.#begin(callMs, (reply) => stream.take(reply));
    const stream = new ClientStream<Answers[Name]>(this.endpoint, {
      write: (request) => exchange.ask(() => open?.receive(request)),
      end: () => {
        if (exchange.isOver) return;
        exchange.end();
        exchange.ask(() => open && this.server.close(open));
      },
    });
    exchange.ask(() => {
      open = this.server.open(name, exchange.respond);
    });
    return stream;
  }

  close(): void {
    this.#isClosed = true;
  }

  /** Ends everything without a sign to the client, whose process has ended. */
  drop(): void {
    this.#isDropped = true;
    for (const exchange of this.#exchanges) exchange.end();
  }

  /** Tells the client that the member's process has ended, if it can learn so. */
  reset(): void {
    const { links, clock } = this.#world;
    if (!links.isOpen(this.server.voter.name, this.from)) return;
    const { run } = this.server.voter;
    clock.after(links.latencyMs(), () => {
      if (this.#run === run) this.break();
    });
  }

  /** Ends the connection. The client notices. */
  break(): void {
    this.#run = null;
    for (const exchange of this.#exchanges) exchange.take(BROKEN);
  }

  over(exchange: Exchange): void {
    this.#exchanges.delete(exchange);
  }

  #begin(callMs: number | undefined, take: Respond): Exchange {
    if (this.#run === null) throw toEtcdError(REFUSED, this.endpoint);
    const exchange = new Exchange(this, this.#world, this.#run, take);
    this.#exchanges.add(exchange);
    if (callMs !== undefined) exchange.limit(callMs);
    return exchange;
  }

  /** Returns once connected, or once the member refuses. */
  async #connect(connectMs: number): Promise<void> {
    if (this.#isClosed) throw new EtcdError('CLIENT_CLOSED', {});
    const { clock, links } = this.#world;
    const { name } = this.server.voter;
    const deadline = clock.monotonic() + connectMs;
    while (this.#run === null) {
      await this.#pass(links.latencyMs() + links.latencyMs());
      if (links.isOpen(this.from, name) && links.isOpen(name, this.from)) {
        const { isUp, run } = this.server.voter;
        if (isUp && !links.expired.has(this.from)) this.#run = run;
        return;
      }
      if (clock.monotonic() >= deadline) {
        const values = { endpoint: this.endpoint, connectMs };
        throw new EtcdError('CONNECT_TIMEOUT', values, { member: 'silent' });
      }
      await this.#pass(RETRY_MS.connect);
    }
  }

  async #pass(ms: number): Promise<void> {
    await sleep(this.#world.clock, ms);
    // The code that waits has ended with its process.
    if (this.#isDropped) await new Promise(() => {});
  }
}

/** A call or a stream: messages in both directions until the client ends it. */
class Exchange {
  isOver = false;
  readonly #connection: Connection;
  readonly #clock: HostClock;
  readonly #take: Respond;
  readonly #run: number;
  readonly #up: Pipe;
  readonly #down: Pipe;
  #forgetLimit = () => {};

  constructor(connection: Connection, world: World, run: number, take: Respond) {
    const { from, server } = connection;
    const giveUp = () => connection.break();
    this.#connection = connection;
    this.#clock = world.clock;
    this.#take = take;
    this.#run = run;
    this.#up = new Pipe(world, [from, server.voter.name], giveUp);
    this.#down = new Pipe(world, [server.voter.name, from], giveUp);
  }

  limit(ms: number): void {
    this.#forgetLimit = this.#clock.after(ms, () => this.take(LATE));
  }

  /** Sends a request. It can arrive after the client has given up, or has ended. */
  ask(deliver: () => void): void {
    this.#up.send(() => {
      const { isUp, run } = this.#connection.server.voter;
      if (isUp && run === this.#run) deliver();
      else if (!this.isOver) this.#connection.break();
    });
  }

  readonly respond: Respond = (reply) => {
    if (!this.isOver) this.#down.send(() => this.take(reply));
  };

  take(reply: Reply): void {
    if (!this.isOver) this.#take(reply);
  }

  end(): void {
    this.isOver = true;
    this.#forgetLimit();
    this.#connection.over(this);
  }
}

/** One direction of a connection. Messages arrive in order, and wait while the link is cut. */
export class Pipe {
  readonly #world: World;
  readonly #ends: readonly [from: string, to: string];
  readonly #giveUp: () => void;
  readonly #waiting: (() => void)[] = [];
  #lastMs = 0;
  #waitingSince = 0;

  constructor(world: World, ends: readonly [string, string], giveUp: () => void) {
    this.#world = world;
    this.#ends = ends;
    this.#giveUp = giveUp;
  }

  send(deliver: () => void): void {
    const { clock, links } = this.#world;
    if (!this.#isOpen || this.#waiting.length > 0) return this.#wait(deliver);
    const isLost = links.happens(links.messages.lost);
    // All later messages are then lost, too.
    if (isLost && links.happens(0.5)) this.#lastMs = Number.POSITIVE_INFINITY;
    const lateMs = isLost ? LATEST_MS * links.random() : 0;
    const now = clock.monotonic();
    this.#lastMs = Math.max(this.#lastMs, now + links.latencyMs() + lateMs);
    if (this.#lastMs === Number.POSITIVE_INFINITY) return;
    clock.after(this.#lastMs - now, () => {
      if (this.#isOpen && this.#waiting.length === 0) deliver();
      else this.#wait(deliver);
    });
  }

  get #isOpen(): boolean {
    return this.#world.links.isOpen(...this.#ends);
  }

  #wait(deliver: () => void): void {
    this.#waiting.push(deliver);
    if (this.#waiting.length > 1) return;
    this.#waitingSince = this.#world.clock.monotonic();
    this.#retry();
  }

  #retry(): void {
    const { clock } = this.#world;
    clock.after(RETRY_MS.send, () => {
      if (this.#isOpen) for (const deliver of this.#waiting.splice(0)) deliver();
      else if (clock.monotonic() - this.#waitingSince < RETRY_MS.giveUp) this.#retry();
      else this.#giveUp();
    });
  }
}

/** The client's side of a stream. */
class ClientStream<Answer> implements MemberStream<Answer> {
  readonly #endpoint: string;
  readonly #to: { write(request: object): void; end(): void };
  #answers: Answer[] = [];
  #failure: EtcdError | null = null;
  #isDone = false;
  #wake = () => {};

  constructor(endpoint: string, to: { write(request: object): void; end(): void }) {
    this.#endpoint = endpoint;
    this.#to = to;
  }

  write(request: object): void {
    if (!this.#isDone) this.#to.write(request);
  }

  end(request: object): void {
    this.write(request);
  }

  cancel(): void {
    this.#finish(null);
  }

  destroy(error: EtcdError): void {
    this.#answers = [];
    this.#finish(error);
  }

  take(reply: Reply): void {
    if ('error' in reply) this.#finish(toEtcdError(reply.error, this.#endpoint));
    else this.#answers.push(reply.answer as Answer);
    this.#wake();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Answer, void, undefined> {
    try {
      for (;;) {
        while (this.#answers.length > 0) yield this.#answers.shift()!;
        if (this.#failure) throw this.#failure;
        if (this.#isDone) return;
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      }
    } finally {
      this.cancel();
    }
  }

  #finish(failure: EtcdError | null): void {
    if (this.#isDone) return;
    this.#isDone = true;
    this.#failure = failure;
    this.#to.end();
    this.#wake();
  }
}
