import Glibc
import Testing

@testable import Boot

@Suite struct FreedMemoryTests {
    private static let mebibyte = 1 << 20, second: UInt64 = 1_000_000_000

    /// Asks once a second; `cpu` is the share of a core that is used.
    private final class Process {
        private var memory = FreedMemory()
        private var (time, cpu): (UInt64, UInt64) = (1, 0)

        func isDue(resident: Int, used: Int, cpu share: Double = 0) -> Bool {
            self.time += FreedMemoryTests.second
            self.cpu += UInt64(share * Double(FreedMemoryTests.second))
            return self.memory.isDue(
                resident: resident * FreedMemoryTests.mebibyte, used: used * FreedMemoryTests.mebibyte, cpu: self.cpu,
                at: self.time)
        }

        func returned(resident: Int, used: Int) {
            self.memory.returned(
                resident: resident * FreedMemoryTests.mebibyte, used: used * FreedMemoryTests.mebibyte)
        }
    }

    @Test func muchFreeMemoryGoesBackWhenTheProcessIsIdle() {
        let process = Process()
        #expect(!process.isDue(resident: 681, used: 30), "nothing is known of its load")
        #expect(!process.isDue(resident: 681, used: 30, cpu: 0.5))
        #expect(process.isDue(resident: 681, used: 30, cpu: 0.1))
        process.returned(resident: 40, used: 30)
        #expect(!process.isDue(resident: 40, used: 30))
    }

    @Test func whatIsUsedOrKeptForTheNextBurstStays() {
        let process = Process()
        #expect(!process.isDue(resident: 681, used: 681))
        #expect(!process.isDue(resident: 681, used: 670))
        #expect(!process.isDue(resident: 16, used: 1))
        #expect(process.isDue(resident: 681, used: 660))
    }

    /// Otherwise a process would try again for ever.
    @Test func whatCouldNotBeGivenBackIsNotTriedAgain() {
        let process = Process()
        _ = process.isDue(resident: 0, used: 0)
        #expect(process.isDue(resident: 200, used: 100))
        process.returned(resident: 150, used: 100)
        #expect(!process.isDue(resident: 150, used: 100))
        #expect(!process.isDue(resident: 160, used: 100))
        #expect(process.isDue(resident: 170, used: 100))
        process.returned(resident: 150, used: 100)
        // Once it is in use again, it may be free anew.
        #expect(!process.isDue(resident: 150, used: 140))
        #expect(process.isDue(resident: 150, used: 100))
    }

    /// Blocks that stay in use keep the library from giving back those between them by itself.
    @Test func freePagesBetweenUsedOnesGoBack() throws {
        let blocks = (0..<32_768).compactMap { _ in malloc(4096) }
        for block in blocks { memset(block, 1, 4096) }
        for (index, block) in blocks.enumerated() where index % 64 != 63 { free(block) }
        defer { for (index, block) in blocks.enumerated() where index % 64 == 63 { free(block) } }
        let before = try #require(ProcessMemory.anonymousBytes)
        #expect(before - ProcessMemory.usedBytes > 96 * Self.mebibyte)
        ProcessMemory.returnFreed()
        #expect(try #require(ProcessMemory.anonymousBytes) < before - 64 * Self.mebibyte)
    }
}
