/** A watching WebSocket connection for tests. */
import type { RowBatch } from '../../../dist/api/view/model.js';
import { decodeRowBatch } from '../../../dist/api/view/row-batch.js';
import { Connection } from './live.js';
import type { Fields } from './signer.js';

export type Shown = { span: RowBatch; bytes: Buffer } | { text: Fields };

export class Watching extends Connection {
  readonly all: Shown[] = [];

  constructor(url: string, headers: Record<string, string> = {}) {
    super(url, { headers });
    onTestFinished(() => this.socket.terminate());
  }

  protected take(data: Buffer, binary: boolean): void {
    this.all.push(
      binary
        ? { span: decodeRowBatch(data), bytes: data }
        : { text: JSON.parse(data.toString()) as Fields },
    );
  }

  /** Connects, and sends `watch`. */
  static async begin(url: string, fields: Fields = {}): Promise<Watching> {
    const watching = await new Watching(url).opened();
    watching.send({ type: 'watch', ...fields });
    return watching;
  }

  get spans(): RowBatch[] {
    return this.all.flatMap((shown) => ('span' in shown ? [shown.span] : []));
  }

  get texts(): Fields[] {
    return this.all.flatMap((shown) => ('text' in shown ? [shown.text] : []));
  }

  /** Waits until the condition is true. */
  async until(holds: (watching: this) => boolean): Promise<this> {
    while (!holds(this)) {
      if (this.ended) throw new Error(`closed; before: ${JSON.stringify(this.texts)}`);
      await this.woken();
    }
    return this;
  }

  /** Waits for the first text message of a type. */
  async text(type: string): Promise<Fields> {
    await this.until(({ texts }) => texts.some((text) => text.type === type));
    return this.texts.find((text) => text.type === type)!;
  }

  /** Waits for the frame that contains an entry. */
  async reaches(entry: number): Promise<RowBatch[]> {
    await this.until(({ spans }) => (spans.at(-1)?.to ?? -1) >= entry);
    return this.spans;
  }
}
