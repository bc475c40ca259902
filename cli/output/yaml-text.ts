/** YAML that can be printed: what would steer a terminal stands in quotes, where it is escaped. */
import { escaped } from './output.js';

/** Lines, without a last empty one. */
export async function yamlLines(value: unknown): Promise<string[]> {
  const { Document, Scalar, visit } = await import('yaml');
  const document = new Document(value);
  visit(document, {
    Scalar(_, node) {
      const { value: text } = node;
      if (typeof text !== 'string') return;
      // Line feeds are YAML's own, in a block.
      const plain = text.replaceAll('\n', '');
      if (escaped(plain) !== plain) node.type = Scalar.QUOTE_DOUBLE;
    },
  });
  return document.toString().trimEnd().split('\n');
}
