/** What is damaged in a folder, as a replay found it, in a line. */
import type { Divergence } from '../../engine/internal.js';

export function damageText(folder: string, { seq, what, which }: Divergence): string {
  const where = `${what}${which === undefined ? '' : ` (${which})`} of entry ${seq}`;
  const advice = 'folkmoot replay shows more; restore the folder from a copy';
  return `${folder}: damaged: ${where} is not what it was; ${advice}`;
}
