/// The namespaces of one connection, with their states.
///
/// ```
/// unknown --asked--> pending --accepted--> joined --removed--> left     pending --removed--> unknown
/// ```
/// `Member` is the owner's value for a namespace. Few namespaces are expected, so this is a list.
public struct NamespaceTable<Member> {
    private var entries: [(namespace: Namespace, member: Member, isJoined: Bool)] = []
    /// Namespaces that the server disconnected; the client may not know yet.
    private var left: [Namespace] = []
    private let limit: Int

    public init(limit: Int) {
        self.limit = limit
    }

    /// All members, including pending ones.
    public var members: [Member] { self.entries.map(\.member) }

    /// The sum of what `value` returns for each member, pending ones included.
    public func sum(_ value: (Member) -> Int) -> Int { self.entries.reduce(0) { $0 + value($1.member) } }

    /// Whether a CONNECT for this namespace may be passed to the application.
    public enum ConnectAnswer: Sendable, Equatable {
        case ask
        /// Pending or joined.
        case known
        case tooMany
    }

    public func connectReceived(_ namespace: Namespace) -> ConnectAnswer {
        if self.entries.contains(where: { $0.namespace == namespace }) { return .known }
        return self.entries.count < self.limit ? .ask : .tooMany
    }

    public mutating func asked(_ namespace: Namespace, _ member: Member) {
        self.left.removeAll { $0 == namespace }
        self.entries.append((namespace, member, false))
    }

    public mutating func accepted(_ namespace: Namespace) {
        guard let index = self.entries.firstIndex(where: { $0.namespace == namespace }) else { return }
        self.entries[index].isJoined = true
    }

    /// Removes a namespace; `byServer` remembers it, because packets for it may still be in flight.
    public mutating func removed(_ namespace: Namespace, byServer: Bool) {
        self.entries.removeAll { $0.namespace == namespace }
        if byServer {
            if self.left.count >= self.limit { self.left.removeFirst() }
            self.left.append(namespace)
        }
    }

    /// Removes all namespaces at the end of the connection.
    public mutating func removeAll() -> [Member] {
        defer { self.entries = [] }
        return self.members
    }

    /// The destination of a packet for a namespace.
    public enum Route {
        case member(Member)
        /// Disconnected by the server; the client did not know yet.
        case late
        /// Never joined: a protocol error of the client.
        case unknown
    }

    /// Finds the joined namespace named by the wire bytes `name` (empty for the main one).
    public func route(_ name: UnsafeRawBufferPointer) -> Route {
        for entry in self.entries where Self.equal(entry.namespace, name) {
            return entry.isJoined ? .member(entry.member) : .unknown
        }
        return self.left.contains { Self.equal($0, name) } ? .late : .unknown
    }

    private static func equal(_ namespace: Namespace, _ name: UnsafeRawBufferPointer) -> Bool {
        namespace.bytes.count == name.count && (name.isEmpty || namespace.bytes.elementsEqual(name))
    }
}
