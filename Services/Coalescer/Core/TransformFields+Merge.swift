internal import Canvas

extension TransformFields {
    /// Takes over every field that the newer one sets.
    mutating func merge(_ newer: TransformFields) {
        self.positionX = newer.positionX ?? self.positionX
        self.positionY = newer.positionY ?? self.positionY
        self.rotation = newer.rotation ?? self.rotation
        self.scaleX = newer.scaleX ?? self.scaleX
        self.scaleY = newer.scaleY ?? self.scaleY
        self.width = newer.width ?? self.width
        self.height = newer.height ?? self.height
    }
}
