/// The fields that a preview or a commit may set. Nil: unchanged.
public struct TransformFields: Equatable, Sendable {
    /// The values of the fields from `positionX` on; 0 if not set. First, as padding before them would be copied, too.
    @usableFromInline var values = Values()
    /// Bit i: the i-th of them is set.
    @usableFromInline package var mask: UInt16 = 0

    /// As many as there are fields, or more: what previews copy.
    @usableFromInline package typealias Values = SIMD16<Double>

    public init(
        positionX: Double? = nil, positionY: Double? = nil, positionZ: Double? = nil, rotation: Double? = nil,
        rotationX: Double? = nil, rotationY: Double? = nil, scaleX: Double? = nil, scaleY: Double? = nil,
        width: Double? = nil, height: Double? = nil, perspective: Double? = nil, opacity: Double? = nil
    ) {
        self.positionX = positionX
        self.positionY = positionY
        self.positionZ = positionZ
        self.rotation = rotation
        self.rotationX = rotationX
        self.rotationY = rotationY
        self.scaleX = scaleX
        self.scaleY = scaleY
        self.width = width
        self.height = height
        self.perspective = perspective
        self.opacity = opacity
    }

    /// The fields of a mask with values, which are asked for in their order; nil if it has a bit too many.
    package init?(mask: UInt16, _ next: () -> Double) {
        guard Int(mask) < 1 << ElementField.transform.count else { return nil }
        self.mask = mask
        var left = mask
        while left != 0 {
            self.values[left.trailingZeroBitCount] = next()
            left &= left - 1
        }
    }

    /// The value of a field that a transform may have.
    @inlinable
    public subscript(field: ElementField) -> Double? {
        get { self.mask & field.bit == 0 ? nil : self.values[field.slot] }
        set {
            self.mask = newValue == nil ? self.mask & ~field.bit : self.mask | field.bit
            self.values[field.slot] = newValue ?? 0
        }
    }

    /// Pixels, or 0…1 of the parent in normalized space.
    public var positionX: Double? {
        get { self[.positionX] }
        set { self[.positionX] = newValue }
    }

    /// As `positionX`.
    public var positionY: Double? {
        get { self[.positionY] }
        set { self[.positionY] = newValue }
    }

    /// Pixels towards the viewer.
    public var positionZ: Double? {
        get { self[.positionZ] }
        set { self[.positionZ] = newValue }
    }

    /// Degrees clockwise.
    public var rotation: Double? {
        get { self[.rotation] }
        set { self[.rotation] = newValue }
    }

    /// Degrees about the x axis: a positive one brings the lower edge nearer.
    public var rotationX: Double? {
        get { self[.rotationX] }
        set { self[.rotationX] = newValue }
    }

    /// Degrees about the y axis: a positive one brings the left edge nearer.
    public var rotationY: Double? {
        get { self[.rotationY] }
        set { self[.rotationY] = newValue }
    }

    /// A factor; a negative one mirrors.
    public var scaleX: Double? {
        get { self[.scaleX] }
        set { self[.scaleX] = newValue }
    }

    /// As `scaleX`.
    public var scaleY: Double? {
        get { self[.scaleY] }
        set { self[.scaleY] = newValue }
    }

    /// How far the viewer is away, pixels; 0: infinitely far.
    public var perspective: Double? {
        get { self[.perspective] }
        set { self[.perspective] = newValue }
    }

    /// 0 to 1.
    public var opacity: Double? {
        get { self[.opacity] }
        set { self[.opacity] = newValue }
    }

    /// Drawn width in pixels as computed by the app: a hint, never stored.
    public var width: Double? {
        get { self[.width] }
        set { self[.width] = newValue }
    }

    /// As `width`.
    public var height: Double? {
        get { self[.height] }
        set { self[.height] = newValue }
    }

    /// Whether it sets nothing. Hints alone set nothing.
    public var isEmpty: Bool { self.mask & ~Self.hints == 0 }

    private static let hints = ElementField.width.bit | ElementField.height.bit

    /// What of it a gesture sets besides the position.
    package var shape: TransformFields {
        var shape = self
        (shape.positionX, shape.positionY) = (nil, nil)
        return shape
    }

    /// Overwrites every field that the newer one sets: the latest wins field by field.
    public mutating func merge(_ newer: TransformFields) {
        for (field, value) in newer.set { self[field] = value }
    }

    /// The fields that are set, in their order.
    @inlinable package var set: SetFields { SetFields(self) }

    @usableFromInline
    package struct SetFields: Sequence, IteratorProtocol {
        @usableFromInline let values: Values
        @usableFromInline var left: UInt16

        @inlinable
        package init(_ fields: TransformFields) {
            self.values = fields.values
            self.left = fields.mask
        }

        @inlinable
        package mutating func next() -> (field: ElementField, value: Double)? {
            guard self.left != 0 else { return nil }
            let slot = self.left.trailingZeroBitCount
            self.left &= self.left - 1
            return (ElementField(slot: slot), self.values[slot])
        }
    }
}

extension ElementField {
    /// The place of a field among those of a transform.
    @inlinable package var slot: Int { Int(self.rawValue &- ElementField.positionX.rawValue) }

    @inlinable var bit: UInt16 { 1 << UInt16(truncatingIfNeeded: self.slot) }

    @inlinable
    init(slot: Int) {
        guard let field = ElementField(rawValue: ElementField.positionX.rawValue + UInt8(truncatingIfNeeded: slot))
        else {
            preconditionFailure("No transform has such a field.")
        }
        self = field
    }
}

extension Element {
    /// The element where these fields show it: they are set without any rule, hints are not.
    package func showing(_ fields: TransformFields) -> Element {
        var element = self
        for (field, value) in fields.set { element[field] = value }
        return element
    }
}
