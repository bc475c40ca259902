/** Collects the parts of a block's certificate during a replay. */
import type { Entry } from '../protocol/schema/entry.js';
import type { RecordOf } from '../protocol/schema/record.js';
import type { ReplayedStep } from '../replay/recompute.js';
import { type RuleGenesis, ruleOf } from '../rules/network-rule.js';
import { defineStoreErrors, type StoreError } from '../store/messages.js';
import type { RecordChange } from '../store/store.js';
import {
  CERTIFICATE_FORMAT,
  type Certificate,
  type CertificateLink,
  type CertificateSpan,
  type ChainDigests,
} from './format.js';

/** Errors of a block that is to be certified. */
export const blockError = defineStoreErrors({
  MISSING: {
    BAD_BLOCK_HASH: 'invalid block hash: {block} (expected 64 hex digits)',
    BLOCK_NOT_FOUND:
      'block not found: {block}; list blocks with folkmoot events DIR --type block_proposal',
    BLOCK_UNDECIDED:
      'cannot certify block {block}: it is {status} (expected finalized or rejected)',
    NETWORK_UNSIGNED: `cannot certify a block of network {network}: the network has no signatures;
      recompute its log instead`,
    CERTIFY_LOG_END: 'cannot certify through entry {through}: the log ends at entry {last}',
    CERTIFY_TOO_EARLY: `cannot certify through entry {through}: entry {decided} decided the block;
      name entry {decided} or a later one`,
    CERTIFY_GAP: `cannot certify through entry {through}: more than {most} bytes follow the block;
      raise the bridge limit`,
    CERTIFICATE_TOO_LARGE: 'certificate too large: {bytes} bytes (expected at most {most})',
  },
  CORRUPT: {
    CERTIFICATE_INVALID: 'the log does not give a valid certificate: {where}: {problem}',
  },
});

/** An entry as a link, with the data needed to start a span with it. */
interface Kept {
  entry: Entry;
  seq: number;
  before: ChainDigests;
  after: ChainDigests;
  link: CertificateLink;
  bytes: number;
}

const ZEROS = '00'.repeat(32);

type Closed = RecordOf['blocks'];

export class Collector {
  readonly #block: string;
  readonly #through: number;
  readonly #bridgeBytes: number;
  /** Required entries, by number. */
  readonly #entries = new Map<number, Kept>();
  /** The latest entries, consecutive, up to `bridgeBytes`. */
  #window: Kept[] = [];
  #windowFrom = 0;
  #windowBytes = 0;
  /** Registrations by agent ordinal; filled only if the rule uses vetoes. */
  readonly #registered = new Map<number, Kept>();
  #asksPersonality = false;
  #unsigned = false;
  #networkId = '';
  #before: ChainDigests = { digest: ZEROS, log_digest: ZEROS };
  #electorate: { kept: Kept; agents: readonly number[] } | null = null;
  #opened: { ordinal: number; electors: readonly number[] } | null = null;
  readonly #voters = new Set<number>();
  #closed: { seq: number; record: Closed } | null = null;
  #last = -1;

  constructor(options: { block: string; through?: number | undefined; bridgeBytes: number }) {
    this.#block = options.block;
    this.#through = options.through ?? 0;
    this.#bridgeBytes = options.bridgeBytes;
  }

  /** True if the certificate needs no later entry. */
  get done(): boolean {
    return this.#unsigned || (this.#closed !== null && this.#last >= this.#through);
  }

  /** Number of the entry that decided the block. Requires that `problem` is null. */
  get decidedAt(): number {
    return this.#closed!.seq;
  }

