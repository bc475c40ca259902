/**
 * Validators of schemas that are not the protocol's own, compiled by ajv when they are first used.
 * Under Node only: what a page runs has its validators from the build, for no page may compile.
 */
import { createRequire } from 'node:module';
import type { ValidateFunction } from '../bundled/ajv.js';
import { ajvOptions } from '../bundled/options.js';
import type { TSchema } from '../bundled/typebox.js';
import { type Problem, problemOf } from './validate.js';

type Compile = (schema: TSchema) => ValidateFunction;

const compiled = new Map<TSchema, ValidateFunction>();
let compileAnew: Compile | undefined;

/** Compiling takes milliseconds: a process pays for the schemas that it meets. */
function compile(schema: TSchema): ValidateFunction {
  const known = compiled.get(schema);
  if (known) return known;
  compileAnew ??= loadAjv();
  const validate = compileAnew(schema);
  compiled.set(schema, validate);
  return validate;
}

/** Required, not imported: most processes meet none of these schemas, and loading takes 8 ms. */
function loadAjv(): Compile {
  const require = createRequire(import.meta.url);
  const { Ajv } = require('../bundled/ajv.cjs') as typeof import('../bundled/ajv.js');
  const ajv = new Ajv(ajvOptions);
  return (schema) => ajv.compile(schema);
}

/** A check of any schema's values: the first problem, or null. */
export function validator(schema: TSchema): (value: unknown) => Problem | null {
  return (value) => problemOf(compile(schema), value);
}
