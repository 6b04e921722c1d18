import Canvas
import GatewayCore
import HistoryChecker
import Wire

/// What is wrong with viewports and awareness in a gateway that has one of the mistakes of this kind; right in every other.
struct ViewportMistakes {
    let mutant: Mutant?

    /// What the core gets of an app's event.
    func altered(_ event: [UInt8], in room: String) -> [UInt8] {
        guard self.mutant == .viewportsOff, Self.isViewport(event) else { return event }
        return Array("[\"viewport:set\",{\"roomId\":\"\(room)\"}]".utf8)
    }

    /// What is done of what the core wants done after an event.
    func alter(_ actions: inout [GatewayAction], after event: [UInt8]) {
        guard self.mutant == .entrancesOff, Self.isViewport(event) else { return }
        actions.removeAll { if case .previews = $0 { true } else { false } }
    }

    /// What a fan-out gets of a record; nil: nothing.
    func altered(_ record: FanoutRecord) -> FanoutRecord? {
        switch record {
        case .areaInterest where self.mutant == .areasOff: return nil
        case .interest(var interest) where self.mutant == .viewportsForgotten:
            interest.hasViewports = false
            return .interest(interest)
        case .interest(var interest) where self.mutant == .awarenessForgotten:
            for index in interest.occupants.indices {
                interest.occupants[index].awareness = ShownAwareness(sid: interest.occupants[index].awareness.sid)
            }
            return .interest(interest)
        default: return record
        }
    }

    /// True when an app with a viewport gets a preview that it can see.
    func shows(_ text: PreviewText, to app: any SimulatedApp) -> Bool {
        switch self.mutant {
        case .sightingsLost: app.world.random.place(3) > 0
        case .departuresOff: !Self.isAway(text.content, from: app.sight)
        default: true
        }
    }

    private static func isViewport(_ event: [UInt8]) -> Bool { event.starts(with: "[\"viewport:set\"".utf8) }

    /// True when something is shown far from what an app looks at.
    private static func isAway(_ content: PreviewText.Content, from sight: RoomWitness.Sight) -> Bool {
        guard case .part(let view) = sight else { return false }
        func isAway(_ x: Double?) -> Bool { x.map { $0 < view.left - 1000 || $0 > view.right + 1000 } ?? false }
        switch content {
        case .previews(let previews): return previews.contains { isAway($0.fields.positionX) }
        case .awareness(let awareness):
            guard case .cursor(let cursor) = awareness.value else { return false }
            return isAway(cursor?.x)
        }
    }
}
