import { join } from 'node:path';

/**
 * The decoder of answers in the store's client library comes compiled for a JavaScript without private fields: each use of one
 * is two look-ups in a WeakMap, and each call of a private method one, which together took a twentieth of the time of an
 * accepted message. Here they are fields and functions again.
 */
export const isDecoder = (path) => path.endsWith(join('ioredis', 'built', 'resp', 'decoder.js'));

/**
 * The same module with fields in place of WeakMaps.
 * @throws when there is nothing to replace: then the library has come without them, and this is not needed any more
 */
export function withPlainFields(code) {
  const fields = new Set();
  const asField = (_, name) => {
    fields.add(name);
    return `this.${name}`;
  };
  const asSetter = (_, name) => {
    fields.add(name);
    return `set${name}(this, `;
  };
  const plain = code
    .replaceAll(/__classPrivateFieldGet\(this, _Decoder_instances, "m", (\w+)\)/g, '$1')
    .replaceAll(/__classPrivateFieldGet\(this, (\w+), "f"\)/g, asField)
    .replaceAll(/__classPrivateFieldSet\(this, (\w+), /g, asSetter)
    .replaceAll(/(\w+)\.set\(this, /g, asSetter);
  // What of it is left would be a mixture of both.
  const left = /__classPrivateField[GS]et\(this, [^)]*/.exec(plain)?.[0];
  if (left !== undefined) throw new Error(`the decoder has private members of another form: ${left}`);
  if (fields.size === 0) throw new Error('the decoder has no private fields to replace: plain-fields is not needed');
  const setters = [...fields].map(
    (name) => `function set${name}(decoder, value) { return (decoder.${name} = value); }`,
  );
  return `${plain}\n${setters.join('\n')}\n`;
}
