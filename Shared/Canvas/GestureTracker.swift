/// One hand on one element: combines what the recognizers of a drag, a pinch, a rotation and a tilt report into one
/// gesture.
///
/// Recognizers run at the same time, and each reports what happened since it began. A finger that is lifted and put
/// down again begins another pinch while the drag goes on; `end` adds the first one up, so that the next one continues
/// from there.
///
///     let anchor = element.anchor(under: viewport.canvasPoint(fromScreen: pointBetweenFingers))
///     var hand = GestureTracker(of: element, anchor: anchor, kinds: rules.gestures(on: element))
///     hand.drag(to: translation * (1 / viewport.zoomScale))
///     hand.pinch(to: magnification)
///     send("element:transforming", hand.fields(under: rules))
///
/// Values that are not finite are refused. So are changes after which the sum would not be finite any more.
public struct GestureTracker: Equatable, Sendable {
    /// The element when the gesture began, with the anchor that it had.
    public let element: Element
    /// What fingers may do to it.
    public let kinds: GestureKinds
    private let anchor: Point?
    /// The sum of what recognizers that ended have reported.
    private var ended = Gesture()
    /// What running ones have reported last.
    private var running = Gesture()

    /// A gesture that begins. The element scales and rotates about `anchor`, a point in units of its size such as the
    /// one between the fingers; about its own anchor if that is nil or not finite.
    public init(of element: Element, anchor: Point? = nil, kinds: GestureKinds = .all) {
        self.element = element
        self.kinds = kinds
        self.anchor = anchor.flatMap { $0.isFinite ? $0 : nil }
    }

    /// All that happened since the gesture began, as the deltas of `element:gesture`.
    public var gesture: Gesture {
        var sum = self.ended.followed(by: self.running).limited(to: self.kinds)
        sum.anchor = self.anchor
        return sum
    }

    /// The drag has moved this far since it began, in pixels of the canvas; for an annotation in fractions of the parent.
    /// False if that is refused.
    @discardableResult
    public mutating func drag(to translation: Point) -> Bool {
        self.update { $0.translation = translation }
    }

    /// The pinch has reached this factor since it began. False if that is refused.
    @discardableResult
    public mutating func pinch(to factor: Double) -> Bool {
        self.update { ($0.scaleX, $0.scaleY) = (factor, factor) }
    }

    /// The rotation has reached this angle since it began, clockwise degrees. False if that is refused.
    @discardableResult
    public mutating func rotate(to degrees: Double) -> Bool {
        self.update { $0.rotation = degrees }
    }

    /// The tilt has reached these angles about the x axis and the y axis since it began, degrees. False if that is refused.
    @discardableResult
    public mutating func tilt(to degrees: Point) -> Bool {
        self.update { $0.tilt = degrees }
    }

    /// The recognizers of some kinds ended. What they report from now on counts from here.
    public mutating func end(_ kinds: GestureKinds) {
        self.ended = self.ended.followed(by: self.running.limited(to: kinds))
        self.running = self.running.limited(to: GestureKinds.all.subtracting(kinds))
    }

    /// The absolute values of a preview or a commit, for the anchor that the element has on the server. Fields that the
    /// gesture does not touch stay unset: they are left to others, as is the coordinate that constraints ignore. Scale and
    /// rotations obey the rules, the position is not rounded. For an annotation pass the parent's original size.
    public func fields(under rules: RulesTable, parentSize: Size? = nil) -> TransformFields {
        var fields = self.freeFields(under: rules, parentSize: parentSize)
        switch self.element.constraints?.axis {
        case .x: fields.positionY = nil
        case .y: fields.positionX = nil
        case nil: break
        }
        return fields
    }

    /// The same with both coordinates of the position.
    private func freeFields(under rules: RulesTable, parentSize: Size?) -> TransformFields {
        let gesture = self.gesture
        var fields = gesture.fields(on: self.element)
        let shape = fields.shape
        if shape.isEmpty { return fields }
        let anchor = Point(x: self.element.anchorX, y: self.element.anchorY)
        guard var held = self.element.anchored(at: self.anchor ?? anchor, parentSize: parentSize) else { return fields }
        _ = rules.apply(shape, to: &held)
        for (field, _) in shape.set { fields[field] = held[field] }
        // An element that scales or rotates about another point than its own anchor moves that anchor.
        guard self.anchor != nil else { return fields }
        held.positionX += gesture.translation.x
        held.positionY += gesture.translation.y
        let position = held.position(withAnchor: anchor, parentSize: parentSize)
        (fields.positionX, fields.positionY) = (position.x, position.y)
        return fields
    }

    /// The element as the hand shows it now, not rounded.
    public func drawn(under rules: RulesTable, parentSize: Size? = nil) -> Element {
        self.element.showing(self.fields(under: rules, parentSize: parentSize))
    }

    /// Changes what a running recognizer has reported, unless the sum is not finite then.
    private mutating func update(_ change: (inout Gesture) -> Void) -> Bool {
        var changed = self.running
        change(&changed)
        guard changed.isFinite, self.ended.followed(by: changed).isFinite else { return false }
        self.running = changed
        return true
    }
}
