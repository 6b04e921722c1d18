/// What an update sets on an element: everything that is no transform. Nil = leave as it is.
public struct ElementChanges: Equatable, Sendable {
    /// Points.
    public var fontSize: Double?
    /// Whether transforms and deletion are refused from now on.
    public var locked: Bool?
    /// Degrees, above 0.
    public var snapDegrees: Double?
    /// Where the anchor must stay from the next transform on.
    public var bounds: Bounds?
    /// Drawing order.
    public var zIndex: Double?
    /// The app's own fields to add or replace.
    public var extra: [ExtraField] = []

    /// No change.
    public init() {}

    /// Whether it sets nothing.
    public var isEmpty: Bool { self == ElementChanges() }
}
