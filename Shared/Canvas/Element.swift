/// The unit of an element's position.
public enum Space: String, Equatable, Sendable {
    /// Whole pixels of the canvas.
    case canvas
    /// Fractions 0…1 of the parent's size: an annotation.
    case normalized
}

/// A rectangle that an element's anchor must stay in, including the edges; in the units of its position.
public struct Bounds: Equatable, Sendable {
    /// The corner with the smallest x and y.
    public var x, y: Double
    /// The extent, 0 or more.
    public var width, height: Double

    public init(x: Double, y: Double, width: Double, height: Double) {
        self.x = x
        self.y = y
        self.width = width
        self.height = height
    }
}

/// What few elements have.
private struct RareParts: Equatable, Sendable {
    var bounds: Bounds?
    var constraints: Constraints?
    var playback = Playback()
}

/// Keeps them apart, so that all other elements are copied as fast as if there were no such parts.
private final class RareBox: Sendable {
    let parts: RareParts

    init(_ parts: RareParts) { self.parts = parts }
}

/// One thing on the canvas, as it is stored. After `RulesTable.create` and `RulesTable.apply`, every number in it is
/// finite and within the rules of its type.
public struct Element: Sendable {
    /// Its id in the room, 1–128 bytes, and its type.
    public var id, type: String
    /// The position of its anchor: whole pixels of the canvas, or 0…1 of the parent.
    public var positionX = 0.0, positionY = 0.0
    /// Whole pixels from the canvas towards the viewer. Elements are drawn in the order of `zIndex` all the same.
    public var positionZ = 0.0
    /// Clockwise degrees in [0, 360).
    public var rotation = 0.0
    /// Degrees in [0, 360) about the horizontal and the vertical line through its anchor, after the rotation in its
    /// plane, with the signs of CSS: positive ones bring the lower edge nearer, or the left one.
    public var rotationX = 0.0, rotationY = 0.0
    /// Factors on the original size; a negative scale mirrors.
    public var scaleX = 1.0, scaleY = 1.0
    /// How far the viewer is away from its anchor, pixels; 0: infinitely far, so that nothing looks smaller.
    public var perspective = 0.0
    /// 0, not to be seen, to 1.
    public var opacity = 1.0
    /// Size in pixels at scale 1, above 0.
    public var originalWidth = 100.0, originalHeight = 100.0
    /// The point that position, scale and rotation refer to, in units of the size: 0.5, 0.5 is the centre.
    public var anchorX = 0.5, anchorY = 0.5
    /// The users that created it and changed it last.
    public var createdBy, updatedBy: String
    /// 1 when created, incremented by each change.
    public var rev: Int64 = 1
    /// Whether transforms and deletion are refused.
    public var locked = false
    /// The step to which rotations snap, in (0, 180] degrees.
    public var snapDegrees: Double?
    /// The rectangle in which the anchor must stay.
    public var bounds: Bounds? {
        get { self.rare?.parts.bounds }
        set { self.rareParts.bounds = newValue }
    }
    /// What holds it when it moves.
    public var constraints: Constraints? {
        get { self.rare?.parts.constraints }
        set { self.rareParts.constraints = newValue }
    }
    /// How the eye gets to where it is stored.
    public var motion: Motion {
        get { self.rare?.parts.playback.motion ?? Motion() }
        set { self.rareParts.playback.motion = newValue }
    }
    /// Where it is shown instead, or beside that, by keyframes.
    public var animation: KeyframeAnimation? {
        get { self.rare?.parts.playback.animation }
        set { self.rareParts.playback.animation = newValue }
    }
    /// Both of them.
    package var playback: Playback {
        get { self.rare?.parts.playback ?? Playback() }
        set { self.rareParts.playback = newValue }
    }
    private var rare: RareBox?
    private var rareParts: RareParts {
        get { self.rare?.parts ?? RareParts() }
        set { self.rare = newValue == RareParts() ? nil : RareBox(newValue) }
    }
    /// The font size, points.
    public var fontSize: Double?
    /// Drawing order.
    public var zIndex: Double?
    /// The unit of the position.
    public var space = Space.canvas
    /// The element that an annotation belongs to.
    public var parentId: String?
    /// The app's own fields, in the order received.
    public var extra: [ExtraField] = []

