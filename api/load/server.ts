/** Serves the page of a load run: what is shown stands on a board, which whoever runs it writes. */
import { isIP } from 'node:net';
import type { Control } from '../contract/control.js';
import { newToken } from '../http/control.js';
import { chooseTransport, urlOf } from '../transport/choose.js';
import { loadApplication } from './application.js';
import type { Board } from './board.js';

export interface LoadServerOptions {
  board: Board;
  control: Control;
  host: string;
  /** 0 picks a free one. */
  port: number;
  /** Default: uWebSockets.js where it is installed and its binary loads, else node:http. */
  transport?: 'uws' | 'node';
  /** Called with each fault of the server itself. */
  onFault?: (error: unknown) => void;
}

export interface LoadServer {
  url: string;
  /** Where a browser sees the run, with the token for its control where there is some. */
  page: string;
  /** Answers who waits, and closes; once, however often it is called. */
  close(): Promise<void>;
}

/** @throws {Error} when the port cannot be had. */
export async function startLoadServer(options: LoadServerOptions): Promise<LoadServer> {
  const { board, control, host, port, onFault = () => {} } = options;
  const { transport } = await chooseTransport(options.transport);
  const token = newToken();
  const hosts = isIP(host) === 0 ? [host] : [];
  const application = loadApplication({ board, control, token, hosts, onFault });
  const listening = await transport.listen(application, { host, port });
  const url = urlOf(host, listening.port);
  let closed: Promise<void> | null = null;
  return {
    url,
    page: `${url}/ui/load${control.can.length > 0 ? `#token=${token}` : ''}`,
    close() {
      board.close();
      closed ??= listening.close();
      return closed;
    },
  };
}
