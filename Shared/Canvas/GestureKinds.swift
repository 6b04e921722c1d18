/// What fingers may do to an element.
public struct GestureKinds: OptionSet, Equatable, Sendable {
    public let rawValue: UInt8

    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// It can be moved: drags add up.
    public static let draggable = GestureKinds(rawValue: 1)
    /// It can be scaled: pinches multiply.
    public static let pinchable = GestureKinds(rawValue: 2)
    /// It can be rotated: rotations add up.
    public static let rotatable = GestureKinds(rawValue: 4)
    /// It can be tilted out of its plane: tilts add up.
    public static let tiltable = GestureKinds(rawValue: 8)
    /// All four.
    public static let all: GestureKinds = [.draggable, .pinchable, .rotatable, .tiltable]
}

extension RulesTable {
    /// What fingers may do to an element under its type's rules: nothing while it is locked.
    public func gestures(on element: Element) -> GestureKinds {
        if element.locked { return [] }
        let rules = self.rules(for: element.type)
        var kinds = GestureKinds.all
        if !rules.rotates { kinds.remove(.rotatable) }
        if !rules.allowsDepth(of: element) { kinds.remove(.tiltable) }
        return kinds
    }
}

extension Gesture {
    /// Whether all its numbers are finite.
    public var isFinite: Bool {
        self.translation.isFinite && self.scaleX.isFinite && self.scaleY.isFinite && self.rotation.isFinite
            && self.tilt.isFinite && self.anchor?.isFinite ?? true
    }

    /// The part of it that these kinds allow.
    public func limited(to kinds: GestureKinds) -> Gesture {
        var gesture = self
        if !kinds.contains(.draggable) { gesture.translation = .zero }
        if !kinds.contains(.pinchable) { (gesture.scaleX, gesture.scaleY) = (1, 1) }
        if !kinds.contains(.rotatable) { gesture.rotation = 0 }
        if !kinds.contains(.tiltable) { gesture.tilt = .zero }
        return gesture
    }
}
