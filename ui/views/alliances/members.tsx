/** Who is in an alliance, and how alike they vote. */
import type { AllianceRow } from '../../../api/view/model.js';
import { shown } from '../../../report/shared/numbers.js';
import { Who } from '../../parts/who.js';
import type { Agreement } from '../../player/answers/votes.js';

export type Alike = ReadonlyMap<number, Agreement>;

/** As a text: nothing where no two members voted on one block. */
export function shareOf(alike: Alike, number: number): string {
  const found = alike.get(number);
  if (!found || found.pairs === 0) return '–';
  return `${Math.round((100 * found.alike) / found.pairs)} %`;
}

const MOST = 12;

export function Members({ row: { members, invited } }: { row: AllianceRow }) {
  return (
    <>
      {members.slice(0, MOST).map((number, index) => (
        <span key={number}>
          {index > 0 ? ', ' : ''}
          <Who number={number} />
        </span>
      ))}
      {members.length > MOST && ` and ${shown(members.length - MOST)} more`}
      {invited.length > 0 && <span class="faint">; {shown(invited.length)} asked</span>}
    </>
  );
}
