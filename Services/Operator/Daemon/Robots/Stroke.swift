internal import Canvas

/// One movement of a hand, from rest to rest: along a path that bends a little, with two fingers a turn and another size
/// as well.
struct Stroke: Equatable {
    /// From where it begins to where it ends, pixels.
    var translation: Point
    /// How far the path leaves the straight line in its middle, as a share of its length; positive to the right.
    var bend = 0.0
    /// Clockwise degrees.
    var turn = 0.0
    /// The factor of both scales.
    var factor = 1.0
    /// Seconds.
    var duration: Double

    /// What the fingers did after so many seconds.
    func fields(after seconds: Double) -> GestureFields {
        let progress = Self.progress(seconds / self.duration)
        var fields = GestureFields()
        fields.translation = self.offset(at: progress)
        if self.turn != 0 { fields.rotation = self.turn * progress }
        if self.factor != 1 {
            let factor = 1 + (self.factor - 1) * progress
            fields.scale = Point(x: factor, y: factor)
        }
        return fields
    }

    private func offset(at progress: Double) -> Point {
        let aside = Point(x: -self.translation.y, y: self.translation.x) * (self.bend * 4 * progress * (1 - progress))
        return self.translation * progress + aside
    }

    /// The share of the way after a share of the time: people move so that the jerk is least, 10τ³ − 15τ⁴ + 6τ⁵ (Flash
    /// and Hogan, "The coordination of arm movements", Journal of Neuroscience 5, 1985).
    private static func progress(_ time: Double) -> Double {
        let time = min(max(time, 0), 1)
        return time * time * time * (10 - 15 * time + 6 * time * time)
    }
}
