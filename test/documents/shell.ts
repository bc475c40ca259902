/** Shell blocks of the documents, and the script that runs those of a document. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../support/paths.js';

export interface ShellBlock {
  /** Line of the first command in the document. */
  line: number;
  text: string;
  /** Reason in the document why no test runs the block, or null. */
  notRun: string | null;
}

/** README.md and the guides. */
export const guides: readonly string[] = [
  'README.md',
  ...readdirSync(join(root, 'docs'))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
];

export const guideText = (path: string): string => readFileSync(join(root, path), 'utf8');

const fence = /^( *)```(\w*)\n([\s\S]*?)^\1```$/gm;
const shells = new Set(['sh', 'bash', 'shell', 'console']);
const mark = /<!-- not run: ([^>]+) -->\n$/;

/** Returns the code blocks in a language, dedented, with their offsets. */
function blocksOf(text: string): { language: string; at: number; text: string }[] {
  return [...text.matchAll(fence)].map((match) => {
    const [, indent = '', language = '', body = ''] = match;
    const lines = body.split('\n').map((line) => line.replace(indent, ''));
    return { language, at: match.index, text: lines.join('\n') };
  });
}

/** Returns the shell blocks in order. A block without a mark runs. */
export function shellBlocks(text: string): ShellBlock[] {
  return blocksOf(text)
    .filter(({ language }) => shells.has(language))
    .map(({ at, text: commands }) => {
      const before = text.slice(0, at);
      const notRun = mark.exec(before.replace(/ +$/, ''))?.[1] ?? null;
      return { line: before.split('\n').length + 1, text: commands, notRun };
    });
}

/** Returns the blocks of another language in order, such as yaml. */
export const fencedBlocks = (text: string, language: string): string[] =>
  blocksOf(text)
    .filter((block) => block.language === language)
    .map((block) => block.text);

/** Steps of a reader besides the commands of a document. */
export interface Preparation {
  /** Files that the document says to save. */
  files?: Readonly<Record<string, string>>;
  /** Commands before the first block. A line that ends with `&` starts a server. */
  before?: string;
  /** Commands before a block, by its number from 0. */
  beforeBlock?: Readonly<Record<number, string>>;
  /** Addresses of other machines in the commands. In the test they belong to this machine. */
  addresses?: readonly string[];
}

/** Splits a block into commands. A backslash at the end of a line continues the command. */
const commandsIn = (text: string): string[] =>
  text
    .replace(/\\\n/g, '\\\u0000')
    .split('\n')
    .map((line) => line.replaceAll('\u0000', '\n'))
    .filter((line) => line.trim() !== '' && !line.startsWith('#'));

