// Unpacks what report/packing.py packed: base64 of zlib-deflated bytes, a JSON header followed by typed arrays.

const TYPES = {
  u1: Uint8Array,
  u2: Uint16Array,
  u4: Uint32Array,
  i4: Int32Array,
  f4: Float32Array,
  f8: Float64Array,
};

/**
 * Decodes, inflates and parses the data of a page.
 * @param {string} base64
 * @returns {Promise<{header: object, arrays: Object<string, ArrayLike<number>>}>}
 */
export async function unpack(base64) {
  const stream = new Blob([bytesOf(base64.trim())]).stream().pipeThrough(new DecompressionStream("deflate"));
  const buffer = await new Response(stream).arrayBuffer();
  const headerLength = new DataView(buffer).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, headerLength)));
  const start = Math.ceil((4 + headerLength) / 8) * 8;
  const arrays = {};
  for (const [name, { type, length, offset, coding = [] }] of Object.entries(header.arrays)) {
    const Type = TYPES[type];
    let bytes = new Uint8Array(buffer, start + offset, length * Type.BYTES_PER_ELEMENT);
    for (const step of [...coding].reverse()) bytes = UNDO[step](bytes, length);
    arrays[name] = new Type(bytes.buffer, bytes.byteOffset, length);
  }
  return { header, arrays };
}

function bytesOf(base64) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(base64);
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return bytes;
}

const UNDO = {
  // Byte j of element i lies at j * length + i.
  planes(bytes, length) {
    const size = bytes.length / length || 1;
    const result = new Uint8Array(bytes.length);
    for (let j = 0; j < size; j++) {
      for (let i = 0, from = j * length, to = j; i < length; i++, from++, to += size) result[to] = bytes[from];
    }
    return result;
  },
  // Each element holds its difference to the one before it, modulo 2^32; the bytes are overwritten.
  delta(bytes) {
    const values = new Uint32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4);
    for (let i = 1; i < values.length; i++) values[i] += values[i - 1];
    return bytes;
  },
};
