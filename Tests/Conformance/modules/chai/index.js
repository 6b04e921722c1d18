// Debian's chai.
module.exports = require("/usr/share/nodejs/chai");
