/// The fields that a preview or a commit may set. Nil: unchanged.
public struct TransformFields: Equatable, Sendable {
    /// Pixels, or 0…1 of the parent in normalized space.
    public var positionX, positionY: Double?
    /// Degrees clockwise.
    public var rotation: Double?
    /// Factors; a negative scale mirrors.
    public var scaleX, scaleY: Double?
    /// Drawn size in pixels as computed by the app: a hint, never stored.
    public var width, height: Double?

    /// Any part of a transform.
    public init(
        positionX: Double? = nil, positionY: Double? = nil, rotation: Double? = nil, scaleX: Double? = nil,
        scaleY: Double? = nil, width: Double? = nil, height: Double? = nil
    ) {
        self.positionX = positionX
        self.positionY = positionY
        self.rotation = rotation
        self.scaleX = scaleX
        self.scaleY = scaleY
        self.width = width
        self.height = height
    }

    /// Whether it sets nothing. Hints alone set nothing.
    public var isEmpty: Bool {
        self.positionX == nil && self.positionY == nil && self.rotation == nil && self.scaleX == nil
            && self.scaleY == nil
    }

    /// Whether all numbers that are set are finite.
    public var isFinite: Bool {
        for number in [
            self.positionX, self.positionY, self.rotation, self.scaleX, self.scaleY, self.width, self.height,
        ] {
            if let number, !number.isFinite { return false }
        }
        return true
    }

    /// Overwrites every field that the newer one sets: the latest wins field by field.
    public mutating func merge(_ newer: TransformFields) {
        if let value = newer.positionX { self.positionX = value }
        if let value = newer.positionY { self.positionY = value }
        if let value = newer.rotation { self.rotation = value }
        if let value = newer.scaleX { self.scaleX = value }
        if let value = newer.scaleY { self.scaleY = value }
        if let value = newer.width { self.width = value }
        if let value = newer.height { self.height = value }
    }
}
