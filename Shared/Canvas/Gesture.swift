/// The movement of fingers since a gesture began: drags add, pinches multiply, rotations and tilts add.
public struct Gesture: Equatable, Sendable {
    /// Pixels on the canvas (fractions of the parent for an annotation).
    public var translation = Point.zero
    /// Factors in the element's own axes; about a pivot in those of the canvas.
    public var scaleX = 1.0, scaleY = 1.0
    /// Clockwise degrees; may exceed a full turn.
    public var rotation = 0.0
    /// Degrees about the x axis and the y axis, added to `rotationX` and `rotationY`.
    public var tilt = Point.zero
    /// The anchor to use from now on.
    public var anchor: Point?

    public init() {}

    /// This gesture followed by another: drags, rotations and tilts add, pinches multiply, the latest anchor wins.
    public func followed(by next: Gesture) -> Gesture {
        var sum = self
        sum.translation = self.translation + next.translation
        sum.scaleX *= next.scaleX
        sum.scaleY *= next.scaleY
        sum.rotation += next.rotation
        sum.tilt = self.tilt + next.tilt
        sum.anchor = next.anchor ?? self.anchor
        return sum
    }

    /// The absolute values that the gesture results in for an element, before the rules. Values that the gesture does
    /// not change stay unset. `pivot` is the point about which a group rotates and scales, the element's own anchor if
    /// nil: position' = v + R(θ)·S·(position − v) + translation, and the element's axes go where R(θ)·S takes them. It
    /// turns the plane alone: each element tilts about its own anchor.
    public func fields(on element: Element, pivot: Point? = nil) -> TransformFields {
        var fields = TransformFields()
        let scaled =
            pivot == nil
            ? ScaledAxes(rotation: element.rotation, factorX: self.scaleX, factorY: self.scaleY)
            : ScaledAxes(of: element.rotation, x: self.scaleX, y: self.scaleY)
        if scaled.factorX != 1 { fields.scaleX = element.scaleX * scaled.factorX }
        if scaled.factorY != 1 { fields.scaleY = element.scaleY * scaled.factorY }
        if self.rotation != 0 || scaled.rotation != element.rotation {
            fields.rotation = scaled.rotation + self.rotation
        }
        if self.tilt.x != 0 { fields.rotationX = element.rotationX + self.tilt.x }
        if self.tilt.y != 0 { fields.rotationY = element.rotationY + self.tilt.y }
        let start = Point(x: element.positionX, y: element.positionY)
        var position = start
        if let pivot {
            let arm = start - pivot
            let grown = Point(x: arm.x * self.scaleX, y: arm.y * self.scaleY)
            position = pivot + grown.rotated(by: Angle(degrees: self.rotation))
        }
        position = position + self.translation
        if position.x != start.x { fields.positionX = position.x }
        if position.y != start.y { fields.positionY = position.y }
        return fields
    }
}

extension RulesTable {
    /// Applies a gesture to an element: first the anchor (without visible movement), then scale, rotate, translate, all
    /// rounded once at the end. For an annotation pass the parent's original size. See `apply(_:to:)`.
    public func apply(
        _ gesture: Gesture, to element: inout Element, pivot: Point? = nil, parentSize: Size? = nil
    ) -> [Adjustment] {
        var adjustments: [Adjustment] = []
        var moved = element
        if let anchor = gesture.anchor, let x = usableNumber(anchor.x), let y = usableNumber(anchor.y) {
            let stored = Point(
                x: adjustments.clamp("anchorX", x, to: CanvasLimits.anchor),
                y: adjustments.clamp("anchorY", y, to: CanvasLimits.anchor))
            // The exact position, not yet rounded: rounding twice would let the element creep.
            let position = element.position(withAnchor: stored, parentSize: parentSize)
            (moved.anchorX, moved.anchorY) = (stored.x, stored.y)
            (moved.positionX, moved.positionY) = (position.x, position.y)
        }
        var fields = gesture.fields(on: moved, pivot: pivot)
        if gesture.anchor != nil {
            fields.positionX = fields.positionX ?? moved.positionX
            fields.positionY = fields.positionY ?? moved.positionY
            (element.anchorX, element.anchorY) = (moved.anchorX, moved.anchorY)
            // The anchor's place on the axis that constraints ignore: the element stays, so its anchor goes.
            switch element.constraints?.axis {
            case .x: element.positionY = PositionRule(moved.positionY, .positionY, of: element, lines: nil).stored
            case .y: element.positionX = PositionRule(moved.positionX, .positionX, of: element, lines: nil).stored
            case nil: break
            }
        }
        return adjustments + self.apply(fields, to: &element)
    }
}

/// The axes of a rotated element after a scaling along the canvas's axes.
///
/// What becomes of it is a rectangle only if its axes lie along the canvas's or the scaling stretches both alike: else
/// the angle between its axes changes. Its x axis then keeps its new direction, y is drawn across it, and both keep the
/// length that the scaling gives them.
struct ScaledAxes: Equatable {
    /// Of the element afterwards, degrees in [0, 360).
    let rotation: Double
    /// By which its scales change; a negative one mirrors.
    let factorX, factorY: Double
}

extension ScaledAxes {
    /// Scales an element at `rotation` (degrees φ) by s_x and s_y. A mirror in an axis of the canvas is one in the same
    /// axis of the element at −φ. Then the x axis (cos φ, sin φ) goes to (|s_x|·cos φ, |s_y|·sin φ).
    ///
    /// Half a turn more with both factors negated is the same; of the two the rotation nearer to φ is taken, in a tie
    /// that without a negative factor of x.
    init(of rotation: Double, x: Double, y: Double) {
        let (width, height) = (x.magnitude, y.magnitude)
        let start = (x < 0) == (y < 0) ? rotation : -rotation
        let (sine, cosine) = Angle(degrees: start).sineAndCosine
        // The new x axis, along and across the old one.
        let along = width * (cosine * cosine) + height * (sine * sine)
        let across = (height - width) * sine * cosine
        let turned = Angle(degrees: start + Angle.turn(along: along, across: across))
        // With some room for rounding, so that a tie is one.
        let isFar = Angle(degrees: rotation).shortestTurn(to: turned).magnitude > 90 + (x < 0 ? -1e-9 : 1e-9)
        func factor(_ sent: Double, _ alongX: Double, _ alongY: Double) -> Double {
            let length = width == height ? width : Self.length(width * alongX, height * alongY)
            return (sent < 0) == isFar ? length : -length
        }
        self.init(
            rotation: isFar ? turned.turned(by: 180).degrees : turned.degrees, factorX: factor(x, cosine, sine),
            factorY: factor(y, sine, cosine))
    }

    private static func length(_ x: Double, _ y: Double) -> Double { (x * x + y * y).squareRoot() }
}
