public import Canvas

/// What a room, or a part of it, looks like at one moment.
public struct RoomDrawing: Sendable {
    /// Elements where they are to be drawn. Those that are not there any more are missing.
    public private(set) var elements: [Element] = []
    /// The ids of those that somebody else still moves, so that the next frame differs.
    public private(set) var moving: [String] = []

    /// Whether somebody else moves one of them.
    public var isMoving: Bool { !self.moving.isEmpty }

    /// Nothing, as of a room that was left.
    package init() {}

    mutating func append(_ element: Element, isMoving: Bool) {
        self.elements.append(element)
        if isMoving { self.moving.append(element.id) }
    }
}
