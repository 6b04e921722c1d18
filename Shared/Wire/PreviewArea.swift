public import Canvas

/// The part of the canvas on which a preview can be seen, pixels: the box around what it shows and what was shown before
/// it, at first the stored element. Everywhere unless the fan-out has computed it.
///
/// In single precision, rounded outwards: it decides only who gets a preview.
public struct PreviewArea: Equatable, Sendable {
    @usableFromInline var minX, minY, maxX, maxY: Float

    @inlinable
    init(minX: Float, minY: Float, maxX: Float, maxY: Float) {
        (self.minX, self.minY, self.maxX, self.maxY) = (minX, minY, maxX, maxY)
    }

    /// The whole canvas.
    @inlinable public static var everywhere: PreviewArea {
        PreviewArea(minX: -.infinity, minY: -.infinity, maxX: .infinity, maxY: .infinity)
    }

    /// The smallest area that contains a rectangle.
    public init(_ rect: Rect) {
        let end = rect.end
        self.init(
            minX: Float(rect.origin.x, rounding: .down), minY: Float(rect.origin.y, rounding: .down),
            maxX: Float(end.x, rounding: .up), maxY: Float(end.y, rounding: .up))
    }

    /// True unless it is known where the preview can be seen.
    @inlinable public var isEverywhere: Bool { self.minX == -.infinity }

    /// True when the two share a point, edges included.
    @inlinable
    public func intersects(_ other: PreviewArea) -> Bool {
        self.minX <= other.maxX && other.minX <= self.maxX && self.minY <= other.maxY && other.minY <= self.maxY
    }

    /// The smallest area that contains both.
    @inlinable
    public func union(_ other: PreviewArea) -> PreviewArea {
        PreviewArea(
            minX: min(self.minX, other.minX), minY: min(self.minY, other.minY), maxX: max(self.maxX, other.maxX),
            maxY: max(self.maxY, other.maxY))
    }
}

extension Float {
    /// The nearest value that is not on the other side of `value`.
    fileprivate init(_ value: Double, rounding rule: FloatingPointRoundingRule) {
        let nearest = Float(value)
        switch rule {
        case .down: self = Double(nearest) > value ? nearest.nextDown : nearest
        default: self = Double(nearest) < value ? nearest.nextUp : nearest
        }
    }
}

extension ByteWriter {
    /// Appends an area: its smallest x and y and its largest x and y, f32 each.
    mutating func area(_ area: PreviewArea) {
        self.integer(area.minX.bitPattern)
        self.integer(area.minY.bitPattern)
        self.integer(area.maxX.bitPattern)
        self.integer(area.maxY.bitPattern)
    }
}

extension ByteReader {
    /// The size of an area, bytes.
    static let areaSize = 16

    /// Reads an area; one that has an edge which is not finite, or edges in the wrong order, is ill-formed.
    mutating func area() -> PreviewArea {
        let (minX, minY) = (Float(bitPattern: self.integer()), Float(bitPattern: self.integer()))
        let (maxX, maxY) = (Float(bitPattern: self.integer()), Float(bitPattern: self.integer()))
        let isFinite = minX.isFinite && minY.isFinite && maxX.isFinite && maxY.isFinite
        guard isFinite, minX <= maxX, minY <= maxY else {
            self.fail()
            return .everywhere
        }
        return PreviewArea(minX: minX, minY: minY, maxX: maxX, maxY: maxY)
    }
}
