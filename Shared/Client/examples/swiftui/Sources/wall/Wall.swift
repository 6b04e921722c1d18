import Observation
import TouchSyncClient

/// A wall of notes, without its views.
@MainActor @Observable final class Wall {
    let model: RoomModel
    private var problem: String?

    /// - Parameter folder: keeps edits without an answer, also while the app is closed.
    init(server: String, user: ClientUser, folder: String) throws {
        let client = try SyncClient(url: server, user: user, store: FileEditStore(folder: folder), owner: user.id)
        self.model = RoomModel(client.room("wall"))
        let errors = client.errors
        Task { [weak self] in
            for await error in errors { self?.problem = "\(error)" }
        }
        // Linux has no device to follow.
        #if canImport(Network)
            client.followDevice()
        #endif
        client.connect()
    }

    /// Who else is here.
    var others: [String] {
        self.model.members.filter { $0.userId != self.model.me?.userId }.map { $0.name ?? $0.userId }
    }

    /// What failed last: the connection, as long as there is none; otherwise an edit, until the next note, or the store.
    var failure: String? {
        self.model.failure?.message ?? self.model.denial?.message ?? self.model.refusal?.message ?? self.problem
    }

    func addNote(at place: Point) {
        self.model.refusal = nil
        var note = NewElement(type: "note")
        (note.transform.positionX, note.transform.positionY) = (place.x, place.y)
        (note.originalWidth, note.originalHeight) = (160, 160)
        self.model.room.create(note)
    }

    /// What is written on a note in a row is undone together.
    func write(_ text: String, on id: String) {
        var changes = ElementChanges()
        changes.content = .set(text)
        self.model.room.update(id, changes, undo: .together(id))
    }
}
