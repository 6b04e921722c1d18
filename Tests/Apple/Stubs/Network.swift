public struct NWPath: Sendable {
    public enum Status: Sendable {
        case satisfied, unsatisfied, requiresConnection
    }

    public var status: Status { fatalError() }
}

public final class NWPathMonitor: AsyncSequence, Sendable {
    public struct Iterator: AsyncIteratorProtocol {
        public mutating func next() async -> NWPath? { fatalError() }
    }

    public init() {}

    public func makeAsyncIterator() -> Iterator { fatalError() }
}
