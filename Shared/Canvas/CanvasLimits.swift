/// Ranges that no rule can widen. They keep every stored number, and everything computed from stored numbers, finite.
public enum CanvasLimits {
    /// Positions on the canvas lie within ± this many pixels.
    public static let position = 1_000_000_000.0
    /// `positionZ`, pixels towards the viewer.
    public static let depth = -1_000_000.0...1_000_000.0
    /// How far the viewer of an element with perspective is away from the canvas, pixels.
    public static let perspective = 50.0...100_000.0
    /// No element and no annotation is drawn further than this many pixels from the origin, whatever the rules file:
    /// original side · distance of the anchor · largest scale, and that once more for the parent's scale. Perspective shows
    /// what is near up to a hundred times as far away.
    public static let reach = 1e25
    /// Original sides in pixels. The lower end keeps `smallest side / original side` finite.
    public static let originalSide = 0.001...1_000_000_000.0
    /// Anchors in units of the element's size. They may be outside the element, as in Core Animation, but not so far
    /// that precision suffers.
    public static let anchor = -1000.0...1000.0
    /// The maximum length of a type, bytes.
    public static let typeBytes = 32
    /// The maximum length of an element id, bytes.
    public static let elementIDBytes = 128
    /// The maximum size of an element's extra fields, names and values together, a picture apart, bytes.
    public static let extraBytes = 8192
    /// The maximum length of a picture: an extra field `picture` that is a data URL of an image. Servers may allow less.
    public static let pictureBytes = 192 << 10
    /// The maximum length of one that is an address, bytes.
    public static let pictureAddressBytes = 2048
    /// The maximum number of extra fields of an element.
    public static let extraFields = 64
    /// The maximum number of keyframes of an animated field.
    public static let keyframes = 64
    /// The maximum size of an animation as JSON text, bytes.
    public static let animationBytes = 8192
    /// The maximum step of rotation to snap to, degrees; steps are above 0.
    public static let snapDegrees = 180.0
}
