/** Links between agents as a file: a line a,b for each, agents by ordinal or by name. */
import { inhabitants, type Peopled } from '../population.js';
import { BadLine, type CsvRow, rowsOf } from './rows.js';

/** Ordinals of the two ends of a link. */
export type Edge = readonly [number, number];

const heads = new Set(['a,b', 'from,to', 'source,target']);

/** Links are mutual: one that is there twice, or from both ends, is one. @throws {BadLine} */
export function edgesIn(text: string, scenario: Peopled): Edge[] {
  const all = rowsOf(text);
  const [first] = all;
  const rows = first && heads.has(first.cells.join(',')) ? all.slice(1) : all;
  const ordinals = new Map<string, number>();
  for (const { name, ordinal } of inhabitants(scenario)) {
    ordinals.set(name, ordinal);
    ordinals.set(String(ordinal), ordinal);
  }
  return rows.map((row) => edgeOf(row, ordinals, scenario.population));
}

function edgeOf(
  { line, cells }: CsvRow,
  ordinals: ReadonlyMap<string, number>,
  size: number,
): Edge {
  if (cells.length !== 2) {
    throw new BadLine(line, `has ${cells.length} cells; expected two agents, a,b`);
  }
  const [a, b] = cells.map((cell) => {
    const ordinal = ordinals.get(cell);
    if (ordinal !== undefined) return ordinal;
    const expected = `an agent by ordinal from 0 to ${size - 1}, or by name`;
    throw new BadLine(line, `has ${JSON.stringify(cell)}; expected ${expected}`);
  }) as [number, number];
  if (a !== b) return [a, b];
  throw new BadLine(line, `links ${cells[0]} to itself; expected two agents`);
}
