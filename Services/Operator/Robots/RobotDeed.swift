import Canvas

/// What a robot does next.
enum RobotDeed: Equatable {
    /// Looks, and does nothing, for so many seconds.
    case rest(Double)
    /// Points somewhere: the cursor moves there as a stroke says.
    case point(Stroke)
    /// Puts a note somewhere, pixels of the canvas.
    case create(Point)
    /// Takes elements and moves them.
    case move([String], Stroke)
    /// Selects elements.
    case select([String])
    /// Takes its last edit back.
    case undo
}
