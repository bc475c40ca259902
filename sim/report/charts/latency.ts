/** How long after a proposal its votes arrived. */
import { gridY, rectY, ruleY } from '@observablehq/plot';
import type { Chart } from '../../../report/figure.js';
import type { TableRow } from '../../../report/read.js';
import { shown, tick, time, timeUnit } from '../../../report/shared/numbers.js';
import { decisions as shownDecisions } from '../../../report/shared/outcomes.js';
import { variable } from '../../../report/shared/palette.js';

const FINE = 2_000;
const BARS = 60;
/** What must be seen of all votes. */
const MOST_VOTES = 0.995;

const decisions = (['approve', 'reject'] as const).map((name) => ({
  name,
  color: variable(shownDecisions[name].color),
}));

/** Counts votes as they come, in fine bins: rows may be tens of millions. */
export class Latencies {
  readonly #fineMs: number;
  readonly #counts: Record<string, Float64Array>;
  #votes = 0;
  #longestMs = 0;

  /** @param periodMs no vote counts later after its proposal. */
  constructor(periodMs: number) {
    this.#fineMs = Math.max(1, Math.ceil((periodMs + 1) / FINE));
    const size = Math.floor(periodMs / this.#fineMs) + 1;
    this.#counts = Object.fromEntries(decisions.map(({ name }) => [name, new Float64Array(size)]));
  }

  add({ after_ms, decision }: TableRow): void {
    const after = Number(after_ms);
    const counts = this.#counts[decision!];
    const bin = Math.floor(after / this.#fineMs);
    if (!counts || !(bin < counts.length)) return;
    counts[bin]! += 1;
    this.#votes += 1;
    this.#longestMs = Math.max(this.#longestMs, after);
  }

  chart(): Chart | null {
    if (this.#votes === 0) return null;
    const wanted = this.#binsToShow();
    const perBar = Math.ceil(wanted / BARS);
    const bars = Array.from({ length: Math.ceil(wanted / perBar) }, (_, index) => index);
    const bins = perBar * bars.length;
    const later = this.#votes - this.#total(bins);
    const x = timeUnit(bins * this.#fineMs);
    const widthMs = perBar * this.#fineMs;
    const rows = decisions.flatMap(({ name, color }) =>
      bars.map((bar) => ({
        x1: (bar * widthMs) / x.ms,
        x2: ((bar + 1) * widthMs) / x.ms,
        votes: this.#sum(name, bar * perBar, perBar),
        name,
        color,
      })),
    );
    return {
      title: 'When votes arrive',
      caption:
        `Votes that counted by the time from the proposal of their block to their arrival, in ` +
        `steps of ${time(widthMs)}. ${shown(this.#votes)} votes: half of them within ` +
        `${time(this.#medianMs())}; the last one came after ` +
        `${time(this.#longestMs)}.` +
        (later > 0 ? ` ${shown(later)} that came later than the last bar are not drawn.` : ''),
      legend: decisions.map(({ name, color }) => ({
        color,
        text: `${name} (${shown(this.#sum(name, 0, FINE + 1))})`,
      })),
      draw: (_, narrow) => ({
        height: narrow ? 220 : 260,
        marginLeft: 56,
        marginTop: 28,
        x: { label: `time since the proposal, ${x.name}`, labelOffset: 42, ticks: narrow ? 5 : 10 },
        y: { label: 'votes', tickFormat: tick },
        color: { type: 'identity' },
        marks: [
          gridY({ stroke: 'var(--line)', strokeOpacity: 1 }),
          rectY(rows, { x1: 'x1', x2: 'x2', y: 'votes', fill: 'color', inset: 0.5 }),
          ruleY([0], { stroke: 'var(--faint)' }),
        ],
      }),
    };
  }

  /** All bins, unless a few late votes would press all others into a corner. */
  #binsToShow(): number {
    const all = Math.floor(this.#longestMs / this.#fineMs) + 1;
    let most = 1;
    while (this.#total(most) < MOST_VOTES * this.#votes) most += 1;
    return all > 2 * most ? Math.min(all, Math.ceil(1.2 * most)) : all;
  }

  /** To the fine bin. */
  #medianMs(): number {
    let bins = 1;
    while (2 * this.#total(bins) < this.#votes) bins += 1;
    return bins * this.#fineMs;
  }

  #total(bins: number): number {
    return decisions.reduce((sum, { name }) => sum + this.#sum(name, 0, bins), 0);
  }

  #sum(decision: string, from: number, count: number): number {
    return this.#counts[decision]!.subarray(from, from + count).reduce((sum, n) => sum + n, 0);
  }
}
