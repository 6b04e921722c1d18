import SwiftUI
import TouchSyncClient

struct NoteView: View {
    let element: Element
    let room: SyncRoom
    @State private var gesture: SyncGesture?

    var body: some View {
        RoundedRectangle(cornerRadius: 6)
            .fill(.yellow)
            .overlay { Text(self.element.content ?? "") }
            .frame(width: self.element.width, height: self.element.height)
            .rotationEffect(.degrees(self.element.rotation))
            .position(x: self.element.positionX, y: self.element.positionY)
            .gesture(self.fingers)
    }

    private var fingers: some Gesture {
        DragGesture(coordinateSpace: .global)
            .simultaneously(with: MagnifyGesture().simultaneously(with: RotateGesture()))
            .onChanged { fingers in
                let gesture = self.gesture ?? self.room.begin(self.element.id)
                self.gesture = gesture
                gesture.update(
                    translation: fingers.first.map { Point(x: $0.translation.width, y: $0.translation.height) },
                    scale: fingers.second?.first.map { Double($0.magnification) },
                    rotation: fingers.second?.second.map { $0.rotation.degrees })
            }
            .onEnded { _ in
                self.gesture?.end()
                self.gesture = nil
            }
    }
}
