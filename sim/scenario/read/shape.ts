/** Whether a value has the shape of a scenario; if not, where, and what is allowed there. */
import { type TSchema, Value } from '../../../engine/internal.js';
import type { Problem } from '../problem.js';
import { allowed, schemaAt } from '../schema/describe.js';
import { Fault } from '../schema/faults.js';
import { Intervention } from '../schema/interventions/interventions.js';
import { Condition } from '../schema/length.js';
import { Scenario } from '../schema/scenario.js';
import { Strategy } from '../schema/strategies.js';

function problemIn(schema: TSchema, value: unknown, above: string[]): Problem | null {
  if (Value.Check(schema, value)) return null;
  const [error] = Value.Errors(schema, value);
  const { instancePath = '', params = {} } = error ?? {};
  const [missing] = (params as { requiredProperties?: string[] }).requiredProperties ?? [];
  const steps = instancePath.split('/').slice(1);
  const inside = steps.map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
  if (missing !== undefined) inside.push(missing);
  return { path: [...above, ...inside], text: textOf(schema, value, inside) };
}

export function shapeProblem(value: unknown): Problem | null {
  return variantProblem(value) ?? untilProblem(value) ?? problemIn(Scenario, value, []);
}

/** A member that has kinds is checked as the kind that it names. */
function variantProblem(value: unknown): Problem | null {
  for (const { union, value: one, path } of variantsIn(value)) {
    const problem = kindProblem(union, one, path);
    if (problem) return problem;
  }
  return null;
}

/** One condition or a list of them: each is checked by itself. */
function untilProblem(value: unknown): Problem | null {
  const until = valueAt(value, ['length', 'until']);
  const each: [unknown, string[]][] = Array.isArray(until)
    ? until.map((one, index) => [one, ['length', 'until', String(index)]])
    : [[until, ['length', 'until']]];
  for (const [one, path] of each) {
    if (typeof one !== 'object' || one === null) continue;
    const problem = problemIn(Condition, one, path);
    if (problem) return problem;
  }
  return null;
}

/** Fills in the defaults of the kind that each such member names, whatever else is wrong in it. */
export function fillVariants(value: unknown): void {
  for (const { union, value: one } of variantsIn(value)) {
    const variant = variantOf(union, one);
    if (variant) Value.Default(variant, one);
  }
}

function variantsIn(value: unknown) {
  const { agents, faults, interventions } = (value ?? {}) as Record<string, unknown>;
  const strategies = list(agents).map((group, index) => ({
    union: Strategy as Union,
    value: (group as Record<string, unknown> | null)?.strategy,
    path: ['agents', String(index), 'strategy'],
  }));
  const wrongs = list(faults).map((fault, index) => ({
    union: Fault as Union,
    value: fault,
    path: ['faults', String(index)],
  }));
  const changes = list(interventions).flatMap((one, index) => {
    const path = ['interventions', String(index)];
    const { kind, strategy } = (one ?? {}) as Record<string, unknown>;
    const inner = { union: Strategy as Union, value: strategy, path: [...path, 'strategy'] };
    const outer = { union: Intervention as Union, value: one, path };
    return kind === 'strategy' ? [inner, outer] : [outer];
  });
  return [...strategies, ...wrongs, ...changes];
}

interface Union extends TSchema {
  anyOf: (TSchema & { properties: { kind: { const: string } } })[];
}

function kindProblem(union: Union, value: unknown, path: string[]): Problem | null {
  if (typeof value !== 'object' || value === null) return null;
  const variant = variantOf(union, value);
  if (variant) return problemIn(variant, value, path);
  const { kind } = value as { kind?: unknown };
  const kinds = union.anyOf.map((one) => one.properties.kind.const).join(', ');
  const text = `is ${shown(kind)}; expected one of ${kinds}`;
  return { path: [...path, 'kind'], text };
}

function variantOf(union: Union, value: unknown) {
  const kind = (value as { kind?: unknown } | null | undefined)?.kind;
  return union.anyOf.find((one) => one.properties.kind.const === kind);
}

const list = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

function textOf(schema: TSchema, value: unknown, path: string[]): string {
  const found = valueAt(value, path);
  const here = schemaAt(schema, path);
  const parent = schemaAt(schema, path.slice(0, -1));
  if (!here) return `is not known here; expected ${allowed(parent ?? schema)}`;
  if (found === undefined) return `is missing; expected ${allowed(here)}`;
  return `is ${shown(found)}; expected ${allowed(here)}`;
}

function valueAt(value: unknown, path: readonly string[]): unknown {
  let at = value;
  for (const step of path) at = (at as Record<string, unknown> | null | undefined)?.[step];
  return at;
}

/** Short enough for one line. */
function shown(value: unknown): string {
  const text = typeof value === 'number' ? String(value) : (JSON.stringify(value) ?? 'missing');
  return text.length <= 60 ? text : `${text.slice(0, 57)}...`;
}
