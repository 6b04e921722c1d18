internal import Canvas
package import CommitterCore
internal import JSONBytes
package import Postgres
internal import Wire

/// Encodes a batch as the arguments of `commit_batch`: a few numbers and one array per column. Its storage is reused
/// for all batches.
package struct BatchColumns {
    package static var statement: Statement { Self.call.statement }

    private static let call = PreparedCall<ShardBatch>(
        "commit_batch", Self.shard, Argument.arrays(Self.rooms) { $0.rooms.rows },
        Argument.arrays(Self.elements) { $0.elements }, Argument.arrays(Self.log) { $0.log },
        Argument.arrays(Self.streams) { $0.streams.rows }, Argument.arrays(Self.stacks) { $0.stacks.rows },
        Argument.arrays(Self.refusals) { $0.refusals }
    ) { "SELECT commit_batch(\($0))" }

    private var buffer = ArgumentBuffer()

    package init() {}

    package mutating func encode(_ batch: ShardBatch) -> Parameters {
        Self.call.parameters(batch, in: &self.buffer)
    }

    private static let shard: [Argument<ShardBatch>] = [
        .int2("p_shard") { Int16(truncatingIfNeeded: $0.shard) },
        .int8("p_version") { Int64(bitPattern: $0.version) },
        .int8("p_base") { Int64(bitPattern: $0.base) },
        .int8("p_gseq") { Int64(bitPattern: $0.gseq) },
        .int8("p_chain") { Int64(bitPattern: $0.chain) },
        .int4("p_user_sessions") { Int32(clamping: $0.userSessions) },
    ]

    private static let rooms: [ArrayColumn<KeyedRows<Identifier, StoredRoom>.Row>] = [
        .text("r_room") { $0.key.text },
        .unsigned("r_seq") { $0.value.seq },
        .int4("r_elements") { Int32(clamping: $0.value.totals.elements) },
        .int8("r_bytes") { Int64($0.value.totals.bytes) },
    ]

    private static let elements: [ArrayColumn<ShardBatch.ElementRow>] = [
        .text("e_room") { $0.room.text },
        .text("e_id") { $0.live.element.id },
        .unsigned("e_seq") { $0.seq },
        .bool("e_restored") { $0.isRestored },
        .text("e_parent_id") { $0.live.element.parentId },
        .text("e_updated_by") { $0.live.element.updatedBy },
        .text("e_other_by") { $0.live.authors.other?.user.text },
        .unsigned("e_other_seq") { $0.live.authors.other?.seq },
        .json("e_data") { $0.isDeleted ? nil : $0.live.json },
    ]

    private static let log: [ArrayColumn<ShardBatch.LogRow>] = [
        .text("l_room") { $0.room.text },
        .unsigned("l_seq") { $0.seq },
        .unsigned("l_gseq") { $0.gseq },
        .text("l_event") { $0.event.name },
        .text("l_user") { $0.user.text },
        .text("l_session") { $0.session.text },
        .unsigned("l_n") { $0.number },
        .json("l_gestures", isNull: { $0.gestures.isEmpty }, write: { Self.write($0.gestures, to: &$1) }),
        .text("l_element") { $0.element?.text },
        .unsigned("l_hash") { $0.hash },
        .json("l_before") { $0.before },
        .json("l_after") { $0.after },
        .unsigned("l_chain") { $0.chain },
        .unsigned("l_undo_next") { $0.link?.next },
        .int4("l_undo_rest") { ($0.link?.rest).map { Int32(clamping: $0) } },
        .text("l_cause") { $0.cause.name },
        .json("l_undone", isNull: { $0.undone == nil }, write: { $0.undone?.encode(into: &$1) }),
        .json("l_adjusted") { $0.adjusted },
    ]

    private static let streams: [ArrayColumn<KeyedRows<StreamKey, StreamState>.Row>] = [
        .text("s_room") { $0.key.room.text },
        .text("s_session") { $0.key.session.text },
        .text("s_user") { $0.value.user.text },
        .unsigned("s_hw") { $0.value.highest },
        .int4("s_claim") { Int32(bitPattern: $0.value.sessionEpoch) },
    ]

    private static let stacks: [ArrayColumn<KeyedRows<UserKey, UndoStacks>.Row>] = [
        .text("u_room") { $0.key.room.text },
        .text("u_user") { $0.key.user.text },
        .unsigned("u_undo_head") { $0.value.undo.head },
        .int4("u_undo_depth") { Int32(clamping: $0.value.undo.depth) },
        .unsigned("u_redo_head") { $0.value.redo.head },
        .int4("u_redo_depth") { Int32(clamping: $0.value.redo.depth) },
        .text("u_group") { $0.value.group?.name.text },
        .int4("u_group_rows") { Int32(clamping: $0.value.group?.rows ?? 0) },
        .int8("u_group_bytes") { Int64($0.value.group?.bytes ?? 0) },
    ]

    private static let refusals: [ArrayColumn<ShardBatch.RefusalRow>] = [
        .text("f_room") { $0.key.stream.room.text },
        .text("f_session") { $0.key.stream.session.text },
        .unsigned("f_n") { $0.key.number },
        .unsigned("f_hash") { $0.hash },
        .json("f_refusal", write: { $0.outcome.encode(into: &$1) }),
    ]

    /// The gestures that a commit ended: their numbers by element id.
    private static func write(_ gestures: ShortList<EndedGesture>, to writer: inout JSONWriter) {
        writer.beginObject()
        for ended in gestures {
            writer.key(string: ended.element.text)
            writer.value(ended.gesture)
        }
        writer.endObject()
    }
}
