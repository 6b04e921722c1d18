package import CommitterCore
internal import JSONBytes
package import Postgres
internal import Wire

/// Encodes a request as the arguments of `load_shard_state`, and decodes the row of arrays that it returns.
package struct StateColumns {
    package static var statement: Statement { Self.call.statement }

    private static let call = PreparedCall<LoadRequest>(
        "load_shard_state", [.int2("p_shard") { Int16(truncatingIfNeeded: $0.shard) }],
        Argument.arrays(Self.rooms) { $0.rooms }, Argument.arrays(Self.streams) { $0.streams },
        Argument.arrays(Self.elements) { $0.elements }, Argument.arrays(Self.outcomes) { $0.outcomes },
        Argument.arrays(Self.users) { $0.users }, Argument.arrays(Self.entries) { $0.entries },
        Argument.arrays(Self.annotations) { $0.annotations }
    ) { "SELECT * FROM load_shard_state(\($0))" }

    private static let rooms: [ArrayColumn<Identifier>] = [.text("r_room") { $0.text }]

    private static let streams: [ArrayColumn<StreamNeed>] = [
        .text("s_room") { $0.key.room.text },
        .text("s_session") { $0.key.session.text },
        .text("s_user") { $0.user.text },
    ]

    private static let elements: [ArrayColumn<ElementNeed>] = [
        .text("e_room") { $0.key.room.text },
        .text("e_id") { $0.key.element.text },
        .bool("e_family") { $0.family },
    ]

    private static let outcomes: [ArrayColumn<CommitKey>] = [
        .text("d_room") { $0.stream.room.text },
        .text("d_session") { $0.stream.session.text },
        .unsigned("d_n") { $0.number },
    ]

    private static let users: [ArrayColumn<UserKey>] = [
        .text("u_room") { $0.room.text },
        .text("u_user") { $0.user.text },
    ]

    private static let entries: [ArrayColumn<UndoEntryNeed>] = [
        .text("h_room") { $0.key.room.text },
        .unsigned("h_seq") { $0.key.head },
        .unsigned("h_ahead") { $0.ahead },
    ]

    private static let annotations: [ArrayColumn<ElementKey>] = [
        .text("a_room") { $0.room.text },
        .text("a_id") { $0.element.text },
    ]

    private var buffer = ArgumentBuffer()
    var document = JSONDocument()

    package init() {}

    package mutating func encode(_ request: LoadRequest) -> Parameters {
        Self.call.parameters(request, in: &self.buffer)
    }
}
