/// What a world is made of and how long it is disturbed. All times are nanoseconds.
package struct Plan: Sendable {
    /// Chance of everything in the world.
    package var seed: UInt64
    /// A mistake that is built in.
    package var mutant: Mutant?
    /// How many of each daemon there are.
    package var instances = 2
    /// How many apps.
    package var apps = 3
    /// How many more apps are clients: their behaviour is the Swift client's core.
    package var clients = 0
    /// Whether one more app looks on in the first room, and goes for good while the room moves to another fan-out.
    package var hasVisitor = false
    /// Whether a back end follows the first room over HTTP.
    package var hasSubscriber = false
    /// How many changes of a room its history over HTTP tells of.
    package var keptHistory = Int.max
    /// Whether what happens to its clients is written down.
    package var isTranscribed = false
    /// How many rooms, of which the first two share a shard.
    package var rooms = 2
    /// How many faults are drawn.
    package var faults = 4
    /// How many times an instance is added to a stage's set or removed from one.
    package var setChanges = 0
    /// How many times a link accepts nothing more for a while. Little may wait for one in such a world.
    package var fullLinks = 0
    /// When the first fault may come, and when the last one has ended.
    package var calm: UInt64 = 300 * .millisecond
    package var disturbed: UInt64 = 2200 * .millisecond
    /// How many elements a room and how many annotations an element may have.
    package var roomElements = 10_000
    package var elementAnnotations = 1000
    /// Whether apps send most of their commits without a number.
    package var isUnnumbered = false
    /// Whether elements move for a while before its end, and nobody does anything.
    package var hasSilence = false
    /// Whether it ends with a scene of what apps see of parts of the canvas.
    package var hasScene = true
    /// How long apps go on with new commits after the last fault, at most.
    package var after: UInt64 = 200 * .millisecond
    /// When the world is given up: whoever has not settled by then never will.
    package var patience: UInt64 = 20_000 * .millisecond

    /// The plan of a seed: most worlds are small, some have more of everything.
    package init(seed: UInt64, mutant: Mutant? = nil) {
        self.seed = seed
        self.mutant = mutant
        self.faults = 2 + Int(seed % 5)
        if seed % 8 == 3 { self.instances = 3 }
        if seed % 8 == 5 { self.apps = 5 }
        if seed % 8 == 1 { (self.apps, self.rooms) = (6, 1) }
        if seed % 4 < 2 { self.clients = seed % 3 == 0 ? 2 : 1 }
        self.hasVisitor = seed % 3 == 1
        self.hasSubscriber = seed % 4 == 0 || seed % 7 == 2
        if seed % 5 == 4 { self.keptHistory = 2 }
        if seed % 16 == 7 { self.roomElements = 4 }
        if seed % 16 == 15 { self.elementAnnotations = 1 }
        self.isUnnumbered = seed % 8 == 6
        self.hasSilence = seed % 4 == 1
        self.hasScene = seed % 7 < 4
        if seed % 6 == 2 { self.setChanges = 5 }
        if seed % 8 == 4 { self.fullLinks = 12 }
    }
}

extension UInt64 {
    /// A millisecond in nanoseconds.
    static let millisecond: UInt64 = 1_000_000
}
