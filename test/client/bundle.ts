/** The client's browser bundle, and a server for the page. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const page = '<!doctype html><title>folkmoot</title><script src="/client.js"></script>';

/** Builds the bundle. Returns its text and the list of its inputs. */
export async function bundle(): Promise<{ text: string; inputs: string[] }> {
  const { outputFiles, metafile } = await build({
    stdin: {
      contents: "export * from 'folkmoot/client';",
      resolveDir: fileURLToPath(new URL('../..', import.meta.url)),
    },
    bundle: true,
    platform: 'browser',
    format: 'iife',
    globalName: 'folkmoot',
    write: false,
    metafile: true,
    logLevel: 'silent',
  });
  return { text: outputFiles[0]!.text, inputs: Object.keys(metafile.inputs) };
}

/** Serves the page at a different origin, optionally with a content security policy. */
export async function origin(script: string, policy?: string): Promise<string> {
  const server = createServer((request, response) => {
    const isScript = request.url === '/client.js';
    if (policy !== undefined) response.setHeader('Content-Security-Policy', policy);
    response.setHeader('Content-Type', isScript ? 'text/javascript' : 'text/html');
    response.end(isScript ? script : page);
  });
  server.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  onTestFinished(() => void server.close().closeAllConnections());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
