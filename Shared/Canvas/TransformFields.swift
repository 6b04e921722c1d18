/// Sparse fields of a transform; nil = leave as it is.
public struct TransformFields: Equatable, Sendable {
    public var positionX, positionY, rotation, scaleX, scaleY: Double?
    public var width, height: Double?
    public init(positionX: Double? = nil, positionY: Double? = nil, rotation: Double? = nil, scaleX: Double? = nil, scaleY: Double? = nil, width: Double? = nil, height: Double? = nil) {
        self.positionX = positionX; self.positionY = positionY; self.rotation = rotation; self.scaleX = scaleX; self.scaleY = scaleY; self.width = width; self.height = height }
}
