/** Tests the opinion map by its properties, not by recorded values. */
import fc from 'fast-check';
import { agreements, computeOpinion, largestTwo, listVotes } from '../../../ui/player/opinion.js';
import { hullOf } from '../../../ui/views/opinion-map.js';

/**
 * Builds a snapshot. Each row is an agent and each column a block: `+` approves, `-` rejects, `.`
 * does not vote.
 */
function snapshot(votes: readonly string[], alliances: number[][] = []) {
  const blocks = [...votes[0]!].map((_, column) => ({
    number: column,
    height: column + 1,
    status: 'finalized',
    ballots: votes.flatMap((row, agent) =>
      row[column] === '.' ? [] : [2 * agent + (row[column] === '-' ? 1 : 0)],
    ),
  }));
  const rows = alliances.map((members, number) => ({ number, members }));
  return { blocks, alliances: rows } as unknown as Parameters<typeof computeOpinion>[0];
}

const towns = ['++++', '++++', '+++-', '----', '----', '---+'];

test('opinion: places agents with equal votes together and opponents apart', () => {
  const { x, y, agents, axes, heights } = computeOpinion(snapshot(towns), null)!;
  expect([...agents].sort()).toEqual([0, 1, 2, 3, 4, 5]);
  const at = (agent: number) => [x[agents.indexOf(agent)]!, y[agents.indexOf(agent)]!] as const;
  expect(at(0)).toEqual(at(1));
  expect(Math.sign(at(0)[0])).toBe(-Math.sign(at(4)[0]));
  expect(axes[0].share).toBeGreaterThan(axes[1].share);
  expect(heights).toEqual([1, 4]);
  // The last block has less weight, because agents changed sides on it.
  expect(axes[0].blocks.map(({ height }) => height).sort()).toEqual([1, 2, 3]);
});

test('opinion: returns null for too few votes', () => {
  expect(computeOpinion(snapshot(['+', '-']), null)).toBeNull();
  expect(computeOpinion(snapshot(['+-+']), null)).toBeNull();
  expect(computeOpinion(snapshot(['..', '..']), null)).toBeNull();
});

test('opinion: places all agents in the middle if all vote alike', () => {
  const { x, y } = computeOpinion(snapshot(['+-', '+-', '+-']), null)!;
  for (const place of [...x, ...y]) expect(place).toBeCloseTo(0, 6);
});

test('opinion: aligns a map to the previous one', () => {
  const cell = fc.constantFrom('+', '-', '.');
  const rows = fc.array(fc.array(cell, { minLength: 6, maxLength: 6 }), {
    minLength: 4,
    maxLength: 12,
  });
  fc.assert(
    fc.property(rows, fc.boolean(), fc.boolean(), (cells, mirrorX, mirrorY) => {
      const one = computeOpinion(snapshot(cells.map((row) => row.join(''))), null);
      if (!one) return;
      const turn = (values: Float32Array, mirrored: boolean) =>
        values.map((value) => (mirrored ? -value : value));
      const before = { agents: one.agents, x: turn(one.x, mirrorX), y: turn(one.y, mirrorY) };
      const again = computeOpinion(snapshot(cells.map((row) => row.join(''))), before)!;
      const product = (a: Float32Array, b: Float32Array) =>
        a.reduce((sum, value, place) => sum + value * b[place]!, 0);
      expect(product(again.x, before.x)).toBeGreaterThanOrEqual(-1e-3);
      expect(product(again.y, before.y)).toBeGreaterThanOrEqual(-1e-3);
    }),
  );
});

test('eigen: returns eigenvalues and eigenvectors of the matrix', () => {
  const size = 5;
  const entry = fc.double({ min: -3, max: 3, noNaN: true });
  const draws = fc.array(entry, { minLength: 35, maxLength: 35 });
  fc.assert(
    fc.property(draws, (drawn) => {
      // A Gram matrix is symmetric and positive semidefinite.
      const matrix = new Float64Array(size * size);
      for (let row = 0; row < 7; row += 1) {
        for (let a = 0; a < size; a += 1) {
          for (let b = 0; b < size; b += 1) {
            matrix[a * size + b]! += drawn[row * size + a]! * drawn[row * size + b]!;
          }
        }
      }
      const [first, second] = largestTwo(Float64Array.from(matrix), size);
      expect(first.value).toBeGreaterThanOrEqual(second.value);
      for (const { value, vector } of [first, second]) {
        for (let a = 0; a < size; a += 1) {
          const image = vector.reduce((sum, part, b) => sum + matrix[a * size + b]! * part, 0);
          expect(image).toBeCloseTo(value * vector[a]!, 3);
        }
      }
    }),
  );
});

test('votes: lists the votes of an agent and the agreement of allies', () => {
  const known = snapshot(towns, [
    [0, 1],
    [0, 5],
    [2, 3],
  ]);
  expect(listVotes(known, 5).map(({ decision }) => decision)).toEqual([
    ...['reject', 'reject', 'reject', 'approve'],
  ]);
  expect(agreements(known)).toEqual([
    { alliance: 0, pairs: 4, alike: 4 },
    { alliance: 1, pairs: 4, alike: 1 },
    { alliance: 2, pairs: 4, alike: 1 },
  ]);
});

test('hull: contains every point, and its corners are points', () => {
  const point = fc.record({
    x: fc.integer({ min: -9, max: 9 }),
    y: fc.integer({ min: -9, max: 9 }),
  });
  fc.assert(
    fc.property(fc.array(point, { minLength: 3, maxLength: 20 }), (points) => {
      const hull = hullOf(points);
      for (const corner of hull) expect(points).toContainEqual(corner);
      for (let place = 0; place < hull.length && hull.length > 2; place += 1) {
        const [a, b] = [hull[place]!, hull[(place + 1) % hull.length]!];
        for (const { x, y } of points) {
          expect((b.x - a.x) * (y - a.y) - (b.y - a.y) * (x - a.x)).toBeGreaterThanOrEqual(0);
        }
      }
    }),
  );
});