const withoutComment = (command: string) => command.replace(/\s+# .*$/, '');

const isServer = (command: string) =>
  /\bfolkmoot (?:serve|worker)\b|^etcd\b|&$/.test(withoutComment(command));
const isPage = (command: string) => /\bfolkmoot explore(?!.*--export)\b/.test(command);

/** Matches commands whose exit code depends on the machine: invalid figures, a met condition. */
const isLoad = (command: string) => /\bfolkmoot load\b/.test(command);

/**
 * Functions of the script. The script runs in a network and a process namespace of its own, so the
 * ports of the documents are free, and the end of the script ends all servers.
 */
const functions = `
set -e -m
exec < /dev/null
ip link set lo up
servers=0

# Waits until the log of a server matches.
wait_for() {
  for _ in $(seq 1200); do
    grep -qE "$2" "$1" && return 0
    kill -0 "$pid" 2>/dev/null || break
    sleep 0.1
  done
  cat "$1"
  echo "the command does not print $2"
  return 1
}

# Sends a command to the clock of a page.
control() {
  curl -sS --fail-with-body -X POST -H "Authorization: Bearer $token" \\
    -H 'Content-Type: application/json' -d "$1" "$url/api/v1/control"
}

# Reads the address of a page, and opens the page.
open_page() {
  wait_for "$1" 'https?://[^ ]+/ui/'
  address=$(grep -oE 'https?://[^ ]+/ui/[^ ]*' "$1" | head -1)
  url=\${address%%/ui/*}
  token=\${address##*token=}
  curl -sf "$url/ui/" > /dev/null
}
`;

const ready = '"event":"listening"|ready to serve client requests|takes runs|worker';

function serverStep(command: string, log: string): string[] {
  const line = withoutComment(command).replace(/\s*&$/, '');
  return [`{ ${line}\n} > ${log} 2>&1 &`, 'pid=$!', `wait_for ${log} '${ready}'`];
}

/** A run that waits is started; others may be over by now, and a load run has no speed. */
function startOf(command: string): string[] {
  const start = `control '{"do":"resume"}'`;
  if (/--watch=paused\b/.test(command)) return [start];
  if (isLoad(command)) return [];
  return [`control '{"do":"speed","speed":null}' || true`, `${start} || true`];
}

function watchStep(command: string, log: string): string[] {
  return [
    `{ ${withoutComment(command)}\n} > ${log} 2>&1 &`,
    'pid=$!',
    `open_page ${log}`,
    ...startOf(command),
    ...(isPage(command)
      ? ['kill -INT -- -$pid', 'wait $pid || true']
      : ['code=0', 'wait $pid || code=$?', `cat ${log}`, accept(command)]),
  ];
}

/** A search ends by the interrupt of npx.mjs, with the code of that signal. */
function accept(command: string): string {
  if (!isLoad(command)) return '[ $code = 0 ] || exit $code';
  const codes = `0|14|15|17${/--saturate\b/.test(command) ? '|143' : ''}`;
  return `case $code in ${codes}) ;; *) exit $code ;; esac`;
}

const foreground = (command: string) =>
  isLoad(command) ? ['code=0', `{ ${command}\n} || code=$?`, accept(command)] : [`{ ${command}\n}`];

/** Returns the steps of a block. */
class Script {
  readonly #lines: string[] = [functions];
  #servers = 0;
  #isServing = false;

  add(text: string, where: string): void {
    for (const command of commandsIn(text)) {
      this.#lines.push(`echo ${JSON.stringify(`## ${where}`)}`);
      this.#lines.push(`cat <<'SHOWN'\n${command}\nSHOWN`);
      for (const name of ['BLOCK_HASH']) {
        if (!command.includes(name)) continue;
        this.#lines.push(
          `${name}=$(grep -oE '"block_hash":"[0-9a-f]+"' output | tail -1 | cut -d'"' -f4)`,
        );
      }
      const filled = command.replaceAll('BLOCK_HASH', '$BLOCK_HASH');
      this.#lines.push(...this.#steps(filled));
    }
  }

  #steps(command: string): string[] {
    if (isServer(command)) return this.#server(command);
    if (isPage(command) || /--watch\b/.test(command)) {
      this.#servers += 1;
      return watchStep(command, `page-${this.#servers}.log`);
    }
    return foreground(command);
  }

  /** A second server on the default port follows the first, which the reader stops. */
  #server(command: string): string[] {
    this.#servers += 1;
    const steps = serverStep(command, `server-${this.#servers}.log`);
    if (!/folkmoot serve/.test(command) || /--port/.test(command)) return steps;
    const stop = this.#isServing ? ['kill -INT -- -$serving', 'wait $serving || true'] : [];
    this.#isServing = true;
    return [...stop, ...steps, 'serving=$pid'];
  }

  toString(): string {
    return `${this.#lines.join('\n')}\n`;
  }
}

/** Returns a bash script that runs the blocks as a reader does, one command after the other. */
export function scriptOf(blocks: readonly ShellBlock[], preparation: Preparation): string {
  const script = new Script();
  for (const address of preparation.addresses ?? [])
    script.add(`ip addr add ${address}/32 dev lo`, 'addresses');
  script.add(preparation.before ?? '', 'before the document');
  for (const [index, { text, line, notRun }] of blocks.entries()) {
    script.add(preparation.beforeBlock?.[index] ?? '', `before line ${line}`);
    if (notRun === null) script.add(text, `line ${line}`);
  }
  return script.toString();
}
