import HistoryChecker
import Wire

// While all is quiet something is set in motion in each room, and then nobody does anything: nothing may pass.

extension World {
    /// Until gestures are over that nobody ended; until everybody has heard of what moves; and how long nobody does anything
    /// then.
    private static let calm: UInt64 = 5100 * .millisecond
    private static let hearing: UInt64 = 600 * .millisecond
    private static let length: UInt64 = 1500 * .millisecond

    /// - Parameter next: what follows.
    func playSilence(then next: @escaping () -> Void) {
        let rooms = Set(self.apps.map(\.room)).sorted()
        self.after(Self.calm) { [unowned self] in
            for room in rooms { self.apps.lazy.compactMap { $0 as? App }.first { $0.room == room }?.setInMotion() }
        }
        self.after(Self.calm + Self.hearing) { [unowned self] in
            for room in rooms { self.observe(.hush) { $0.room = room } }
            self.passed = 0
            self.after(Self.length) { [unowned self] in
                for room in rooms { self.observe(.stir) { ($0.room, $0.value) = (room, self.passed ?? 0) } }
                self.passed = nil
                next()
            }
        }
    }

    /// An envelope is sent. Who is in a room, and how busy a gateway is, may be told at any time.
    func passes(_ envelope: [UInt8]) {
        guard self.passed != nil else { return }
        self.walk(envelope) { kind, _ in
            if kind != .roomMembers { self.passed? += 1 }
        }
    }

    /// An app or its gateway sends something.
    func passes() { self.passed? += 1 }
}
