import SwiftUI
import TouchSyncClient

// An app that imports both means SwiftUI's `Canvas`, `Angle`, `Gesture` and `Spring`.
struct Drawing: View {
    let element: Element

    var body: some View {
        Canvas { context, _ in context.rotate(by: Angle.degrees(self.element.rotation)) }
            .gesture(DragGesture(coordinateSpace: .global).onEnded { _ in })
    }
}

func values(_ room: SyncRoom) {
    let point: Point = Point(x: 4, y: 5)
    var note = NewElement(type: "note")
    note.content = "Milk"
    (note.transform.positionX, note.transform.positionY) = (point.x, point.y)
    room.create(note)
}
