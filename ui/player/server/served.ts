/** The server's reads over HTTP. */
import type { Overview, Picture, Span } from '../../../api/view/model.js';
import { decodeSpan } from '../../../api/view/span.js';
import { Refused, type Source } from '../source.js';

/** Nobody answered. */
export class Unreachable extends Error {
  override name = 'Unreachable';
}

interface Progress {
  made: boolean;
  entry: number;
  to: number;
}

export class Served implements Source {
  readonly origin: string;

  constructor(origin: string) {
    this.origin = origin;
  }

  /** At first it is asked how far it is: a browser notes refusals where its readers look. */
  async view(at: number | null): Promise<Picture> {
    if (at === null) {
      const { made, ...how } = await this.json<Progress>('/api/v1/view/progress');
      if (!made) throw new Refused(503, 'BEING_MADE', 'the log is gone through', how);
    }
    return this.json(`/api/v1/view${at === null ? '' : `?at=${at}`}`);
  }

  async columns(from: number, to: number): Promise<Span> {
    const answer = await this.#get(`/api/v1/columns?from=${from}&to=${to}`);
    return decodeSpan(new Uint8Array(await answer.arrayBuffer()));
  }

  overview(buckets: number): Promise<Overview> {
    return this.json(`/api/v1/overview?buckets=${buckets}`);
  }

  async json<T>(path: string): Promise<T> {
    const answer = await this.#get(path);
    return ((await answer.json()) as { data: T }).data;
  }

  async #get(path: string): Promise<Response> {
    let answer: Response;
    try {
      answer = await fetch(this.origin + path);
    } catch {
      throw new Unreachable(`${this.origin} does not answer`);
    }
    if (answer.ok) return answer;
    throw await refusalOf(answer);
  }
}

async function refusalOf(answer: Response): Promise<Refused> {
  const text = await answer.text().catch(() => '');
  try {
    const { error } = JSON.parse(text) as {
      error: { message: string; details: { reason: string; [member: string]: unknown } };
    };
    return new Refused(answer.status, error.details.reason, error.message, error.details);
  } catch {
    return new Refused(answer.status, '', `the server answered ${answer.status}`);
  }
}
