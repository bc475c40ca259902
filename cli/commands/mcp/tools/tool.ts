/** What a tool is: a name, what a model is told of it, what it takes, and what it does. */
import {
  nearest,
  pointerStep,
  type Static,
  type TObject,
  type TProperties,
  Type,
} from '../../../../engine/internal.js';
import type { Acting, ActingAgents } from '../acting.js';
import type { Cursor } from '../news/cursor.js';

/** What a call stands in. */
export interface Context {
  by: Acting;
  agents: ActingAgents;
  /** Where this session's news of an agent goes on, by the agent's name. */
  cursors: Map<string, Cursor>;
  /** Where they begin: where the network stood when the session made its first call. */
  begun: Promise<Cursor | null>;
  /** Aborts when nobody waits for the result any more. */
  signal: AbortSignal;
}

/** What came of it: a sentence of ours, and the data with what others wrote in it marked. */
export interface Said {
  said: string;
  data: Record<string, unknown>;
}

/** A tool, as the protocol lists it, and the work behind it. */
export interface Tool {
  name: string;
  title: string;
  description: string;
  input: TProperties;
  /** Names that callers use for an argument: they are refused with a hint of it. */
  synonyms?: Readonly<Record<string, string>>;
  /** What a host may tell its user before a call. */
  hints: { readOnlyHint?: boolean; idempotentHint?: boolean; destructiveHint?: boolean };
  /** Whether somebody has to act; else any agent will do. */
  acts: boolean;
  call(args: Record<string, unknown>, context: Context): Promise<Said>;
}

/** Arguments that cannot be meant; `pointer` says which one. */
export class Mistake extends Error {
  override name = 'Mistake';
  readonly pointer: string;

  constructor(pointer: string, message: string) {
    super(message);
    this.pointer = pointer;
  }
}

/** The refusal of an argument that a tool does not have, with the one that is probably meant. */
export function unknownArgument(
  { properties }: TObject,
  synonyms: Readonly<Record<string, string>>,
  given: Record<string, unknown>,
): Mistake | null {
  const known = Object.keys(properties);
  const name = Object.keys(given).find((one) => !known.includes(one));
  if (name === undefined) return null;
  const synonym = Object.hasOwn(synonyms, name) ? synonyms[name] : null;
  const meant = synonym ?? nearest(name, known);
  const shown = /^\w{1,64}$/.test(name) ? `: ${name}` : '';
  const hint = meant === null ? '' : `did you mean ${meant}? `;
  const message = `unknown argument${shown}; ${hint}expected ${known.join(', ')}`;
  return new Mistake(`/${pointerStep(name.slice(0, 64))}`, message);
}

/** A tool whose arguments have the types of its schema: they are checked before the call. */
export function tool<P extends TProperties>(
  from: Omit<Tool, 'input' | 'call'> & {
    input: P;
    call(args: Static<TObject<P>>, context: Context): Promise<Said>;
  },
): Tool {
  // The boundary where checked arguments become typed ones.
  return from as unknown as Tool;
}

/** The schema of a tool's arguments, where these agents may act. */
export function inputOf({ input, acts }: Tool, names: readonly string[]): TObject {
  const description = `Who acts${acts ? '' : `, or whose record is meant; default: ${names[0]}`}.`;
  const agent = Type.Enum([...names], { type: 'string', description });
  const required = acts && names.length > 1;
  const who = { agent: required ? agent : Type.Optional(agent) };
  return Type.Object({ ...who, ...input }, { additionalProperties: false });
}
