internal import Boot

/// An error that ends the operator's command, with a text for people.
package struct OperatorFailure: Error, Sendable, CustomStringConvertible {
    package let description: String
    package let exitCode: Int32

    package init(_ description: String, exitCode: Int32 = 1) {
        self.description = description
        self.exitCode = exitCode
    }

    /// Appends the text of an errno.
    package init(_ description: String, errno code: Int32) {
        self.init("\(description): \(FileBytes.reason(code))")
    }
}
