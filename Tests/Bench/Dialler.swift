/// Schedules connections: over a ramp at first, and again after a connection was lost. Times are nanoseconds.
struct Dialler {
    /// Clients that are to connect, the next one last.
    private var waiting: [(time: Int64, client: Int)] = []
    private var greetings = 0

    /// When the next client is due; the end of time while none is, or while greetings have to end first: 256 at once.
    var nextDeadline: Int64 { self.greetings < 256 ? self.waiting.last?.time ?? .max : .max }

    /// Connects clients one after the other.
    mutating func ramp(_ clients: [Int], from start: Int64, over duration: Int64) {
        self.waiting += clients.enumerated().map { place, client in
            (start + duration * Int64(place) / Int64(clients.count), client)
        }
        self.waiting.sort { $0.time > $1.time }
    }

    /// Reconnects a client that lost its connection, after a random delay between half a second and a second, so that
    /// clients that were cut off together do not reconnect together.
    mutating func again(_ client: Int, at now: Int64) {
        let time = now + .random(in: 500_000_000..<1_000_000_000)
        self.waiting.insert((time, client), at: (self.waiting.lastIndex { $0.time >= time } ?? -1) + 1)
    }

    /// Removes and returns a client that is due.
    mutating func next(at now: Int64) -> Int? {
        guard self.nextDeadline <= now else { return nil }
        self.greetings += 1
        return self.waiting.popLast()?.client
    }

    /// A greeting has succeeded or failed.
    mutating func greeted() { self.greetings -= 1 }
}
