/** The official SDK of the Model Context Protocol: an optional peer, loaded where it is needed. */
import { ScenarioError } from '../../../../scenario/problem.js';

export const SDK_IS_MISSING =
  '@modelcontextprotocol/sdk is not installed beside folkmoot ' +
  '(npm install @modelcontextprotocol/sdk@1.32.2)';

export const isMissing = (error: unknown): boolean =>
  (error as { code?: string }).code === 'ERR_MODULE_NOT_FOUND';

/** What a session needs of it. */
export type Sdk = Awaited<ReturnType<typeof parts>>;

async function parts() {
  const [{ Client }, { StdioClientTransport }, { StreamableHTTPClientTransport }, types] =
    await Promise.all([
      import('@modelcontextprotocol/sdk/client/index.js'),
      import('@modelcontextprotocol/sdk/client/stdio.js'),
      import('@modelcontextprotocol/sdk/client/streamableHttp.js'),
      import('@modelcontextprotocol/sdk/types.js'),
    ]);
  const { ErrorCode, ListToolsResultSchema, McpError } = types;
  return {
    Client,
    StdioClientTransport,
    StreamableHTTPClientTransport,
    ErrorCode,
    ListToolsResultSchema,
    McpError,
  };
}

/** @throws {ScenarioError} when it is not installed. */
export async function loadSdk(group: string): Promise<Sdk> {
  try {
    return await parts();
  } catch (error) {
    if (!isMissing(error)) throw error;
    throw new ScenarioError(`the decider of group ${group} is asked by MCP: ${SDK_IS_MISSING}`);
  }
}
