import Boot
import NIOConcurrencyHelpers
import Stages
import Testing
import Timing
import TimingTestKit

@Suite struct NameAnswersTests {
    private var answers = NameAnswers(patience: .seconds(2))
    private let start = Instant.start

    private mutating func look(_ answer: String, at seconds: UInt64) -> String {
        let instances = answer.map { DNSInstance(address: "\($0)", port: 7) }
        self.answers.answered(instances, at: self.start + .seconds(seconds))
        return self.answers.instances.map(\.address).joined()
    }

    @Test mutating func whatComesIsThereImmediatelyWhatLeavesStaysForAWhile() {
        #expect(self.look("ab", at: 0) == "ab")
        #expect(self.look("ac", at: 1) == "abc")
        #expect(self.look("ac", at: 2) == "abc")
        #expect(self.look("ac", at: 3) == "ac")
    }

    @Test mutating func anAnswerThatIsIncompleteForAMomentChangesNothing() {
        #expect(self.look("abc", at: 0) == "abc")
        #expect(self.look("a", at: 1) == "abc")
        #expect(self.look("abc", at: 2) == "abc")
        // Its time begins again.
        #expect(self.look("ab", at: 3) == "abc")
        #expect(self.look("ab", at: 4) == "abc")
        #expect(self.look("ab", at: 5) == "ab")
    }

    @Test mutating func withoutPatienceWhatLeavesIsGoneAtOnce() {
        self.answers = NameAnswers(patience: .zero)
        #expect(self.look("ab", at: 0) == "ab")
        #expect(self.look("b", at: 0) == "b")
    }

    @Test mutating func anInstanceThatMovesIsAtItsNewAddressAtOnce() {
        let places = [("10.0.0.1", 7300), ("10.0.0.2", 7300), ("10.0.0.2", 7301)]
        for (address, port) in places {
            let instance = DNSInstance(name: "fanout-0", address: address, port: port)
            self.answers.answered([instance], at: self.start)
            #expect(self.answers.instances == [instance])
        }
    }
}

@Suite struct FollowedSetTests {
    private let context = DaemonContext.quiet(name: "gateway-1")
    private let adopted = NIOLockedValueBox<[[String]]>([])

    private func follow(_ source: InstanceSource) throws -> FollowedSet {
        var values = SettingValues(defaultsOf: Self.schema)
        values.set(SharedSettings.fanouts, source)
        values.set(SharedSettings.linkKeyFile, "/k")
        let report = SetReport("fanouts", source: "the source", self.context)
        let adopted = self.adopted
        return try FollowedSet(
            values.instances(SharedSettings.fanouts, mayBeEmpty: true), patience: .zero, report: report
        ) { addresses in
            adopted.withLockedValue { $0.append(addresses.map(\.name)) }
        }
    }

    private static let schema = SettingsSchema(
        "gateway", summary: "g.", [SharedSettings.fanouts, SharedSettings.linkKeyFile])

    private func look(_ set: inout FollowedSet, _ answer: Result<[String], SettingRefusal>) {
        set.lookedUp(answer.map { $0.map { DNSInstance(address: $0, port: 7300) } }, at: .start)
    }

    private var notes: [String] { self.context.health.notes.map(\.text) }

    @Test func aResolverThatFailsChangesNothingAndIsNoted() throws {
        var set = try self.follow(.name(DNSName(host: "h", records: .addresses(port: 7300))))
        self.look(&set, .success(["10.0.0.1", "10.0.0.2"]))
        self.look(&set, .failure(SettingRefusal("does not resolve: later")))
        self.look(&set, .failure(SettingRefusal("does not resolve: later")))
        #expect(self.adopted.withLockedValue { $0 } == [["10.0.0.1", "10.0.0.2"]])
        #expect(self.notes == ["the source is not accepted, the instances known stay: does not resolve: later"])
        let metrics = self.context.metrics.text()
        #expect(metrics.contains("touchsync_set_failures_total{set=\"fanouts\"} 2"))
        #expect(metrics.contains("touchsync_set_stale{set=\"fanouts\"} 1"))
        self.look(&set, .success(["10.0.0.2", "10.0.0.1"]))
        #expect(self.notes.isEmpty && self.adopted.withLockedValue { $0.count } == 1)
        self.look(&set, .success(["10.0.0.2"]))
        #expect(self.adopted.withLockedValue { $0.last } == ["10.0.0.2"])
        #expect(self.context.metrics.text().contains("touchsync_set_instances{set=\"fanouts\"} 1"))
    }

    @Test func aFileThatIsWrongChangesNothingAndIsNoted() throws {
        var set = try self.follow(.list([PeerAddress(name: "f-1", endpoint: "ipc:///f-1")]))
        set.fileRead(.success(Array(#"{"fanouts":["f-1=ipc:///f-1","#.utf8)))
        #expect(self.adopted.withLockedValue { $0.isEmpty } && self.notes.count == 1)
        set.fileRead(.success(Array(#"{"fanouts":["f-1=ipc:///f-1"]}"#.utf8)))
        #expect(self.adopted.withLockedValue { $0.isEmpty } && self.notes.isEmpty)
        set.fileRead(.success(Array(#"{"fanouts":["f-2=ipc:///f-2"]}"#.utf8)))
        #expect(self.adopted.withLockedValue { $0 } == [["f-2"]])
    }
}
