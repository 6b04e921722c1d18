import Stages
import Testing
import Wire

@Suite struct CreditTests {
    private static let window = CommitCredit(commits: 4, bytes: 1000)

    @Test func aWindowClosesAtEitherBound() {
        var window = CreditWindow(greeting: Self.window.greeting)
        for _ in 0..<4 {
            #expect(window.isOpen)
            window.spend(CommitLoad(commits: 1, bytes: 10))
        }
        #expect(!window.isOpen)
        window.allow(CommitCredit(commits: 5, bytes: 1010))
        #expect(window.isOpen)
        window.spend(CommitLoad(commits: 0, bytes: 970))
        #expect(!window.isOpen)
    }

    @Test func aCommitLargerThanTheWindowPasses() {
        var window = CreditWindow(greeting: Self.window.greeting)
        window.spend(CommitLoad(commits: 1, bytes: 5000))
        #expect(!window.isOpen)
        var grant = CreditGrant(window: Self.window)
        grant.finish(CommitLoad(commits: 1, bytes: 5000))
        if let due = grant.takeDue() { window.allow(due) }
        #expect(window.isOpen)
    }

    @Test func aReceiverThatKnowsNoCreditsTakesAll() {
        for greeting in [[], [1, 2, 3], EnvelopeWriter().bytes] as [[UInt8]] {
            var window = CreditWindow(greeting: greeting)
            window.spend(CommitLoad(commits: 1_000_000, bytes: 1 << 40))
            #expect(window.isOpen)
            window.allow(CommitCredit(commits: 1, bytes: 1))
            #expect(window.isOpen)
        }
    }

    @Test func aGrantIsToldOnceHalfAWindowIsBack() {
        var grant = CreditGrant(window: Self.window)
        grant.finish(CommitLoad(commits: 1, bytes: 1))
        #expect(grant.takeDue() == nil)
        grant.finish(CommitLoad(commits: 1, bytes: 1))
        #expect(grant.takeDue() == CommitCredit(commits: 6, bytes: 1002))
        #expect(grant.takeDue() == nil)
        grant.finish(CommitLoad(commits: 0, bytes: 500))
        #expect(grant.takeDue() == CommitCredit(commits: 6, bytes: 1502))
        #expect(grant.announce() == CommitCredit(commits: 6, bytes: 1502), "once more, as the last one was lost")
    }

    /// Whatever the sizes, and however late the receiver is: a sender with something to send is never stuck for good,
    /// and what is unfinished never exceeds the window by more than one commit.
    @Test(arguments: 0..<200 as Range<UInt64>) func nothingIsStuckAndNothingPilesUp(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        let window = CommitCredit(
            commits: UInt64.random(in: 1...20, using: &random), bytes: UInt64.random(in: 1...2000, using: &random))
        var sender = CreditWindow(greeting: window.greeting)
        var receiver = CreditGrant(window: window)
        var unfinished: [Int] = []
        var toSend = 300
        var rounds = 0
        while toSend > 0 || !unfinished.isEmpty {
            rounds += 1
            guard rounds < 10_000 else {
                Issue.record("stuck with \(toSend) to send and \(unfinished.count) unfinished")
                return
            }
            if Bool.random(using: &random), toSend > 0, sender.isOpen {
                let size = Int.random(in: 0...400, using: &random)
                sender.spend(CommitLoad(commits: 1, bytes: size))
                unfinished.append(size)
                toSend -= 1
                #expect(unfinished.count <= Int(window.commits))
                #expect(unfinished.reduce(0, +) <= Int(window.bytes) + 400)
            } else if !unfinished.isEmpty {
                let size = unfinished.remove(at: Int.random(in: 0..<unfinished.count, using: &random))
                receiver.finish(CommitLoad(commits: 1, bytes: size))
                if let due = receiver.takeDue() { sender.allow(due) }
            }
        }
    }
}
