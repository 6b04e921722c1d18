import SwiftUI
import TouchSyncClient

@main
struct NotesApp: App {
    private let client: SyncClient
    private let model: RoomModel

    init() {
        do {
            let folder = URL.applicationSupportDirectory.appending(path: "Edits").path(percentEncoded: false)
            self.client = try SyncClient(
                url: "http://127.0.0.1:8080", user: ClientUser(id: "ada", name: "Ada", color: "#2c3e90"),
                store: FileEditStore(folder: folder), owner: "ada")
            self.model = RoomModel(self.client.room("demo"))
            self.client.followDevice()
            self.client.connect()
        } catch {
            fatalError("\(error)")
        }
    }

    var body: some Scene {
        WindowGroup { WallView(model: self.model) }
    }
}
