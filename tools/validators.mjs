/**
 * What ajv makes of the protocol's schemas, as code: no start of the program compiles them, and a
 * page, which may not compile, can run them. Part of the build.
 */
import { Ajv } from 'ajv';
import standaloneCode from 'ajv/dist/standalone/index.js';

const built = (name) => import(new URL(`../dist/engine/protocol/${name}.js`, import.meta.url));

/** A module of `validators`, by kind of request, and `genesis`; it imports what lies beside it. */
export async function validatorsCode() {
  const [{ ajvOptions }, { unsigned }, { Genesis }] = await Promise.all(
    ['bundled/options', 'schema/request', 'schema/genesis'].map(built),
  );
  const code = { ...ajvOptions.code, source: true, esm: true };
  const ajv = new Ajv({ ...ajvOptions, code });
  const schemas = { ...unsigned, genesis: Genesis };
  for (const [name, schema] of Object.entries(schemas)) ajv.addSchema(schema, name);
  const names = Object.keys(schemas);
  const named = Object.fromEntries(names.map((name) => [name, name]));
  return [
    "import { pattern } from './options.js';",
    longFirst(standaloneCode.default(ajv, named)),
    `export const validators = { ${names.join(', ')} };`,
  ].join('\n');
}

/**
 * Ajv counts the characters of each text that may not be longer than something. None has more
 * characters than UTF-16 units, whose number is known, so hardly any need be counted.
 */
function longFirst(code) {
  const tooLong = /(func\d+)\((data\d*)\) > (\d+)/g;
  return code.replaceAll(tooLong, '$2.length > $3 && $1($2) > $3');
}
