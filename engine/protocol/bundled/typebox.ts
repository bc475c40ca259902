/**
 * TypeBox, through one door: the build bundles this file, since the package's 700 modules take
 * longer to load (150 ms) than a small simulation to run. Only what is named here is bundled: all
 * of it would take three times as long to start.
 */
import * as typebox from 'typebox';
import * as value from 'typebox/value';

export type { Static, TObject, TProperties, TSchema } from 'typebox';

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
