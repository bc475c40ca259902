/**
 * Re-exports TypeBox for the bundle. The package's 700 modules take 150 ms to load, and including
 * all of TypeBox would make the bundle three times as slow to start.
 */
import * as typebox from 'typebox';
import * as value from 'typebox/value';

export type { Static, TObject, TOptional, TProperties, TSchema } from 'typebox';

export const Type = {
  Array: typebox.Array,
  Boolean: typebox.Boolean,
  Enum: typebox.Enum,
  Integer: typebox.Integer,
  Literal: typebox.Literal,
  Null: typebox.Null,
  Number: typebox.Number,
  Object: typebox.Object,
  Omit: typebox.Omit,
  Optional: typebox.Optional,
  Record: typebox.Record,
  String: typebox.String,
  Union: typebox.Union,
  Unknown: typebox.Unknown,
  Unsafe: typebox.Unsafe,
};

export const Value = { Check: value.Check, Default: value.Default, Errors: value.Errors };
