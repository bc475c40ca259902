/** What each factor adds to the score, against the block on the left and for it on the right. */
import { shown } from '../../../../report/shared/numbers.js';
import { factors, type Judgement } from './fetch.js';
import { names } from './words.js';

export function Bars({ of }: { of: Judgement }) {
  const { score, threshold, contributions } = of;
  const together = factors.reduce((sum, factor) => sum + contributions[factor], 0);
  // Where nobody has an opinion, the score stands somewhere already: what is needed counts from it.
  const needed = threshold - (score - together);
  const all = [...factors.map((factor) => contributions[factor]), together, needed];
  const most = Math.max(1, ...all.map(Math.abs));
  const at = (value: number) => 50 + (50 * value) / most;
  return (
    <div class="why-bars">
      {factors.map((factor) => (
        <Bar key={factor} name={names[factor]} value={contributions[factor]} at={at} />
      ))}
      <Bar name="together" value={together} at={at} needed={needed} />
    </div>
  );
}

interface BarProps {
  name: string;
  value: number;
  /** Where a value stands, in percent of the width. */
  at: (value: number) => number;
  /** From which value on it approves. */
  needed?: number;
}

function Bar({ name, value, at, needed }: BarProps) {
  const [from, to] = [Math.min(50, at(value)), Math.max(50, at(value))];
  const side = value < 0 ? 'reject' : 'approve';
  return (
    <div class={needed === undefined ? 'why-bar' : 'why-bar whole'}>
      <span class="name">{name}</span>
      <span class="track" aria-hidden="true">
        <span class={`part ${side}`} style={{ left: `${from}%`, width: `${to - from}%` }} />
        <span class="zero" />
        {needed !== undefined && <span class="needed" style={{ left: `${at(needed)}%` }} />}
      </span>
      <span class="number">{signed(value)}</span>
      {needed !== undefined && (
        <span class="needs">
          <span style={{ left: `${Math.max(10, Math.min(90, at(needed)))}%` }}>
            needs {signed(needed)}
          </span>
        </span>
      )}
    </div>
  );
}

const signed = (value: number) => `${value > 0 ? '+' : ''}${shown(Math.round(value))}`;
