/**
 * What a transport is: it carries requests to an application and answers back, over one listening
 * port. Neither side knows the other's library; both transports pass the same conformance tests.
 */

/** A request with its body read. Names of headers are lower case. */
export interface HttpRequest {
  /** Upper case. */
  method: string;
  /** Path and query as sent. */
  target: string;
  path: string;
  headers: ReadonlyMap<string, string>;
  /** Of the peer, as text. */
  address: string;
  /** `tooLarge` when there was more than the application takes; then it was not kept. */
  body: Uint8Array | 'tooLarge';
}

export interface HttpResponse {
  status: number;
  headers: Record<string, string>;
  body: string | Uint8Array;
}

/** A WebSocket connection, as the application sees it. */
export interface Socket {
  readonly address: string;
  /** Text, encoded. */
  send(text: Uint8Array | string): void;
  /** Bytes given to `send` that have not left yet. */
  bufferedBytes(): number;
  /** Sends within `work` leave together. */
  cork(work: () => void): void;
  ping(): void;
  close(code: number, reason: string): void;
}

/** What the application does with a connection. */
export interface SocketHandlers {
  /** Null for a binary message. */
  message(text: string | null): void;
  pong(): void;
  /** There is room to send again. */
  drained(): void;
  /** The connection is gone, whoever ended it. */
  closed(code: number): void;
}

export interface Application {
  /** Where WebSockets are opened. */
  readonly socketPath: string;
  open(socket: Socket): SocketHandlers;
  /** How many bytes of body a request may have; 0 where none is expected. */
  bodyLimit(method: string, path: string): number;
  /** At once where nothing has to be waited for. Neither throws nor rejects. */
  handle(request: HttpRequest): HttpResponse | Promise<HttpResponse>;
}

export interface Listening {
  port: number;
  /** Stops accepting, lets what is in flight be answered, then closes. */
  close(): Promise<void>;
}

export interface Transport {
  readonly name: 'uws' | 'node';
  /** @throws when the port cannot be had. */
  listen(application: Application, address: { host: string; port: number }): Promise<Listening>;
}
