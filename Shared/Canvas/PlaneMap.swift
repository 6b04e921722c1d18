/// How the pixels of an element are seen on the canvas: flat, which is common and cheap, or with depth.
enum PlaneMap {
    case flat(AffineMatrix)
    case deep(Matrix4)

    /// This map followed by another one.
    func followed(by next: PlaneMap) -> PlaneMap {
        switch (self, next) {
        case (.flat(let first), .flat(let second)): .flat(first.followed(by: second))
        case (.flat(let first), .deep(let second)): .deep(Matrix4(first).followed(by: second))
        case (.deep(let first), .flat(let second)): .deep(first.followed(by: Matrix4(second)))
        case (.deep(let first), .deep(let second)): .deep(first.followed(by: second))
        }
    }

    /// The images of the corners of a rectangle whose top left corner is the origin: top left, top right, bottom right,
    /// bottom left; see `Matrix4.corners(of:)`.
    func corners(of size: Size) -> [Point] {
        switch self {
        case .flat(let map):
            [
                map.applied(to: .zero), map.applied(to: Point(x: size.width, y: 0)),
                map.applied(to: Point(x: size.width, y: size.height)), map.applied(to: Point(x: 0, y: size.height)),
            ]
        case .deep(let map): map.corners(of: size)
        }
    }
}

extension PlaneMap {
    /// How the own pixels of an element are seen on the canvas, or in the parent's own pixels.
    init(of element: Element, parentSize: Size? = nil) {
        self =
            element.isFlat
            ? .flat(element.matrix(parentSize: parentSize)) : .deep(element.projection(parentSize: parentSize))
    }

    /// The same of an annotation, on the canvas on which its parent lies.
    init(of element: Element, on parent: Element) {
        self.init(of: element, parentSize: element.space == .normalized ? parent.originalSize : nil)
        if element.space == .normalized { self = self.followed(by: PlaneMap(of: parent)) }
    }
}
