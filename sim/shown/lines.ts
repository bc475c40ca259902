/** Where lines of a file stand, by agent: twenty bytes a line, so that there may be millions. */

interface Line {
  block: number;
  agent: number;
  /** Of its first byte, and how many it has. */
  offset: number;
  bytes: number;
}

const FIRST = 1_024;

export class Lines {
  #count = 0;
  #blocks = new Uint32Array(FIRST);
  #agents = new Uint32Array(FIRST);
  #bytes = new Uint32Array(FIRST);
  #offsets = new Float64Array(FIRST);
  /** Lines by agent, each agent's in their order; and where each agent's begin. */
  #order = new Uint32Array();
  #starts = new Uint32Array(1);

  add({ block, agent, offset, bytes }: Line): void {
    if (this.#count === this.#blocks.length) this.#grow();
    this.#blocks[this.#count] = block;
    this.#agents[this.#count] = agent;
    this.#bytes[this.#count] = bytes;
    this.#offsets[this.#count] = offset;
    this.#count += 1;
  }

  /** To be called after the last. */
  finish(): void {
    const agents = this.#agents.subarray(0, this.#count);
    let most = 0;
    for (const agent of agents) most = Math.max(most, agent);
    const starts = new Uint32Array(most + 2);
    for (const agent of agents) starts[agent + 1]! += 1;
    for (let agent = 0; agent <= most; agent += 1) starts[agent + 1]! += starts[agent]!;
    const next = starts.slice();
    this.#order = new Uint32Array(this.#count);
    for (const [line, agent] of agents.entries()) {
      this.#order[next[agent]!] = line;
      next[agent]! += 1;
    }
    this.#starts = starts;
  }

  blocksOf(agent: number): number[] {
    return Array.from(this.#linesOf(agent), (line) => this.#blocks[line]!);
  }

  /** Where an agent's lines stand: those at places `from` to `to` of its list, `to` left out. */
  of(agent: number, from: number, to: number): { offset: number; bytes: number }[] {
    return Array.from(this.#linesOf(agent).subarray(from, to), (line) => ({
      offset: this.#offsets[line]!,
      bytes: this.#bytes[line]!,
    }));
  }

  #linesOf(agent: number): Uint32Array {
    const start = this.#starts[agent] ?? this.#count;
    return this.#order.subarray(start, this.#starts[agent + 1] ?? start);
  }

  #grow(): void {
    const longer = <T extends Uint32Array | Float64Array>(from: T, to: T): T => {
      to.set(from);
      return to;
    };
    const length = 2 * this.#count;
    this.#blocks = longer(this.#blocks, new Uint32Array(length));
    this.#agents = longer(this.#agents, new Uint32Array(length));
    this.#bytes = longer(this.#bytes, new Uint32Array(length));
    this.#offsets = longer(this.#offsets, new Float64Array(length));
  }
}
