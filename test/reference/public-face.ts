/** The package's public names, as TypeDoc reads them from the sources. */
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { root } from '../support/paths.js';

const run = promisify(execFile);

/** The members of TypeDoc's JSON that the tests use. */
export interface Reflection {
  id: number;
  name: string;
  kind: number;
  variant: 'project' | 'declaration' | 'signature' | 'reference';
  comment?: Comment;
  children?: Reflection[];
  signatures?: Reflection[];
  getSignature?: Reflection;
  /** Set for a variable or property whose value is a function. */
  type?: { declaration?: Reflection };
  inheritedFrom?: unknown;
  overwrites?: unknown;
}

interface Comment {
  summary: Part[];
  blockTags?: { tag: string; content: Part[] }[];
}

interface Part {
  kind: string;
  text: string;
}

/** TypeDoc's numbers for kinds of declarations. */
const kinds = { class: 128, constructor: 512 } as const;

export interface PublicFace {
  modules: Reflection[];
  /** TypeDoc's warnings: broken links, and documented types that are not exported. */
  warnings: string[];
}

/** Runs TypeDoc on the sources. */
export async function publicFace(): Promise<PublicFace> {
  const folder = mkdtempSync(join(tmpdir(), 'folkmoot-reference-'));
  try {
    const file = join(folder, 'reference.json');
    const args = [join(root, 'tools/reference/project.mjs'), '--json', file];
    const { stdout, stderr } = await run(process.execPath, args, { cwd: root });
    const { children = [] } = JSON.parse(readFileSync(file, 'utf8')) as Reflection;
    const lines = `${stdout}\n${stderr}`.split('\n');
    return { modules: children, warnings: lines.filter((line) => line.includes('warning')) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Returns a symbol's docstrings. TypeDoc stores them in several places. */
export function commentsOf(one: Reflection): Comment[] {
  const places = [
    ...[one, ...(one.signatures ?? []), one.getSignature],
    ...(one.type?.declaration?.signatures ?? []),
  ];
  return places.flatMap((place) => place?.comment ?? []);
}

/** Yields the named members of a module and of its classes, each with its path. */
export function* named(
  within: Reflection,
  path = within.name,
): Generator<{ path: string; one: Reflection }> {
  for (const one of within.children ?? []) {
    // Skips re-exports, and members that a class inherits.
    if (one.variant === 'reference' || one.inheritedFrom !== undefined) continue;
    if (one.name === 'name' && one.overwrites !== undefined) continue;
    yield { path: `${path} ${one.name}`, one };
    if (one.kind === kinds.class) yield* named(one, `${path} ${one.name}`);
  }
}

export interface Example {
  path: string;
  code: string;
}

/** Returns the example programs in docstrings. */
export function examplesOf({ modules }: PublicFace): Example[] {
  return modules.flatMap((module) =>
    [...named(module)].flatMap(({ path, one }) =>
      commentsOf(one).flatMap(({ blockTags = [] }) =>
        blockTags
          .filter(({ tag }) => tag === '@example')
          .map(({ content }) => ({ path, code: programIn(content) })),
      ),
    ),
  );
}

function programIn(content: readonly Part[]): string {
  const text = content.map((part) => part.text).join('');
  const found = /```ts\n([\s\S]*?)```/.exec(text);
  if (!found) throw new Error(`an @example is not a block of ts: ${text}`);
  return found[1]!;
}
