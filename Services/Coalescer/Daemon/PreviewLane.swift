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
    private var envelope = EnvelopeWriter()
    private var batches: [[Preview]]

    init(_ fanouts: Downstream, telemetry: CoalescerTelemetry) {
        self.fanouts = fanouts
        self.telemetry = telemetry
        self.batches = fanouts.names.map { _ in [] }
    }

    /// Reads what the links have to say. Nothing waits here, so nothing is to be done about it.
    func readLinks() {
        self.fanouts.read { _ in }
    }

    /// Sends what leaves now.
    /// - Parameters:
    ///   - previews: taken out of the array.
    ///   - returned: what a fan-out does not take at present; it is to leave with the next tick.
    func send(_ previews: inout [Preview], returned: (Preview) -> Void) {
        for preview in previews {
            guard let instance = self.fanouts.owner(of: preview.room) else {
                self.telemetry.previewsUndelivered[.unreachable].add()
                continue
            }
            self.batches[instance].append(preview)
        }
        previews.removeAll(keepingCapacity: true)
        for instance in self.batches.indices where !self.batches[instance].isEmpty {
            self.send(to: instance, returned: returned)
            self.batches[instance].removeAll(keepingCapacity: true)
        }
    }

    private func send(to instance: Int, returned: (Preview) -> Void) {
        let batch = self.batches[instance]
        self.envelope.clear()
        for preview in batch { self.envelope.append(preview) }
        switch self.fanouts.send(self.envelope.bytes, to: instance) {
        case .sent: self.telemetry.envelopeSent(previews: batch.count)
        case .wouldBlock: batch.forEach(returned)
        case .unroutable: self.telemetry.previewsUndelivered[.lost].add(batch.count)
        }
    }
}
