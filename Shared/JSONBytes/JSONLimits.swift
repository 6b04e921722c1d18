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

    /// Whether strings may contain `\u0000` and lone surrogates: legal JSON, but PostgreSQL's text type cannot store the
    /// one, nor UTF-8 the other.
    public var allowsUnstorableText = false
    /// Whether an object may have more than `keysPerObject` members. Only that many keys are compared with each other,
    /// which bounds the time; of further ones any may occur twice.
    public var allowsMoreKeys = false

    /// The defaults above.
    public init() {}

    /// The defaults above.
    public static let `default` = JSONLimits()

    /// The same without limits on structure and with every text that is well-formed.
    var wellFormed: JSONLimits {
        var limits = self
        limits.depth = .max
        limits.elementsPerArray = .max
        limits.keyLength = .max
        limits.allowsMoreKeys = true
        limits.allowsUnstorableText = true
        return limits
    }
}
