/**
 * Names and short texts: sanitized agent texts, links to agents, blocks and entries, descriptions
 * of agents, elapsed times, and hooks for the clock, sizes and colour schemes.
 */
import { useEffect, useLayoutEffect, useState } from 'preact/hooks';
import type { MessageKind } from '../../api/view/model.js';
import { format, plural } from '../../report/shared/format.js';
import { approves, DORMANT, rejects } from '../data/messages.js';
import { agents, blocks, clock, overview } from '../data/store.js';
import { href } from '../route.js';

/** Bidirectional controls and invisible characters, except the emoji variation selector. */
const TRICKS = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]|(?!\ufe0f)\p{Default_Ignorable_Code_Point}/gu;

/** Replaces invisible characters with dots, and truncates the text to `most` characters. */
export function cleanText(text: string, most = 200): string {
  const clean = text.slice(0, most * 4).replace(TRICKS, '\u00b7');
  const letters = [...clean];
  return letters.length <= most ? clean : `${letters.slice(0, most - 1).join('')}…`;
}

/** A name in bidirectional isolation, so that it cannot reorder the text around it. */
export function Name({ text, most = 48 }: { text: string; most?: number }) {
  return <bdi>{cleanText(text, most)}</bdi>;
}

/** An agent's words. */
export const Quote = (props: { text: string; most: number }) => (
  <q>
    <Name {...props} />
  </q>
);

export function AgentLink({ number, id }: { number?: number | undefined; id?: string }) {
  const known = number ?? (id === undefined ? null : agents.numberOf(id));
  const row = known === null ? undefined : agents.rows[known];
  if (!row) return <span class="faint">{id === undefined ? 'unknown' : cleanText(id, 14)}</span>;
  return (
    <a href={href('agent', row.id)} title={cleanText(row.personality, 32)}>
      <Name text={row.name === '' ? row.id : row.name} most={32} />
    </a>
  );
}

/** Link to a block, by number if the block is in the snapshot, or by hash. */
export function BlockLink({ number, hash }: { number?: number; hash?: string }) {
  const block = blocks.value.find((one) => one.number === number || one.hash === hash);
  const known = block?.hash ?? hash;
  if (known === undefined) return <span class="faint">an earlier block</span>;
  return (
    <a href={href('block', known)}>
      {block ? `block ${block.height}` : `block ${known.slice(0, 8)}…`}
    </a>
  );
}

/** Link to the state after an entry. */
export function EntryLink({ entry }: { entry: number }) {
  return <a href={href('explore', undefined, { at: String(entry) })}>entry {format(entry)}</a>;
}

export const getAgentName = (number: number): string =>
  cleanText(agents.rows[number]?.name ?? '', 48);

/** Capitalizes a message and ends it with a period: `no entry 9 yet` to `No entry 9 yet.` */
export function toSentence(message: string): string {
  if (message === '') return '';
  // Identifiers and paths keep their case.
  const first = /^[a-z]+(?=[\s,:;]|$)/.test(message) ? message[0]!.toUpperCase() : message[0]!;
  return `${first}${message.slice(1)}${/[.!?…:]$/.test(message) ? '' : '.'}`;
}

/** Returns the side of a message: of a vote's decision, or of a remark's sentiment. */
export function sideOf(stance: string): 'for' | 'against' | 'neutral' {
  if (stance === 'approve' || stance === 'positive') return 'for';
  return stance === 'reject' || stance === 'negative' ? 'against' : 'neutral';
}

export const messageText = ({ kind, stance }: { kind: MessageKind; stance: string }): string =>
  stance === '' ? kind : `${kind}, ${sideOf(stance)}`;

interface EqualMessages {
  said: { kind: MessageKind };
  agents: { size: number };
  count: number;
}

/**
 * Formats the number of agents that sent the same message: `324 agents`, or '' for a single
 * message.
 */
export function countSenders({ said: { kind }, agents: { size }, count }: EqualMessages): string {
  // An agent may give the same reason for several blocks, and blocks are counted separately.
  const times = count > size && kind !== 'reason' ? `${format(count)} times` : '';
  return [size > 1 && plural(size, 'agent'), times].filter(Boolean).join(', ');
}

