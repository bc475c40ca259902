/** Timers of scripts: notes, names, cancellation, and mistakes that do not end the run. */
import fc from 'fast-check';
import { live } from '../fixture.js';
import { mistake, run, scripted } from './fixture.js';

/** Runs one agent's timers from 4 s on; returns the times of its calls after that, by note. */
async function calls(commands: string, wake = 'null', sections = {}) {
  const { folder, group } = scripted(`
    export const start = ({ nowMs, memory }) => {
      memory.starts = (memory.starts ?? 0) + 1;
      return nowMs < 4_000 ? { do: 'wake', ms: 4_000 - nowMs, note: 'begin' } : null;
    };
    export const wake = ({ note, nowMs, memory }) => {
      (memory.calls ??= []).push([note, nowMs - 4_000]);
      return note === 'begin' ? ${commands} : ${wake};
    };
    export const report = ({ group, groups: [own] }) =>
      group && Object.fromEntries(Object.values(own.memories).flatMap(({ calls = [] }) =>
        calls.map(([note, at], nth) => ['c' + nth + '_' + (note ?? 'none'), at])));`);
  const groups = [{ ...group, count: 1, producers: 1 }];
  const { result } = await live(groups, { length: { virtual_ms: 20_000 }, ...sections }, folder);
  const { c0_begin: begin, ...rest } = result.reported.groups.own!;
  expect(begin).toBe(0);
  return { calls: rest, findings: result.findings, ended_by: result.ended_by };
}

const untouched = { findings: undefined, ended_by: 'virtual_ms' };

test('cancel: removes the pending call, and the name can be used again', async () => {
  const set = "{ do: 'wake', ms: 30, name: 'x', note: 'old' }";
  const cancel = "{ do: 'cancel', name: 'x' }";
  expect(await calls(`[${set}, ${cancel}]`)).toEqual({ calls: {}, ...untouched });
  const again = "{ do: 'wake', ms: 50, name: 'x', note: 'new' }";
  expect(await calls(`[${set}, ${cancel}, ${again}]`)).toEqual({
    calls: { c1_new: 50 },
    ...untouched,
  });
});

test('cancel: a crash has lost the call, so its name is unknown', async () => {
  const crash = { kind: 'crash', start_ms: 5_000, length_ms: 2_000, whom: [{ group: 'own' }] };
  const { folder, group } = scripted(`
    export const start = ({ nowMs }) => nowMs < 4_000
      ? { do: 'wake', ms: 9_000, name: 'x' }
      : [{ do: 'cancel', name: 'x' }, { do: 'wake', ms: 100, name: 'y' }];
    export const wake = ({ shared }) => { shared.calls = (shared.calls ?? 0) + 1; };
    export const report = ({ groups: [own] }) => own.shared;`);
  const sections = { length: { virtual_ms: 20_000 }, faults: [crash] };
  const { result } = await live([{ ...group, producers: 1 }], sections, folder);
  expect(result.reported.groups.own).toEqual({ calls: 3 });
  expect(result.findings).toMatchObject([{ name: 'UNKNOWN_WAKE', count: 3 }]);
});

test('wake: a note that is too large is a finding, and the call is not scheduled', async () => {
  const noted = (size: number) => `{ do: 'wake', ms: 10, note: 'x'.repeat(${size}) }`;
  const {
    calls: made,
    findings,
    ended_by,
  } = await calls(`[${noted(1_023)}, { do: 'wake', ms: 20, note: 'b' }]`);
  expect([made, ended_by]).toEqual([{ c1_b: 20 }, 'virtual_ms']);
  expect(findings).toMatchObject([{ name: 'NOTE_TOO_LARGE', count: 1 }]);
  const fits = await run(`
    export const start = () => ({ do: 'wake', ms: 10, note: { x: 'é'.repeat(508) } });
    export const wake = ({ note, shared }) => { shared.length = note.x.length; };
    export const report = ({ groups: [own] }) => own.shared;`);
  expect(fits.result.findings).toBe(undefined);
  expect(fits.result.reported.groups.own).toEqual({ length: 508 });
});

test.each([
  ['a note that is a function', "{ do: 'wake', ms: 1, note: () => 1 }", /invalid note: function/],
  [
    'a cyclic note',
    "(() => { const a = []; a.push(a); return { do: 'wake', ms: 1, note: a }; })()",
    /cycle/,
  ],
  ['an empty name', "{ do: 'cancel', name: '' }", /name/],
  ['a missing name', "{ do: 'cancel' }", /name/],
])('wake and cancel: %s ends the run', async (_, command, why) => {
  expect((await mistake(`export const start = () => (${command});`)).message).toMatch(why);
});

test('wake: notes are frozen', async () => {
  const text = `
    export const start = () => ({ do: 'wake', ms: 1, note: { list: [] } });
    export const wake = ({ note }) => { note.list.push(1); };`;
  expect((await mistake(text)).message).toMatch(/wake for agent \S+: Cannot add property 0/);
});

/** One step of a random sequence: sets or cancels one of three names, or waits. */
const Step = fc.oneof(
  fc.record({ set: fc.nat(2), ms: fc.integer({ min: 1, max: 30 }) }),
  fc.record({ cancel: fc.nat(2) }),
);
const TICK_MS = 10;

/** Predicts the calls: at most one pending call for each name. */
function predict(steps: readonly ({ set: number; ms: number } | { cancel: number })[]) {
  const pending = new Map<number, { at: number; note: number }>();
  const made: number[] = [];
  let unknown = 0;
  for (let now = 0; now <= steps.length * TICK_MS + 30; now += 1) {
    // Of calls at one instant, the one scheduled first comes first.
    const index = now / TICK_MS;
    const step = steps[index];
    if (step && 'set' in step) pending.set(step.set, { at: now + step.ms, note: index });
    else if (step && !pending.delete(step.cancel)) unknown += 1;
    for (const [name, { at, note }] of [...pending].sort(([, a], [, b]) => a.note - b.note)) {
      if (at !== now || pending.get(name)?.at !== now) continue;
      pending.delete(name);
      made.push(note);
    }
  }
  return { made, unknown };
}

test('timers: equal a model, for random commands', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(Step, { minLength: 1, maxLength: 12 }), async (steps) => {
      const { folder, group } = scripted(
        `
        export const start = ({ parameters }) =>
          parameters.steps.map((_, step) =>
            ({ do: 'wake', ms: 4_001 + 10 * step, note: { step } }));
        export const wake = ({ note, memory, parameters }) => {
          if (note.set !== undefined) { (memory.made ??= []).push(note.set); return null; }
          const one = parameters.steps[note.step];
          return 'set' in one
            ? { do: 'wake', ms: one.ms, name: 'n' + one.set, note: { set: note.step } }
            : { do: 'cancel', name: 'n' + one.cancel };
        };
        export const report = ({ group, groups: [own] }) => group &&
          Object.fromEntries(
            (Object.values(own.memories)[0]?.made ?? []).map((n, i) => ['m' + i, n]));`,
        { steps },
      );
      const groups = [{ ...group, count: 1, producers: 1 }];
      const { result } = await live(groups, { length: { virtual_ms: 8_000 } }, folder);
      const { made, unknown } = predict(steps);
      expect(Object.values(result.reported.groups.own ?? {})).toEqual(made);
      expect(result.findings?.[0]?.count ?? 0).toBe(unknown);
    }),
    { numRuns: 25 },
  );
});
