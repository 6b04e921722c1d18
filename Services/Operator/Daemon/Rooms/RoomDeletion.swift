internal import Canvas
internal import CommitterCore
internal import Wire

/// Deletes all elements of a room. Its numbers and its log go on.
package struct RoomDeletion {
    /// Reads of the room, each followed by the deletion of what it has: members may create elements meanwhile.
    private static let rounds = 20

    private let session: Identifier

    /// A deletion; what an interrupted one left, the next one finds.
    package init() {
        self.session = SessionKey.command(String(UInt64.random(in: 0...UInt64.max), radix: 16))
    }

    /// Deletes the elements.
    /// - Returns: how many elements it found.
    package func run(on store: RoomStore) throws -> Int {
        var number: UInt64 = 0
        var deleted = 0
        for _ in 0..<Self.rounds {
            let elements = try store.contents().elements
            if elements.isEmpty { return deleted }
            for run in Self.runs(of: elements) {
                number += 1
                deleted += try self.delete(run, number: number, on: store)
            }
        }
        throw OperatorFailure("\(deleted) elements were deleted, but members keep creating others")
    }

    /// Annotations first: then a parent takes no more of them with it than were created in this moment, so that every
    /// commit has its size.
    private static func runs(of elements: [Element]) -> [[Element]] {
        CommitSizes.runs(of: elements.filter { $0.parentId != nil })
            + CommitSizes.runs(of: elements.filter { $0.parentId == nil })
    }

    private func delete(_ run: [Element], number: UInt64, on store: RoomStore) throws -> Int {
        do {
            _ = try store.commit(
                .delete(run.map { Identifier($0.id) }), session: self.session, number: number)
            return run.count
        } catch let refusal as Refusal where refusal.code == .notFound {
            // Somebody else deleted them.
            return 0
        }
    }
}
