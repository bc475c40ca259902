/**
 * Rewrites a WebAssembly binary so that it counts its work. Each iteration of a loop and each block
 * of copied memory costs one unit of fuel, and the code traps when the fuel is spent. Each function
 * that calls other functions adds the size of its frame to a depth, and the code traps above a
 * limit, long before the stack of the host overflows. Both counts depend on the code and its input
 * only, so a call ends at the same instruction on every machine.
 *
 * Only loops need a price: between two loop iterations, a function runs each of its instructions at
 * most once, and the depth bounds recursion.
 */

/** Name under which the rewritten binary exports its fuel, a mutable i32. */
const FUEL = 'fuel';

/** Name under which the rewritten binary exports its depth, a mutable i32. */
const DEPTH = 'depth';

/** Largest depth, in slots of frames. A slot takes 8 bytes of the host's stack. */
const MOST_DEPTH = 40_000;

/** Slots that a frame needs in addition to its variables. */
const FRAME = 16;

/** Binary logarithm of the bytes that are copied for one unit of fuel: 64 bytes. */
const COPIED_BYTES = 6;

const sections = { type: 1, import: 2, function: 3, global: 6, export: 7, code: 10 };

/** Copying instructions: the number that follows 0xfc. */
const bulk = { copy: 10, fill: 11 };

/**
 * @param names readable names of exports by their names in the binary.
 * @throws {TypeError} if the binary uses instructions that this file does not know.
 */
export function meterWasm(binary, names) {
  const parsed = readSections(binary);
  const of = (id) => new Reader(parsed.find((section) => section.id === id).bytes);
  const results = readResults(of(sections.type));
  const types = results.length;
  const declared = readNumbers(of(sections.function));
  const fuel = of(sections.global).u32();
  const meter = new Meter({
    fuel,
    depth: fuel + 1,
    results: declared.map((type) => results[type]),
    functions: countImported(of(sections.import)) + declared.length,
  });
  const parts = [binary.subarray(0, 8)];
  for (const { id, bytes } of parsed) {
    const body = changed(id, bytes, { types, fuel, meter, names });
    parts.push([id, ...leb(body.length)], body);
  }
  return concat(parts);
}

function changed(id, bytes, { types, fuel, meter, names }) {
  switch (id) {
    case sections.type:
      // (i32, i32, i32) -> (), the type of both helpers.
      return extend(bytes, [[0x60, 3, 0x7f, 0x7f, 0x7f, 0]]);
    case sections.function:
      return extend(bytes, [leb(types), leb(types)]);
    case sections.global:
      // Two mutable i32, which begin at 2^31 - 1 and at 0.
      return extend(bytes, [
        [0x7f, 1, 0x41, 0xff, 0xff, 0xff, 0xff, 0x07, 0x0b],
        [0x7f, 1, 0x41, 0, 0x0b],
      ]);
    case sections.export: {
      return renamed(
        extend(bytes, [
          [...nameBytes(FUEL), 3, ...leb(fuel)],
          [...nameBytes(DEPTH), 3, ...leb(fuel + 1)],
        ]),
        names,
      );
    }
    case sections.code:
      return meter.code(bytes);
    default:
      return bytes;
  }
}

/** Appends items to a section that begins with the number of its items. */
function extend(bytes, items) {
  const reader = new Reader(bytes);
  const count = reader.u32();
  return [...leb(count + items.length), ...bytes.subarray(reader.at), ...items.flat()];
}

/** Renames exports. */
function renamed(bytes, names) {
  const reader = new Reader(bytes);
  const count = reader.u32();
  const parts = [leb(count)];
  for (let index = 0; index < count; index += 1) {
    const name = String.fromCharCode(...reader.take(reader.u32()));
    const from = reader.at;
    reader.at += 1;
    reader.skip(1);
    parts.push(nameBytes(names[name] ?? name), bytes.slice(from, reader.at));
  }
  return concat(parts);
}

const nameBytes = (name) => [name.length, ...new TextEncoder().encode(name)];

class Meter {
  #fuel;
  #depth;
  #results;
  #copy;
  #fill;
  /** Charge at the start of a loop. */
  #iteration;

