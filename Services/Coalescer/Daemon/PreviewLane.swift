internal import Boot
internal import Mesh
internal import Wire

/// Brings previews to the fan-outs that own their rooms: one envelope for each fan-out and turn.
final class PreviewLane {
    /// Why a preview did not leave.
    enum Drop: String, CaseIterable, Hashable {
        /// No fan-out is up.
        case unreachable
        /// Its fan-out went down this moment.
        case lost
    }

    let fanouts: Downstream
    private let telemetry: CoalescerTelemetry
    /// What leaves for each instance; empty between two calls of `send`.
    private var envelopes: [EnvelopeWriter]

    init(_ fanouts: Downstream, telemetry: CoalescerTelemetry) {
        self.fanouts = fanouts
        self.telemetry = telemetry
        self.envelopes = fanouts.names.map { _ in EnvelopeWriter() }
    }

    /// Reads what the links have to say. Nothing waits here, so nothing is to be done about it.
    func readLinks() {
        self.fanouts.read { _ in }
    }

    /// Sends what leaves now.
    /// - Parameters:
    ///   - previews: taken out of the array.
    ///   - returned: what the link to a fan-out has no space for, the newest first; it is to leave with the next tick.
    func send(_ previews: inout [Preview], returned: (Preview) -> Void) {
        for index in previews.indices {
            guard let instance = self.fanouts.owner(of: previews[index].room) else {
                self.telemetry.previewsUndelivered[.unreachable].add()
                continue
            }
            self.envelopes[instance].append(previews[index])
        }
        for instance in self.envelopes.indices where !self.envelopes[instance].isEmpty {
            self.send(to: instance, of: previews, returned: returned)
            self.envelopes[instance].clear()
        }
        previews.removeAll(keepingCapacity: true)
    }

    private func send(to instance: Int, of previews: [Preview], returned: (Preview) -> Void) {
        let count = Int(self.envelopes[instance].count)
        switch self.fanouts.send(self.envelopes[instance].bytes, to: instance) {
        case .sent: self.telemetry.envelopeSent(previews: count)
        case .wouldBlock:
            for preview in previews.reversed() where self.fanouts.owner(of: preview.room) == instance {
                returned(preview)
            }
        case .unroutable: self.telemetry.previewsUndelivered[.lost].add(count)
        }
    }
}