export function getDecision(number: number): string {
  const said = agents.decision[number];
  if (said === approves) return 'approves';
  if (said === rejects) return 'rejects';
  if (!agents.rows[number]?.validator) return 'does not vote';
  return agents.status[number] === 0 ? 'has not voted' : 'is away';
}

export function getStatus(number: number): string {
  const code = agents.status[number]!;
  if (code & DORMANT) return 'dormant';
  return ['active', 'inactive', 'maintenance'][code] ?? '';
}

export const getReputation = (number: number): number =>
  Math.round(agents.reputation[number]! / 1_000) / 10;

export function describeAgent(number: number): string {
  const row = agents.rows[number];
  if (!row) return '';
  const kind = cleanText(row.personality, 32);
  const standing = `reputation ${getReputation(number)}, ${getStatus(number)}`;
  return `${getAgentName(number)}, ${kind}, ${getDecision(number)}, ${standing}`;
}

/**
 * Formats as 49.3 s, 12:04.1, 3:12:04 or 2 d 03:12:04. `longest` selects the form, so that all
 * times in a list have one form.
 */
export function formatElapsed(ms: number, longest = ms): string {
  const tenths = Math.round(Math.max(0, ms) / 100);
  const most = Math.max(ms, longest);
  if (most < 100_000) return `${(tenths / 10).toFixed(1)} s`;
  const seconds = Math.floor(tenths / 10);
  const [h, m, s] = [Math.floor(seconds / 3_600), Math.floor(seconds / 60) % 60, seconds % 60];
  const hours = most / 3_600_000;
  if (hours < 1) return `${m}:${two(s)}.${tenths % 10}`;
  if (hours < 48) return `${h}:${two(m)}:${two(s)}`;
  return `${Math.floor(h / 24)} d ${two(h % 24)}:${two(m)}:${two(s)}`;
}

const two = (value: number) => String(value).padStart(2, '0');

/** Time of the first entry, milliseconds since 1970; 0 until it is known. */
export const beginning = (): number => overview.value?.buckets[0]?.at ?? 0;

/**
 * Formats the time since the first entry, in the form that the whole run needs, or the UTC time of
 * day if the first entry's time is unknown.
 */
export function moment(at: number): string {
  const from = beginning();
  if (from === 0) return new Date(at).toISOString().slice(11, 19);
  return formatElapsed(at - from, clock.value.head.at - from);
}

export function useNow(everyMs: number): number {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
  return now;
}

const narrowScreen = matchMedia('(max-width: 640px)');

export function useNarrow(): boolean {
  const [narrow, setNarrow] = useState(narrowScreen.matches);
  useEffect(() => {
    const change = () => setNarrow(narrowScreen.matches);
    narrowScreen.addEventListener('change', change);
    return () => narrowScreen.removeEventListener('change', change);
  }, []);
  return narrow;
}

/** The width of an element in CSS pixels; 0 before the first layout. */
export function useWidth(box: { current: HTMLElement | null }): number {
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    const element = box.current!;
    const observer = new ResizeObserver(() => setWidth(Math.floor(element.clientWidth)));
    observer.observe(element);
    setWidth(Math.floor(element.clientWidth));
    return () => observer.disconnect();
  }, []);
  return width;
}

const media = ['(prefers-color-scheme: dark)', '(forced-colors: active)'];

/** Calls a function when the system changes its colours. Returns the function that ends this. */
export function watchScheme(changed: () => void): () => void {
  const lists = media.map((query) => matchMedia(query));
  for (const list of lists) list.addEventListener('change', changed);
  return () => {
    for (const list of lists) list.removeEventListener('change', changed);
  };
}

const ANNOUNCE_EVERY_MS = 5_000;

/** Announces the summary to screen readers, at most every 5 s. */
export function Announcer({ summary }: { summary(): string }) {
  const [text, setText] = useState('');
  useEffect(() => {
    const timer = setInterval(() => setText(summary()), ANNOUNCE_EVERY_MS);
    return () => clearInterval(timer);
  }, [summary]);
  return (
    <p class="unseen" role="status" aria-live="polite">
      {text}
    </p>
  );
}
