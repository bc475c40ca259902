/**
 * Generates encoders: functions that write the values of one schema as JSON. An encoder knows the
 * members and their order, so it neither walks nor sorts. A value that does not have exactly these
 * members and types takes the general way, so that every value has the same text both ways.
 *
 * No library writes members in canonical order: fast-json-stringify writes the required ones first,
 * converts values of other types, and needs a module of its own at run time.
 */

/** `canonical`: the order of canonical JSON. `declared`: the order of the schema. */
const orders = {
  canonical: { sorted: (names) => [...names].sort(), general: 'canonical' },
  declared: { sorted: (names) => names, general: 'JSON.stringify' },
};

/** Patterns and texts without any character that JSON escapes. */
const PLAIN_PATTERN = /^\^(?:\w|\[(?:A-Z|A-F|a-z|a-f|0-9|[\w.]|-(?=\]))+\]|\{\d+(?:,\d+)?\})+\$$/;
const PLAIN_TEXT = /^\w*$/;

/** Returns true if JSON contains every text of the schema unchanged. */
function isPlain({ type, enum: words, pattern = '' }) {
  if (words) return words.every((word) => PLAIN_TEXT.test(word));
  return type === 'string' && PLAIN_PATTERN.test(pattern);
}

const isObject = ({ type, required = [] }) => type === 'object' && required.length > 0;

const HELPERS = `
import { canonical } from '../../protocol/canonical.js';

const isNumber = (value) => typeof value === 'number' && value - value === 0;

// A loop over a short text is faster than a call.
function quote(text) {
  if (text.length > 32) return JSON.stringify(text);
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (code < 0x20 || code === 0x22 || code === 0x5c || (code >= 0xd800 && code < 0xe000)) {
      return JSON.stringify(text);
    }
  }
  return '"' + text + '"';
}`;

class Generator {
  /** Name and code of the functions, by schema. Equal schemas share a function. */
  #functions = new Map();

  get code() {
    return [HELPERS, ...[...this.#functions.values()].map(({ code }) => code)].join('\n');
  }

  /** Returns the name of the function that encodes a schema. */
  encoder(schema, order) {
    const { general } = orders[order];
    if (!isObject(schema) && !schema.items) return general;
    const key = `${order} ${JSON.stringify(schema)}`;
    if (!this.#functions.has(key)) {
      const made = { name: `encode${this.#functions.size}`, code: '' };
      this.#functions.set(key, made);
      const body = schema.items ? this.#list(schema, order) : this.#object(schema, order, made);
      made.code += `function ${made.name}(value) {${body}}`;
    }
    return this.#functions.get(key).name;
  }

  #object({ properties, required }, order, made) {
    const { sorted, general } = orders[order];
    const members = sorted(Object.keys(properties)).map((name) => {
      const value = `$${name}`;
      const { mark = '', ...one } = this.#member(properties[name], order, value);
      return { name, value, mark, optional: !required.includes(name), ...one };
    });
    const first = members.findIndex(({ optional }) => !optional);
    const texts = members.map(({ name, value, mark, text, optional }, at) => {
      const [before, after] = [at > first ? ',' : '', at < first ? ',' : ''];
      const all = `'${before}"${name}":${mark}' + ${text} + '${mark}${after}'`;
      return optional ? `(${value} === undefined ? '' : ${all})` : all;
    });
    const counts = members.map(({ value, optional }) =>
      optional ? `(${value} !== undefined)` : 1,
    );
    const guards = members.map(({ value, guard, optional }) =>
      optional ? `(${value} === undefined || ${guard})` : guard,
    );
    const names = members.map(({ name }) => name);
    let inOrder = '';
    if (order === 'declared') {
      made.code = `const ${made.name}Names = ${JSON.stringify(names)};\n`;
      inOrder = `
        place = ${made.name}Names.indexOf(name, place) + 1;
        if (place === 0) return ${general}(value);`;
    }
    return `
      let count = 0, place = 0;
      for (const name in value) { count += 1; ${inOrder} }
      if (count < ${required.length}) return ${general}(value);
      const { ${names.map((name) => `${name}: $${name}`)} } = value;
      return count === ${counts.join(' + ')} && ${guards.join(' && ')}
        ? ${`'{' + ${texts.join(' + ')} + '}'`.replaceAll("' + '", '')}
        : ${general}(value);`;
  }

  /** Encodes a list of objects in a loop. For other lists, the general way is as fast. */
  #list({ items }, order) {
    const { general } = orders[order];
    const item = this.encoder(items, order);
    const each = `
      let text = '[' + ${item}(value[0]);
      for (let index = 1; index < value.length; index += 1) text += ',' + ${item}(value[index]);
      return text + ']';`;
    return `
      if (!Array.isArray(value)) return ${general}(value);
      if (value.length === 0) return '[]';
      ${isObject(items) ? each : `return ${general}(value);`}`;
  }

  /** Returns an expression for a member's text, when it holds, and the mark around the text. */
  #member(schema, order, value) {
    if (isPlain(schema)) return { text: value, guard: `typeof ${value} === 'string'`, mark: '"' };
    const { type, const: only } = schema;
    if (only !== undefined) {
      return { text: `'${JSON.stringify(only)}'`, guard: `${value} === ${JSON.stringify(only)}` };
    }
    if (type === 'string')
      return { text: `quote(${value})`, guard: `typeof ${value} === 'string'` };
    if (type === 'boolean') return { text: value, guard: `typeof ${value} === 'boolean'` };
    if (type === 'integer' || type === 'number') {
      return { text: value, guard: `isNumber(${value})` };
    }
    return { text: `${this.encoder(schema, order)}(${value})`, guard: `${value} !== undefined` };
  }
}

/**
 * Generates a module that exports encoders by name. `tables` lists the schemas of each export and
 * the order of their members.
 */
export function encodersCode(tables) {
  const generator = new Generator();
  const exported = Object.entries(tables).map(([table, { order, schemas }]) => {
    const rows = Object.entries(schemas).map(
      ([name, schema]) => `${name}: ${generator.encoder(schema, order)}`,
    );
    return `export const ${table} = { ${rows.join(', ')} };`;
  });
  return [generator.code, ...exported].join('\n');
}
