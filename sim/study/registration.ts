/**
 * Pre-registration: hashes of everything that a study fixes before its runs. A registered sweep
 * refuses to run if a part has changed, and its head and report name the registration.
 */
import { readFileSync } from 'node:fs';
import { type Static, Type } from '../../engine/protocol/bundled/typebox.js';
import { canonical } from '../../engine/protocol/canonical.js';
import { describeSystemError } from '../../engine/protocol/messages.js';
import { digestPattern } from '../../engine/protocol/patterns.js';
import { parseUnique } from '../../engine/protocol/repeated-members.js';
import { validator } from '../../engine/protocol/schema/validator.js';
import { sha256Hex } from '../../engine/protocol/signing.js';
import { listStrategies } from '../scenario/population.js';
import { ScenarioError } from '../scenario/problem.js';
import { isExternal } from '../scenario/schema/strategies.js';
import type { Plan } from '../sweep/plan.js';
import { expectStudy } from './plan.js';

const FORMAT = 'folkmoot-registration-1';
const Digest = Type.String({ pattern: digestPattern });
const strictly = { additionalProperties: false };

const Registration = Type.Object(
  {
    format: Type.Literal(FORMAT),
    /** SHA-256 of `parts`. */
    sha256: Digest,
    /** True if the seed is derived from a public value that is not known yet. */
    beacon: Type.Boolean(),
    parts: Type.Object(
      { scenario: Digest, prompts: Digest, models: Digest, seeds: Digest, analysis: Digest },
      strictly,
    ),
    /** Prompts, scripts and data files, by path. */
    files: Type.Record(Type.String(), Digest),
    models: Type.Array(Type.String()),
  },
  strictly,
);
export type Registration = Static<typeof Registration>;
const checkRegistration = validator('registration', Registration);

/** Registers a study. @throws {ScenarioError} if the sweep has no study. */
export function registerStudy(plan: Plan, beacon = false): Registration {
  expectStudy(plan);
  const { scenario, sweep, modules } = plan;
  const { study, responses, baseline, ...design } = sweep;
  const { sweep: _, seed, budget: __, agents, ...base } = scenario;
  const models = listStrategies(scenario).flatMap(({ strategy }) => {
    if (!isExternal(strategy)) return [];
    const { kind } = strategy;
    return [`${kind} ${'model' in strategy ? (strategy.model ?? '') : ''}`.trim()];
  });
  const { replicates, samples, until, ...varied } = design;
  const numbers = { replicates, samples, until };
  const parts = {
    scenario: hashOf({ base, agents, varied }),
    prompts: hashOf(modules),
    models: hashOf(models),
    seeds: hashOf(beacon ? { beacon, ...numbers } : { seed, ...numbers }),
    analysis: hashOf({ study, responses, baseline }),
  };
  return { format: FORMAT, sha256: hashOf(parts), beacon, parts, files: modules, models };
}

const hashOf = (value: object): string => sha256Hex(canonical(JSON.parse(JSON.stringify(value))));

/** @throws {ScenarioError} if the file is not a registration. */
export function readRegistration(path: string): Registration {
  let found: unknown;
  try {
    found = parseUnique(readFileSync(path, 'utf8'));
  } catch (error) {
    throw new ScenarioError(`cannot read ${path}: ${describeSystemError(error)}`);
  }
  const problem = checkRegistration(found);
  if (problem) {
    const where = `${problem.pointer} ${problem.message}`.trim();
    throw new ScenarioError(`${path} is not a registration: ${where}; use folkmoot study register`);
  }
  const registration = found as Registration;
  const changed = findEdit(registration);
  if (changed === null) return registration;
  throw new ScenarioError(`${path} was changed: ${changed}; restore the file`);
}

/** Describes a member that does not have the hash that the registration states for it. */
function findEdit({ sha256, parts, files, models }: Registration): string | null {
  if (hashOf(parts) !== sha256) return `the SHA-256 of its parts is not ${sha256}`;
  if (hashOf(files) !== parts.prompts) return `the SHA-256 of its files is not ${parts.prompts}`;
  return hashOf(models) === parts.models
    ? null
    : `the SHA-256 of its models is not ${parts.models}`;
}

/** Returns the seed that a public value, such as a beacon's pulse, fixes for a registration. */
export const seedFromBeacon = ({ sha256 }: Registration, value: string): string =>
  sha256Hex(`${sha256}/${value}`).slice(0, 32);

/** Compares a plan with its registration. @returns the names of the changed parts. */
export function findChanges(plan: Plan, registration: Registration): string[] {
  const now = registerStudy(plan, registration.beacon).parts;
  const names = Object.keys(now) as (keyof typeof now)[];
  return names.filter((name) => now[name] !== registration.parts[name]);
}
