import SwiftUI
import TouchSyncClient

@main
struct NotesApp: App {
    private let client: SyncClient
    private let model: RoomModel

    init() {
        do {
            self.client = try SyncClient(
                url: "http://127.0.0.1:8080", user: ClientUser(id: "ada", name: "Ada", color: "#2c3e90"))
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
