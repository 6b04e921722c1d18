public import JSONBytes

/// `element:create`: creates one element.
///
///     one new element
public struct CreateElement: Edit {
    public static let event = "element:create"
    public static let tag: UInt8 = 2
    public static let rateCost = 1
    public static let isGroup = false
    public static let gestures = GestureEffect.leavesOpen
    public static let motion = MotionUse.ignored

    public var item: NewItem

    public init(_ item: NewItem) {
        self.item = item
    }

    public var elements: ShortList<Identifier> { [] }

    public init(_ payload: JSONValue, reading: inout EditReading) throws(Refusal) {
        guard let element = payload["element"] else {
            throw Refusal(.invalid, "An element is an object.", field: "element")
        }
        try self.init(element: element, reading: &reading)
    }

    /// Reads it from the element itself, which is the body of an HTTP request.
    /// - Throws: a refusal that names the field at fault.
    public init(element: JSONValue, reading: inout EditReading) throws(Refusal) {
        do throws(Refusal) {
            self.item = try NewItem(element, reading: &reading)
        } catch {
            throw error.within("element")
        }
    }

    public init(from reader: inout ByteReader) throws(Refusal) {
        do throws(Refusal) {
            self.item = try NewItem(from: &reader)
        } catch {
            throw error.within("element")
        }
    }

    public func encode(into writer: inout ByteWriter) {
        self.item.encode(into: &writer)
    }

    public func identify(into hash: inout BodyHash) {
        self.item.identify(into: &hash)
    }
}
