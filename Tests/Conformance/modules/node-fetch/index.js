// Node has fetch of its own since version 18.
module.exports = globalThis.fetch;
