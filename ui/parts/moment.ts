/** Times as the page shows them: since the network began. */
import { overview } from '../data/store.js';

/** As in 49.3 s, 12:04, 3:12:04 or 2 d 03:12:04. */
export function elapsed(ms: number): string {
  const all = Math.max(0, ms);
  if (all < 100_000) return `${(Math.round(all / 100) / 10).toFixed(1)} s`;
  const seconds = Math.floor(all / 1_000);
  const [h, m, s] = [Math.floor(seconds / 3_600), Math.floor(seconds / 60) % 60, seconds % 60];
  if (h === 0) return `${m}:${two(s)}`;
  if (h < 48) return `${h}:${two(m)}:${two(s)}`;
  return `${Math.floor(h / 24)} d ${two(h % 24)}:${two(m)}:${two(s)}`;
}

const two = (value: number) => String(value).padStart(2, '0');

/** Engine time of the first entry; the time itself where that is not known. */
export const beginning = (): number => overview.value?.buckets[0]?.at ?? 0;

/** Since the beginning, or the time of the day where nobody knows that. */
export function moment(at: number): string {
  const from = beginning();
  return from === 0 ? new Date(at).toISOString().slice(11, 19) : elapsed(at - from);
}
