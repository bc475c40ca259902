/**
 * A machine runs JavaScript in QuickJS, an interpreter compiled to WebAssembly. The code reaches
 * nothing outside of the machine's memory: the machine imports neither clock, random numbers,
 * files nor environment, and its only host function is `draw`.
 *
 * All bounds are deterministic. The build adds fuel to the binary (tools/metering.mjs): the machine
 * stops after a fixed amount of work, even inside a native function. The interpreter limits memory
 * and stack. A machine's memory can be restored to an earlier snapshot, so that each use starts
 * from the same state on every computer.
 */
import { sha256 } from '#sha256';
import { prelude } from './machine-prelude.js';
import { RuleError, type RuleFault } from './rule.js';

/** The part of WebAssembly that is used here. The types of Node do not declare it. */
interface Wasm {
  compile(bytes: BufferSource): Promise<Binary>;
  Instance: new (binary: Binary, imports: object) => { exports: unknown };
  Memory: new (size: { initial: number; maximum: number }) => Memory;
  RuntimeError: new () => Error;
}
type BufferSource = Uint8Array<ArrayBuffer> | ArrayBuffer;
interface Binary {
  readonly __binary: unique symbol;
}
interface Memory {
  readonly buffer: ArrayBuffer;
  grow(pages: number): number;
}
const { WebAssembly } = globalThis as unknown as { WebAssembly: Wasm };

type Pointer = number;

/** Exports of the binary that are used here. */
interface Exports {
  fuel: { value: number };
  depth: { value: number };
  initialize(): void;
  malloc(size: number): Pointer;
  free(pointer: Pointer): void;
  QTS_NewRuntime(): Pointer;
  QTS_RuntimeSetMemoryLimit(runtime: Pointer, bytes: number): void;
  QTS_RuntimeSetMaxStackSize(runtime: Pointer, bytes: number): void;
  QTS_NewContext(runtime: Pointer, intrinsics: number): Pointer;
  QTS_NewString(context: Pointer, text: Pointer): Pointer;
  QTS_NewFloat64(context: Pointer, value: number): Pointer;
  QTS_NewFunction(
    context: Pointer,
    name: Pointer,
    length: number,
    constructs: number,
    id: number,
  ): Pointer;
  QTS_GetString(context: Pointer, value: Pointer): Pointer;
  QTS_FreeCString(context: Pointer, text: Pointer): void;
  QTS_FreeValuePointer(context: Pointer, value: Pointer): void;
  QTS_ArgvGetJSValueConstPointer(values: Pointer, index: number): Pointer;
  QTS_Eval(
    context: Pointer,
    code: Pointer,
    length: number,
    file: Pointer,
    detectModule: number,
    flags: number,
  ): Pointer;
  QTS_Call(
    context: Pointer,
    callee: Pointer,
    self: Pointer,
    count: number,
    values: Pointer,
  ): Pointer;
  QTS_ResolveException(context: Pointer, value: Pointer): Pointer;
  QTS_GetUndefined(): Pointer;
  QTS_PromiseState(context: Pointer, value: Pointer): number;
}

/**
 * Optional parts of the language: objects, the evaluator, regular expressions, JSON, maps and sets,
 * promises (which modules need), and big integers. Leaves out dates, proxies, typed arrays and the
 * normalization of strings.
 */
const INTRINSICS = 1 | 4 | 16 | 32 | 64 | 256 | 1_024 | 2_048;

const MODULE = 1;

/** Limits of the interpreter, in bytes. */
const MEMORY_LIMIT = 32 * 2 ** 20;
const STACK_LIMIT = 64 * 2 ** 10;

/** The binary declares its first memory. The limit leaves room for requests. */
const PAGE = 65_536;
const FIRST_PAGES = 256;
const MOST_PAGES = 2_048;

/** Fuel for a call of `draw`. Each character of its argument takes one more unit. */
const DRAW_FUEL = 1_000;

/** Largest text that a machine may return, in bytes. */
const REPLY_BYTES = 65_536;

/** Largest request that needs no separate memory, in bytes. */
const REQUEST_BYTES = 4_096;

/** Addresses in a machine's memory. They are the same in all machines. */
interface Addresses {
  context: Pointer;
  /** Function that the prelude returned. */
  call: Pointer;
  /** Room for a short request. */
  request: Pointer;
  /** Room for two arguments. */
  values: Pointer;
  nothing: Pointer;
}

/** Ranges of a machine's memory. */
export type Snapshot = readonly { at: number; bytes: Uint8Array }[];

/** A compiled binary, with the memory of a machine in which no module is loaded. */
export interface Engine {
  binary: Binary;
  bare: Snapshot;
  at: Addresses;
}

