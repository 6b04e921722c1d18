/// The fields that an update sets on an element: everything but its transform. Nil: unchanged.
public struct ElementChanges: Equatable, Sendable {
    /// The font size, points.
    public var fontSize: Double?
    /// Whether transforms and deletion are refused from now on.
    public var locked: Bool?
    /// Degrees, above 0.
    public var snapDegrees: Double?
    /// The rectangle in which the anchor must stay from the next transform on.
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