  /** Reason why the entries so far cannot yield a certificate, or null. */
  get problem(): StoreError | null {
    const block = this.#block;
    if (this.#unsigned) return blockError('NETWORK_UNSIGNED', { network: this.#networkId });
    if (this.#opened === null) return blockError('BLOCK_NOT_FOUND', { block });
    const status = this.#closed?.record.state ?? 'voting';
    if (status === 'finalized' || status === 'rejected') return null;
    return blockError('BLOCK_UNDECIDED', { block, status });
  }

  take(step: ReplayedStep): void {
    if (this.done) return;
    const { entry, results, digest, log_digest } = step;
    const after = { digest, log_digest };
    const bytes = results.reduce((sum, text) => sum + text.length, 0) + 2 * ZEROS.length;
    const link = { log_digest, results: [...results] };
    const kept: Kept = { entry, seq: entry.seq, before: this.#before, after, link, bytes };
    this.#before = after;
    this.#last = entry.seq;
    this.#windowed(kept);
    if (entry.kind === 'genesis') {
      const genesis = JSON.parse(Buffer.from(entry.body).toString()) as Record<string, unknown>;
      this.#asksPersonality = ruleOf(genesis as unknown as RuleGenesis).usesVetoes;
      this.#networkId = String(genesis.network_id);
      this.#unsigned = 'signatures' in genesis;
      this.#addEntry(kept);
    }
    for (const change of step.changes) this.#look(change, kept);
  }

  #look({ table, key, json }: RecordChange, kept: Kept): void {
    if (table === 'electorates' && !this.#opened) {
      const { agents } = JSON.parse(json!) as RecordOf['electorates'];
      this.#electorate = { kept, agents };
    } else if (table === 'agents' && this.#asksPersonality && !this.#opened) {
      this.#registered.set((JSON.parse(json!) as RecordOf['agents']).ordinal, kept);
    } else if (table === 'votes' && this.#opened && !this.#closed) {
      const [block, agent] = key as readonly [number, number];
      if (block !== this.#opened.ordinal) return;
      this.#voters.add(agent);
      this.#addEntry(kept);
    } else if (table === 'blocks' && key === this.#block) this.#own(json!, kept);
  }

  /** Records the block's state at its proposal or at its end. */
  #own(json: string, kept: Kept): void {
    const record = JSON.parse(json) as Closed;
    if (record.state === 'voting') {
      this.#opened = { ordinal: record.context.ordinal, electors: this.#electorate!.agents };
      this.#addEntry(this.#electorate!.kept);
      this.#addEntry(kept);
      return;
    }
    this.#closed = { seq: kept.seq, record };
    this.#addEntry(kept);
    for (const [ordinal, registered] of this.#registered) {
      const isElector = this.#opened?.electors.includes(ordinal);
      if (isElector && !this.#voters.has(ordinal)) this.#addEntry(registered);
    }
  }

  #addEntry(kept: Kept): void {
    const { at, kind, public_key, target, timestamp, signature, body } = kept.entry;
    const text = Buffer.from(body).toString();
    const entry = { at, kind, public_key, target, timestamp, signature, body: text };
    this.#entries.set(kept.seq, { ...kept, link: { entry, ...kept.link } });
  }

  /** Adds an entry to the window, and drops the oldest entries that exceed its size. */
  #windowed(kept: Kept): void {
    this.#window.push(kept);
    this.#windowBytes += kept.bytes;
    while (this.#windowBytes > this.#bridgeBytes) {
      this.#windowBytes -= this.#window[this.#windowFrom]!.bytes;
      this.#windowFrom += 1;
    }
    if (this.#windowFrom < 1_024 || 2 * this.#windowFrom < this.#window.length) return;
    this.#window = this.#window.slice(this.#windowFrom);
    this.#windowFrom = 0;
  }

  /** Builds the certificate. The block must be finalized or rejected. */
  certificate(): Certificate {
    const { context, state } = this.#closed!.record;
    const window = this.#window.slice(this.#windowFrom);
    const first = window.findIndex(({ seq }) => this.#entries.has(seq));
    const links = new Map(this.#entries);
    for (const kept of first < 0 ? [] : window.slice(first)) {
      if (!links.has(kept.seq)) links.set(kept.seq, kept);
    }
    const { height, approve, reject, total, choice } = context;
    const chosen = choice === undefined ? {} : { choice };
    const status = state as 'finalized' | 'rejected';
    const claim = { network_id: this.#networkId, block_hash: this.#block, height, status };
    return {
      format: CERTIFICATE_FORMAT,
      claim: { ...claim, approve, reject, total, ...chosen },
      spans: spansOf([...links.values()].sort((a, b) => a.seq - b.seq)),
    };
  }
}

function spansOf(kept: readonly Kept[]): CertificateSpan[] {
  const spans: CertificateSpan[] = [];
  for (const { seq, before, after, link } of kept) {
    const open = spans.at(-1);
    if (open && open.first + open.links.length === seq) {
      open.links.push(link);
      open.after = after;
    } else spans.push({ first: seq, before, links: [link], after });
  }
  return spans;
}
