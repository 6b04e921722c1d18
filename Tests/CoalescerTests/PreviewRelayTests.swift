import CoalescerDaemon
import Mesh
import Stages
import Testing
import Wire

@Suite struct PreviewRelayTests {
    private let previews = (0..<3000).map { preview(Identifier("element-\($0)"), x: 1) }
    private let owners: ShardOwners

    init() {
        var owners = ShardOwners(names: ["fanout-1"])
        owners.changed(0, .serves)
        self.owners = owners
    }

    @Test func whatFollowsAnEnvelopeThatWasNotAcceptedIsReturnedTheNewestFirst() {
        var relay = PreviewRelay()
        var output = self.previews
        var sent = 0
        var attempts = 0
        var returned: [Preview] = []
        relay.send(&output, owners: self.owners) { _, count, _ in
            attempts += 1
            if attempts > 1 { return .wouldBlock }
            sent = count
            return .sent
        } returned: {
            returned.append($0)
        }
        #expect(attempts == 2 && sent > 0)
        #expect(returned == Array(self.previews[sent...].reversed()))
        // The next turn begins with an empty envelope.
        output = [self.previews[0]]
        relay.send(&output, owners: self.owners) { _, count, _ in
            sent = count
            return .sent
        } returned: { _ in
            Issue.record("returned")
        }
        #expect(sent == 1)
    }
}
