import Glibc
import NIOConcurrencyHelpers
import Testing
import Timing
import TimingTestKit

@testable import Mesh

@Suite(.timeLimit(.minutes(1)))
struct MailboxTests {
    @Test func wakesOnlyWhenItWasEmpty() {
        let wakes = NIOLockedValueBox(0)
        let mailbox = Mailbox<Int>(capacity: 10) { wakes.withLockedValue { $0 += 1 } }
        for number in 0..<3 { #expect(mailbox.offer(number) == .accepted) }
        #expect(wakes.withLockedValue { $0 } == 1)
        var batch = [99]
        mailbox.drain(into: &batch)
        #expect(batch == [0, 1, 2])
        mailbox.drain(into: &batch)
        #expect(batch.isEmpty)
        for number in 3...5 { #expect(mailbox.offer(number) == .accepted) }
        #expect(wakes.withLockedValue { $0 } == 2)
        #expect(mailbox.count == 3)
        mailbox.drain(into: &batch)
        #expect(batch == [3, 4, 5])
    }

    @Test func theBoundHolds() {
        let mailbox = Mailbox<String>(capacity: 2) {}
        #expect(mailbox.offer("a") == .accepted && mailbox.offer("b") == .accepted)
        #expect(mailbox.offer("c") == .full)
        var batch: [String] = []
        mailbox.drain(into: &batch)
        #expect(batch == ["a", "b"])
        #expect(mailbox.offer("d") == .accepted)
    }

    @Test func storageGoesRoundInsteadOfBeingMade() {
        let mailbox = Mailbox<Int>(capacity: 1000) {}
        var batch: [Int] = []
        batch.reserveCapacity(100)
        var addresses: Set<UInt> = []
        for _ in 0..<10 {
            for number in 0..<100 { #expect(mailbox.offer(number) == .accepted) }
            mailbox.drain(into: &batch)
            addresses.insert(batch.withUnsafeBufferPointer { UInt(bitPattern: $0.baseAddress) })
        }
        #expect(addresses.count <= 2 + 7)  // The second array grows a few times in its first round.
    }

    /// Many threads into a reactor and out of it again; each producer's order is kept and nothing is lost.
    @Test func manyThreadsInAndOneReactorOut() async throws {
        final class Relay: ReactorLoop {
            let input: Mailbox<(Int, Int)>
            let output: Mailbox<(Int, Int)>
            private var batch: [(Int, Int)] = []
            init(_ input: Mailbox<(Int, Int)>, _ output: Mailbox<(Int, Int)>) {
                self.input = input
                self.output = output
            }
            func turn(at now: Instant) -> Instant? {
                self.input.drain(into: &self.batch)
                for element in self.batch { #expect(self.output.offer(element) == .accepted) }
                return nil
            }
        }
        let producers = 4
        let each = 5000
        let wakes = NIOLockedValueBox(0)
        let output = Mailbox<(Int, Int)>(capacity: .max) { wakes.withLockedValue { $0 += 1 } }
        let box = NIOLockedValueBox<Mailbox<(Int, Int)>?>(nil)
        let reactor = try Reactor(name: "relay", logger: silentLogger) { _ in
            guard let input = box.withLockedValue({ $0 }) else { throw Timeout(description: "no mailbox") }
            return Relay(input, output)
        }
        let input = Mailbox<(Int, Int)>(capacity: 500, waker: reactor.waker)
        box.withLockedValue { $0 = input }
        try reactor.start()
        let received = NIOLockedValueBox<[(Int, Int)]>([])
        await withTaskGroup(of: Void.self) { group in
            for producer in 0..<producers {
                group.addTask {
                    for number in 0..<each {
                        while input.offer((producer, number)) != .accepted { await Task.yield() }
                    }
                }
            }
            group.addTask {
                var batch: [(Int, Int)] = []
                while received.withLockedValue({ $0.count }) < producers * each {
                    output.drain(into: &batch)
                    received.withLockedValue { $0 += batch }
                    await Task.yield()
                }
            }
        }
        reactor.stop()
        try await reactor.ended()
        let all = received.withLockedValue { $0 }
        for producer in 0..<producers {
            #expect(all.filter { $0.0 == producer }.map(\.1) == Array(0..<each))
        }
        #expect(wakes.withLockedValue { $0 } >= 1)
    }
}
