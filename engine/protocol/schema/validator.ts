/**
 * Validators of all schemas that are not requests or genesis: messages, files and answers. The
 * build has ajv write each, so that no process compiles a schema. Under Node only.
 */
import { createRequire } from 'node:module';
import { pattern } from '../bundled/options.js';
import type { TSchema } from '../bundled/typebox.js';
import type { Validate } from '../bundled/validators.js';
import { findProblem, type Problem } from './validate.js';

const require = createRequire(import.meta.url);

/** The schemas that were named so far: the build loads all modules and compiles these. */
validator.schemas = new Map<string, TSchema>();

/**
 * A check of a schema's values: the first problem, or null. Modules call it while they load.
 * @throws {Error} where another schema has the name.
 */
export function validator(name: string, schema: TSchema): (value: unknown) => Problem | null {
  if (validator.schemas.has(name)) throw new Error(`two schemas are named ${name}; rename one`);
  validator.schemas.set(name, schema);
  let validate: Validate | undefined;
  return (value) => {
    validate ??= load(name);
    return findProblem(validate, value);
  };
}

function load(name: string): Validate {
  const file = require(`../bundled/named/${name}.cjs`) as (
    patterns: typeof pattern,
  ) => Record<string, Validate>;
  return file(pattern)[name]!;
}
