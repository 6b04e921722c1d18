/// Ranges that no rule can widen. They keep every stored number, and everything computed from stored numbers, finite.
public enum CanvasLimits {
    /// Positions on the canvas lie within ± this many pixels.
    public static let position = 1_000_000_000.0
    /// Original sides in pixels. The lower end keeps `smallest side / original side` finite.
    public static let originalSide = 0.001...1_000_000_000.0
    /// Anchors in units of the element's size. They may lie outside the element, as in Core Animation, but not so far
    /// that arithmetic suffers.
    public static let anchor = -1000.0...1000.0
    /// Longest type in bytes.
    public static let typeBytes = 32
    /// Longest element id in bytes.
    public static let elementIDBytes = 128
    /// An element's extra fields in bytes, names and values added up.
    public static let extraBytes = 8192
    /// Most extra fields of an element.
    public static let extraFields = 64
    /// Steps of rotation that can be snapped to: above 0, up to this many degrees.
    public static let snapDegrees = 180.0
}
