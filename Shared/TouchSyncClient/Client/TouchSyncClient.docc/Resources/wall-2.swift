import SwiftUI
import TouchSyncClient

struct WallView: View {
    let model: RoomModel

    var body: some View {
        ZStack {
            Color(white: 0.95).onTapGesture(count: 2) { place in self.addNote(at: place) }
            ForEach(self.model.elements) { element in NoteView(element: element, room: self.model.room) }
        }
    }

    private func addNote(at place: CGPoint) {
        var note = NewElement(type: "note")
        note.content = "Milk"
        note.transform.positionX = place.x
        note.transform.positionY = place.y
        self.model.room.create(note)
    }
}
