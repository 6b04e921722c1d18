import SwiftUI
import TouchSyncClient

@main
struct NotesApp: App {
    private let model: RoomModel

    init() {
        do {
            let client = try SyncClient(
                url: "http://127.0.0.1:8080", user: ClientUser(id: "ada", name: "Ada", color: "#2c3e90"))
            self.model = RoomModel(client.room("demo"))
        } catch {
            fatalError("\(error)")
        }
    }

    var body: some Scene {
        WindowGroup { Text("Notes") }
    }
}