  /**
   * @param results block type of the result of each declared function.
   * @param functions index of the first added function.
   */
  constructor({ fuel, depth, results, functions }) {
    this.#fuel = leb(fuel);
    this.#depth = leb(depth);
    this.#results = results;
    this.#copy = [0x10, ...leb(functions)];
    this.#fill = [0x10, ...leb(functions + 1)];
    this.#iteration = this.#charge([0x41, 1]);
  }

  code(bytes) {
    const reader = new Reader(bytes);
    const count = reader.u32();
    const parts = [leb(count + 2)];
    for (let index = 0; index < count; index += 1) {
      const body = this.#body(reader.take(reader.u32()), this.#results[index]);
      parts.push(leb(body.length), body);
    }
    for (const helper of [this.#helper([bulk.copy, 0, 0]), this.#helper([bulk.fill, 0])]) {
      parts.push(leb(helper.length), helper);
    }
    return concat(parts);
  }

  /** Charges by size, then copies. */
  #helper(instruction) {
    const parameters = [0x20, 0, 0x20, 1, 0x20, 2];
    const price = [0x20, 2, 0x41, COPIED_BYTES, 0x76];
    return [0, ...this.#charge(price), ...parameters, 0xfc, ...instruction, 0x0b];
  }

  /** Instructions that subtract a price from the fuel, and trap if it becomes negative. */
  #charge(price) {
    const fuel = this.#fuel;
    const subtract = [0x23, ...fuel, ...price, 0x6b, 0x24, ...fuel];
    return [...subtract, 0x23, ...fuel, 0x41, 0, 0x48, 0x04, 0x40, 0x00, 0x0b];
  }

  /** Instructions that add a function's frame to the depth. */
  #enter(slots) {
    const depth = this.#depth;
    const add = [0x23, ...depth, 0x41, ...signed(slots), 0x6a, 0x24, ...depth];
    return [...add, 0x23, ...depth, 0x41, ...signed(MOST_DEPTH), 0x4a, 0x04, 0x40, 0x00, 0x0b];
  }

  #leave(slots) {
    const depth = this.#depth;
    return [0x23, ...depth, 0x41, ...signed(slots), 0x6b, 0x24, ...depth];
  }

  /**
   * Rewrites a function. A function that calls others gets a block around its code. All exits of
   * the function leave this block: a branch to the label of the function then targets the block.
   */
  #body(bytes, result) {
    const reader = new Reader(bytes);
    let slots = FRAME;
    for (let groups = reader.u32(); groups > 0; groups -= 1) {
      slots += reader.u32();
      reader.at += 1;
    }
    const calls = callsOthers(new Reader(bytes, reader.at), bytes.length);
    const parts = calls ? [bytes.slice(0, reader.at), this.#enter(slots), [0x02, result]] : [];
    let copied = calls ? reader.at : 0;
    let labels = 0;
    while (reader.at < bytes.length) {
      const from = reader.at;
      const opcode = bytes[from];
      const replaced = this.#replacement(bytes, from, calls ? labels : null);
      skipInstruction(reader);
      if (opcode === 0x02 || opcode === 0x03 || opcode === 0x04) labels += 1;
      if (opcode === 0x0b) labels -= 1;
      if (replaced === null && opcode !== 0x03) continue;
      const kept = bytes.slice(copied, replaced ? from : reader.at);
      parts.push(kept, replaced ?? this.#iteration);
      copied = reader.at;
    }
    parts.push(bytes.slice(copied));
    return concat(calls ? [...parts, this.#leave(slots), [0x0b]] : parts);
  }

  /** @param labels number of open blocks; null if `return` stays. */
  #replacement(bytes, at, labels) {
    if (bytes[at] === 0xfc) return this.#bulk(bytes[at + 1]);
    return bytes[at] === 0x0f && labels !== null ? [0x0c, ...leb(labels)] : null;
  }

  #bulk(kind) {
    if (kind === bulk.copy) return this.#copy;
    return kind === bulk.fill ? this.#fill : null;
  }
}

