/** Why an address cannot be listened on, in words, whichever transport tried it. */
import { createServer } from 'node:net';

const causes: Readonly<Record<string, string>> = {
  EADDRINUSE: 'another program listens there already; stop it, or take another --port',
  EADDRNOTAVAIL: 'this machine has no such address; expected one of its own, or 0.0.0.0 or ::',
  EACCES: 'this user may not listen there; ports below 1024 need a right of their own',
  ENOTFOUND: 'no address is known under this name',
  EAI_AGAIN: 'the name cannot be looked up now',
  EAFNOSUPPORT: 'this machine does not speak that kind of address',
};

export interface Where {
  host: string;
  port: number;
}

export class ListenProblem extends Error {
  override name = 'ListenProblem';
  constructor({ host, port }: Where, cause: unknown) {
    const code = (cause as NodeJS.ErrnoException | null)?.code;
    const why = code === undefined ? 'the reason is not known' : (causes[code] ?? code);
    const shown = host.includes(':') ? `[${host}]` : host;
    super(`${shown}:${port} cannot be listened on: ${why}`, { cause });
  }
}

/** Asks the platform why: uWebSockets.js only says that it did not work. */
export function listenProblem(where: Where): Promise<ListenProblem> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', (error) => resolve(new ListenProblem(where, error)));
    probe.listen({ ...where, exclusive: true }, () => {
      probe.close(() => resolve(new ListenProblem(where, null)));
    });
  });
}
