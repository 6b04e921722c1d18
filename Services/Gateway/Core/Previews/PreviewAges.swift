import Timing
import Wire

/// How old previews are when they are delivered, from their arrival at this gateway, by samples: the previews of a few
/// gestures whose publisher and viewers are both connected here.
///
///     a gesture ──► followed while there is space ──► mark: sent so far, now ──► as many came back ──► its age
///                                                      ▲────────────────────────────────┘
///
/// A preview carries no time. But each says how many of the app's it contains, so that the one that completes as many as
/// had been sent at the mark contains the one that was sent then. Those that are lost on the way delay that: their
/// gesture's ages come out too large, until it ends.
struct PreviewAges {
    private struct Followed {
        let connection: UInt64
        let element: Identifier
        let gesture: UInt64
        /// The app's previews that were sent, and that came back.
        private var sent: UInt64 = 0
        private var returned: UInt64 = 0
        /// How many had been sent at the last sample; nil when it has come back.
        private var mark: (sent: UInt64, at: Instant)?
        private(set) var sentAt: Instant

        init(_ preview: Preview, at now: Instant) {
            self.connection = preview.connection
            self.element = preview.element
            self.gesture = preview.gesture
            self.sentAt = now
        }

        func isOf(_ preview: Preview) -> Bool {
            self.gesture == preview.gesture && self.connection == preview.connection && self.element == preview.element
        }

        mutating func countSent(_ preview: Preview, at now: Instant) {
            self.sent += UInt64(preview.folded)
            self.sentAt = now
            if self.mark == nil { self.mark = (self.sent, now) }
        }

        /// - Returns: when the sample was sent that this preview completes; nil when it completes none.
        mutating func countReturned(_ preview: Preview) -> Instant? {
            self.returned += UInt64(preview.folded)
            guard let mark = self.mark, self.returned >= mark.sent else { return nil }
            self.mark = nil
            return mark.at
        }
    }

    /// The ages of the samples, to a millisecond.
    private(set) var tally = LatencyTally()
    private var followed: [Followed] = []

    /// Gestures that are followed at the same time: each preview is looked up among them.
    private static let most = 8
    /// After this time without a preview another gesture is followed instead.
    private static let silence = Nanoseconds.seconds(2)

    /// A member's preview is sent, now or when its room's interval allows it.
    mutating func sent(_ preview: Preview, at now: Instant) {
        if let index = self.followed.firstIndex(where: { $0.isOf(preview) }) {
            return self.followed[index].countSent(preview, at: now)
        }
        // A newer gesture takes the place of the publisher's last one.
        guard let index = self.index(of: preview) ?? self.space(at: now) else { return }
        if index == self.followed.count { self.followed.append(Followed(preview, at: now)) }
        self.followed[index] = Followed(preview, at: now)
        self.followed[index].countSent(preview, at: now)
    }

    /// Previews are delivered to members, or would be to others than their publishers.
    mutating func delivered(_ previews: ArraySlice<Preview>, at now: Instant) {
        guard !self.followed.isEmpty else { return }
        for preview in previews {
            guard let index = self.followed.firstIndex(where: { $0.isOf(preview) }),
                let sentAt = self.followed[index].countReturned(preview)
            else { continue }
            self.tally.note(now.elapsed(since: sentAt))
        }
    }

    private func index(of preview: Preview) -> Int? {
        self.followed.firstIndex { $0.connection == preview.connection && $0.element == preview.element }
    }

    /// Where another gesture can be followed; the end when there is one more place.
    private func space(at now: Instant) -> Int? {
        if self.followed.count < Self.most { return self.followed.count }
        return self.followed.firstIndex { now > $0.sentAt + Self.silence }
    }
}
