/// A list that nearly always has one item: that one is stored inline, without an allocation.
public struct ShortList<Element> {
    private var head: Element?
    private var tail: [Element] = []

    public init() {}

    public init(_ only: Element) {
        self.head = only
    }

    public init(_ items: some Sequence<Element>) {
        for item in items { self.append(item) }
    }

    public mutating func append(_ item: Element) {
        if self.head == nil { self.head = item } else { self.tail.append(item) }
    }

    public func map<Other>(_ transform: (Element) -> Other) -> ShortList<Other> {
        var list = ShortList<Other>()
        if let head = self.head { list.append(transform(head)) }
        for item in self.tail { list.append(transform(item)) }
        return list
    }
}

extension ShortList: RandomAccessCollection {
    public var startIndex: Int { 0 }
    public var endIndex: Int { self.head == nil ? 0 : 1 + self.tail.count }

    public subscript(index: Int) -> Element {
        guard index == 0, let head = self.head else { return self.tail[index - 1] }
        return head
    }
}

extension ShortList: ExpressibleByArrayLiteral {
    public init(arrayLiteral items: Element...) {
        self.init(items)
    }
}

extension ShortList: Sendable where Element: Sendable {}
extension ShortList: Equatable where Element: Equatable {}
extension ShortList: Hashable where Element: Hashable {}
