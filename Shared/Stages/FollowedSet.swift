package import Boot
package import Timing

/// A stage's set and what becomes of it when its source says something.
package struct FollowedSet: Sendable {
    private let list: InstanceList
    private let report: SetReport
    private let adopt: @Sendable ([PeerAddress]) -> Void
    private var addresses: Set<PeerAddress>
    private var answers: NameAnswers
    /// Why the last answer was not accepted; nil when it was.
    private var refusal: String?

    /// - Parameters:
    ///   - list: the set at start.
    ///   - adopt: called with each other set, on a thread that may block.
    package init(
        _ list: InstanceList, patience: Nanoseconds, report: SetReport,
        adopt: @escaping @Sendable ([PeerAddress]) -> Void
    ) {
        self.list = list
        self.report = report
        self.adopt = adopt
        self.addresses = Set(list.addresses)
        self.answers = NameAnswers(patience: patience)
        report.started(list.addresses.count)
    }

    /// The set is this one now; the order means nothing.
    private mutating func replace(with addresses: [PeerAddress]) {
        self.refusal = nil
        let (before, now) = (self.addresses, Set(addresses))
        guard now != before else { return self.report.answered() }
        self.addresses = now
        func names(_ addresses: Set<PeerAddress>) -> [String] { addresses.map(\.description).sorted() }
        self.report.changed(
            added: names(now.subtracting(before)), removed: names(before.subtracting(now)), count: now.count)
        self.adopt(addresses)
    }

    private mutating func refuse(_ refusal: SettingRefusal) {
        self.report.failed(refusal.reason, isNew: self.refusal != refusal.reason)
        self.refusal = refusal.reason
    }
}

extension FollowedSet: WatchedContents {
    package mutating func fileRead(_ contents: Result<[UInt8], SettingRefusal>) {
        do throws(SettingRefusal) {
            self.replace(with: try self.list.parse(contents))
        } catch {
            self.refuse(error)
        }
    }
}

extension FollowedSet {
    /// Its name was looked up. Called on a thread that may block.
    package mutating func lookedUp(_ answer: Result<[DNSInstance], SettingRefusal>, at now: Instant) {
        do throws(SettingRefusal) {
            self.answers.answered(try answer.get(), at: now)
            self.replace(with: self.answers.instances.map(PeerAddress.init))
        } catch {
            self.refuse(error)
        }
    }
}
