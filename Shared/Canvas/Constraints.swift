/// What holds an element when it is moved, rotated and scaled: commits and previews obey it in the fields that they send.
/// Setting it moves nothing.
public struct Constraints: Equatable, Sendable {
    /// One of the canvas's axes.
    public enum Axis: String, Sendable {
        case x, y
    }

    /// The axis along which alone the element moves: the other coordinate of what is sent is ignored.
    public var axis: Axis?
    /// The arc in which its rotation stays, clockwise degrees modulo 360: both ends in −360…360, one turn long at most.
    public var rotation: ClosedRange<Double>?
    /// The range of its scales' magnitudes, above 0. The range of its type wins.
    public var scale: ClosedRange<Double>?
    /// The lines to which its position snaps.
    public var grid: Grid?

    public init() {}

    /// Lines at a distance from each other, in the unit of the position. An axis without a step has none.
    public struct Grid: Equatable, Sendable {
        /// The steps between lines, above 0.
        public var x, y: Double?
        /// Where one of the lines lies, 0 if nil.
        public var offsetX, offsetY: Double?

        public init(x: Double? = nil, y: Double? = nil, offsetX: Double? = nil, offsetY: Double? = nil) {
            self.x = x
            self.y = y
            self.offsetX = offsetX
            self.offsetY = offsetY
        }

        var linesX: GridLines? { self.x.map { GridLines(step: $0, offset: self.offsetX ?? 0) } }
        var linesY: GridLines? { self.y.map { GridLines(step: $0, offset: self.offsetY ?? 0) } }
    }
}

/// The lines of a grid that cross one axis.
package struct GridLines: Sendable {
    private let step: Double
    /// Where a line lies, less than a step from 0: far offsets would cost precision.
    private let start: Double

    init(step: Double, offset: Double) {
        self.step = step
        self.start = offset.truncatingRemainder(dividingBy: step)
    }

    /// The line nearest to a coordinate, halves away from zero. The coordinate itself where lines lie closer than doubles
    /// can tell.
    package func nearest(to value: Double) -> Double {
        let ratio = (value - self.start) / self.step
        return ratio.magnitude < 1e12 ? self.start + ratio.rounded() * self.step : value
    }
}

extension Constraints {
    package var linesX: GridLines? { self.grid?.linesX }
    package var linesY: GridLines? { self.grid?.linesY }

    /// Rejects numbers that are out of range.
    /// - Parameter path: of the constraints in the payload.
    func check(_ path: String) throws(FieldError) {
        if let arc = self.rotation {
            try Self.require((-360...360).contains(arc.lowerBound), path, "rotation.min", Self.angle)
            try Self.require((-360...360).contains(arc.upperBound), path, "rotation.max", Self.angle)
            let length = arc.upperBound - arc.lowerBound
            try Self.require(length <= 360, path, "rotation.max", "A max of at most min + 360 is required.")
        }
        if let scale = self.scale {
            try Self.require(scale.lowerBound > 0, path, "scale.min", Self.positive)
            try Self.require(scale.upperBound.isFinite, path, "scale.max", Self.number)
        }
        guard let grid = self.grid else { return }
        for (name, step) in [("grid.x", grid.x), ("grid.y", grid.y)] {
            try Self.require(step.map { $0 > 0 && $0.isFinite } ?? true, path, name, Self.positive)
        }
        for (name, offset) in [("grid.offsetX", grid.offsetX), ("grid.offsetY", grid.offsetY)] {
            try Self.require(offset?.isFinite ?? true, path, name, Self.number)
        }
    }

    private static func require(
        _ isMet: Bool, _ path: String, _ field: String, _ message: String
    ) throws(FieldError) {
        if !isMet { throw FieldError(field: joined(path, field), message: message) }
    }

    private static let angle = "A number from -360 to 360 is required."
    private static let positive = "A number above 0 is required."
    private static let number = "A number is required."
}
