/// What a document may be before it is refused. Every limit is checked while scanning, before anything is built.
public struct JSONLimits: Equatable, Sendable {
    /// Deepest nesting of containers; a document that is one array has depth 1.
    public var depth = 32
    /// Most members of one object.
    public var keysPerObject = 64
    /// Most elements of one array.
    public var elementsPerArray = 1000
    /// Longest number in bytes of its text, sign included. 32 holds every double's shortest form with room to spare.
    public var numberLength = 32

    /// The defaults above.
    public init() {}

    /// The defaults above.
    public static let `default` = JSONLimits()
}
