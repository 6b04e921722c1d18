// The one assertion of chai-string that the suites use; Debian has no package of it.
module.exports = (chai) =>
  chai.Assertion.addMethod("startsWith", function (start) {
    this.assert(
      typeof this._obj === "string" && this._obj.startsWith(start),
      "expected #{this} to start with #{exp}",
      "expected #{this} not to start with #{exp}",
      start
    );
  });
