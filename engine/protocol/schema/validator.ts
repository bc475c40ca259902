/**
 * Validators for messages, files and responses. The build generates their code with ajv, so that no
 * process compiles a schema at run time. Node only.
 */
import { createRequire } from 'node:module';
import { pattern } from '../bundled/options.js';
import type { TSchema } from '../bundled/typebox.js';
import type { Validate } from '../bundled/validators.js';
import { findProblem, type Problem } from './validate.js';

const require = createRequire(import.meta.url);

/** Registered schemas. The build loads all modules and compiles the registered schemas. */
validator.schemas = new Map<string, TSchema>();

/**
 * Returns a function that finds the first problem in a value, or null. Call `validator` while a
 * module loads.
 * @throws {Error} for a duplicate name.
 */
export function validator(name: string, schema: TSchema): (value: unknown) => Problem | null {
  if (validator.schemas.has(name)) throw new Error(`duplicate schema name: ${name}; rename one`);
  validator.schemas.set(name, schema);
  let validate: Validate | undefined;
  return (value) => {
    validate ??= load(name);
    return findProblem(validate, schema, value);
  };
}

function load(name: string): Validate {
  const file = require(`../bundled/named/${name}.cjs`) as (
    patterns: typeof pattern,
  ) => Record<string, Validate>;
  return file(pattern)[name]!;
}
