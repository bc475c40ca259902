/**
 * First script in an exported file. Once the document is parsed, this script unpacks the page's
 * styles and script. The file's CSP lists the hashes of all three.
 */
import { createTrustedRules } from '../home.js';
import { showFailure, unpack } from './unpack.js';

// The CSP blocks any other script.
const policy = createTrustedRules('folkmoot-begin', { createScript: (text: string) => text });

async function begin(): Promise<void> {
  const [look, code] = await Promise.all([unpack('look'), unpack('code')]);
  const style = document.createElement('style');
  style.textContent = new TextDecoder().decode(look);
  const script = document.createElement('script');
  script.text = policy.createScript(new TextDecoder().decode(code));
  document.head.append(style, script);
}

document.addEventListener('DOMContentLoaded', () => void begin().catch(showFailure));
