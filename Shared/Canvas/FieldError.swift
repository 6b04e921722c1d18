/// Why a payload is rejected, naming the field as the app spelt it.
public struct FieldError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The path of the field, such as `transform.rotation`, `elements[3].type` or `set.id`.
    public var field: String
    /// A short English sentence for the developer of the app.
    public var message: String
    /// Whether the code is "too large" rather than "invalid".
    public var tooLarge: Bool

    public init(field: String, message: String, tooLarge: Bool = false) {
        self.field = field
        self.message = message
        self.tooLarge = tooLarge
    }

    /// For people: the message, with the field.
    public var description: String { self.field.isEmpty ? self.message : "\(self.field): \(self.message)" }
}

/// A field's path; the path of the root is empty.
func joined(_ path: String, _ name: String) -> String {
    path.isEmpty ? name : path + "." + name
}
