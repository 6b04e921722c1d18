internal import Boot

/// Why the operator's command cannot go on, for people.
package struct OperatorFailure: Error, Sendable, CustomStringConvertible {
    package let description: String
    /// The command's exit code.
    package let exitCode: Int32

    package init(_ description: String, exitCode: Int32 = 1) {
        self.description = description
        self.exitCode = exitCode
    }

    /// With the text of an errno behind it.
    package init(_ description: String, errno code: Int32) {
        self.init("\(description): \(FileBytes.reason(code))")
    }
}
