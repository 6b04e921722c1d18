/// Holds what is queued for one client against a bound, without the bytes that are exempt from it.
struct SendBacklog {
    /// At least the queued bytes that are exempt; never more than are queued.
    private var exemptBytes = 0
    private var isExceeded = false

    /// Exempts bytes that are about to be queued.
    /// - Parameter queued: the bytes that are queued now.
    mutating func exempt(_ bytes: Int, queued: Int) {
        self.exemptBytes = min(self.exemptBytes, queued) + bytes
    }

    /// How many more bytes may be queued until `limit` of them count.
    /// - Parameter queued: the bytes that are queued now.
    func space(within limit: Int, queued: Int) -> Int { limit - (queued - min(self.exemptBytes, queued)) }

    /// Bytes were queued.
    /// - Returns: true the first time that more than `limit` of the `queued` bytes count.
    mutating func grew(to queued: Int, limit: Int) -> Bool {
        self.exemptBytes = min(self.exemptBytes, queued)
        guard !self.isExceeded, queued - self.exemptBytes > limit else { return false }
        self.isExceeded = true
        return true
    }
}
