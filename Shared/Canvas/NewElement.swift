/// What an app asked to create, parsed but not yet brought under the rules.
public struct NewElement: Equatable, Sendable {
    /// The app's choice of id; the server makes one when absent.
    public var id: String?
    /// What it is.
    public var type: String
    /// As in `TransformFields`; width and height are the drawn size.
    public var transform = TransformFields()
    /// Size at scale 1; else made from the drawn size and the scale.
    public var originalWidth, originalHeight: Double?
    /// The anchor.
    public var anchorX, anchorY: Double?
    /// As in `Element`.
    public var locked: Bool?
    /// As in `Element`, above 0.
    public var snapDegrees: Double?
    /// As in `Element`.
    public var bounds: Bounds?
    /// As in `Element`.
    public var fontSize, zIndex: Double?
    /// As in `Element`.
    public var space: Space?
    /// As in `Element`.
    public var parentId: String?
    /// The app's own fields.
    public var extra: [ExtraField] = []

    /// An element of a type with nothing else said.
    public init(type: String) {
        self.type = type
    }
}
