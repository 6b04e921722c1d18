/// How robots work.
package struct RobotOptions: Sendable {
    /// The server's address.
    package var url: String
    /// The room's id.
    package var room: String
    /// How many robots there are.
    package var count: Int
    /// The room's elements from which on robots add none.
    package var notes: Int
    /// One for all robots; nil for servers without tokens.
    package var token: String?
    /// The seed of their decisions.
    package var seed: UInt64

    /// Options with these values.
    package init(url: String, room: String, count: Int, notes: Int, token: String?, seed: UInt64) {
        self.url = url
        self.room = room
        self.count = count
        self.notes = notes
        self.token = token
        self.seed = seed
    }
}
