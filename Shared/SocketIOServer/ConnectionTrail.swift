/// The connections over which a session's packets went, as long as some of these wait there.
struct ConnectionTrail {
    private struct Entry {
        weak var connection: PeerHandler?
    }

    private var entries: [Entry] = []

    /// Bytes that the kernel has not accepted.
    var bufferedBytes: Int { self.entries.reduce(0) { $0 + ($1.connection?.output.bufferedBytes ?? 0) } }

    /// Adds a connection that is about to be sent something, or that is left.
    mutating func append(_ connection: PeerHandler) {
        self.entries.removeAll { ($0.connection?.output.bufferedBytes ?? 0) == 0 || $0.connection === connection }
        self.entries.append(Entry(connection: connection))
    }

    mutating func drop() {
        let entries = exchange(&self.entries, with: [])
        for entry in entries { entry.connection?.drop() }
    }
}