/** Moves past one instruction and its immediates. @throws {TypeError} if it is not known. */
function skipInstruction(reader) {
  const opcode = reader.byte();
  if (opcode >= 0x28 && opcode <= 0x3e) return reader.skip(2); // loads and stores
  if (opcode >= 0x45 && opcode <= 0xc4) return; // numeric instructions
  if (opcode >= 0x20 && opcode <= 0x24) return reader.skip(1); // variables
  switch (opcode) {
    case 0x00: // unreachable
    case 0x01: // nop
    case 0x05: // else
    case 0x0b: // end
    case 0x0f: // return
    case 0x1a: // drop
    case 0x1b: // select
      return;
    case 0x02: // block
    case 0x03: // loop
    case 0x04: // if
    case 0x0c: // br
    case 0x0d: // br_if
    case 0x10: // call
    case 0x3f: // memory.size
    case 0x40: // memory.grow
    case 0x41: // i32.const
    case 0x42: // i64.const
      return reader.skip(1);
    case 0x11: // call_indirect
      return reader.skip(2);
    case 0x0e: // br_table
      return reader.skip(reader.u32() + 1);
    case 0x43: // f32.const
      reader.at += 4;
      return;
    case 0x44: // f64.const
      reader.at += 8;
      return;
    case 0xfc:
      return skipExtended(reader);
    default:
      throw new TypeError(`unknown WebAssembly instruction: 0x${opcode.toString(16)}`);
  }
}

function skipExtended(reader) {
  const kind = reader.u32();
  if (kind <= 7) return; // saturating conversions
  if (kind === bulk.copy) return reader.skip(2);
  if (kind === bulk.fill) return reader.skip(1);
  throw new TypeError(`unknown WebAssembly instruction: 0xfc ${kind}`);
}

/** Returns true if the instructions call other functions. */
function callsOthers(reader, end) {
  while (reader.at < end) {
    const opcode = reader.peek();
    if (opcode === 0x10 || opcode === 0x11) return true;
    skipInstruction(reader);
  }
  return false;
}

/** Returns the block type of each function type's result. */
function readResults(reader) {
  const found = [];
  for (let left = reader.u32(); left > 0; left -= 1) {
    reader.at += 1;
    reader.take(reader.u32());
    const results = reader.take(reader.u32());
    if (results.length > 1) throw new TypeError('unknown WebAssembly type: several results');
    found.push(results[0] ?? 0x40);
  }
  return found;
}

function readNumbers(reader) {
  const numbers = [];
  for (let left = reader.u32(); left > 0; left -= 1) numbers.push(reader.u32());
  return numbers;
}

function readSections(binary) {
  const reader = new Reader(binary, 8);
  const found = [];
  while (reader.at < binary.length) {
    const id = reader.byte();
    found.push({ id, bytes: reader.take(reader.u32()) });
  }
  return found;
}

/** Returns the number of imported functions. */
function countImported(reader) {
  let functions = 0;
  for (let left = reader.u32(); left > 0; left -= 1) {
    reader.take(reader.u32());
    reader.take(reader.u32());
    const kind = reader.byte();
    if (kind === 0) functions += 1;
    else if (kind !== 2) throw new TypeError(`unknown WebAssembly import: kind ${kind}`);
    // A function has a type. A memory has flags, a minimum and, here, a maximum.
    reader.skip(kind === 0 ? 1 : 3);
  }
  return functions;
}

class Reader {
  #bytes;

  constructor(bytes, at = 0) {
    this.#bytes = bytes;
    this.at = at;
  }

  peek() {
    return this.#bytes[this.at];
  }

  byte() {
    const value = this.#bytes[this.at];
    this.at += 1;
    return value;
  }

  /** Reads an unsigned number below 2^32, seven bits a byte, low bits first. */
  u32() {
    let value = 0;
    for (let scale = 1; ; scale *= 128) {
      const byte = this.byte();
      value += (byte & 127) * scale;
      if (byte < 128) return value;
    }
  }

  take(size) {
    this.at += size;
    return this.#bytes.slice(this.at - size, this.at);
  }

  /** Skips variable-length numbers, signed or unsigned. */
  skip(count) {
    for (let left = count; left > 0; ) if (this.byte() < 128) left -= 1;
  }
}

/** Encodes a non-negative integer as signed LEB128. */
function signed(value) {
  const bytes = leb(value);
  const last = bytes.at(-1);
  return last < 64 ? bytes : [...bytes.slice(0, -1), last + 128, 0];
}

function leb(value) {
  const bytes = [];
  let left = value;
  while (left >= 128) {
    bytes.push((left % 128) + 128);
    left = Math.floor(left / 128);
  }
  return [...bytes, left];
}

function concat(parts) {
  const whole = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
