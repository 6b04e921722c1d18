/// What an element's position counts in.
public enum Space: String, Equatable, Sendable {
    /// Whole pixels of the canvas.
    case canvas
    /// Fractions 0…1 of the parent's size: an annotation.
    case normalized
}

/// A rectangle that an element's anchor must stay in, edges included; in the units of its position.
public struct Bounds: Equatable, Sendable {
    /// The corner with the smallest x and y.
    public var x, y: Double
    /// The extent, 0 or more.
    public var width, height: Double

    /// Bounds from a corner and an extent.
    public init(x: Double, y: Double, width: Double, height: Double) {
        self.x = x
        self.y = y
        self.width = width
        self.height = height
    }
}

/// One thing on the canvas, as it is stored. Made by `RulesTable.create` and changed by `RulesTable.apply`, every
/// number in it is finite and within the rules of its type.
public struct Element: Sendable {
    /// Its name in the room, 1–128 bytes, and what it is.
    public var id, type: String
    /// Where its anchor is: whole pixels of the canvas, or 0…1 of the parent.
    public var positionX = 0.0, positionY = 0.0
    /// Clockwise degrees in [0, 360).
    public var rotation = 0.0
    /// Factors on the original size; the sign is a mirror.
    public var scaleX = 1.0, scaleY = 1.0
    /// Size in pixels at scale 1, above 0.
    public var originalWidth = 100.0, originalHeight = 100.0
    /// The point that position, scale and rotation refer to, in units of the size: 0.5, 0.5 is the middle.
    public var anchorX = 0.5, anchorY = 0.5
    /// Users who made it and who changed it last.
    public var createdBy, updatedBy: String
    /// 1 when created, one more with each change.
    public var rev: Int64 = 1
    /// Whether transforms and deletion are refused.
    public var locked = false
    /// The step that rotations snap to, in (0, 180] degrees.
    public var snapDegrees: Double?
    /// Where the anchor must stay.
    public var bounds: Bounds?
    /// Points.
    public var fontSize: Double?
    /// Drawing order.
    public var zIndex: Double?
    /// What the position counts in.
    public var space = Space.canvas
    /// The element that an annotation belongs to.
    public var parentId: String?
    /// The app's own fields, in the order in which they came.
    public var extra: [ExtraField] = []

    /// An element with every default: 100 × 100 pixels about the origin, upright.
    public init(id: String, type: String, createdBy user: String) {
        self.id = id
        self.type = type
        self.createdBy = user
        self.updatedBy = user
    }

    /// Drawn width in pixels, not rounded.
    public var width: Double { self.originalWidth * self.scaleX.magnitude }

    /// Drawn height in pixels, not rounded.
    public var height: Double { self.originalHeight * self.scaleY.magnitude }

    /// Notes that a user changed it: the revision grows by one. Call it once per committed change.
    public mutating func recordChange(by user: String) {
        self.updatedBy = user
        let (sum, overflow) = self.rev.addingReportingOverflow(1)
        if !overflow { self.rev = sum }
    }

    /// Bytes of the extra fields, names and values added up.
    public var extraByteCount: Int { self.extra.reduce(0) { $0 + $1.byteCount } }
}

extension Element: Equatable {
    /// Bytewise for all text; every stored field takes part.
    public static func == (left: Element, right: Element) -> Bool {
        left.positionX == right.positionX && left.positionY == right.positionY && left.rotation == right.rotation
            && left.scaleX == right.scaleX && left.scaleY == right.scaleY && left.originalWidth == right.originalWidth
            && left.originalHeight == right.originalHeight && left.anchorX == right.anchorX
            && left.anchorY == right.anchorY && left.rev == right.rev && left.locked == right.locked
            && left.snapDegrees == right.snapDegrees && left.bounds == right.bounds && left.fontSize == right.fontSize
            && left.zIndex == right.zIndex && left.space == right.space && isSameText(left.id, right.id)
            && isSameText(left.type, right.type) && isSameText(left.createdBy, right.createdBy)
            && isSameText(left.updatedBy, right.updatedBy) && isSameText(left.parentId, right.parentId)
            && left.extra == right.extra
    }
}
