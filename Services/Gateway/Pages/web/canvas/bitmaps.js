// Pictures that elements bring themselves: only data URLs of images that are small enough to be unpacked. A few bytes may
// stand for so many pixels that a browser ends.

/** How long one may be on any server, characters; and pixels. */
const MOST = { characters: 192 << 10, pixels: 1 << 24 };
const URLS = /^data:image\/(png|jpeg|webp|gif);base64,([A-Za-z0-9+/]+={0,2})$/;

/** @typedef {{width: number, height: number}} Size */
/** @typedef {(text: string) => Size | undefined} Reader of an image's bytes, a character for each */

const at = (/** @type {string} */ text, /** @type {number} */ index) => (index < text.length ? text.charCodeAt(index) : 0);
const big = (/** @type {string} */ text, /** @type {number} */ index) => at(text, index) * 256 + at(text, index + 1);
const little = (/** @type {string} */ text, /** @type {number} */ index) => at(text, index) + at(text, index + 1) * 256;

/** @type {Reader} the header of the first frame (ISO/IEC 10918-1, B.2) */
function jpeg(text) {
  for (let index = 2; at(text, index) === 0xff && index < text.length;) {
    const marker = at(text, index + 1), isFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
    if (isFrame) return { width: big(text, index + 7), height: big(text, index + 5) };
    index += marker === 0xff ? 1 : 2 + big(text, index + 2);
  }
  return undefined;
}

/** @type {Reader} the first chunk (RFC 9649) */
function webp(text) {
  switch (text.slice(12, 16)) {
    case "VP8 ": return { width: little(text, 26) % 0x4000, height: little(text, 28) % 0x4000 };
    case "VP8L": {
      const bits = little(text, 21) + little(text, 23) * 0x10000;
      return { width: (bits % 0x4000) + 1, height: (Math.floor(bits / 0x4000) % 0x4000) + 1 };
    }
    case "VP8X": return { width: little(text, 24) + at(text, 26) * 0x10000 + 1, height: little(text, 27) + at(text, 29) * 0x10000 + 1 };
    default: return undefined;
  }
}

/** @type {Record<string, {start: string, read: Reader}>} */
const FORMATS = {
  png: { start: "\x89PNG\r\n\x1a\n", read: text => ({ width: big(text, 16) * 0x10000 + big(text, 18), height: big(text, 20) * 0x10000 + big(text, 22) }) },
  gif: { start: "GIF8", read: text => ({ width: little(text, 6), height: little(text, 8) }) },
  jpeg: { start: "\xff\xd8", read: jpeg },
  webp: { start: "RIFF", read: webp },
};

/** @param {string} text @returns {string} of a length that base64 has */
const whole = text => text.slice(0, text.length - (text.length % 4));

/** @param {unknown} value of an element's field @returns {string | undefined} it, if a page may show it as a picture */
export function ownPicture(value) {
  if (typeof value !== "string" || value.length > MOST.characters) return undefined;
  const [, kind, data] = URLS.exec(value) ?? [];
  if (!data) return undefined;
  const { start, read } = FORMATS[kind], text = atob(whole(data)), size = text.startsWith(start) ? read(text) : undefined;
  return size && size.width > 0 && size.height > 0 && size.width * size.height <= MOST.pixels ? value : undefined;
}
