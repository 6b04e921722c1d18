/// The limits of a document, and which well-formed texts are rejected although none is exceeded. Each rule is checked
/// while scanning, before anything is built.
public struct JSONLimits: Equatable, Sendable {
    /// The maximum nesting of containers; a document that is one array has depth 1.
    public var depth = 32
    /// The maximum number of members of an object.
    public var keysPerObject = 64
    /// The maximum length of a key as written, with its escapes, bytes.
    public var keyLength = 256
    /// The maximum number of elements of an array.
    public var elementsPerArray = 1000
    /// The maximum length of a number's text including its sign, bytes. 32 is enough for every double's shortest form.
    public var numberLength = 32

    /// Whether all well-formed JSON is taken that keeps to the limits of structure, although readers of it differ: strings
    /// with `\u0000`, which PostgreSQL's text type cannot store, and with lone surrogates, which UTF-8 cannot; keys that an
    /// object has twice; and numbers longer than `numberLength` or beyond the range of a double, which read as the largest
    /// double.
    public var allowsFaults = false

    public init() {}

    public static let `default` = JSONLimits()

    /// Every text that is well-formed, whatever its structure.
    public static let wellFormed = JSONLimits().wellFormed

    /// The same without limits on structure and with every text that is well-formed.
    var wellFormed: JSONLimits {
        var limits = self
        limits.depth = .max
        limits.keysPerObject = .max
        limits.keyLength = .max
        limits.elementsPerArray = .max
        limits.allowsFaults = true
        return limits
    }
}