    /// The type of guides: lines that things snap to. They are moved as other elements are, but do not rotate.
    static let guideType = "guide"

    /// An element with all defaults: 100 × 100 pixels about the origin, not rotated.
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

    /// Records a change by a user and increments the revision. Call it once per committed change.
    public mutating func recordChange(by user: String) {
        self.updatedBy = user
        let (sum, overflow) = self.rev.addingReportingOverflow(1)
        if !overflow { self.rev = sum }
    }
}

extension Element {
    /// The number in a field; nil if it has none. Setting nil removes an option, and leaves any other as it is.
    package subscript(field: ElementField) -> Double? {
        get {
            switch field {
            case .positionX: self.positionX
            case .positionY: self.positionY
            case .positionZ: self.positionZ
            case .width: self.width
            case .height: self.height
            case .rotation: self.rotation
            case .rotationX: self.rotationX
            case .rotationY: self.rotationY
            case .scaleX: self.scaleX
            case .scaleY: self.scaleY
            case .perspective: self.perspective
            case .opacity: self.opacity
            case .originalWidth: self.originalWidth
            case .originalHeight: self.originalHeight
            case .anchorX: self.anchorX
            case .anchorY: self.anchorY
            case .snapDegrees: self.snapDegrees
            case .fontSize: self.fontSize
            case .zIndex: self.zIndex
            default: nil
            }
        }
        set {
            switch field {
            case .positionX: self.positionX = newValue ?? self.positionX
            case .positionY: self.positionY = newValue ?? self.positionY
            case .positionZ: self.positionZ = newValue ?? self.positionZ
            case .rotation: self.rotation = newValue ?? self.rotation
            case .rotationX: self.rotationX = newValue ?? self.rotationX
            case .rotationY: self.rotationY = newValue ?? self.rotationY
            case .scaleX: self.scaleX = newValue ?? self.scaleX
            case .scaleY: self.scaleY = newValue ?? self.scaleY
            case .perspective: self.perspective = newValue ?? self.perspective
            case .opacity: self.opacity = newValue ?? self.opacity
            case .originalWidth: self.originalWidth = newValue ?? self.originalWidth
            case .originalHeight: self.originalHeight = newValue ?? self.originalHeight
            case .anchorX: self.anchorX = newValue ?? self.anchorX
            case .anchorY: self.anchorY = newValue ?? self.anchorY
            case .snapDegrees: self.snapDegrees = newValue
            case .fontSize: self.fontSize = newValue
            case .zIndex: self.zIndex = newValue
            default: break
            }
        }
    }
}

extension Element: Equatable {
    /// Compares text bytewise; all stored fields are compared.
    public static func == (left: Element, right: Element) -> Bool {
        ElementField.stored.allSatisfy { $0.isSame(in: left, right) } && left.extra == right.extra
    }
}

extension Element: Hashable, Identifiable {
    /// Hashes what distinguishes elements and their revisions.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(self.id)
        hasher.combine(self.rev)
        hasher.combine(self.positionX)
        hasher.combine(self.positionY)
    }
}

extension Element {
    /// Whether this element lies below another one of its room. Everybody sees the same order: by `zIndex`, which is 0
    /// when absent, then by id, compared by UTF-16 code units as JavaScript does.
    public func isBelow(_ other: Element) -> Bool {
        if self.level != other.level { return self.level < other.level }
        return self.id.utf16.lexicographicallyPrecedes(other.id.utf16)
    }

    package var level: Double { self.zIndex ?? 0 }
}
