/**
 * Writes docs/configuration.md and docs/config.schema.json from the options of the built commands.
 * With --print, writes the page to standard output.
 */
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { configCommands } from '../dist/cli/commands/config.js';
import { configJsonSchema, configOptions, keyOf } from '../dist/cli/options/config.js';

const root = fileURLToPath(new URL('../', import.meta.url));
const schema = 'docs/config.schema.json';
const commands = await configCommands();
const document = configJsonSchema(commands);

/** Describes a JSON Schema in words. */
function valueText({ type, enum: values, anyOf, pattern, minimum, maximum, const: only }) {
  if (only !== undefined) return `\`${only}\``;
  if (anyOf) return anyOf.map(valueText).join(' or ');
  if (values) return values.map((one) => `\`${one}\``).join(', ');
  if (type === 'boolean') return '`true` or `false`';
  if (type === 'array') return 'list of strings';
  if (type === 'string') return pattern?.includes('ms|s|m') ? 'duration, such as `10s`' : 'text';
  const most = maximum === Number.MAX_SAFE_INTEGER ? '' : ` to ${maximum}`;
  return type === 'integer' ? `${minimum}${most || ' or more'}` : `number up to ${maximum}`;
}

function defaultText(value) {
  if (value === undefined || (Array.isArray(value) && value.length === 0)) return '';
  return `\`${value}\``;
}

const head = `| key | value | default | meaning | environment variable |
| --- | ----- | ------- | ------- | -------------------- |`;

function section([name, command]) {
  const rows = configOptions(command).map((option) => {
    const key = keyOf(option);
    const { description, default: initial, ...value } = document.properties[name].properties[key];
    const variables = [option.envVar, option.variable].filter((one) => one !== undefined);
    const named = variables.map((one) => `\`${one}\``).join(', ');
    const cells = [`\`${key}\``, valueText(value), defaultText(initial), description, named];
    return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  });
  return `## Keys of \`${name}\`

${head}
${rows.join('\n')}
`;
}

function secretTable() {
  const rows = [
    ['key that signs responses', 'RESPONSE_KEY', 'response-key'],
    ['secret of the nodes', 'PEER_SECRET', 'peer-secret'],
    ['control token', 'CONTROL_TOKEN', 'control-token'],
  ].map(([what, variable, flag]) => {
    const key = `${flag.replace('-', '_')}_file`;
    const files = `\`FOLKMOOT_${variable}_FILE\`, \`--${flag}\`, \`${key}\``;
    return `| ${what} | ${files} | \`FOLKMOOT_${variable}\` |`;
  });
  return `| secret | in a file | in the environment |
| ------ | --------- | ------------------ |
${rows.join('\n')}`;
}

const written = `# Configuration

\`folkmoot serve\` and \`folkmoot load\` take each value from the first of these sources
that has it: a flag, an environment variable, a YAML file, the default. \`--config FILE\` or
\`FOLKMOOT_CONFIG\` names the file. One definition of the options validates all three sources,
and generates this page and the JSON Schema [config.schema.json](config.schema.json).

\`\`\`yaml
# yaml-language-server: $schema=node_modules/folkmoot/docs/config.schema.json
serve:
  host: 0.0.0.0
  port: 8080
  data: /var/lib/folkmoot
  limits: spec
  trusted_proxies: [10.0.0.1]
  response_key_file: /etc/folkmoot/response-key.json
load:
  workload: votes
  rate: 800
  fail_on: ['p99>200ms', 'errors>1%']
\`\`\`

With the first line, an editor completes and checks keys. Relative paths start at the working
directory, as on the command line.

## Check and show

\`\`\`sh
npx folkmoot config check folkmoot.yaml
npx folkmoot config show serve --config folkmoot.yaml --port 9000
\`\`\`

\`check\` reads the file alone and starts nothing. An unknown key, a value of the wrong type,
and two options that exclude each other are usage errors (exit code 2). The message names the
file, the line, the key and the allowed values. Options exclude each other even if they come
from different sources. \`show\` prints the effective values of a command, with the source of
each value, and lists variables that begin with \`FOLKMOOT_\` but have no meaning for the
command.

A variable for a switch holds \`true\`, \`1\` or \`yes\`, or \`false\`, \`0\` or \`no\`. A
variable for a list holds values separated by commas; \`FOLKMOOT_LOAD_SLO\` holds one value. The
variables \`FOLKMOOT_NO_UI\` and \`FOLKMOOT_NO_WATCH\` disable the page and anonymous
watching, like \`ui: false\` and \`watch: false\` in the file.

## Secrets

A secret is never an argument or a setting in the file, because other users of the machine can see
arguments, and a configuration file is often shared. Each secret has two variables:

${secretTable()}

Setting both variables of a secret is an error. A file that other users can read causes a
warning. \`config show\` prints \`***\` for a secret, and hides passwords in addresses.

## Change values while the server runs

On SIGHUP, \`folkmoot serve\` reads its file and \`limits_file\` again. It applies the log level
and the rate limits, and logs each change with its old and new value. Requests counted so far
stay counted. For other changed keys it logs a warning that names them, because they need a
restart. \`limits: off\` cannot be switched on or off. If a file has a problem, the server
logs the problem and keeps its previous configuration. A server without a file ends on SIGHUP.

${Object.entries(commands).map(section).join('\n')}`;

if (process.argv.includes('--print')) process.stdout.write(written);
else {
  writeFileSync(`${root}docs/configuration.md`, written);
  writeFileSync(root + schema, `${JSON.stringify(document, null, 2)}\n`);
  const biome = createRequire(import.meta.url).resolve('@biomejs/biome/bin/biome');
  const args = [biome, 'format', '--write', schema];
  execFileSync(process.execPath, args, { cwd: root, stdio: ['ignore', 'ignore', 'inherit'] });
}
