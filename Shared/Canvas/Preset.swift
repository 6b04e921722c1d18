/// A named change.
public enum Preset: String, CaseIterable, Sendable {
    /// A quarter turn clockwise, a quarter turn back, a half turn.
    case rotateCW, rotateCCW, rotate180
    /// Mirrored in the element's own x or y axis.
    case flipX, flipY
    /// Not rotated, not tilted and at scale 1; position and perspective are unchanged.
    case reset

    /// The absolute values for an element, before the rules.
    public func fields(on element: Element) -> TransformFields {
        switch self {
        case .rotateCW: TransformFields(rotation: element.rotation + 90)
        case .rotateCCW: TransformFields(rotation: element.rotation - 90)
        case .rotate180: TransformFields(rotation: element.rotation + 180)
        case .flipX: TransformFields(scaleX: -element.scaleX)
        case .flipY: TransformFields(scaleY: -element.scaleY)
        case .reset: TransformFields(rotation: 0, rotationX: 0, rotationY: 0, scaleX: 1, scaleY: 1)
        }
    }
}
