import Stages
import Testing
import Timing

/// What waits at which level.
@Suite struct GatheringLevelTests {
    private static let longest = Nanoseconds.milliseconds(8)

    @Test(
        arguments: [
            (0, 0, 0), (1, 16, 0), (250, 4000, 0), (500, 8000, 0), (501, 8000, 16), (750, 8000, 4000),
            (1000, 8000, 8000),
            (2000, 8000, 8000),
        ] as [(UInt16, UInt64, UInt64)])
    func envelopesGatherBeforeRooms(thousandths: UInt16, pause: UInt64, window: UInt64) {
        let level = GatheringLevel(thousandths)
        #expect(level.pause(upTo: Self.longest) == .microseconds(pause))
        #expect(level.window(upTo: Self.longest) == .microseconds(window))
    }
}