/** Compiles the binary and starts the interpreter once. */
export async function createEngine(bytes: BufferSource): Promise<Engine> {
  const binary = await WebAssembly.compile(bytes);
  return Machine.start(binary);
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();

export class Machine {
  readonly #memory: Memory;
  readonly #exports: Exports;
  #at: Addresses = { context: 0, call: 0, request: 0, values: 0, nothing: 0 };
  /** Views of the memory, which change when it grows. */
  #bytes!: Uint8Array;
  #words!: Uint32Array;
  #request!: Uint8Array;
  #isBroken = false;
  /** Text that `draw` hashes together with its argument; null without a block. */
  #seed: string | null = null;

  private constructor(binary: Binary) {
    this.#memory = new WebAssembly.Memory({ initial: FIRST_PAGES, maximum: MOST_PAGES });
    this.#view();
    const { exports } = new WebAssembly.Instance(binary, { a: this.#imports() });
    this.#exports = exports as unknown as Exports;
    this.#exports.initialize();
  }

  static start(binary: Binary): Engine {
    const machine = new Machine(binary);
    machine.#begin();
    return { binary, bare: machine.snapshot(), at: machine.#at };
  }

  /** Creates a machine, which has to be restored before its first call. */
  static create({ binary, at }: Engine): Machine {
    const machine = new Machine(binary);
    machine.#at = at;
    machine.#view();
    return machine;
  }

  /**
   * True if the machine cannot be used again: a failed call left the interpreter in an undefined
   * state, or the machine holds more memory than a new one.
   */
  get isSpent(): boolean {
    return this.#isBroken || this.#bytes.length > FIRST_PAGES * PAGE;
  }

  restore(snapshot: Snapshot): void {
    for (const { at, bytes } of snapshot) this.#bytes.set(bytes, at);
  }

  /**
   * Copies the memory without the zeros at its end and without its longest range of zeros, which is
   * the part of the stack that was never used.
   */
  snapshot(): Snapshot {
    const words = this.#words;
    let end = words.length;
    while (end > 0 && words[end - 1] === 0) end -= 1;
    let gap = { from: 0, to: 0 };
    for (let from = 0; from < end; ) {
      let to = from;
      while (words[to] === 0) to += 1;
      if (to - from > gap.to - gap.from) gap = { from, to };
      from = to + 1;
    }
    const copy = (from: number, to: number) => ({
      at: from * 4,
      bytes: this.#bytes.slice(from * 4, to * 4),
    });
    return [copy(0, gap.from), copy(gap.to, end)];
  }

  /**
   * Evaluates a module and passes its exports to the prelude. Returns the prelude's reply.
   *
   * @throws {RuleError} if the module exceeds a limit.
   */
  load(source: string, fuel: number): string {
    return this.#bounded(fuel, null, () => {
      const { context } = this.#at;
      const { QTS_Eval, QTS_PromiseState, QTS_ResolveException } = this.#exports;
      const { pointer, length } = this.#write(source);
      const file = this.#write('rule').pointer;
      const found = QTS_Eval(context, pointer, length, file, 0, MODULE);
      const error = QTS_ResolveException(context, found);
      if (error !== 0) return this.#reply('failed', error);
      // A promise: the module waits for something at its top level.
      if (QTS_PromiseState(context, found) >= 0) return this.#reply('waits');
      return this.#reply('load', found);
    });
  }

  /**
   * Passes a text to the prelude, and returns its reply.
   *
   * @param seed hash of the block; null if the rule sees no block.
   * @throws {RuleError} if the call exceeds a limit.
   */
  call(text: string, fuel: number, seed: string | null): string {
    return this.#bounded(fuel, seed, () => this.#reply(text));
  }

  #bounded<T>(fuel: number, seed: string | null, run: () => T): T {
    this.#exports.fuel.value = fuel;
    this.#exports.depth.value = 0;
    this.#seed = seed;
    try {
      return run();
    } catch (error) {
      this.#isBroken = true;
      throw new RuleError(this.#faultOf(error));
    }
  }

  /** @throws if the error is a defect of this program. */
  #faultOf(error: unknown): RuleFault {
    if (error instanceof RuleError) return error.fault;
    if (this.#exports.fuel.value < 0) return 'RULE_TIMEOUT';
    // A stack overflow of the host, and the ways in which the interpreter gives up.
    if (error instanceof RangeError) return 'RULE_MEMORY';
    if (error instanceof WebAssembly.RuntimeError) return 'RULE_MEMORY';
    throw error;
  }

  /** Calls the prelude with a text and optionally with a value of the interpreter. */
  #reply(text: string, value?: Pointer): string {
    const { context, call, values, nothing } = this.#at;
    const exports = this.#exports;
    const first = this.#newString(text);
    this.#words[values >> 2] = first;
    if (value !== undefined) this.#words[(values >> 2) + 1] = value;
    const count = value === undefined ? 1 : 2;
    const found = exports.QTS_Call(context, call, nothing, count, values);
    exports.QTS_FreeValuePointer(context, first);
    // The prelude catches every error of the module. Only a lack of memory gets past it.
    if (exports.QTS_ResolveException(context, found) !== 0) throw new RuleError('RULE_MEMORY');
    const reply = this.#readString(found);
    exports.QTS_FreeValuePointer(context, found);
    return reply;
  }

  #newString(text: string): Pointer {
    const { context, request } = this.#at;
    if (text.length * 3 < REQUEST_BYTES) {
      const { written } = encoder.encodeInto(text, this.#request);
      this.#bytes[request + written] = 0;
      return this.#exports.QTS_NewString(context, request);
    }
    const { pointer } = this.#write(text);
    const value = this.#exports.QTS_NewString(context, pointer);
    this.#exports.free(pointer);
    return value;
  }

  /** Writes a text into the memory, with a zero at its end. */
  #write(text: string): { pointer: Pointer; length: number } {
    // A UTF-16 unit has three bytes of UTF-8 at most.
    const pointer = this.#allocate(text.length * 3 + 1);
    const { written } = encoder.encodeInto(text, this.#bytes.subarray(pointer));
    this.#bytes[pointer + written] = 0;
    return { pointer, length: written };
  }

  /** @throws {RuleError} */
  #allocate(size: number): Pointer {
    const pointer = this.#exports.malloc(size);
    if (pointer === 0) throw new RuleError('RULE_MEMORY');
    return pointer;
  }

  /** @throws {RuleError} if the text is too long. */
  #readString(value: Pointer): string {
    const { context } = this.#at;
    const pointer = this.#exports.QTS_GetString(context, value);
    if (pointer === 0) throw new RuleError('RULE_MEMORY');
    const bytes = this.#bytes;
    // Most replies are one character.
    const isShort = bytes[pointer] !== 0 && bytes[pointer + 1] === 0;
    const end = isShort ? pointer + 1 : bytes.indexOf(0, pointer);
    if (end - pointer > REPLY_BYTES) throw new RuleError('RULE_VERDICT');
    const text = isShort
      ? String.fromCharCode(bytes[pointer]!)
      : decoder.decode(bytes.subarray(pointer, end));
    this.#exports.QTS_FreeCString(context, pointer);
    return text;
  }

  #begin(): void {
    const exports = this.#exports;
    const runtime = exports.QTS_NewRuntime();
    exports.QTS_RuntimeSetMemoryLimit(runtime, MEMORY_LIMIT);
    exports.QTS_RuntimeSetMaxStackSize(runtime, STACK_LIMIT);
    const context = exports.QTS_NewContext(runtime, INTRINSICS);
    const request = this.#allocate(REQUEST_BYTES);
    const values = this.#allocate(8);
    const nothing = exports.QTS_GetUndefined();
    this.#at = { context, call: 0, request, values, nothing };
    this.#view();
    const { pointer, length } = this.#write(prelude);
    const file = this.#write('prelude').pointer;
    const begin = exports.QTS_Eval(context, pointer, length, file, 0, 0);
    this.#words[values >> 2] = exports.QTS_NewFunction(context, file, 1, 0, 0);
    const call = exports.QTS_Call(context, begin, nothing, 1, values);
    const error =
      exports.QTS_ResolveException(context, begin) || exports.QTS_ResolveException(context, call);
    if (error !== 0) throw new Error(`prelude failed: ${this.#readString(error)}`);
    exports.free(pointer);
    exports.free(file);
    this.#at.call = call;
  }

  /** Hashes the block's hash and a text. Returns 32 bits. */
  #draw(values: Pointer): Pointer {
    const { context } = this.#at;
    const argument = this.#exports.QTS_ArgvGetJSValueConstPointer(values, 0);
    // The prelude limits the length of the text.
    const text = this.#readString(argument);
    this.#exports.fuel.value -= DRAW_FUEL + text.length;
    if (this.#seed === null) return this.#exports.QTS_NewFloat64(context, -1);
    const digest = sha256(`${this.#seed} ${text}`);
    const bits = new DataView(digest.buffer, digest.byteOffset).getUint32(0);
    return this.#exports.QTS_NewFloat64(context, bits);
  }

  /** Returns the imports by their names in the binary. None reads a clock. */
  #imports() {
    const abort = () => {
      throw new RangeError('the interpreter gave up');
    };
    const nothing = () => 0;
    return {
      a: this.#memory,
      b: abort, // assertion failed
      c: abort, // fd_write
      d: nothing, // fd_close
      e: nothing, // environ_get
      f: nothing, // environ_sizes_get
      g: abort, // normalize the name of an imported module
      h: abort, // load an imported module
      i: nothing, // interrupt: fuel takes its place
      j: nothing, // setitimer
      k: (bytes: number) => (this.#grow(bytes >>> 0) ? 1 : 0),
      l: nothing, // keep the runtime alive
      m: abort, // localtime
      n: nothing, // tzset
      o: abort, // fd_seek
      p: nothing, // the time, which seeds Math.random
      q: abort,
      r: abort, // exit
      s: (_context: Pointer, _self: Pointer, _count: number, values: Pointer) => this.#draw(values),
      t: nothing, // free a reference to a host value
    };
  }

  #grow(bytes: number): boolean {
    const pages = Math.ceil(bytes / PAGE);
    if (pages > MOST_PAGES) return false;
    this.#memory.grow(pages - this.#memory.buffer.byteLength / PAGE);
    this.#view();
    return true;
  }

  #view(): void {
    const { buffer } = this.#memory;
    this.#bytes = new Uint8Array(buffer);
    this.#words = new Uint32Array(buffer);
    this.#request = new Uint8Array(buffer, this.#at.request, REQUEST_BYTES);
  }
}
