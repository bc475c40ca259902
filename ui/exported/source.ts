/** The player's source in a file: nothing more will come, and nobody is asked. */
import type { Overview, Picture, Span } from '../../api/view/model.js';
import { decodeReel } from '../../api/view/reel.js';
import { Damaged, Refused, type Source } from '../player/source.js';
import { answerOf } from './answers.js';
import { Run } from './run.js';
import { gunzipped } from './unpack.js';

export class Exported implements Source {
  readonly origin = '';
  readonly run: Promise<Run>;

  /** @param bytes packed by gzip */
  constructor(bytes: ArrayBuffer) {
    this.run = gunzipped(new Uint8Array(bytes)).then(
      (reel) => new Run(decodeReel(reel)),
      () => {
        throw new Damaged('the file is not whole, or was changed; fetch it once more');
      },
    );
  }

  async view(at: number | null): Promise<Picture> {
    const run = await this.run;
    return run.picture(at ?? run.end);
  }

  async columns(from: number, to: number): Promise<Span> {
    return (await this.run).rows(from, to);
  }

  async overview(): Promise<Overview> {
    return (await this.run).kept.overview;
  }

  async json<T>(path: string): Promise<T> {
    const { status, body } = answerOf(await this.run, { path, method: 'GET' });
    if (status !== 200) throw new Refused(status, '', `the file has no ${path}`);
    return (JSON.parse(body as string) as { data: T }).data;
  }
}
