/** The stored meta as text, and what a folder's meta must say for this program to open it. */
import { StoreError, type StoreMeta } from './store.js';

/** What the opener expects of a folder. */
export interface Expected {
  folder: string;
  /** The layout and rules of this program. */
  schemaVersion: number;
  /** Any network when left out. */
  networkId?: string | undefined;
}

const numbers = ['schema_version', 'seq', 'at', 'event_seq'] as const;
const strings = ['network_id', 'epoch', 'log_digest', 'digest'] as const;
const marks = ['version', 'revision', 'time'] as const;

/** @throws {StoreError} `CORRUPT` when the text is not a meta. */
export function parseMeta(folder: string, text: string): StoreMeta {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new StoreError('CORRUPT', `${folder}: the stored meta is not JSON`, { cause });
  }
  const fields = new Map<string, unknown>(
    typeof value === 'object' && value !== null ? Object.entries(value) : [],
  );
  const wrong =
    numbers.find((name) => !Number.isSafeInteger(fields.get(name))) ??
    strings.find((name) => typeof fields.get(name) !== 'string') ??
    (isMark(fields.get('order')) ? undefined : 'order');
  if (wrong !== undefined) {
    throw new StoreError('CORRUPT', `${folder}: the stored meta has no usable ${wrong}`);
  }
  return value as StoreMeta;
}

/** Only a network whose requests come by an order has one. */
function isMark(value: unknown): boolean {
  if (value === undefined) return true;
  if (typeof value !== 'object' || value === null) return false;
  const mark = new Map<string, unknown>(Object.entries(value));
  return (
    typeof mark.get('log') === 'string' && marks.every((n) => Number.isSafeInteger(mark.get(n)))
  );
}

/** @throws {StoreError} `NEWER_SCHEMA`, `OLDER_SCHEMA` or `OTHER_NETWORK`. */
export function assertExpected(meta: StoreMeta, expected: Expected): void {
  const { folder, schemaVersion, networkId } = expected;
  if (meta.schema_version > schemaVersion) {
    throw new StoreError(
      'NEWER_SCHEMA',
      `${folder}: written with schema version ${meta.schema_version}; ` +
        `this program reads up to ${schemaVersion}: use a newer one`,
    );
  }
  if (meta.schema_version < schemaVersion) {
    throw new StoreError(
      'OLDER_SCHEMA',
      `${folder}: written with schema version ${meta.schema_version}, whose rules are not those ` +
        `of this program (${schemaVersion}): read it with the version of folkmoot that wrote it, ` +
        'or begin a new network in another folder',
    );
  }
  if (networkId !== undefined && meta.network_id !== networkId) {
    throw new StoreError(
      'OTHER_NETWORK',
      `${folder}: holds the network '${meta.network_id}', expected '${networkId}'`,
    );
  }
}
