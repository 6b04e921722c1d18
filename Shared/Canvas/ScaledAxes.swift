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
