/// The limits of a document. Each is checked while scanning, before anything is built.
public struct JSONLimits: Equatable, Sendable {
    /// The maximum nesting of containers; a document that is one array has depth 1.
    public var depth = 32
    /// The maximum number of members of an object.
    public var keysPerObject = 64
    /// The maximum number of elements of an array.
    public var elementsPerArray = 1000
    /// The maximum length of a number's text including its sign, bytes. 32 is enough for every double's shortest form.
    public var numberLength = 32

    /// The defaults above.
    public init() {}

    /// The defaults above.
    public static let `default` = JSONLimits()
}
